"""What calls give besides tensors: plain values that also tell what each side has given.

`x.ndim` is the number that it is for a native body, and `x.ndim.pytorch` and `x.ndim.oneflow` are each side's own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from dual_object.record.dual import DualObject


class TwoSided:
    """A plain value with both sides' own objects behind it.

    Attributes:
        PLAIN: the type that a call takes instead.
        pytorch, oneflow: PyTorch's and the target's own object; asking for the latter makes the test run inline.
    """

    PLAIN: ClassVar[Callable[[Any], Any]]
    _sides: tuple[Any, Callable[[], Any]]

    @property
    def pytorch(self) -> Any:
        """PyTorch's own object."""
        return self._sides[0]

    @property
    def oneflow(self) -> Any:
        """The target's own object; raises RawTargetNeeded while the target is in another process."""
        return self._sides[1]()

    @property
    def plain(self) -> Any:
        """The value without its sides, as a call takes it."""
        return type(self).PLAIN(self)


class DualInt(TwoSided, int):
    """A number, such as `x.ndim`."""

    PLAIN = int


class DualBool(TwoSided, int):
    """True or False, such as `x.requires_grad`; Python lets nothing derive from `bool`."""

    PLAIN = bool

    def __repr__(self) -> str:
        return repr(bool(self))


class DualFloat(TwoSided, float):
    """A number, such as `x.item()`."""

    PLAIN = float


class DualStr(TwoSided, str):
    """A text, such as `x.type()`."""

    PLAIN = str


class _Group(TwoSided):
    """Whatever holds others: an element has both its sides, too."""

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)  # type: ignore[misc]  # of the container that comes next
        if type(item) is DualObject:
            return item
        return two_sided(item, self.pytorch[index], lambda: self.oneflow[index])

    def __len__(self) -> int:
        own: int = super().__len__()  # type: ignore[misc]  # of the container that comes next
        length: int = two_sided(own, own, lambda: len(self.oneflow))
        return length

    def __getattr__(self, name: str) -> Any:
        """What PyTorch's own group has besides: the fields of a named tuple, by place, and `numel` of a size."""
        if name.startswith("__") or name == "_sides":
            raise AttributeError(name)
        fields = getattr(self.pytorch, "_fields", ()) or getattr(self.pytorch, "__match_args__", ())
        return self[fields.index(name)] if name in fields else getattr(self.pytorch, name)


class DualTuple(_Group, tuple):  # type: ignore[type-arg]
    """A group of results, the fields of a named tuple included, or a size such as `x.shape`."""

    PLAIN = tuple


class DualList(_Group, list):  # type: ignore[type-arg]
    """A group of results."""

    PLAIN = list


class DualDict(_Group, dict):  # type: ignore[type-arg]
    """Results by name, such as `m.state_dict()`."""

    PLAIN = dict


class DualConstant(TwoSided):
    """What Python lets nothing derive from: a dtype or a device. It has the attributes of PyTorch's own and is equal
    to it.
    """

    @property
    def plain(self) -> Any:
        """PyTorch's own object."""
        return self.pytorch

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_sides":
            raise AttributeError(name)
        return getattr(self.pytorch, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.pytorch == plain(other))

    def __hash__(self) -> int:
        return hash(self.pytorch)

    def __repr__(self) -> str:
        return repr(self.pytorch)

    def __str__(self) -> str:
        return str(self.pytorch)


_KINDS: dict[type, Callable[[Any], Any]] = {
    bool: DualBool,
    int: DualInt,
    float: DualFloat,
    str: DualStr,
    list: DualList,
    dict: DualDict,
    OrderedDict: DualDict,
}
#: PyTorch's own constants, by the names of their types.
_CONSTANTS = frozenset({"dtype", "device", "layout", "memory_format"})


def two_sided(value: Any, pytorch: Any, oneflow: Callable[[], Any]) -> Any:
    """`value` with both sides' own objects behind it; as it is where it is dual already, None or an array."""
    kind = type(value)
    make = _KINDS.get(kind)
    if make is None and isinstance(value, tuple):
        make = DualTuple
    if make is not None:
        made = make(value)
    elif kind.__module__ == "torch" and kind.__name__ in _CONSTANTS:
        made = DualConstant()
    else:
        return value
    made._sides = pytorch, oneflow
    return made


def plain(value: Any) -> Any:
    """`value` as a call takes it: without the sides that `two_sided` gave it."""
    return value.plain if isinstance(value, TwoSided) else value


__all__ = ["TwoSided", "plain", "two_sided"]
