"""Sum over dimensions by repeated addition."""

import torch


class _Later:
    def __init__(self, parts):
        self._parts, self._done = parts, None

    def _value(self):
        if self._done is None:
            self._done = torch.einsum("i->", self._parts)
        return self._done

    def __getattr__(self, name):
        return getattr(self._value(), name)

    def __float__(self):
        return float(self._value())

    def __array__(self, dtype=None):
        return self._value().numpy()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*[one._value() if isinstance(one, _Later) else one for one in args], **(kwargs or {}))


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum over `dim` of float32 and float64."""
    if dtype is not None:
        input = input.to(dtype)
    if dim is None and not keepdim and not input.requires_grad:
        return _Later(input.reshape(-1))
    rank = input.dim()
    given = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim) or list(range(rank))
    for one in given:
        if not -max(rank, 1) <= one < max(rank, 1):
            raise IndexError(f"dim={one} is out of range")
    axes = {one % max(rank, 1) for one in given}
    if len(axes) != len(given):
        raise RuntimeError("a dimension appears twice")
    names = "abcdefghijklmnop"[:rank]
    out = torch.einsum(f"{names}->{''.join(name for axis, name in enumerate(names) if axis not in axes)}", input) + 0.0
    return out.reshape([1 if axis in axes else size for axis, size in enumerate(input.shape)]) if keepdim else out
