"""The recording of a body that was written for OneFlow's harness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest.dropin.duals.values import plain, two_sided
from dual_object.errors import RawTargetNeeded
from dual_object.program.calls import Call, CallKind
from dual_object.program.values import Opaque, Tree, map_leaves
from dual_object.record.dual import DualObject
from dual_object.record.recording import Place, Recording

RAW = "the body uses a raw target object"


class AutoTestRecording(Recording):
    """As `Recording`; besides, what calls give has both sides (`x.shape.pytorch`), a body may give a dual object other
    sides (`x.oneflow = flow.ones(2)`), and may hand OneFlow's own objects to dual calls, which PyTorch then refuses.
    """

    watches = False  # such a body works on both raw sides as well

    def call(
        self,
        kind: CallKind,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        **more: Any,
    ) -> Any:
        """As `Recording.call`; a side that is set is no call."""
        if kind == "set" and op in ("pytorch", self.target):
            self._replace(more["receiver"], op, args[0])
            return None
        return super().call(kind, op, function, args, kwargs, **more)

    def shown(self, call: Call, result: Any, returned: Any) -> Any:
        """With both sides, but for what Python itself asks an operator for: `bool(x)` must be a bool."""
        if returned is None or type(returned) is DualObject or (call.kind == "operator" and call.op != "len"):
            return returned
        return two_sided(returned, result, self._given())

    def returned(self, value: Any) -> Tree:
        """As `Recording.returned`; values with both sides are plain ones."""
        return super().returned(map_leaves(value, plain))

    def _given(self) -> Callable[[], Any]:
        """Gives what the target has given for the last call."""
        stepper = self.stepper
        if stepper is None:

            def needed() -> Any:
                raise RawTargetNeeded(RAW)

            return needed
        given, lacking = stepper.given, stepper.lacking() if stepper.seen.ended else None

        def own() -> Any:
            self.program.inline = RAW
            if lacking is not None:
                raise lacking
            return given

        return own

    def _replace(self, dual: DualObject, side: str, value: Any) -> None:
        if self.stepper is None:
            raise RawTargetNeeded(RAW)
        self.program.inline = RAW
        id_ = dual._ref.id
        values = self.values if side == "pytorch" else self.stepper.values
        values.by_id[id_] = value
        if id_ in values.inputs:
            values.inputs[id_] = value
        if side == "pytorch":
            self._known.pop(id(dual._value), None)
            self._known[id(value)] = dual
            object.__setattr__(dual, "_value", value)

    def _argument(self, arg: Any, op: str, place: Place) -> tuple[Any, Tree]:
        return super()._argument(plain(arg), op, place)

    def _raw_target(self, arg: Any, op: str) -> tuple[Any, Tree]:
        if self.stepper is None:
            raise RawTargetNeeded(RAW)
        self.program.inline = RAW
        return arg, Opaque(arg)


__all__ = ["AutoTestRecording"]
