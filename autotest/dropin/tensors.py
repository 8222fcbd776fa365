"""Dual tensors as OneFlow's harness draws them: plain values of [0, 1), a first dimension of 1."""

from __future__ import annotations

from typing import Any

from autotest.dropin.generators import choice_pytorch_tensor, need_gpu, random_pytorch_tensor
from dual_object.record.dual import DualObject
from dual_object.record.recording import recording
from generators import DTYPES, Generator


def random_tensor(
    ndim: Any = None,
    dim0: Any = 1,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = 0,
    high: Any = 1,
    dtype: Any = float,
    requires_grad: Any = True,
    pin_memory: bool = False,
) -> DualObject:
    """A dual tensor with values of [low, high); a size that is None is one of 1 ... 7, `ndim` one of 1 ... 5.

    `dtype` is float (float32), int (int64), a dtype of PyTorch, OneFlow or NumPy, its name, or a generator of one.
    Where the dtype has no gradient, `requires_grad` means nothing.
    """
    record = recording("random_tensor()")
    drawn = random_pytorch_tensor(ndim, dim0, dim1, dim2, dim3, dim4, low, high, dtype).drawn()
    made = record.input(
        drawn.data,
        drawn.dtype,
        requires_grad=_wanted(requires_grad, drawn.dtype),
        fill=drawn.fill,
        seed=drawn.seed,
    )
    return _pinned(made) if pin_memory else made


def choice_tensor(
    a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = int, requires_grad: Any = False
) -> DualObject:
    """A dual tensor whose values are chosen from `a`, as `numpy.random.choice` does."""
    record = recording("choice_tensor()")
    data, name, seed = choice_pytorch_tensor(a, size, replace, p, dtype).drawn()
    return record.input(data, name, requires_grad=_wanted(requires_grad, name), fill="choice", seed=seed)


def _wanted(requires_grad: Any, dtype: str) -> bool:
    wanted = requires_grad.to(bool).value() if isinstance(requires_grad, Generator) else requires_grad
    return bool(wanted) and DTYPES[dtype].category in ("floating", "complex")


def _pinned(made: DualObject) -> DualObject:
    need_gpu("pin_memory=True")
    pinned: DualObject = made.pin_memory()
    return pinned
