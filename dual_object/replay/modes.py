"""Modes: what a call such as `torch.set_grad_enabled(False)` switches for all that follows it in its process.

A run keeps modes of its own, and leaves those of the process as it found them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from dual_object.program.calls import Call
from dual_object.replay.adapter import Adapter


class Mode(NamedTuple):
    """What sets a mode, and what tells it, by PyTorch's names; both are given `of` before anything else."""

    setter: str
    teller: str
    of: tuple[str, ...] = ()


#: Whether gradients are recorded, the dtype of new floating tensors, whether ops must be deterministic, and in which
#: dtype ops compute that may choose. A framework that lacks them has no such mode.
MODES = (
    Mode("set_grad_enabled", "is_grad_enabled"),
    Mode("set_default_dtype", "get_default_dtype"),
    Mode("use_deterministic_algorithms", "are_deterministic_algorithms_enabled"),
    *(Mode("set_autocast_enabled", "is_autocast_enabled", (device,)) for device in ("cpu", "cuda")),
    *(Mode("set_autocast_dtype", "get_autocast_dtype", (device,)) for device in ("cpu", "cuda")),
)
_SETTERS = frozenset(mode.setter for mode in MODES)


class Modes:
    """The modes of one run, at first those of the process.

    Inside `applied` the process has the run's modes, as the last call of the run left them. After it the process has
    its own again, even where a call has switched one for good (`torch.set_default_dtype`), or has failed inside a
    `no_grad` that was never left.
    """

    __slots__ = ("_adapter", "_apart", "_own")

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._own = _current(adapter)
        self._apart = False

    def concern(self, call: Call) -> bool:
        """Whether a call must run inside `applied`: it may switch a mode, or an earlier one may have."""
        self._apart = self._apart or call.kind in ("enter", "exit") or call.op in _SETTERS
        return self._apart

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Run what is inside in these modes, and keep those in which it ends."""
        around = _current(self._adapter)
        _set(self._adapter, self._own)
        try:
            yield
        finally:
            self._own = _current(self._adapter)
            _set(self._adapter, around)


@functools.lru_cache(maxsize=16)
def _told(adapter: Any) -> tuple[Mode, ...]:
    """The modes that a framework tells."""
    return tuple(_ask(adapter, MODES))


def _current(adapter: Adapter) -> dict[Mode, Any]:
    """The modes of this process."""
    return _ask(adapter, _told(cast(Any, adapter)))


def _ask(adapter: Adapter, modes: Iterable[Mode]) -> dict[Mode, Any]:
    told: dict[Mode, Any] = {}
    for mode in modes:
        # What a target cannot tell, for whatever reason, cannot be given back.
        with contextlib.suppress(Exception):
            told[mode] = adapter.resolve(mode.teller)(*mode.of)
    return told


def _set(adapter: Adapter, modes: dict[Mode, Any]) -> None:
    now = _current(adapter)
    for mode, value in modes.items():
        if now.get(mode) != value:
            adapter.resolve(mode.setter)(*mode.of, value)
