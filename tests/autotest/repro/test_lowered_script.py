"""The script of a layer's divergence on a target without modules, which it could not run there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotest.cases.store import Stored
from autotest.compare.difference import Rules
from autotest.conformance.bodies import BODIES, Body, record, tensor, torch
from autotest.repro.lowered import as_sent
from autotest.repro.script import Unscripted
from dual_object.replay.adapter import load_reference
from support.runs import run_autotest, run_pytest, run_python

LAYER = """
from autotest import autotest, random_tensor, torch

@autotest(n=1, check_graph=False)
def test_linear():
    return torch.nn.Linear(3, 4)(random_tensor(ndim=2, dim1=3))
"""


def stored(body: Body, part: str = "output", key: str = "", call: int | None = None) -> Stored:
    """The Program of a body, as it is stored of a divergence."""
    shown = {"part": part, "key": key, "call": call, "program_call": call}
    return Stored(record(body, load_reference()).program, {}, Rules(), shown)


def test_script_calls_functions(tmp_path: Path) -> None:
    """It calls the functions that the target was given, and ends with 1 while the divergence stands there."""
    run = run_pytest(tmp_path, {"test_layer.py": LAYER}, target="moduleless:Wrong")
    assert run.rows("test_linear") == {("eager_backward", "value", "Linear")}
    [end] = [end for end in run.ends("test_linear") if end["divergences"]][:1]
    told = run_autotest(tmp_path, "repro", end["divergences"][0]["id"])
    assert told.returncode == 0, told.stdout + told.stderr
    [script] = tmp_path.rglob("repro.py")
    text = script.read_text()
    assert "torch.nn.functional.linear(x, linear_weight, linear_bias)" in text
    assert "nn.Linear(" not in text
    assert run_python(script).returncode == 1
    script.write_text(text.replace("import Wrong as Adapter", "import Adapter"))
    assert run_python(script).returncode == 0, sys.version


def test_where_it_shows() -> None:
    """A gradient, a buffer, a parameter, an output and a call are those of the lowered Program."""
    case = stored(BODIES["batch_norm"])
    made = next(call.out.id for call in case.program.modules())
    index = next(i for i, call in enumerate(case.program.calls) if call.kind == "call")
    [out] = case.program.calls[index].results()

    def told(part: str, key: str) -> tuple[str, str, int | None]:
        sent = as_sent(stored(BODIES["batch_norm"], part, key, index), ("modules",))
        assert sent.shown is not None
        inputs = {str(x.id): x.name for x in sent.program.inputs}
        named = inputs.get(sent.shown["key"], "")
        return sent.shown["part"], named.removeprefix("batchnorm1d_"), sent.shown["call"]

    assert told("gradient", f"{made}.weight") == ("gradient", "weight", 0)
    assert told("second", f"{made}.bias") == ("second", "bias", 0)
    assert told("buffer", f"{made}.running_mean") == ("output", "running_mean", 0)
    assert told("buffer", f"{made}.weight") == ("input", "weight", 0)
    assert told("output", str(out)) == ("output", "", 0)
    assert told("output", "") == ("output", "", 0)


def test_as_it_is() -> None:
    """A Program without modules, or for a target that has them, stays as it is."""
    layer, function = stored(BODIES["linear"]), stored(BODIES["relu"])
    assert as_sent(layer, ("layout",)) is layer
    assert as_sent(function, ("modules",)) is function


def test_no_script() -> None:
    """What cannot be lowered has no script, with the reason."""
    with pytest.raises(Unscripted) as told:
        as_sent(stored(lambda: torch.nn.BatchNorm1d(3, momentum=None)(tensor(5, 3))), ("modules",))
    assert str(told.value) == "the target has no modules: BatchNorm1d reads values to Python by Tensor.__float__"
