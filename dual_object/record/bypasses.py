"""Bypasses: what a body does to the reference past its recording, which no target would be told of.

```python
x.pytorch.fill_(5)  # no call of the Program: the target's x keeps its values
with pytorch.no_grad():  # PyTorch's own, not autotest's `torch`: the target goes on recording gradients
    y = torch.exp(x)
```
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple

from dual_object.errors import ArgumentError
from dual_object.replay.adapter import Reference
from dual_object.replay.modes import Mode, current


class Written(NamedTuple):
    """A write to a raw tensor: the line at which the body got hold of it."""

    code: CodeType
    line: int


class _Held(NamedTuple):
    """A raw tensor that the body holds, as it was when it was last looked at."""

    tensor: Any
    version: int
    where: Written


@dataclass(slots=True)
class Bypasses:
    """Watches what a body may do past the recording of one case. It looks before each call, for what a call does is
    recorded, and `settle` is told when that has ended.

    Attributes:
        written: the first write to a raw tensor.
    """

    reference: Reference
    written: Written | None = None
    _held: dict[int, _Held] = field(default_factory=dict)
    _modes: dict[Mode, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._modes = current(self.reference)

    def hold(self, value: Any, frame: FrameType) -> None:
        """Note that the body holds a raw tensor or module, which it got hold of in `frame`."""
        where = Written(frame.f_code, frame.f_lineno)
        if isinstance(value, self.reference.module_type):
            tensors = [*self.reference.parameters(value).values(), *self.reference.buffers(value).values()]
        else:
            tensors = [value] if isinstance(value, self.reference.tensor_type) else []
        for tensor in tensors:
            version = self.reference.version(tensor)
            if version is not None:
                self._held.setdefault(id(tensor), _Held(tensor, version, where))

    def look(self, op: str) -> None:
        """Look before a call of `op`.

        Raises ArgumentError where a mode is otherwise than the calls so far have left it.
        """
        self.look_at_tensors()
        now = current(self.reference)
        if now != self._modes:
            mode = next(mode for mode, value in now.items() if self._modes.get(mode) != value)
            asked = f"{mode.teller}({', '.join(map(repr, mode.of))})"
            raise ArgumentError(
                f"{op} was called where {asked} is {now[mode]}, but should be where it is {self._modes.get(mode)}: "
                "what the body does through PyTorch's own module the target is not told of, so call it by autotest's "
                "`torch`"
            )

    def look_at_tensors(self) -> None:
        """Look for writes alone, as after the body."""
        if self._held and self.written is None:
            moved = (held for held in self._held.values() if self.reference.version(held.tensor) != held.version)
            first = next(moved, None)
            self.written = None if first is None else first.where

    def settle(self) -> None:
        """Take all as it is after a call."""
        self._modes = current(self.reference)
        for id_, held in self._held.items():
            version = self.reference.version(held.tensor)
            if version is not None:
                self._held[id_] = held._replace(version=version)


__all__ = ["Bypasses", "Written"]
