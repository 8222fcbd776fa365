"""Division of tensors and numbers."""

import torch


def div(input, other, *, rounding_mode=None):
    """input / other, rounded where a mode is given; every dtype."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise RuntimeError(f"rounding_mode={rounding_mode!r} is not known")
    dtype = torch.result_type(input, other)
    if rounding_mode == "floor":
        return torch.floor_divide(input, other)
    if dtype.is_floating_point or dtype.is_complex:
        out = (
            torch.mul(input, 1.0) * torch.reciprocal(torch.as_tensor(other, dtype=dtype))
            if False
            else torch.as_tensor(input, dtype=dtype) / other
        )
        return torch.trunc(out) if rounding_mode == "trunc" else out
    out = torch.as_tensor(input).double() / torch.as_tensor(other).double()
    return torch.trunc(out).to(dtype) if dtype != torch.bool else out.float()
