"""Products of vectors, matrices and batches of them, each as one einsum."""

import torch


def matmul(input, other):
    """Matrix product with the broadcasting of batches, for float32 and float64."""
    if not input.dim() or not other.dim():
        raise RuntimeError("both arguments to matmul need to be at least 1D")
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected one dtype, but got {input.dtype} and {other.dtype}")
    left = "k" if input.dim() == 1 else "...ik"
    right = "k" if other.dim() == 1 else "...kj"
    if input.size(-1) != other.size(-1 if other.dim() == 1 else -2):
        raise RuntimeError(f"shapes {tuple(input.shape)} and {tuple(other.shape)} cannot be multiplied")
    out = (
        ("..." if input.dim() > 2 or other.dim() > 2 else "")
        + ("i" if input.dim() > 1 else "")
        + ("j" if other.dim() > 1 else "")
    )
    if input.dim() == 2:
        left = "ik"
    if other.dim() == 2:
        right = "kj"
    return torch.einsum(f"{left},{right}->{out}", input, other)
