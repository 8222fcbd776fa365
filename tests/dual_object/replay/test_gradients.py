"""A framework that differentiates whole Programs shows what one with a tape does; what one lacks is not asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
import torch as framework

from autotest.conformance.bodies import Recorded, tensor, torch
from dual_object.adapters.torch.adapter import Adapter
from dual_object.adapters.torch.joint import like
from dual_object.errors import UnmappedOp
from dual_object.program.program import Program
from dual_object.replay.gradients import functional
from dual_object.replay.observation import ALL_PARTS
from dual_object.replay.replay import Replay


class Functions(Adapter):
    """PyTorch as a framework without a tape: what its base has of one refuses."""

    def want_grad(self, tensor: Any) -> None:
        """Refuse."""
        raise AssertionError("no tensor of this framework wants a gradient")

    backward = gradient = forget_gradient = want_grad  # type: ignore[assignment]  # each refuses alike

    def gradients(self, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> dict[str, Any]:
        """By a run of PyTorch's own."""
        replay = Replay(Adapter(), program)
        replay.advance(len(program.calls))
        leaves = {key: replay.values.by_id[int(key)] for key in keys}
        outputs = [replay.values.by_id[id_] for id_ in program.cotangents]
        starts = [like(array, output) for array, output in zip(program.cotangents.values(), outputs, strict=True)]
        grads = self.differentiated(outputs, leaves, starts)
        if order == 1:
            return grads
        again = {key: grads[key] for key in program.second_cotangents}
        cotangents = [like(array, again[key]) for key, array in program.second_cotangents.items()]
        return self.differentiated([*again.values()], {key: leaves[key] for key in grads}, cotangents)

    def differentiated(self, outputs: Sequence[Any], leaves: dict[str, Any], starts: Sequence[Any]) -> dict[str, Any]:
        """The gradients of leaves, by key."""
        found = framework.autograd.grad(
            outputs, [*leaves.values()], starts, create_graph=True, allow_unused=True, retain_graph=True
        )
        return dict(zip(leaves, found, strict=True))


def body() -> Any:
    """Two leaves, of which one plays no part, and one that wants no gradient."""
    x, y, _ = tensor(2, 3), tensor(3, grad=False), tensor(2)
    return torch.exp(x) * y


@pytest.fixture
def twice(recorded: Callable[..., Recorded]) -> Recorded:
    """The body, to be differentiated twice."""
    case = recorded(body)
    case.program.second_cotangents = {"0": np.ones((2, 3), np.float32)}
    return case


def test_a_tape_and_functions_show_the_same(twice: Recorded) -> None:
    """First and second gradients; a leaf that plays no part has none."""
    assert functional(Adapter()) is None
    seen, wanted = Replay(Functions(), twice.program).run(), Replay(Adapter(), twice.program).run()
    assert seen.backward_failure is seen.second_failure is None
    assert seen.gradients.keys() == {"0", "2"}
    assert seen.gradients["2"] is wanted.gradients["2"] is None
    for name in ("gradients", "second"):
        first, other = getattr(seen, name)["0"], getattr(wanted, name)["0"]
        assert first.data.tobytes() == other.data.tobytes()


@pytest.mark.parametrize(("order", "failure"), [(1, "backward_failure"), (2, "second_failure")])
def test_functions_that_raise(twice: Recorded, order: int, failure: str) -> None:
    """What a framework raises while it differentiates is its failure; the first gradients are there without second
    ones.
    """

    class Broken(Functions):
        def gradients(self, program: Program, keys: Sequence[str], asked: Literal[1, 2]) -> dict[str, Any]:  # type: ignore[override]  # the name is no matter
            if asked == order:
                raise ValueError(f"no order {asked}")
            return super().gradients(program, keys, asked)

    seen = Replay(Broken(), twice.program).run()
    told = getattr(seen, failure)
    assert (told.kind, told.message) == ("exception", f"no order {order}")
    assert (seen.gradients.get("0") is not None) is (order == 2)


@pytest.mark.parametrize(
    ("aspect", "hidden"),
    [
        ("layout", {"layout"}),
        ("sharing", {"sharing"}),
        ("standing", {"standing"}),
        ("inputs", {"inputs", "parameters"}),
        ("second", {"second"}),
        ("random", set()),
        ("exceptions", set()),
    ],
)
def test_what_is_lacking_is_not_shown(twice: Recorded, aspect: Any, hidden: set[str]) -> None:
    """Each aspect takes its parts away, and no other."""
    adapter = Adapter()
    adapter.lacks = frozenset({aspect})
    seen = Replay(adapter, twice.program).run()
    assert seen.shows == ALL_PARTS - hidden
    assert (seen.second == {}) is (aspect == "second")


def test_inputs_without_a_layout(recorded: Callable[..., Recorded]) -> None:
    """A framework that keeps no offsets gets the values alone."""
    case = recorded(lambda: torch.relu(tensor(3)))
    case.program.inputs[0] = replace(case.program.inputs[0], offset=2)
    adapter = Adapter()
    [placed] = _placed(adapter, case.program)
    assert placed.storage_offset() == 2
    adapter.lacks = frozenset({"layout"})
    [placed] = _placed(adapter, case.program)
    assert placed.storage_offset() == 0
    assert placed.tolist() == case.program.inputs[0].data.tolist()


def test_changed_inputs_that_are_not_shown(recorded: Callable[..., Recorded]) -> None:
    """A framework that cannot tell what becomes of an input is not looked at."""
    case = recorded(lambda: tensor(3, grad=False).relu_())
    adapter = Adapter()
    assert Replay(adapter, case.program).run().inputs.keys() == {0}
    adapter.lacks = frozenset({"inputs"})
    assert Replay(adapter, case.program).run().inputs == {}


@pytest.mark.parametrize("kind", ["function", "method"])
def test_names_that_the_table_does_not_have(recorded: Callable[..., Recorded], kind: str) -> None:
    """They are told from names that the framework does not have."""

    class Table(Adapter):
        def resolve(self, path: str) -> Any:
            raise UnmappedOp(f"the table has no {path!r}")

        def attribute(self, receiver: Any, name: str) -> Any:
            raise UnmappedOp(f"the table has no {name!r}")

    def call() -> Any:
        x = tensor(3)
        return torch.relu(x) if kind == "function" else x.relu()

    [failure] = Replay(Table(), recorded(call).program).run().failures
    assert (failure.kind, failure.message) == ("unmapped", "the table has no 'relu'")


def test_exceptions_that_say_nothing(recorded: Callable[..., Recorded]) -> None:
    """Which class a refusal has is compared with what has classes alone."""

    class Refusing(Adapter):
        def resolve(self, path: str) -> Any:
            raise KeyError(path)

    def refused() -> Any:
        x = tensor(2, 3)
        try:
            return torch.matmul(x, x)
        except RuntimeError:
            return x * 2

    program, adapter = recorded(refused).program, Refusing()
    assert [failure.kind for failure in Replay(adapter, program).run().failures] == ["exception_class"]
    adapter.lacks = frozenset({"exceptions"})
    assert Replay(adapter, program).run().failures == []


def _placed(adapter: Adapter, program: Program) -> list[Any]:
    replay = Replay(adapter, program)
    replay.advance(0)
    return [*replay.values.inputs.values()]
