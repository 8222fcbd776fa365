"""Placements and sbp as neutral values, global tensors on the reference, and the real OneFlow with them on one rank."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autotest.conformance.bodies import Body, Recorded, assert_graph, assert_same, tensor, torch
from autotest.workers.supervisor import Supervisor
from dual_object import Observation, Program
from dual_object.adapters.oneflow import global_tensors as oneflow_globals
from dual_object.adapters.torch.adapter import Adapter as Reference
from dual_object.errors import ArgumentError
from dual_object.program.global_layouts import BROADCAST, everywhere, global_scope, layouts, ranks_needed
from dual_object.program.global_layouts import distributed as is_distributed
from dual_object.program.printing import show
from dual_object.program.values import Placement, Sbp, from_json, to_json
from dual_object.replay.adapter import GraphRefusal, distributed
from dual_object.replay.isolation import isolate
from dual_object.replay.replay import Replay

ROW = Placement("cpu", [0])
S0 = Sbp("split", 0)
with_oneflow = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")


@pytest.fixture(scope="module")
def oneflow() -> Iterator[Supervisor]:
    """OneFlow in its own process, a world of one rank."""
    supervisor = Supervisor("oneflow", 60)
    yield supervisor
    supervisor.close()


@pytest.mark.parametrize(
    "leaf", [ROW, Placement("cuda", [[0, 1], [2, 3]]), BROADCAST, Sbp("partial_sum"), Sbp("split", 2)], ids=repr
)
def test_round_trip(leaf: Any) -> None:
    """A placement or sbp is the same after JSON."""
    back = from_json(json.loads(json.dumps(to_json([leaf, (leaf,)], []))), [])
    assert back == [leaf, (leaf,)]
    assert hash(back[0]) == hash(leaf)


@pytest.mark.parametrize(
    ("leaf", "printed"),
    [
        (ROW, 'flow.placement("cpu", [0])'),
        (Placement("cuda", np.arange(4).reshape(2, 2)), 'flow.placement("cuda", [[0, 1], [2, 3]])'),
        ([S0, BROADCAST], "[flow.sbp.split(0), flow.sbp.broadcast]"),
        (Sbp("partial_sum"), "flow.sbp.partial_sum"),
    ],
)
def test_printed(leaf: Any, printed: str) -> None:
    """A placement or sbp prints as OneFlow users type it."""
    assert show(leaf) == printed


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Placement("cpu", [[0], [1, 2]]),
            "ranks=[[0], [1, 2]], but should be a list of ranks, or lists of lists of one length [placement(...)]",
        ),
        (
            lambda: Placement("cpu", []),
            "ranks=[], but should be a list of ranks, or lists of lists of one length [placement(...)]",
        ),
        (
            lambda: Placement("cpu", [-1]),
            "ranks=[-1], but should be a list of ranks, or lists of lists of one length [placement(...)]",
        ),
        (
            lambda: Placement("cpu", 3),
            "ranks=3, but should be a list of ranks, or lists of lists of one length [placement(...)]",
        ),
        (lambda: Placement("tpu", [0]), "type='tpu', but should be 'cpu' or 'cuda' [placement(...)]"),
        (lambda: Sbp("B"), "kind='B', but should be one of split, broadcast, partial_sum [sbp]"),  # type: ignore[arg-type]
        (lambda: Sbp("split"), "dim=None, but should be a dimension for a split alone [sbp.split]"),
        (lambda: Sbp("broadcast", 0), "dim=0, but should be a dimension for a split alone [sbp.broadcast]"),
    ],
)
def test_refused(make: Callable[[], Any], sentence: str) -> None:
    """What is no placement or sbp is refused in one sentence."""
    with pytest.raises(ArgumentError) as caught:
        make()
    assert str(caught.value) == sentence


def moved() -> Any:
    """A tensor that is spread, used, and moved again."""
    x = tensor(4, 3).to_global(placement=ROW, sbp=S0)
    return torch.relu(x).to_global(sbp=[BROADCAST])


def scoped(body: Body) -> Body:
    """The body inside a global scope."""

    def run() -> Any:
        with global_scope():
            return body()

    return run


def linear() -> Any:
    """A module and its input."""
    return torch.nn.Linear(3, 2)(tensor(4, 3))


def created() -> Any:
    """A tensor that is made global by the function that makes it."""
    return torch.ones(2, 3, placement=ROW, sbp=BROADCAST) * tensor(3)


def handed_on() -> Any:
    """A tensor that is spread as another one lies."""
    x, y = tensor(4, 3), tensor(4, 3)
    x = x.to_global(sbp=S0)
    return y.to_global(placement=x.placement, sbp=x.sbp) + torch.relu(x)


def by_function() -> Any:
    """Moves by functions, and back to a local tensor."""
    x = torch.to_global(tensor(4), ROW, BROADCAST)
    return x.to_local() * 2


#: Bodies by name: what they print, and whether a static graph can run them.
BODIES: dict[str, tuple[Body, str]] = {
    "moved": (moved, "OneFlow's nn.Graph makes no global tensor of a local one"),
    "moved_in_scope": (scoped(moved), ""),
    "linear": (scoped(linear), ""),
    "created": (scoped(created), ""),
    "handed_on": (scoped(handed_on), ""),
    "by_function": (by_function, "OneFlow's nn.Graph makes no global tensor of a local one"),
    "to_local": (scoped(lambda: tensor(3).to_local()), "OneFlow's nn.Graph makes no local tensor of a global one"),
    "in_place": (scoped(lambda: (tensor(3) * 1).add_(2)), ""),
    "integers": (scoped(lambda: torch.arange(4, placement=ROW, sbp=BROADCAST) + 1), ""),
    "views": (scoped(lambda: torch.split(tensor(6, 2), 2)), ""),
}


def test_program_of_moves(recorded: Callable[..., Recorded]) -> None:
    """Moves are recorded as calls; what the body reads of a global tensor is in the Program."""

    def body() -> Any:
        x = tensor(4, 3)
        assert not x.is_global
        x = x.to_global(placement=ROW, sbp=S0)
        assert x.is_global
        assert x.placement.type == "cpu"
        assert x.placement.ranks.shape == (1,)
        assert x.sbp[0] == S0
        assert len(torch.relu(x).sbp) == 1
        return x

    assert str(recorded(body).program).splitlines() == [
        "def program(torch, x):",
        "    x.is_global  # False",
        '    t0 = x.to_global(placement=flow.placement("cpu", [0]), sbp=flow.sbp.split(0))',
        "    t0.is_global  # True",
        "    t1 = t0.placement",
        '    t1.type  # "cpu"',
        "    t2 = t0.placement",
        "    t2.ranks  # array(shape=(1,), dtype=int64)",
        "    (t3,) = t0.sbp",
        "    t3 == flow.sbp.split(0)  # True",
        "    t4 = torch.relu(t0)",
        "    (t5,) = t4.sbp",
        "    return t0",
    ]


def test_moves_keep_values_and_gradients(recorded: Callable[..., Recorded]) -> None:
    """On the reference a move is a copy that gradients flow through, and a keyword of global tensors is left out."""
    for body in (moved, scoped(created)):
        case = recorded(body)
        assert all(gradient is not None for gradient in case.seen.gradients.values())
    x, outputs = recorded(lambda: (lambda x: (x, x.to_global(sbp=S0).add_(1)))(tensor(3))), 2
    assert len(x.seen.outputs) == outputs
    first, second = x.seen.outputs.values()
    assert np.array_equal(first.data + 1, second.data)


def test_local_tensor_has_no_placement(recorded: Callable[..., Recorded]) -> None:
    """A placement is asked of a local tensor in vain, as in OneFlow."""
    with pytest.raises(AttributeError, match="object has no attribute 'placement'"):
        recorded(lambda: tensor(3).placement)


def test_scope_is_in_the_program(recorded: Callable[..., Recorded]) -> None:
    """Inside a scope inputs have a layout and modules are moved; both survive JSON; outside neither."""
    case = recorded(scoped(linear))
    [x] = case.program.inputs
    assert x.layout == (everywhere("cpu"), (BROADCAST,))
    assert [call.op for call in case.program.calls] == ["nn.Linear", "to_global", "Linear"]
    arrays: list[Any] = []
    back = Program.from_json(json.loads(json.dumps(case.program.to_json(arrays))), arrays)
    assert back.inputs[0].layout == x.layout
    assert str(back) == str(case.program)
    assert is_distributed(case.program)
    outside = recorded(linear)
    assert outside.program.inputs[0].layout is None
    assert not is_distributed(outside.program)
    assert layouts(outside.program) == {}


def test_ranks_needed(recorded: Callable[..., Recorded]) -> None:
    """A Program needs as many ranks as its placements name."""
    assert ranks_needed(recorded(linear).program) == 1
    wide = Placement("cpu", [[0, 1], [2, 3]])
    case = recorded(lambda: tensor(4).to_global(placement=wide, sbp=[S0, BROADCAST]))
    assert ranks_needed(case.program) == 4


def test_isolated_calls_keep_their_layout(recorded: Callable[..., Recorded], reference: Reference) -> None:
    """A call that is run alone has global operands where it had them, and a module where it lay."""
    case = recorded(scoped(lambda: torch.nn.Linear(3, 2)(torch.relu(tensor(4, 3).to_global(sbp=S0)))))
    alone = {program.calls[-1].op: program for _, program, _ in isolate(reference, case.program)}
    assert alone["relu"].inputs[0].layout == (ROW, (S0,))
    assert alone["Linear"].inputs[0].layout == (ROW, (BROADCAST,))
    assert [call.op for call in alone["Linear"].calls] == ["nn.Linear", "to_global", "train", "Linear"]


def test_reference_replays_moves(recorded: Callable[..., Recorded], reference: Reference) -> None:
    """The reference runs a stored Program with global tensors again, reads included."""
    for body, _ in BODIES.values():
        case = recorded(body)
        assert_same(case.seen, Replay(reference, case.program, side="reference").run())


def test_target_without_global_tensors(recorded: Callable[..., Recorded], reference: Reference) -> None:
    """A target without global tensors refuses inputs, moves and reads as unsupported, with that reason."""
    assert distributed(reference) is None
    for body in (scoped(lambda: tensor(3) * 2), moved, lambda: tensor(3).to_local(), lambda: tensor(3).is_global):
        seen = Replay(reference, recorded(body).program).run()
        assert seen.ended
        assert (seen.failures[-1].kind, seen.failures[-1].message) == ("unsupported", "torch has no global tensors")


def test_inline_target_without_global_tensors(recorded: Callable[..., Recorded], reference: Reference) -> None:
    """Step by step as well, such a target ends with that failure, and the body goes on."""
    stepper = Replay(reference, Program())
    case = recorded(scoped(lambda: tensor(3) * 2), stepper=stepper)
    assert len(case.seen.outputs) == 1
    assert [failure.kind for failure in stepper.seen.failures] == ["unsupported"]


def test_pytest_never_imports_oneflow_for_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is no placement where nobody has imported OneFlow, and asking imports nothing."""
    monkeypatch.delitem(sys.modules, "oneflow", raising=False)  # another test of this process may have imported it
    assert oneflow_globals.neutral(object()) is None
    assert "oneflow" not in sys.modules


@with_oneflow
@pytest.mark.parametrize("name", BODIES)
def test_oneflow_eager(name: str, oneflow: Supervisor, recorded: Callable[..., Recorded]) -> None:
    """OneFlow runs every body eagerly on global tensors, gradients included, as the reference does."""
    case = recorded(BODIES[name][0])
    [seen] = oneflow.eager([case.program])
    assert isinstance(seen, Observation)
    assert_same(case.seen, seen, rtol=1e-5, atol=1e-5)


@with_oneflow
def test_oneflow_graph(oneflow: Supervisor, recorded: Callable[..., Recorded]) -> None:
    """One request runs local and global Programs in graphs, forward and backward; what a graph cannot do is skipped
    with its reason.
    """
    cases = [recorded(lambda: torch.relu(tensor(3))), *(recorded(body) for body, _ in BODIES.values())]
    reasons = ["", *(reason for _, reason in BODIES.values())]
    for keys in (None, [case.gradient_keys() for case in cases]):
        answer = oneflow.graph([case.program for case in cases], keys)
        assert isinstance(answer, list), answer
        for index, (case, result, reason) in enumerate(zip(cases, answer, reasons, strict=True)):
            if reason:
                assert result == GraphRefusal(True, None, (), reason)
            else:
                assert isinstance(result, Observation), result
                assert_graph(case, result, keys[index] if keys else [], rtol=1e-5, atol=1e-5)


@with_oneflow
def test_oneflow_graph_of_two_dimensions(oneflow: Supervisor, recorded: Callable[..., Recorded]) -> None:
    """Gradients between placements of one and two dimensions, over which a graph would abort, are skipped."""
    square = Placement("cpu", [[0]])
    case = recorded(scoped(lambda: torch.relu(tensor(2, 2).to_global(placement=square, sbp=[S0, S0]))))
    answer = oneflow.graph([case.program], [case.gradient_keys()])
    reason = "OneFlow's nn.Graph aborts on gradients between placements of one and of two dimensions"
    assert answer == [GraphRefusal(True, None, (), reason)]
    [forward] = oneflow.graph([case.program], None)  # type: ignore[misc]
    assert_graph(case, forward, [])  # type: ignore[arg-type]


@with_oneflow
def test_oneflow_shows_a_wrong_read(oneflow: Supervisor, recorded: Callable[..., Recorded]) -> None:
    """What the Program says of a tensor's placement is compared with what OneFlow says."""
    case = recorded(scoped(lambda: (lambda x: (x.is_global, x.placement.type, x * 2)[2])(tensor(3))))
    reads = [index for index, call in enumerate(case.program.calls) if call.op in ("is_global", "type")]
    for index, told in zip(reads, (False, "cuda"), strict=True):
        case.program.calls[index].out = told
    [seen] = oneflow.eager([case.program])
    assert isinstance(seen, Observation)
    assert list(seen.hosts.values()) == [True, "cpu"]
