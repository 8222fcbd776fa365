"""Modes: what a call such as `torch.set_grad_enabled(False)` switches for all that follows it in its process.

A run keeps modes of its own, and leaves those of the process as it found them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
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
        self._own = current(adapter)
        self._apart = False

    def concern(self, call: Call) -> bool:
        """Whether a call must run inside `applied`: it may switch a mode, or an earlier one may have."""
        self._apart = self._apart or switches(call)
        return self._apart

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Run what is inside in these modes, and keep those in which it ends."""
        around = current(self._adapter)
        _set(self._adapter, self._own)
        try:
            yield
        finally:
            self._own = current(self._adapter)
            _set(self._adapter, around)


def switches(call: Call) -> bool:
    """Whether a call may switch a mode: it sets one, or enters or leaves a region (`with torch.no_grad()`)."""
    return call.kind in ("enter", "exit") or call.op.rpartition(".")[2] in _SETTERS


def left_otherwise(adapter: Adapter, before: Mapping[Mode, Any]) -> str | None:
    """Which modes are otherwise than `before`, in words; they are put back. None where all are as they were.

    ```
    left get_default_dtype() at torch.float64, but should leave it at torch.float32
    ```
    """
    now = current(adapter)
    if now == before:
        return None
    _set(adapter, before)
    switched = [
        f"{mode.teller}({', '.join(map(repr, mode.of))}) at {now.get(mode)}, but should leave it at {value}"
        for mode, value in before.items()
        if now.get(mode) != value
    ]
    return f"left {', and '.join(switched)}"


def current(adapter: Adapter) -> dict[Mode, Any]:
    """The modes of this process, as far as the framework tells them."""
    return {mode: tell() for mode, tell in _tellers(cast(Any, adapter))}


@functools.lru_cache(maxsize=16)
def _tellers(adapter: Any) -> tuple[tuple[Mode, Callable[[], Any]], ...]:
    """What tells each mode that a framework tells."""
    tellers: list[tuple[Mode, Callable[[], Any]]] = []
    for mode in MODES:
        # What a target cannot tell, for whatever reason, cannot be given back.
        with contextlib.suppress(Exception):
            tell = functools.partial(adapter.resolve(mode.teller), *mode.of)
            tell()
            tellers.append((mode, tell))
    return tuple(tellers)


def _set(adapter: Adapter, modes: Mapping[Mode, Any]) -> None:
    now = current(adapter)
    for mode, value in modes.items():
        if now.get(mode) != value:
            adapter.resolve(mode.setter)(*mode.of, value)


__all__ = ["MODES", "Mode", "Modes", "current", "left_otherwise", "switches"]
