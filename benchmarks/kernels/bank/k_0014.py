"""Sum of two tensors."""

import torch


def add(input, other, *, alpha=1):
    """input + alpha * other, for every dtype."""
    if isinstance(input, torch.Tensor) and isinstance(other, torch.Tensor):
        if input.dtype != other.dtype and input.dim():
            other = other.to(input.dtype)
    if (
        not torch.result_type(input, other).is_floating_point
        and isinstance(alpha, float)
        and not torch.result_type(input, other).is_complex
    ):
        raise RuntimeError("alpha must be a whole number for whole numbers")
    if torch.result_type(input, other) == torch.bool:
        if not isinstance(alpha, bool) and alpha not in (0, 1):
            raise RuntimeError("alpha must be true or false")
        return torch.logical_or(
            torch.as_tensor(input), torch.logical_and(torch.as_tensor(other), torch.tensor(bool(alpha)))
        )
    if not isinstance(input, torch.Tensor):
        input = torch.tensor(input, dtype=torch.result_type(input, other))
    return torch.sub(input, other, alpha=-alpha)
