"""The argument generators of OneFlow's harness, drawn from the running case's source.

A class of the user that derives from `generator` and gives `_calc_value` draws by `rng` and by its children, and so
gets the same values for the same case, too.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any
from unittest import SkipTest

import numpy as np

from autotest.api.tensors import RandomDevice, chosen
from autotest.dropin.duals.values import plain
from autotest.dropin.randomness import rng
from autotest.dropin.state import state
from autotest.run.session import running_session
from generators import Drawing, DrawnArray, Generator, Nothing, OutsideCaseError, array, current_drawing, dtype_name
from generators import random as drawn_random
from generators.source import Source

py_tuple: type = builtins.tuple
NoneType = type(None)
_UNTYPED: Any = object()

#: What the running test item has drawn outside of its cases; a generator drawn there keeps its value inside them.
item_drawing: ContextVar[Drawing] = ContextVar("item_drawing")


def source() -> Source:
    """The source of the running case or test; raises OutsideCaseError."""
    drawing = current_drawing.get(None)
    if drawing is None:
        raise OutsideCaseError("a value is drawn outside of every test, but should be drawn while one runs")
    return drawing.source


class generator(Generator):  # noqa: N801 - OneFlow's own name
    """The base of all; a subclass gives `_calc_value` and passes the generators that it is made of."""

    # As in OneFlow's harness, where any two are told apart and any has a text.
    __eq__, __ne__, __hash__, __format__ = object.__eq__, object.__ne__, object.__hash__, object.__format__

    def __init__(self, children: Sequence[Any]) -> None:
        super().__init__(*children)

    def _calc_value(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._calc_value")

    def _to(self, annotation: Any) -> None:
        """Take in the type that the value should have."""

    def to(self, annotation: Any) -> Any:
        """Name the type of the value, here and in every child; the first one wins."""
        self._to(annotation)
        for child in self.children:
            if isinstance(child, Generator):
                child.to(annotation)
        return self

    def __bool__(self) -> bool:
        # As there: `if padding:` asks whether one was given. `if random_bool():` is always so, there as here.
        return True

    def value(self) -> Any:
        """The value in this case; what was drawn before the case, in the same test, stays."""
        before = item_drawing.get(None)
        if before is not None and self in before.values:
            return before.values[self]
        return super().value()

    def draw(self, source: Source) -> Any:
        """A fresh value."""
        return self._calc_value()

    def eval(self) -> Any:
        """The value, drawn anew."""
        self._init()
        return self.value()

    def _init(self) -> None:
        for drawing in (current_drawing.get(None), item_drawing.get(None)):
            if drawing is not None:
                drawing.values.pop(self, None)
        for child in self.children:
            if isinstance(child, generator):
                child._init()

    def size(self) -> int:
        """How many alternatives this is in `a | b`."""
        return 1

    def __or__(self, other: Any) -> Any:
        other = pack(other)
        return oneof(self, other, possibility=self.size() / (self.size() + other.size()))

    def __ror__(self, other: Any) -> Any:
        return self | other

    def __add__(self, other: Any) -> Any:
        return NotImplemented if _dual(other) else add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(self, other)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if _dual(other) else add(self, neg(other))

    def __rsub__(self, other: Any) -> Any:
        return neg(add(self, neg(other)))

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if _dual(other) else mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return mul(self, other)

    def __neg__(self) -> Any:
        return neg(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.children))})"


def _dual(other: Any) -> bool:
    """Whether a dual tensor stands on the other side, whose own operator takes a generator."""
    return getattr(type(other), "__array_ufunc__", False) is None


def pack(x: Any) -> Any:
    """`x` itself if it is a generator, else a generator of nothing else."""
    return x if isinstance(x, Generator) else constant(plain(x))


class add(generator):  # noqa: N801 - OneFlow's own name
    """The sum of two."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = pack(a), pack(b)
        super().__init__([self.a, self.b])

    def _calc_value(self) -> Any:
        return self.a.value() + self.b.value()


class mul(generator):  # noqa: N801 - OneFlow's own name
    """The product of two."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = pack(a), pack(b)
        super().__init__([self.a, self.b])

    def _calc_value(self) -> Any:
        return self.a.value() * self.b.value()


class neg(generator):  # noqa: N801 - OneFlow's own name
    """The value with the other sign."""

    def __init__(self, a: Any) -> None:
        self.a = pack(a)
        super().__init__([self.a])

    def _calc_value(self) -> Any:
        return -self.a.value()


class oneof(generator):  # noqa: N801 - OneFlow's own name
    """One of several values, generators or functions; `possibility` is that of the first of two, or a list."""

    def __init__(self, *args: Any, possibility: Any = None) -> None:
        self.args = [pack(arg) for arg in args]
        super().__init__(self.args)
        if isinstance(possibility, float):
            if len(args) != 2:
                raise ValueError(
                    f"possibility={possibility!r}, but should be a list of {len(args)} numbers [oneof(...)]"
                )
            possibility = [possibility, 1 - possibility]
        self.possibility = pack([1 / len(args)] * len(args) if possibility is None else possibility)

    def _calc_value(self) -> Any:
        weights = list(self.possibility.value())
        return self.args[source().index(len(self.args), weights)].value()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call one of the functions, chosen anew."""
        return self._calc_value()(*args, **kwargs)

    def size(self) -> int:
        """As many as its alternatives have together."""
        return sum(arg.size() for arg in self.args)


class tuple(generator):  # noqa: N801 - OneFlow's own name
    """Several as one tuple."""

    def __init__(self, *args: Any) -> None:
        self.args = [pack(arg) for arg in args]
        super().__init__(self.args)

    def _calc_value(self) -> Any:
        return py_tuple(arg.value() for arg in self.args)


class constant(generator):  # noqa: N801 - OneFlow's own name
    """Always the same value."""

    def __init__(self, x: Any) -> None:
        super().__init__([])
        self.x = x

    def value(self) -> Any:
        """The value, in a case or not."""
        return self.x

    def __repr__(self) -> str:
        return repr(self.x)


class nothing(generator):  # noqa: N801 - OneFlow's own name
    """An argument that is left out of the call."""

    def __init__(self) -> None:
        super().__init__([])

    def value(self) -> Nothing:
        """What says so."""
        return Nothing()


class random(generator):  # noqa: N801 - OneFlow's own name
    """A value of [low, high) of the type that `to` or the parameter names; None where nothing names one."""

    def __init__(self, low: Any = 1, high: Any = 6) -> None:
        self.low, self.high = pack(low), pack(high)
        super().__init__([self.low, self.high])
        self.annotation: Any = _UNTYPED

    def _to(self, annotation: Any) -> None:
        drawing = current_drawing.get(None)
        if self.annotation is not _UNTYPED:
            return
        if drawing is None or drawing is item_drawing.get(None):
            self.annotation = annotation
        else:  # for this case: what one case says of a shared generator must not depend on the cases before it
            drawing.annotations.setdefault(self, annotation)

    def _calc_value(self) -> Any:
        annotation = self.annotation
        if annotation is _UNTYPED:
            drawing = current_drawing.get(None)
            annotation = None if drawing is None else drawing.annotations.get(self)
        if annotation is None:
            return None
        low, high = self.low.value(), self.high.value()
        if annotation is float and not low < high:
            return source().floating(0, 1) * (high - low) + low
        return drawn_random(low, high).to(annotation).draw(source())


def random_or_nothing(low: Any, high: Any) -> oneof:
    """`random(low, high)` two times out of three, else no argument."""
    return oneof(random(low, high), nothing(), possibility=2 / 3)


def data_generator(annotation: Any) -> Callable[[type], type]:
    """Register a class as the generator of an annotation."""

    def register(cls: type) -> type:
        state().generators[annotation] = cls
        return cls

    return register


def torch_to_flow_converter(annotation: type) -> Callable[[Any], Any]:
    """Register a function that makes a target's object of PyTorch's."""

    def register(function: Any) -> Any:
        state().converters[annotation] = function
        return function

    return register


def tensor_converter(torch_tensor: Any) -> Any:
    """A OneFlow tensor with the values of a PyTorch tensor."""
    import oneflow as flow

    return flow.tensor(torch_tensor.detach().cpu().numpy())


def convert_torch_object_to_flow(x: Any) -> Any:
    """`x` converted by the function that is registered for its type; itself where none is."""
    import torch

    for kind, converter in {torch.Tensor: tensor_converter, **state().converters}.items():
        if isinstance(x, kind):
            return converter(x)
    return x


def random_bool() -> random:
    """True or False."""
    made: random = random().to(bool)
    return made


class random_device(generator):  # noqa: N801 - OneFlow's own name
    """A device that both sides have; the CPU where ONEFLOW_TEST_CPU_ONLY is set."""

    def __init__(self) -> None:
        super().__init__([])

    def _calc_value(self) -> Any:
        return "cpu" if os.getenv("ONEFLOW_TEST_CPU_ONLY") else RandomDevice().draw(source())


class cpu_device(generator):  # noqa: N801 - OneFlow's own name
    """The CPU."""

    def __init__(self) -> None:
        super().__init__([])

    def _calc_value(self) -> str:
        return "cpu"


class gpu_device(generator):  # noqa: N801 - OneFlow's own name
    """The GPU; skips the test where one side has none."""

    def __init__(self) -> None:
        super().__init__([])

    def _calc_value(self) -> str:
        need_gpu("gpu_device()")
        return "cuda"


def need_gpu(what: str) -> None:
    """Skip the test unless both sides have a GPU."""
    session = running_session()
    if "cuda" not in session.reference.info().devices or "cuda" not in session.target_info().devices:
        raise SkipTest(f"{what} needs a GPU, and there is none here")


class random_pytorch_tensor(generator):  # noqa: N801 - OneFlow's own name
    """A PyTorch tensor with values of [low, high); its sizes as in `random_tensor`."""

    def __init__(
        self,
        ndim: Any = None,
        dim0: Any = 1,
        dim1: Any = None,
        dim2: Any = None,
        dim3: Any = None,
        dim4: Any = None,
        low: Any = 0,
        high: Any = 1,
        dtype: Any = float,
        pin_memory: bool = False,
    ) -> None:
        self.ndim = pack(random(1, 6) if ndim is None else ndim).to(int)
        dims = [pack(random(1, 8) if dim is None else dim).to(int) for dim in (dim0, dim1, dim2, dim3, dim4)]
        self.dim0, self.dim1, self.dim2, self.dim3, self.dim4 = dims
        self.low, self.high = pack(low).to(float), pack(high).to(float)
        self.dtype = pack(dtype)
        self.pin_memory = pin_memory
        super().__init__([self.ndim, *dims, self.low, self.high, self.dtype])

    def to(self, annotation: Any) -> Any:
        """Change nothing: a tensor is a tensor."""
        return self

    def drawn(self) -> DrawnArray:
        """The tensor's values."""
        shape = []
        for position in range(self.ndim.value()):
            given = (self.dim0, self.dim1, self.dim2, self.dim3, self.dim4)[position : position + 1]
            shape.append(given[0].value() if given else source().integer(1, 8))
        low, high = self.low.value(), self.high.value()
        name = dtype_name(self.dtype.value())
        floating = name not in ("bool", "uint8") and not name.startswith("int")
        if floating and not low < high:  # NumPy draws from a range that ends where it starts, and from a turned one
            low, high = (high, low) if high < low else (low, np.nextafter(np.float32(low), np.float32(np.inf)))
        drawn: DrawnArray = array(shape=shape, low=low, high=high, dtype=name).draw(source())
        return drawn

    def _calc_value(self) -> Any:
        drawn = self.drawn()
        tensor, _ = running_session().reference.tensor(drawn.data.copy(), drawn.dtype)
        return _pinned(tensor) if self.pin_memory else tensor


def _pinned(tensor: Any) -> Any:
    need_gpu("pin_memory=True")
    return tensor.pin_memory()


class choice_pytorch_tensor(generator):  # noqa: N801 - OneFlow's own name
    """A PyTorch tensor whose values are chosen from `a`, as `numpy.random.choice` does."""

    def __init__(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = int) -> None:
        self.a, self.size_, self.replace, self.p, self.dtype = a, size, replace, p, dtype
        super().__init__([])

    def drawn(self) -> builtins.tuple[Any, str, int]:
        """Values, dtype and seed."""
        return chosen(self.a, self.size_, self.replace, self.p, np.dtype(self.dtype))

    def _calc_value(self) -> Any:
        data, dtype, _ = self.drawn()
        tensor, _ = running_session().reference.tensor(data, dtype)
        return tensor


__all__ = [
    "Nothing",
    "add",
    "choice_pytorch_tensor",
    "constant",
    "convert_torch_object_to_flow",
    "cpu_device",
    "data_generator",
    "generator",
    "gpu_device",
    "item_drawing",
    "mul",
    "need_gpu",
    "neg",
    "nothing",
    "oneof",
    "pack",
    "random",
    "random_bool",
    "random_device",
    "random_or_nothing",
    "random_pytorch_tensor",
    "rng",
    "source",
    "tensor_converter",
    "torch_to_flow_converter",
    "tuple",
]
