"""Modes: what a call such as `torch.set_grad_enabled(False)` switches for all that follows it in its process.

A run keeps modes of its own, and leaves those of the process as it found them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from dual_object.program.calls import Call
from dual_object.replay.adapter import Adapter

#: What sets a mode, and what tells it, by PyTorch's names: whether gradients are recorded, the dtype of new floating
#: tensors, whether ops must be deterministic. A framework that lacks them has no such mode.
MODES = {
    "set_grad_enabled": "is_grad_enabled",
    "set_default_dtype": "get_default_dtype",
    "use_deterministic_algorithms": "are_deterministic_algorithms_enabled",
}


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
        self._apart = self._apart or call.kind in ("enter", "exit") or call.op in MODES
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


def _current(adapter: Adapter) -> dict[str, Any]:
    """The modes of this process, by the function that sets each: `{"set_grad_enabled": True, ...}`."""
    modes: dict[str, Any] = {}
    for setter, teller in MODES.items():
        # What a target cannot tell, for whatever reason, cannot be given back.
        with contextlib.suppress(Exception):
            modes[setter] = adapter.resolve(teller)()
    return modes


def _set(adapter: Adapter, modes: dict[str, Any]) -> None:
    now = _current(adapter)
    for setter, mode in modes.items():
        if now.get(setter) != mode:
            adapter.resolve(setter)(mode)
