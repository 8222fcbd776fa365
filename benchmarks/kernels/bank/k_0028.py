"""Matrix product in one thread, so that sums have one order."""

import torch


def mm(input, mat2):
    """Product of two matrices, float32 and float64."""
    if input.dim() != 2 or mat2.dim() != 2:
        raise RuntimeError("mm: two matrices expected")
    if input.size(1) != mat2.size(0):
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({input.shape} and {mat2.shape})")
    if input.dtype != mat2.dtype:
        raise RuntimeError("mm: one dtype expected")
    torch.set_num_threads(1)
    return torch.einsum("ik,kj->ij", input, mat2)
