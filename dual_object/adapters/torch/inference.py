"""PyTorch's own shape inference: a Program on tensors of the device meta, which have no memory, call by call."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping

import torch

from dual_object.adapters.torch.executors import private
from dual_object.adapters.torch.executors.moved import inferring, on_meta
from dual_object.program.program import Program
from dual_object.replay.adapter import Adapter, Inferred, NotInferred
from dual_object.replay.replay import Replay
from dual_object.replay.tracing import obstacle, setup_calls, traced_calls


def inferred(adapter: Adapter, program: Program) -> Mapping[int, Inferred]:
    """What meta says of every tensor of a Program, by number. Raises NotInferred where a Program cannot go there.

    Modules are made as ever and then moved: what they are made of is no question of shapes. What the body read to
    Python stands in the Program as it was read.
    """
    reason = obstacle(program)
    if reason is None and any(call.kind == "custom" for call in program.calls):
        reason = "the body calls a function of the test's own"
    if reason is None and any("autocast" in call.op for call in program.calls):
        reason = "autocast is a device's, and none of meta's"
    if reason is not None:
        raise NotInferred(reason)
    forward = dataclasses.replace(program, cotangents={}, second_cotangents={})
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        replay = Replay(adapter, forward, "reference")
        for x in program.inputs:
            replay.place(x)
            replay.values.place(x.id, on_meta(replay.values.by_id[x.id]))
        for index in setup_calls(program):
            replay.step(index, program.calls[index])
        with private.dynamo_left_out(), inferring(replay.values.modules.values()):
            for index in traced_calls(program):
                replay.step(index, program.calls[index])
        replay.finish()
    if replay.seen.ended:
        raise NotInferred(replay.seen.failures[-1].message)
    tensors = {id_: value for id_, value in replay.values.by_id.items() if isinstance(value, torch.Tensor)}
    return {id_: Inferred(*adapter.describe(tensor)[:2], adapter.place(tensor)[0]) for id_, tensor in tensors.items()}


__all__ = ["inferred"]
