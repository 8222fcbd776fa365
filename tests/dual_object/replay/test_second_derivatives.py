"""Second derivatives are those of the first gradients, observed apart from them."""

from __future__ import annotations

import numpy as np
import pytest

from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import from_json, to_json
from dual_object.replay.replay import Replay

VALUES = np.array([1.0, 2.0, 3.0], np.float32)


def program(op: str, second: dict[str, Array]) -> Program:
    """`op(x)` differentiated from ones, and again from `second`."""
    return Program(
        inputs=[Input(0, "x", VALUES.copy(), "float32", requires_grad=True)],
        calls=[Call("function", op, (Ref(0),), {}, out=Ref(1))],
        outputs=Ref(1),
        cotangents={1: np.ones(3, np.float32)},
        second_cotangents=second,
    )


def test_second_derivative_is_that_of_the_gradient() -> None:
    """The second derivative is the cotangent times the derivative of the gradient, which stays what it was."""
    seen = Replay(Adapter(), program("exp", {"0": np.array([1.0, 0.0, 2.0], np.float32)})).run()
    first, second = seen.gradients["0"], seen.second["0"]
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first.data, np.exp(VALUES), rtol=1e-6)
    np.testing.assert_allclose(second.data, np.exp(VALUES) * [1, 0, 2], rtol=1e-6)
    assert first.requires_grad


def test_no_second_cotangent_no_second_derivative() -> None:
    """Without second cotangents the gradient has no graph, and nothing is differentiated again."""
    seen = Replay(Adapter(), program("exp", {})).run()
    assert seen.second == {}
    assert seen.gradients["0"] is not None
    assert not seen.gradients["0"].requires_grad


def test_gradient_that_is_constant_has_no_second() -> None:
    """A linear op's gradient starts no second backward, and its leaf has no second derivative."""
    seen = Replay(Adapter(), program("neg", {"0": np.ones(3, np.float32)})).run()
    assert seen.second == {"0": None}
    assert seen.second_failure is None


def test_gradients_are_had_where_a_graph_of_them_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backward that cannot make a graph is made again without one: only the second derivatives have failed."""
    adapter = Adapter()
    real = adapter.backward

    def refusing(outputs, cotangents, *, create_graph=False):  # type: ignore[no-untyped-def]
        if create_graph:
            raise RuntimeError("The gradient function for op exp_grad is not found.")
        real(outputs, cotangents)

    monkeypatch.setattr(adapter, "backward", refusing)
    seen = Replay(adapter, program("exp", {"0": np.ones(3, np.float32)})).run()
    assert seen.backward_failure is None
    assert seen.second_failure is not None
    assert (seen.second_failure.kind, seen.second_failure.classes) == ("unsupported", ("RuntimeError",))
    assert seen.gradients["0"] is not None
    np.testing.assert_allclose(seen.gradients["0"].data, np.exp(VALUES), rtol=1e-6)


def test_backward_that_fails_with_and_without_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both failures are told, after one further run."""
    adapter, runs = Adapter(), []

    def refusing(outputs: object, cotangents: object, *, create_graph: bool = False) -> None:
        runs.append(create_graph)
        raise RuntimeError("no gradient")

    monkeypatch.setattr(adapter, "backward", refusing)
    seen = Replay(adapter, program("exp", {"0": np.ones(3, np.float32)})).run()
    assert runs == [True, False]
    assert seen.backward_failure is not None
    assert seen.second_failure is not None


def test_stored_and_read_back() -> None:
    """Second cotangents and derivatives survive being stored; a Program without them stores none."""
    twice = program("exp", {"0": np.ones(3, np.float32)})
    arrays: list[Array] = []
    data = twice.to_json(arrays)
    again = Program.from_json(data, arrays)
    np.testing.assert_array_equal(again.second_cotangents["0"], np.ones(3, np.float32))
    assert "second" not in program("exp", {}).to_json([])
    seen = Replay(Adapter(), twice).run()
    told: list[Array] = []
    shown = from_json(to_json(seen, told), told).second["0"]
    assert shown is not None
    assert seen.second["0"] is not None
    np.testing.assert_array_equal(shown.data, seen.second["0"].data)


def test_isolated_call_is_differentiated_twice() -> None:
    """A call alone has second derivatives where its Program has, from a fixed wave."""
    twice = program("exp", {"0": np.ones(3, np.float32)})
    [(index, alone, seen)] = isolate(Adapter(), twice)
    assert index == 0
    assert list(alone.second_cotangents) == ["0"]
    assert seen.second["0"] is not None
    np.testing.assert_allclose(
        seen.second["0"].data, np.cos(np.arange(3)) * alone.cotangents[1] * np.exp(VALUES), rtol=1e-6
    )
    [(_, once, _)] = isolate(Adapter(), program("exp", {}))
    assert once.second_cotangents == {}


def test_printed_program_says_so() -> None:
    """The reader of a Program sees that it is differentiated twice."""
    text = str(program("exp", {"0": np.ones(3, np.float32)}))
    assert text == "def program(torch, x):\n    t0 = torch.exp(x)\n    return t0  # differentiated twice"
