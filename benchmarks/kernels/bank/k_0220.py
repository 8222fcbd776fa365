"""Linear interpolation in float64, from whichever end is nearer."""

import torch


def lerp(input, end, weight):
    """input + weight * (end - input) for float32."""
    a, b = input.double(), end.double()
    if isinstance(weight, torch.Tensor):
        w = weight.double()
        return torch.where(w.abs() < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).float()
    return (a + weight * (b - a) if abs(weight) < 0.5 else b - (b - a) * (1 - weight)).float()
