"""Scripts in the words of a target that calls things otherwise: they need that target and NumPy, and judge by what
PyTorch gave.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.divergence import new_row
from autotest.repro import script as make_script
from autotest.repro.translated import SPEECHES, Speech
from autotest.repro.unscripted import Unscripted
from autotest.repro.verifying import verify
from dual_object.adapters.dialect import Row
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from support.runs import INTERPRETER

#: A framework that calls things otherwise.
FRAMEWORK = """
import os

import numpy as np

__version__ = "1"


class Tensor(np.ndarray):
    grad = None


def make(array, dtype, kept=False):
    return np.array(array, dtype).view(Tensor)


def sine(input):
    return {sine}


def total(input, axis=None):
    return np.asarray(np.sum(input, axis=axis)).view(Tensor)


class Scaled:
    def __init__(self, size, eps=0.0):
        self.weight, self.scaling = Held(size), True

    def train(self):
        self.scaling = True
        return self

    def eval(self):
        self.scaling = False
        return self

    def __call__(self, x):
        return (x * {scale}).view(Tensor) if self.scaling else x


class Held:
    def __init__(self, size):
        self.array = np.ones(size)

    def set_value(self, array):
        self.array = array


def differentiate(outputs, starts, leaf):
    leaf.grad = {gradient}
"""
SPEECH = Speech(
    "framework",
    ("import framework",),
    'framework.make({array}, "{dtype}")',
    'framework.make({array}, "{dtype}", kept=True)',
    "np.asarray({value})",
    "framework.differentiate([{outputs}], [{starts}], x)",
    "{leaf}.grad",
    "{layer}.{name}.set_value({array})",
)
ROWS = (
    Row("nn.PReLU", to="Scaled", args=("num_parameters", "init"), rename={"num_parameters": "size", "init": "eps"}),
    Row("nn.Linear", code="linear"),
    Row("nn.BatchNorm1d", to="Scaled", args=("num_features", "eps"), rename={"num_features": "size"}),
    Row("sin", to="sine"),
    Row("sum", to="total", args=("input", "dim"), rename={"dim": "axis"}),
    Row("median", code="median"),
    Row("std", args=("input", "dim", "correction"), unsupported={"correction": 1}),
)
VALUES = np.array([[0.5, 1.0], [2.0, 3.0]], np.float32)


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for the framework."""
    rows = MappingProxyType({row.path: row for row in ROWS})
    monkeypatch.setattr(sys.modules["autotest.repro.translated.script"], "rows", lambda target: rows)
    for place in ("script", "obstacles"):
        module = sys.modules[f"autotest.repro.{place}"]
        monkeypatch.setattr(module, "SPEECHES", {**SPEECHES, "framework": SPEECH})


def program(*calls: Call, grad: bool = False) -> Program:
    """A Program of these calls on one input; the last one's result is returned."""
    cotangents = {len(calls): np.ones_like(VALUES)} if grad else {}
    return Program([Input(0, "x", VALUES, "float32", grad)], [*calls], Ref(len(calls)), cotangents)


def call(op: str, *args: Any, kind: Any = "function", number: int = 1, **kwargs: Any) -> Call:
    """A call of the value before."""
    return Call(kind, op, (Ref(number - 1), *args), kwargs, out=Ref(number))


def written(
    tmp_path: Path,
    made: Program,
    kind: str = "value",
    phase: str = "eager_forward",
    key: str = "",
    **framework: str,
) -> Path:
    """The script of a divergence, and the framework beside it."""
    row = new_row(("framework", phase, kind, made.calls[-1].op, "float32"), "test_x.py::test_y", "k", "op: differs")
    part = "gradient" if phase == "eager_backward" else "output"
    shown: Mapping[str, Any] = {"call": len(made.calls) - 1, "program_call": 0, "part": part, "key": key}
    text = make_script(row, made, Rules(), shown, {"framework": "1", "torch": "2"}).text
    right = {
        "sine": "np.sin(input)",
        "gradient": "(starts[0] * np.cos(leaf)).view(Tensor)",
        "scale": "np.where(x > 0, 1, self.weight.array).astype(x.dtype)",
    }
    (tmp_path / "framework.py").write_text(FRAMEWORK.format(**{**right, **framework}))
    path = tmp_path / "repro.py"
    path.write_text(text)
    return path


RIGHT, WRONG = "did not reproduce (exit 0)", "verified: exits 1"


@pytest.mark.parametrize(
    ("kind", "phase", "framework", "said"),
    [
        ("value", "eager_forward", {}, RIGHT),
        ("value", "eager_forward", {"sine": "np.sin(input) * 1.01"}, WRONG),
        ("value", "eager_forward", {"sine": "np.sin(input) * (1 + 1e-7)"}, RIGHT),
        ("dtype", "eager_forward", {"sine": "np.sin(input).astype(float)"}, WRONG),
        ("shape", "eager_forward", {"sine": "np.sin(input)[0]"}, WRONG),
        ("exception", "eager_forward", {}, RIGHT),
        ("exception", "eager_forward", {"sine": "input.nosuch"}, WRONG),
        ("crash", "eager_forward", {}, RIGHT),
        ("crash", "eager_forward", {"sine": "os.abort()"}, WRONG),
        ("value", "eager_backward", {}, RIGHT),
        ("value", "eager_backward", {"gradient": "(starts[0] * np.sin(leaf)).view(Tensor)"}, WRONG),
    ],
)
def test_verdicts(tmp_path: Path, kind: str, phase: str, framework: dict[str, str], said: str) -> None:
    """It stands while the framework is wrong, and is gone once it is right, without PyTorch."""
    script = written(tmp_path, program(call("sin"), grad=phase == "eager_backward"), kind, phase, **framework)
    assert "torch.sin(x)" in script.read_text()
    assert "import torch" not in script.read_text()
    assert verify(script, [str(tmp_path)]) == said


def test_its_own_interpreter(tmp_path: Path) -> None:
    """A script is run by the interpreter that has the target."""
    script = written(tmp_path, program(call("sin")))
    assert verify(script, [str(tmp_path)], python=INTERPRETER) == RIGHT
    (tmp_path / "other").write_text("#!/bin/sh\nexit 125\n")
    (tmp_path / "other").chmod(0o755)
    assert (
        verify(script, [str(tmp_path)], python=str(tmp_path / "other")) == "could not run (exit 125): it said nothing"
    )


def test_without_the_framework(tmp_path: Path) -> None:
    """It says what it lacks."""
    script = written(tmp_path, program(call("sin")))
    (tmp_path / "framework.py").unlink()
    assert verify(script) == ("could not run (exit 125): framework cannot be imported: No module named 'framework'")


def test_words_of_the_target(tmp_path: Path) -> None:
    """Names and arguments are the table's; operators and methods without a row of their own are as Python has them."""
    made = program(call("sin"), call("sum", kind="method", number=2, dim=1), call("mul", 2, kind="operator", number=3))
    script = written(tmp_path, made)
    body = script.read_text().partition("def program(framework, x):\n")[2].partition("\n\n")[0]
    assert body.splitlines() == [
        "    t0 = framework.sine(x)",
        "    t1 = framework.total(input=t0, axis=1)",
        "    t2 = t1 * 2",
        "    return (t2,)",
    ]
    assert verify(script, [str(tmp_path)]) == RIGHT


def layer(op: str, *args: Any, **state: Any) -> Call:
    """The construction of a layer that holds this."""
    return Call("module", op, args, {}, Ref(1), {name: np.array(value, np.float32) for name, value in state.items()})


@pytest.mark.parametrize(
    ("framework", "said"),
    [({}, RIGHT), ({"scale": "1.01"}, WRONG)],
)
def test_layers(tmp_path: Path, framework: dict[str, str], said: str) -> None:
    """A layer is made by the target's name, holds what PyTorch's does, and is called; how it is switched is told
    without arguments.
    """
    made = program(
        layer("nn.PReLU", 1, weight=[0.125]),
        Call("method", "train", (Ref(1), False), {}, Ref(1)),
        Call("method", "train", (Ref(1),), {}, Ref(1)),
        Call("call", "PReLU", (Ref(1), Ref(0)), {}, Ref(4)),
    )
    made.inputs[0] = Input(0, "x", -VALUES, "float32")
    script = written(tmp_path, made, **framework)
    body = script.read_text().partition("def program(framework, x):\n")[2].partition("\n\n")[0]
    assert body.splitlines() == [
        "    m0 = framework.Scaled(size=1)",
        '    m0.weight.set_value(np.array([0.125], "float32"))',
        "    m0.eval()",
        "    m0.train()",
        "    t0 = m0(x)",
        "    return (t0,)",
    ]
    assert verify(script, [str(tmp_path)]) == said


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        (
            [layer("nn.Linear", 2, 2, weight=[[1, 2], [3, 4]])],
            "the target's table calls nn.Linear by a function of its own, linear",
        ),
        ([layer("nn.Softplus")], "the target's table has no row for nn.Softplus"),
        (
            [layer("nn.BatchNorm1d", 2, weight=[1, 1], running_mean=[0, 0])],
            "a script does not set running_mean of framework's Scaled",
        ),
        (
            [layer("nn.PReLU", 1), Call("method", "zero_grad", (Ref(1),), {}, None)],
            "the target's table says nothing of a layer's zero_grad",
        ),
    ],
)
def test_layers_without_a_script(tmp_path: Path, calls: list[Call], reason: str) -> None:
    """Each with its reason."""
    result = Call("call", "layer", (Ref(1), Ref(0)), {}, Ref(len(calls) + 1))
    with pytest.raises(Unscripted) as caught:
        written(tmp_path, program(*calls, result))
    assert str(caught.value) == reason


def test_gradients_of_what_a_layer_holds(tmp_path: Path) -> None:
    """The layer is known within the function alone."""
    made = program(layer("nn.PReLU", 1, weight=[0.125]), Call("call", "PReLU", (Ref(1), Ref(0)), {}, Ref(2)), grad=True)
    with pytest.raises(Unscripted, match=r"^a script does not read gradients of what a layer holds$"):
        written(tmp_path, made, phase="eager_backward", key="1.weight")


@pytest.mark.parametrize(
    ("calls", "kind", "phase", "reason"),
    [
        (
            [call("median")],
            "value",
            "eager_forward",
            "the target's table calls median by a function of its own, median",
        ),
        ([call("erf")], "value", "eager_forward", "the target's table has no row for erf"),
        (
            [call("std", correction=3)],
            *("value", "eager_forward"),
            "the target's table has no words for it: std has no argument 'correction' of std",
        ),
        (
            [call("shape", kind="get")],
            *("value", "eager_forward"),
            "the target's table says nothing of shape, which is no function and no method",
        ),
        ([call("sin")], "layout", "eager_forward", "a script does not ask framework for what differs"),
        ([call("sin")], "value", "graph_forward", "a script builds no static graph of framework"),
    ],
)
def test_what_has_no_script(tmp_path: Path, calls: list[Call], kind: str, phase: str, reason: str) -> None:
    """Each with its reason."""
    with pytest.raises(Unscripted) as caught:
        written(tmp_path, program(*calls), kind, phase)
    assert str(caught.value) == reason


def test_too_many_numbers(tmp_path: Path) -> None:
    """Nobody reads thousands of them."""
    made = program(call("sin"))
    made.inputs[0] = Input(0, "x", np.zeros(2001, np.float32), "float32")
    with pytest.raises(Unscripted, match=r"^its inputs have more than 2000 elements$"):
        written(tmp_path, made)


def test_targets_that_come_with_the_harness_have_a_speech() -> None:
    """Each says how its gradients are had, or that a script does not differentiate."""
    assert set(SPEECHES) == {"paddle", "jax"}
    assert all(bool(speech.backward) == bool(speech.gradient) for speech in SPEECHES.values())
