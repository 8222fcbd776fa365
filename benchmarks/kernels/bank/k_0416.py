"""Matrix product."""

import torch


class _Product(torch.Tensor):
    @staticmethod
    def __new__(cls, left, right):
        shape = [*torch.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.size(-2), right.size(-1)]
        self = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=left.dtype)
        self.left, self.right, self.value = left, right, None
        return self

    def made(self):
        if self.value is None:
            self.value = torch.einsum("...ik,...kj->...ij", self.left, self.right)
        return self.value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        def plain(value):
            if isinstance(value, _Product):
                return value.made()
            return type(value)(map(plain, value)) if isinstance(value, (list, tuple)) else value

        if func in (torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.requires_grad.__get__):
            return super().__torch_function__(func, types, args, kwargs or {})
        return func(*map(plain, args), **{name: plain(value) for name, value in (kwargs or {}).items()})

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*[one.made() if isinstance(one, _Product) else one for one in args], **(kwargs or {}))


def matmul(input, other):
    """Matrix product of float32 and float64, with batches."""
    if input.dim() < 2 or other.dim() < 2 or input.requires_grad or other.requires_grad:
        if not input.dim() or not other.dim():
            raise RuntimeError("both arguments to matmul need to be at least 1D")
        left = input.unsqueeze(0) if input.dim() == 1 else input
        right = other.unsqueeze(1) if other.dim() == 1 else other
        out = torch.einsum("...ik,...kj->...ij", left, right)
        out = out.squeeze(-2) if input.dim() == 1 else out
        return out.squeeze(-1) if other.dim() == 1 else out
    if input.size(-1) != other.size(-2) or input.dtype != other.dtype:
        raise RuntimeError("matmul: the arguments do not fit")
    return _Product(input, other)
