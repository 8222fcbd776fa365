"""Forms of an op as rows of data: a function, a method, an in-place method, an operator."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from autotest import torch

_OPERATORS: dict[str, Callable[..., Any]] = {
    "-x": operator.neg,
    "abs(x)": abs,
    "~x": operator.invert,
    "x+y": operator.add,
    "x-y": operator.sub,
    "x*y": operator.mul,
    "x/y": operator.truediv,
    "x//y": operator.floordiv,
    "x%y": operator.mod,
    "x**y": operator.pow,
    "x@y": operator.matmul,
    "x&y": operator.and_,
    "x|y": operator.or_,
    "x^y": operator.xor,
    "x==y": operator.eq,
    "x!=y": operator.ne,
    "x<y": operator.lt,
    "x<=y": operator.le,
    "x>y": operator.gt,
    "x>=y": operator.ge,
}
_IN_PLACE: dict[str, Callable[..., Any]] = {
    "x+=y": operator.iadd,
    "x-=y": operator.isub,
    "x*=y": operator.imul,
    "x/=y": operator.itruediv,
}


@dataclass(frozen=True)
class Form:
    """One way to call an op, spelled as users type it: `torch.add`, `Tensor.add`, `Tensor.add_`, `x+y`, `x+=y`.

    An in-place form works on a clone of its first argument: PyTorch refuses to write to a leaf that needs a gradient.
    """

    id: str

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if self.id in _OPERATORS:
            return _OPERATORS[self.id](x, *args)
        if self.id in _IN_PLACE:
            return _IN_PLACE[self.id](x.clone(), *args)
        root, _, path = self.id.partition(".")
        if root == "Tensor":
            return getattr(x.clone() if path.endswith("_") else x, path)(*args, **kwargs)
        return member(self.id)(x, *args, **kwargs)


def member(spelled: str) -> Any:
    """The dual function, class or dtype that `torch.nn.functional.relu` names; resolved when a case needs it."""
    value: Any = torch
    for name in spelled.split(".")[1:]:
        value = getattr(value, name)
    return value


def forms(*spelled: str) -> pytest.MarkDecorator:
    """Run the test once per form, as its argument `op`; the form's spelling is the id."""
    return pytest.mark.parametrize("op", [pytest.param(Form(path), id=path) for path in spelled])
