"""`GetDualObject` as OneFlow's test files use it: any two objects, of PyTorch and of OneFlow, as one."""

from __future__ import annotations

import inspect
from typing import Any

from autotest.dropin.duals.namespace import AutoTestNamespace
from dual_object.record.dual import DualObject
from dual_object.record.namespace import GetDualObject as GetPlainDualObject
from dual_object.record.recording import recording


def GetDualObject(name: str, pytorch: Any, oneflow: Any) -> Any:  # noqa: N802 - OneFlow's own name
    """Join both sides' objects; a module of OneFlow's takes over the state that PyTorch's has.

    The test then runs with the target in this process.
    """
    if inspect.ismodule(pytorch):
        return AutoTestNamespace(pytorch.__name__.partition(".")[2])
    made = GetPlainDualObject(name, pytorch, oneflow)
    if isinstance(made, DualObject):
        record = recording("GetDualObject()")
        if record.stepper is not None and isinstance(pytorch, record.reference.module_type):
            adapter = record.stepper.adapter
            state = {**record.reference.parameters(pytorch), **record.reference.buffers(pytorch)}
            known = {**adapter.parameters(oneflow), **adapter.buffers(oneflow)}
            taken = [key for key in state if key in known]
            values = record.reference.read([state[key] for key in taken])
            adapter.load_state(oneflow, {key: value.copy() for key, value in zip(taken, values, strict=True)})
    return made
