"""Bypasses: what a body does to the reference past its recording, which no target would be told of.

```python
x.pytorch.fill_(5)  # no call of the Program: the target's x keeps its values
m.pytorch.eval()  # and its module goes on training
with pytorch.no_grad():  # PyTorch's own, not autotest's `torch`: the target goes on recording gradients
    y = torch.exp(x)
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple

from dual_object.errors import ArgumentError
from dual_object.replay.adapter import Reference, Trait
from dual_object.replay.modes import Mode, current


class Bypass(NamedTuple):
    """What was done to a raw tensor or module, and the line at which the body got hold of it."""

    what: Trait
    code: CodeType
    line: int


class _Held(NamedTuple):
    """A raw tensor or module that the body holds, as it was when it was last looked at."""

    value: Any
    condition: Mapping[Trait, Any]
    code: CodeType
    line: int


@dataclass(slots=True)
class Bypasses:
    """Watches what a body may do past the recording of one case. It looks before each call, for what a call does is
    recorded, and `settle` is told when that has ended.

    Attributes:
        found: the first thing that was done to a raw tensor or module.
    """

    reference: Reference
    found: Bypass | None = None
    _held: dict[int, _Held] = field(default_factory=dict)
    _modes: dict[Mode, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._modes = current(self.reference)

    def hold(self, values: Iterable[Any], frame: FrameType) -> None:
        """Note that the body holds raw tensors and modules, which it got hold of in `frame`."""
        for value in values:
            for part in self.reference.parts(value):
                if id(part) not in self._held:
                    held = _Held(part, self.reference.condition(part), frame.f_code, frame.f_lineno)
                    self._held[id(part)] = held

    def look(self, op: str) -> None:
        """Look before a call of `op`.

        Raises ArgumentError where a mode is otherwise than the calls so far have left it.
        """
        self.look_at_values()
        now = current(self.reference)
        if now != self._modes:
            mode = next(mode for mode, value in now.items() if self._modes.get(mode) != value)
            asked = f"{mode.teller}({', '.join(map(repr, mode.of))})"
            raise ArgumentError(
                f"{op} was called where {asked} is {now[mode]}, but should be where it is {self._modes.get(mode)}: "
                "what the body does through PyTorch's own module the target is not told of, so call it by autotest's "
                "`torch`"
            )

    def look_at_values(self) -> None:
        """Look at what the body holds alone, as after the body."""
        for held in self._held.values() if self.found is None else ():
            now = self.reference.condition(held.value)
            if now != held.condition:
                what = next(trait for trait in now if now[trait] != held.condition[trait])
                self.found = Bypass(what, held.code, held.line)
                return

    def settle(self) -> None:
        """Take all as it is after a call."""
        self._modes = current(self.reference)
        for id_, held in self._held.items():
            self._held[id_] = held._replace(condition=self.reference.condition(held.value))


__all__ = ["Bypass", "Bypasses"]
