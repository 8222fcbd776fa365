"""Replay: what the reference showed comes back bit for bit, and each way to fail has its kind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest.conformance.bodies import BODIES, assert_same, double, tensor, torch
from dual_object import Call, Program, Replay
from dual_object.adapters.torch.adapter import Adapter
from dual_object.errors import UnmappedOp
from dual_object.program.calls import Input
from dual_object.program.values import Array, Named, Ref
from dual_object.replay.observation import Failure
from dual_object.replay.reading import mutated, observe
from dual_object.replay.replay import BACKWARD, import_function, materialise, same_host


def failures(case, reference):
    """Return what the replay of a case says went wrong, and whether it ended there."""
    seen = Replay(reference, case.program).run()
    return [(failure.call, failure.kind, failure.classes, failure.message) for failure in seen.failures], seen.ended


@pytest.mark.parametrize("name", BODIES)
def test_bit_for_bit(name, recorded, reference):
    """A replay on the reference shows exactly what the recording did, twice."""
    case = recorded(BODIES[name])
    for _ in range(2):
        assert_same(case.seen, Replay(reference, case.program).run())


def test_another_value_is_seen(recorded, reference):
    """A replay that computes something else does not pass these tests."""
    case = recorded(lambda: tensor(2) + 1)
    case.program.calls[0].args = (Ref(0), 2)
    with pytest.raises(AssertionError, match="output 1"):
        assert_same(case.seen, Replay(reference, case.program).run())


def test_each_call_is_announced(recorded, reference):
    """`before` is told of each call, in order, before it starts, and of the backward where there is one."""
    told = []
    case = recorded(BODIES["operators"])
    Replay(reference, case.program).start(told.append)
    assert told == [*range(len(case.program.calls)), BACKWARD]
    told.clear()
    forward = replace(case.program, cotangents={})
    Replay(reference, forward).start(told.append)
    assert told == [*range(len(forward.calls))]


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        (
            {"kind": "function", "op": "no_such"},
            (0, "missing", ("MissingOp", "DualError", "AttributeError"), "torch has no 'no_such'"),
        ),
        (
            {"op": "no_such"},
            (0, "missing", ("MissingOp", "DualError", "AttributeError"), "Tensor has no attribute 'no_such'"),
        ),
        (
            {"kwargs": {"dim": 7}},
            (
                0,
                "exception",
                ("IndexError",),
                "Dimension out of range (expected to be in range of [-2, 1], but got 7)",
            ),
        ),
        (
            {"op": "size", "kwargs": {}},
            (
                0,
                "structure",
                ("StructureError", "DualError", "TypeError"),
                "returned a Size of 2, but should return one object",
            ),
        ),
        (
            {"op": "is_floating_point", "kwargs": {}},
            (
                0,
                "structure",
                ("StructureError", "DualError", "TypeError"),
                "returned a bool, but should return one object",
            ),
        ),
        (
            {"out": (Ref(1), Ref(2)), "op": "split", "kwargs": {"split_size": 1, "dim": 1}},
            (0, "structure", ("StructureError", "DualError", "TypeError"), "returned 3 values, but should return 2"),
        ),
        (
            {"out": (), "op": "unbind", "kwargs": {}},
            (0, "structure", ("StructureError", "DualError", "TypeError"), "returned 2 values, but should return 0"),
        ),
        (
            {"out": {"a": Ref(1)}},
            (
                0,
                "structure",
                ("StructureError", "DualError", "TypeError"),
                "returned a Tensor, but should return a dict with keys ['a']",
            ),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_failure_ends_the_run(change, failure, recorded, reference):
    """A call which fails otherwise than on the reference ends the run with its kind, classes and words."""
    case = recorded(lambda: tensor(2, 3).sum(dim=1))
    for name, value in change.items():
        setattr(case.program.calls[0], name, value)
    assert failures(case, reference) == ([failure], True)


@pytest.mark.parametrize(
    ("op", "instead", "words"),
    [
        ("mul_", "mul", "returned another tensor than {0}, but should return {0} itself"),
        ("mul", "mul_", "returned {0} itself, but should return another tensor"),
        ("mul_", "mul_", None),
        ("mul", "mul", None),
    ],
)
def test_identity(op, instead, words, recorded, reference):
    """Whether a call gives back its own operand is seen in both directions, and ends nothing."""
    case = recorded(lambda: getattr(tensor(2, grad=False), op)(2))
    case.program.calls[0].op = instead
    seen = Replay(reference, case.program).run()
    assert seen.structures == ({} if words is None else {0: words})
    assert not seen.ended


def test_none_in_place_ends_nothing(recorded, reference):
    """What writes its operand and returns nothing has written it all the same, and what follows is compared."""
    case = recorded(lambda: tensor(2, grad=False).mul_(2) + 1)
    case.program.calls[0].op = "__init__"
    seen = Replay(reference, case.program).run()
    assert seen.structures == {0: "returned None, but should return {0} itself"}
    assert (seen.failures, list(seen.outputs)) == ([], [1])


def test_input_is_seen_beside_what_stands_for_it(recorded, reference):
    """Where a call returns another tensor than the input itself, gradient and values of the input are still its own."""
    case = recorded(lambda: torch.nn.functional.dropout(tensor(0, 3)))
    case.program.calls[0].op = "nn.functional.relu"
    seen = Replay(reference, case.program).run()
    assert seen.structures == {0: "returned another tensor than {0}, but should return {0} itself"}
    assert (seen.outputs[0].leaf, seen.gradients["0"].shape) == (False, (0, 3))
    case = recorded(lambda: tensor(2, grad=False).mul_(2))
    case.program.calls[0].op = "mul"
    assert Replay(reference, case.program).run().inputs == {}


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ([Ref(1), Ref(2)], "returned a tuple of 2, but should return a list of 2"),
        (
            Named(("values", "indices"), (Ref(1), Ref(2))),
            "returned a tuple of 2 without values, indices, but should return a named tuple of values, indices",
        ),
        ((Ref(1), Ref(2)), None),
    ],
    ids=str,
)
def test_containers(out, words, recorded, reference):
    """Another container with the right tensors in it is seen, and the tensors are still compared."""
    case = recorded(lambda: torch.split(tensor(2, 3), 1))
    case.program.calls[0].out = out
    seen = Replay(reference, case.program).run()
    assert seen.structures == ({} if words is None else {0: words})
    assert list(seen.outputs) == [1, 2]


def test_named_result_keeps_its_fields(recorded, reference):
    """A framework's own named tuple has the fields that the reference's has."""
    case = recorded(lambda: torch.max(tensor(2, 3), dim=1).values)
    assert Replay(reference, case.program).run().structures == {}


def test_tensor_for_a_number(recorded, reference):
    """A tensor where the reference gives a plain value is seen, and ends nothing."""
    case = recorded(lambda: tensor(2, 3) * tensor(2, 3).dim())
    call = case.program.calls[0]
    assert call.op == "dim"
    call.op, call.kind = "detach", "method"
    seen = Replay(reference, case.program).run()
    assert seen.structures == {0: "returned a Tensor, but should return a int"}
    assert not seen.ended


def test_object_for_none(recorded, reference):
    """A `grad_fn` where the reference has none is seen, and arrives."""
    case = recorded(lambda: (tensor(2).detach().grad_fn, tensor(2))[1])
    case.program.calls[0].op = "abs"
    assert failures(case, reference) == (
        [
            (
                1,
                "structure",
                ("StructureError", "DualError", "TypeError"),
                "returned a AbsBackward0, but should return None",
            )
        ],
        True,
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NotImplementedError("x"), "unsupported"),
        (RuntimeError("float16 is not supported"), "unsupported"),
        (TypeError("f() got an unexpected keyword argument 'x'"), "unsupported"),
        (RuntimeError("Cannot find the kernel matching"), "unsupported"),
        (ValueError("wrong shape"), "exception"),
    ],
    ids=str,
)
def test_refusals_are_told_from_faults(error, kind, recorded, reference, monkeypatch):
    """An exception that says the target does not do this is `unsupported`, another one `exception`."""

    def fail(path):
        raise error

    case = recorded(lambda: torch.relu(tensor(2)))
    monkeypatch.setattr(reference, "resolve", fail)
    [(_, found, classes, message)], ended = failures(case, reference)
    assert (found, classes[0], message, ended) == (kind, type(error).__name__, str(error), True)


def test_accepts_invalid(recorded, reference):
    """A call that passes where the reference raised is noted, and the run goes on."""
    case = recorded(BODIES["raises"])
    case.program.calls[0] = Call("function", "relu", (Ref(0),), {}, raises=("RuntimeError",))
    message = "accepted what the reference refuses with RuntimeError"
    assert failures(case, reference) == ([(0, "accepts_invalid", (), message)], False)


def test_exception_class(recorded, reference):
    """An exception of an unrelated class is noted, and the run goes on."""
    case = recorded(BODIES["raises"])
    case.program.calls[0].raises = ("ValueError",)
    message = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"
    assert failures(case, reference) == ([(0, "exception_class", ("RuntimeError",), message)], False)


@pytest.mark.parametrize(
    ("side", "found"),
    [
        ("target", []),
        (
            "reference",
            [(0, "exception_class", ("RuntimeError",), "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")],
        ),
    ],
)
def test_reference_refuses_for_what_it_said(side, found, recorded, reference):
    """With other inputs PyTorch may refuse a call for something else: then it is no longer the call that was recorded.
    A target has words of its own.
    """
    case = recorded(BODIES["raises"])
    case.program.calls[0].refusal = "expected m1 and m2 to have the same dtype, but got: long int != float"
    seen = Replay(reference, case.program, side=side).run()
    assert [(one.call, one.kind, one.classes, one.message) for one in seen.failures] == found


def test_related_exception_is_the_same(recorded, reference):
    """An exception that shares a class with the reference's is no divergence."""
    case = recorded(BODIES["raises"])
    case.program.calls[0].raises = ("MyRuntimeError", "RuntimeError")
    assert failures(case, reference) == ([], False)


def test_missing_op_where_the_reference_raised(recorded, reference):
    """An op that is missing is missing even where the reference refused the arguments."""
    case = recorded(BODIES["raises"])
    case.program.calls[0].op = "no_such"
    [(call, kind, _, message)], ended = failures(case, reference)
    assert (call, kind, message, ended) == (0, "missing", "torch has no 'no_such'", True)


def test_attribute_error_of_the_ops_own(recorded, reference):
    """An AttributeError from inside a property that exists is an exception, not a missing op."""
    case = recorded(lambda: tensor(2, grad=False))
    case.program.calls.append(Call("get", "broken", (Ref(0),), {}, None))

    class Broken(real.Tensor):
        @property
        def broken(self):
            raise AttributeError("mine")

    replay = Replay(reference, case.program)
    replay.values.by_id[0] = real.ones(2).as_subclass(Broken)
    replay.step(0, case.program.calls[0])
    assert replay.seen.failures == [Failure(0, "exception", ("AttributeError",), "mine")]


def test_nothing_runs_after_the_end(recorded, reference):
    """After a failure no call runs."""
    case = recorded(lambda: torch.relu(tensor(2)) * 2)
    case.program.calls[0].op = "no_such"
    replay = Replay(reference, case.program)
    for x in case.program.inputs:
        replay.place(x)
    for index, call in enumerate(case.program.calls):
        replay.step(index, call)
    assert len(replay.seen.failures) == 1
    assert set(replay.values.by_id) == {0}


def test_failing_backward(recorded, reference):
    """A backward that raises is told apart from the calls."""
    case = recorded(lambda: tensor(2) * 2)
    case.program.cotangents[1] = np.ones((5, 5), np.float32)
    seen = Replay(reference, case.program).run()
    assert (seen.failures, seen.ended) == ([], False)
    assert seen.backward_failure is not None
    assert (seen.backward_failure.call, seen.backward_failure.kind) == (None, "exception")
    assert seen.backward_failure.classes == ("RuntimeError",)


def test_host_values_that_differ(recorded, reference):
    """A host value that differs is told by its call, and the run goes on."""
    case = recorded(BODIES["host"])
    case.program.calls[0].out = (5, 3)
    seen = Replay(reference, case.program).run()
    assert seen.hosts == {0: (2, 3)}
    assert not seen.ended


def test_sides_of_a_custom_dual(recorded, reference):
    """The reference's side runs the first function, the target's the second."""
    case = recorded(lambda: double(tensor(2)))
    case.program.calls[0].custom = ("autotest.conformance.bodies:scaled", "operator:neg")
    x, y = case.program.inputs[0].data, case.seen.outputs[1].data
    assert Replay(reference, case.program, side="reference").run().outputs[1].data.tolist() == y.tolist()
    assert Replay(reference, case.program).run().outputs[1].data.tolist() == (-x).tolist()


def test_unknown_kind_of_call(reference):
    """A kind that no replay knows is told."""
    program = Program(calls=[Call("nonsense", "x", (), {})])
    [failure] = Replay(reference, program).run().failures
    assert failure.message == "call kind 'nonsense' is unknown"


@pytest.mark.parametrize("strides", [None, (1, 2), (3, 1), (6, 2), (0, 1)])
def test_materialise(strides):
    """A fresh buffer has the values and the strides of its input."""
    data = np.broadcast_to(np.arange(3.0), (2, 3)).copy()
    made = materialise(Input(0, "x", data, "float64", strides=strides))
    assert made.tolist() == data.tolist()
    assert made.strides == tuple(8 * stride for stride in strides or (3, 1))
    assert not np.shares_memory(made, data)


@pytest.mark.parametrize(("shape", "strides"), [((2, 3), None), ((2, 3), (8, 2)), ((), None), ((1,), None)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_offset_is_the_tensors_own(reference, shape, strides, dtype):
    """The tensor lies behind other elements of its memory, with its strides, and a write to it is seen there."""
    data = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    replay = Replay(reference, Program([Input(0, "x", data, dtype, strides=strides, offset=3)]))
    replay.place(replay.program.inputs[0])
    tensor = replay.values.by_id[0]
    assert (tensor.storage_offset(), tensor.is_leaf, tuple(tensor.shape)) == (3, True, shape)
    assert strides is None or tensor.stride() == strides
    assert tensor.tolist() == data.tolist()
    assert replay.finish().fill(iter(())).inputs == {}
    tensor += 1
    [changed] = mutated(reference, replay.program, replay.values).values()
    assert changed.tolist() == (data + 1).tolist()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("strides", "offset"), [(None, 0), (None, 3), ((1, 2), 0), ((8, 2), 0), ((8, 2), 3)])
def test_a_view_shares_the_memory_of_its_input(reference, strides, offset, dtype):
    """Wherever the input lies in its memory, and whether or not NumPy has that, too."""
    x = Input(0, "x", np.ones((2, 3), np.float32), dtype, strides=strides, offset=offset)
    calls = [Call("method", name, (Ref(0),), {}, Ref(number)) for number, name in enumerate(("t", "clone"), 1)]
    assert Replay(reference, Program([x], calls, (Ref(1), Ref(2)))).run().shared == [(0, 1)]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (float("nan"), float("nan"), True),
        (0.5, 0.25, False),
        ((1, 2), (1, 2), True),
        ("a", "b", False),
        (np.ones(2), np.ones(2), True),
        (np.ones(2), np.ones(2, np.float32), False),
        (np.ones(2), np.ones((1, 2)), False),
        (np.ones(2), [1, 1], False),
    ],
    ids=str,
)
def test_same_host(expected, actual, same):
    """Host values are the same in type and value; NaN is itself."""
    assert same_host(expected, actual) is same


def test_import_function():
    """A function or a method is found by its path."""
    assert import_function("torch:relu") is real.relu
    assert import_function("torch:Tensor.add_") is real.Tensor.add_


def test_import_function_that_is_not_there():
    """A module that this interpreter does not have says nothing of the target: the op is counted as unmapped."""
    with pytest.raises(UnmappedOp) as raised:
        import_function("no_such_module:op")
    words = "No module named 'no_such_module'"
    assert str(raised.value) == f"'no_such_module:op' is not to be had in {sys.executable}: {words}"


def test_custom_dual_that_is_not_there(recorded, reference):
    """A custom op whose module the target's interpreter does not have fails as unmapped."""
    case = recorded(lambda: double(tensor(2)))
    case.program.calls[0].custom = ("autotest.conformance.bodies:scaled", "no_such_module:op")
    seen = Replay(reference, case.program).run()
    assert [failure.kind for failure in seen.failures] == ["unmapped"]


class Unreadable(Adapter):
    """PyTorch, if ones were more than memory can hold, as a tensor of a negative size is."""

    def read(self, tensors: Sequence[Any]) -> list[Array]:
        """What cannot be read ends the reading of all."""
        if any(tensor.numel() and bool((tensor == 1).all()) for tensor in tensors):
            raise ValueError("negative dimensions are not allowed")
        return super().read(tensors)


def test_what_cannot_be_read_ends_the_run_that_has_it(recorded):
    """It is blamed on the call that made it; runs that are read together with it show what they have."""
    adapter = Unreadable()
    good = recorded(lambda: tensor(2) * 0)
    bad = recorded(lambda: (torch.zeros(2), torch.ones(2), torch.zeros(1)))
    shown, lost, again = observe([Replay(adapter, case.program).start() for case in (good, bad, good)], adapter)
    assert not shown.ended
    assert not again.ended
    assert shown.outputs[1].data.tolist() == again.outputs[1].data.tolist() == [0.0, 0.0]
    assert lost.ended
    words = "what it has given cannot be read: negative dimensions are not allowed"
    assert [(failure.call, failure.kind, failure.message) for failure in lost.failures] == [(1, "exception", words)]


def test_a_gradient_that_cannot_be_read_is_told_at_the_end(recorded):
    """No call has made it."""
    adapter = Unreadable()
    case = recorded(lambda: tensor(2, grad=True) + 0)
    case.program.cotangents = {id_: np.ones(2, np.float32) for id_ in case.program.cotangents}
    lost = Replay(adapter, case.program).run()
    assert [(failure.call, failure.kind) for failure in lost.failures] == [(len(case.program.calls) - 1, "exception")]


@pytest.mark.parametrize("error", [RuntimeError("device-side assert triggered"), MemoryError()])
def test_what_else_ends_a_reading_is_the_process_s_own(recorded, reference, monkeypatch, error):
    """A device that is lost, or memory that was overwritten: no run can be read after it."""

    def lost(tensors):
        raise error

    case = recorded(lambda: torch.ones(2))
    monkeypatch.setattr(reference, "read", lost)
    with pytest.raises(type(error)) as caught:
        Replay(reference, case.program).run()
    assert caught.value is error


def test_parameter_of_another_shape(recorded, reference):
    """A layer of the target whose parameter has another shape says which: its names are all there."""

    class Wide(Adapter):
        def load_state(self, module: Any, state: dict[str, Array]) -> None:
            module.bias.data = real.zeros(1, 4)
            raise KeyError("bias has another shape")

    case = recorded(lambda: torch.nn.Linear(3, 4)(tensor(2, 3)))
    seen = Replay(Wide(), case.program).run()
    assert [failure.message for failure in seen.failures] == ["has bias of shape (1, 4), but should have (4,)"]
