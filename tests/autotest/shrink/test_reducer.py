"""Reduction of Programs on the reference alone: the judge of these tests is a line of Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from autotest.shrink.reducer import Reducer, settle
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.record.namespace import torch
from dual_object.record.recording import Recording
from dual_object.replay.replay import Replay
from support.trainings import batch, recorded

Judge = Callable[[Program], bool]


def _values(*shape: int, dtype: str = "float32") -> np.ndarray:
    return (np.arange(1, 1 + int(np.prod(shape))).reshape(shape) * 1.25).astype(dtype)


def _chain() -> Program:
    """x -> relu -> exp -> sum over a dimension, with a host read and a second output; all of it differentiable."""
    return Program(
        inputs=[Input(0, "x", _values(4, 6), "float32", requires_grad=True, strides=(1, 4))],
        calls=[
            Call("function", "relu", (Ref(0),), {}, out=Ref(1)),
            Call("method", "size", (Ref(1), 0), {}, out=4),
            Call("function", "exp", (Ref(1),), {}, out=Ref(2)),
            Call("method", "sum", (Ref(2),), {"dim": 1, "keepdim": True}, out=Ref(3)),
        ],
        outputs=(Ref(3), Ref(1)),
        cotangents={3: np.ones((4, 1), np.float32), 1: np.ones((4, 6), np.float32)},
    )


def _reduce(reference: Adapter, program: Program, judge: Judge, *, forward: bool = True) -> Program:
    found = Reducer(reference, judge).run([program], forward=forward)
    assert found is not None
    return found


def test_only_the_needed_call_is_left(reference: Adapter) -> None:
    """Of a chain one call is left, on one zero, without backward, strides and further outputs."""
    found = _reduce(reference, _chain(), lambda program: "exp" in program.ops())
    assert str(found) == "def program(torch, x):\n    t0 = torch.exp(x)\n    return t0"
    [x] = found.inputs
    assert (x.data.tolist(), x.requires_grad, x.strides, found.cotangents) == (0.0, False, None, {})


@pytest.mark.parametrize(
    ("needed", "lies"),
    [
        ((False, False), (None, 0)),
        ((True, False), ((12, 2), 0)),
        ((False, True), (None, 3)),
        ((True, True), ((12, 2), 3)),
    ],
)
def test_where_an_input_lies_is_kept_as_far_as_it_matters(
    reference: Adapter, needed: tuple[bool, bool], lies: tuple[tuple[int, ...] | None, int]
) -> None:
    """Strides and offset go, each by itself, where the divergence comes without."""
    program = _chain()
    program.inputs[0] = replace(program.inputs[0], strides=(12, 2), offset=3)

    def judge(program: Program) -> bool:
        [x] = program.inputs
        has = (x.strides is not None, x.offset > 0)
        return x.data.ndim == 2 and all(held or not asked for held, asked in zip(has, needed, strict=True))

    [x] = _reduce(reference, program, judge).inputs
    assert (x.strides, x.offset) == lies


def test_result_does_not_depend_on_when(reference: Adapter) -> None:
    """The same Program and judge give the same result after the same runs."""
    runs: list[int] = [0, 0]

    def judge(number: int) -> Judge:
        def judged(program: Program) -> bool:
            runs[number] += 1
            return "sum" in program.ops() and program.inputs[0].data.size >= 3

        return judged

    first, second = (_reduce(reference, _chain(), judge(number)) for number in range(2))
    assert str(first) == str(second)
    assert first.inputs[0].data.tolist() == second.inputs[0].data.tolist()
    assert runs[0] == runs[1]


def test_condition_on_values_and_sizes_is_met_exactly(reference: Adapter) -> None:
    """Six elements of which one is above 2: five zeros and the least small integer above it are left."""

    def judge(program: Program) -> bool:
        return any(x.data.size >= 6 and (x.data > 2).any() for x in program.inputs)

    found = _reduce(reference, _chain(), judge)
    [x] = found.inputs
    assert (x.data.size, sorted(x.data.reshape(-1).tolist())) == (6, [0.0] * 5 + [4.0])


def test_backward_keeps_its_gradient(reference: Adapter) -> None:
    """Where the backward is needed it is kept: one leaf, one cotangent of the output's new shape."""

    def judge(program: Program) -> bool:
        return bool(program.cotangents) and "sum" in program.ops()

    found = _reduce(reference, _chain(), judge, forward=False)
    assert str(found) == "def program(torch, x):\n    t0 = x.sum()\n    return t0"
    assert [x.requires_grad for x in found.inputs] == [True]
    assert {id_: array.shape for id_, array in found.cotangents.items()} == {3: ()}


def test_sizes_that_belong_together_shrink_together(reference: Adapter) -> None:
    """A matrix product's inner size is one for both matrices, and so is the size that `view` is given."""
    program = Program(
        inputs=[Input(0, "x", _values(4, 5), "float32"), Input(1, "y", _values(5, 3), "float32")],
        calls=[
            Call("function", "matmul", (Ref(0), Ref(1)), {}, out=Ref(2)),
            Call("method", "view", (Ref(2), 12), {}, out=Ref(3)),
            Call("method", "view", (Ref(3), 4, 3), {}, out=Ref(4)),
        ],
        outputs=Ref(4),
    )
    found = _reduce(
        reference, program, lambda program: program.ops()[:1] == ["matmul"] and program.inputs[0].data.ndim == 2
    )
    assert found.ops() == ["matmul"]
    assert [x.data.shape for x in found.inputs] in ([(1, 1), (1, 1)], [(1, 1), (1,)])


def test_module_shrinks_with_its_state(reference: Adapter) -> None:
    """The sizes of a module's arguments shrink with its input, and its state with them."""
    program = Program(
        inputs=[Input(0, "x", _values(2, 4), "float32")],
        calls=[
            Call(
                "module",
                "nn.Linear",
                (4, 3),
                {},
                out=Ref(1),
                state={"weight": _values(3, 4), "bias": _values(3)},
            ),
            Call("call", "Linear", (Ref(1), Ref(0)), {}, out=Ref(2)),
        ],
        outputs=Ref(2),
    )
    found = _reduce(
        reference, program, lambda program: program.ops() == ["Linear", "Linear"] and "bias" in program.calls[0].state
    )
    module = found.calls[0]
    assert (module.args, {name: array.tolist() for name, array in module.state.items()}) == (
        (1, 1),
        {"weight": [[0.0]], "bias": [0.0]},
    )
    assert found.inputs[0].data.size == 1


def test_parameter_that_is_not_needed_in_the_end(reference: Adapter) -> None:
    """One that the body made is cut off first, then the call that reads it: nothing of it is left."""
    program = Program(
        inputs=[Input(0, "x", _values(2, 3), "float32", requires_grad=True)],
        calls=[
            Call("function", "ones", (3,), {}, out=Ref(1)),
            Call("function", "nn.Parameter", (Ref(1),), {}, out=Ref(2)),
            Call("function", "mul", (Ref(0), Ref(2)), {}, out=Ref(3)),
            Call("function", "relu", (Ref(3),), {}, out=Ref(4)),
        ],
        outputs=Ref(4),
        cotangents={4: np.ones((2, 3), np.float32)},
        leaves=[2],
    )

    def judge(candidate: Program) -> bool:
        ops = candidate.ops()
        return "relu" in ops and bool(candidate.cotangents) and ("mul" in ops) >= ("Parameter" in ops)

    found = _reduce(reference, program, judge, forward=False)
    assert (str(found), found.leaves) == ("def program(torch, x):\n    t0 = torch.relu(x)\n    return t0", [])


def test_module_is_no_result(reference: Adapter) -> None:
    """What is left of a module and its mode returns nothing."""
    program = Program(
        inputs=[Input(0, "x", _values(2, 4), "float32")],
        calls=[
            Call("module", "nn.ReLU", (), {}, out=Ref(1)),
            Call("method", "train", (Ref(1), False), {}, out=Ref(1)),
            Call("call", "ReLU", (Ref(1), Ref(0)), {}, out=Ref(2)),
        ],
        outputs=Ref(2),
    )
    found = _reduce(reference, program, lambda program: any(call.op == "train" for call in program.calls))
    assert str(found) == "def program(torch):\n    m0 = torch.nn.ReLU()\n    m0.train()"
    assert found.outputs is None


def test_what_the_reference_refuses_is_never_judged(reference: Adapter) -> None:
    """Every judged candidate runs on the reference, and shows what it says of itself."""
    judged: list[Program] = []

    def judge(program: Program) -> bool:
        judged.append(program)
        return "sum" in program.ops()

    _reduce(reference, _chain(), judge)
    assert len(judged) > 5
    assert all(settle(reference, program) is not None for program in judged)
    reads = [call.out for program in judged for call in program.calls if call.op == "size"]
    assert set(reads) - {4}, "a host read is recorded anew"


def test_program_that_the_reference_cannot_run() -> None:
    """Such a Program settles to nothing, as one without calls does."""
    adapter = Adapter()
    x = Input(0, "x", _values(3), "float32")
    refused = Program([x], [Call("function", "mm", (Ref(0), Ref(0)), {}, out=Ref(1))], Ref(1))
    assert settle(adapter, refused) is None
    assert settle(adapter, Program([x], [], Ref(0))) is None


def test_nothing_stands(reference: Adapter) -> None:
    """Where not even the Program itself shows it, there is no result."""
    assert Reducer(reference, lambda program: False).run([_chain()], forward=True) is None


def test_best_so_far_survives_the_end(reference: Adapter) -> None:
    """A judge that ends the search leaves the simplest Program that had stood."""
    runs: list[Program] = []

    def judge(program: Program) -> bool:
        runs.append(program)
        if len(runs) > 6:
            raise TimeoutError
        return program.inputs[0].data.size >= 12

    reducer = Reducer(reference, judge)
    with pytest.raises(TimeoutError):
        reducer.run([_chain()], forward=True)
    assert reducer.best is not None
    assert reducer.best.inputs[0].data.size in (12, 24)


def test_training_keeps_its_calls(reference: Adapter) -> None:
    """Of a training steps, sizes and values become less, and it stays one; its optimizer keeps what it is given, and
    nothing of that is switched off.
    """

    def body(recording: Recording) -> object:
        layer = torch.nn.Linear(2, 3)
        torch.optim.Adam(layer.parameters(), lr=2.25, weight_decay=0.5, amsgrad=True)
        return layer(batch(recording)).mean()

    program = recorded(body, 3)
    found = _reduce(reference, program, lambda candidate: "Adam" in candidate.ops())
    assert str(found).splitlines()[:4] == [
        "def program(torch, x):",
        "    m0 = torch.nn.Linear(1, 1)",
        "    t0, t1 = m0.parameters()",
        "    t2 = torch.optim.Adam([t0, t1], lr=1.0, weight_decay=0.5, amsgrad=True)",
    ]
    assert found.training is not None
    assert len(found.training.steps) == 1
    assert all(not x.data.any() for x in found.inputs)
    shown = Replay(reference, found, side="reference").run().outputs.keys()
    assert shown == {*found.training.shown()}


def test_mean_of_batches_stays_one(reference: Adapter) -> None:
    """Of two batches with two columns the columns become fewer, and each loss is still divided by two."""

    def body(recording: Recording) -> object:
        layer = torch.nn.Linear(2, 3)
        torch.optim.SGD(layer.parameters(), lr=0.25)
        return layer(batch(recording)).mean()

    found = _reduce(reference, recorded(body, 1, accumulate=2), lambda candidate: "SGD" in candidate.ops())
    lines = str(found).splitlines()
    assert "    m0 = torch.nn.Linear(1, 1)" in lines
    assert [line.partition(" = ")[2] for line in lines if " / " in line] == ["t4 / 2", "t7 / 2"]


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_numbers_of_no_dimension_stay_arrays(reference: Adapter, dtype: str) -> None:
    """A number with a fraction becomes a whole one in inputs and cotangents, and can be stored."""
    number = np.array(4.25, dtype)
    program = Program(
        inputs=[Input(0, "x", number, dtype, requires_grad=True, strides=())],
        calls=[Call("function", "exp", (Ref(0),), {}, out=Ref(1))],
        outputs=(Ref(1),),
        cotangents={1: number},
    )

    def given(program: Program) -> list[np.ndarray]:
        return [program.inputs[0].data, *program.cotangents.values()]

    found = _reduce(reference, program, lambda program: len(given(program)) == 2 and min(given(program)).real > 3)
    assert [(type(array), array.item()) for array in given(found)] == [(np.ndarray, 4.0)] * 2
    found.to_json([])
