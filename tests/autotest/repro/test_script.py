"""Repro scripts: each judges by itself, and tells a divergence that stands from one that is gone."""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from autotest import torch as dual
from autotest.compare.difference import Rules
from autotest.compare.divergence import new_row
from autotest.ledger.entries import Entry, read
from autotest.repro import Unscripted, script
from autotest.repro.lines.arrays import FILE_NAME, write
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Device, Named, Ref
from dual_object.record.recording import Recording
from support import trainings
from support.programs import one_call
from support.runs import run_python
from support.scripts import run_all

pytestmark = pytest.mark.slow

LEDGER = Path(__file__).parents[3] / "suites" / "known_divergences.toml"
ENVIRONMENT = {"oneflow": "0.9.0", "torch": "2.14.1", "numpy": "1.26.4", "python": "3.10.13"}


class StandIn(types.ModuleType):
    """A module that is PyTorch, apart from what a test plants in it."""

    def __init__(self, planted: Mapping[str, Any]) -> None:
        super().__init__("oneflow")
        self.__dict__.update(planted)

    def __getattr__(self, name: str) -> Any:
        """Whatever is not planted."""
        return getattr(torch, name)


def row(kind: str, phase: str = "eager_forward", op: str = "relu", facts: str = "float32") -> dict[str, Any]:
    """The row of a divergence from OneFlow."""
    identity = ("oneflow", phase, kind, op, facts)
    return dict(new_row(identity, "test_x.py::test_a", "test_x.py::test_a#0", f"{op}: x"))


def wrong_relu(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's, but for its last element."""
    out = torch.relu(x) * 1
    with torch.no_grad():
        out[..., -1] += 0.5
    return out


class WrongGradient(torch.autograd.Function):
    """The identity with twice its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The same values."""
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """Twice what is due."""
        return 2 * gradients[0]


@pytest.fixture
def run_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Give a function that runs the script of a divergence here, against a stand-in for its target."""

    def run(
        told: dict[str, Any],
        program: Program,
        shown: dict[str, Any] | None = None,
        rules: Rules | None = None,
        **planted: Any,
    ) -> tuple[int, str]:
        made = script(told, program, rules or Rules(), shown, ENVIRONMENT)
        path = tmp_path / "repro.py"
        path.write_text(made.text)
        if made.arrays:
            write(tmp_path, dict(made.arrays))
        monkeypatch.setitem(sys.modules, "oneflow", StandIn(planted))
        monkeypatch.setattr(os, "_exit", sys.exit)
        space = {"__name__": "__main__", "__file__": str(path)}
        with pytest.raises(SystemExit) as end:
            exec(compile(made.text, str(path), "exec"), space)  # noqa: S102 - our own text
        return int(end.value.code or 0), capsys.readouterr().out

    return run


OUTPUT = {"call": 0, "part": "output", "key": "1"}
GRADIENT = {"call": 0, "part": "gradient", "key": "0"}


def test_script_of_a_value(run_script: Any) -> None:
    """It exits with 1 and the worst element, in the words of a comparison."""
    status, out = run_script(row("value"), one_call(backward=True), OUTPUT, relu=wrong_relu)
    assert status == 1
    assert out.splitlines()[-1] == (
        "STANDS: t0 differs in 1 of 3 elements: [2] is 2.5, but should be 2.0 (0.5 apart, 2.1e+06 ULP)"
    )


@pytest.mark.parametrize(
    ("kind", "planted", "said"),
    [
        ("dtype", lambda x: torch.relu(x).double(), "t0 has dtype float64, but should have float32"),
        ("shape", lambda x: torch.relu(x)[None], "t0 has shape (1, 3), but should have (3,)"),
        ("nonfinite", lambda x: torch.relu(x) / 0, "t0 differs in 3 of 3 elements"),
        ("sign", lambda x: torch.relu(x) * torch.tensor([-1.0, 1.0, 1.0]), "t0 differs in 1 of 3 elements"),
        ("layout", lambda x: torch.relu(x).repeat_interleave(2)[::2], "t0 has strides (2,), but should have (1,)"),
        ("requires_grad", lambda x: torch.relu(x).detach(), "t0 has requires_grad False, but should have True"),
        ("news", lambda x: torch.relu(x).detach(), "t0 has requires_grad False, but should have True"),
        ("structure", lambda x: None, "t0 is None, but should be a tensor"),
        ("structure", lambda x: x, "whether relu returns x itself is True, but should be False"),
        ("alias", lambda x: x.view_as(x), "whether t0 shares memory with x is True, but should be False"),
        ("layout", lambda x: torch.cat([x, torch.relu(x)])[3:], "t0 has offset 3, but should have 0"),
        ("requires_grad", lambda x: torch.relu(x.detach()).requires_grad_(), "t0 has is_leaf True"),
        ("mutation", lambda x: x.detach().zero_() + torch.relu(x), "x afterwards differs in 3 of 3 elements"),
    ],
)
def test_script_of_a_kind(run_script: Any, kind: str, planted: Any, said: str) -> None:
    """Each kind stands where the target has it, in its own words, and is gone where the target does as PyTorch does."""
    shown = {"call": 0, "part": "input", "key": "0"} if kind == "mutation" else OUTPUT
    status, out = run_script(row(kind), one_call(backward=True), shown, relu=planted)
    assert status == 1, out
    assert f"\nSTANDS: {said}" in out
    status, out = run_script(row(kind), one_call(backward=True), shown)
    assert (status, out.splitlines()[-1]) == (0, "gone: both sides agree")


def test_script_asks_for_its_own_fact_alone(run_script: Any) -> None:
    """A repro of a dtype is gone once the dtype is right, whatever the values."""
    status, _ = run_script(row("dtype"), one_call(backward=True), OUTPUT, relu=wrong_relu)
    assert status == 0


def test_script_of_a_gradient(run_script: Any) -> None:
    """The backward starts from the shared cotangent; only the gradient in question is compared."""
    told = row("value", "eager_backward")
    status, out = run_script(told, one_call(backward=True), GRADIENT, relu=lambda x: WrongGradient.apply(torch.relu(x)))
    assert status == 1
    assert out.splitlines()[-1].startswith(
        "STANDS: gradient of x differs in 2 of 3 elements: [1] is 2.0, but should be 1.0"
    )
    status, _ = run_script(told, one_call(backward=True), GRADIENT, relu=wrong_relu)
    assert status == 0


def test_script_of_a_gradient_of_a_named_tuple(run_script: Any) -> None:
    """Where a program returns the whole tuple with names that a call gave, its backward starts at its parts."""
    out = Named(("values", "indices"), (Ref(1), Ref(2)))
    program = Program(
        inputs=[Input(0, "x", np.array([[1.0, 3.0, 2.0]], np.float32), "float32", requires_grad=True)],
        calls=[Call("function", "topk", (Ref(0), 2), {}, out)],
        outputs=out,
        cotangents={1: np.ones((1, 2), np.float32)},
    )
    told = row("value", "eager_backward", op="topk")
    assert run_script(told, program, GRADIENT)[0] == 0
    wrong = {"topk": lambda x, k: torch.topk(WrongGradient.apply(x), k)}
    status, printed = run_script(told, program, GRADIENT, **wrong)
    assert (status, "gradient of x differs" in printed) == (1, True), printed


def test_script_of_a_gradient_that_only_one_side_has(run_script: Any) -> None:
    """A missing gradient is told as such."""
    cut = lambda x: torch.relu(x).detach() + 0 * torch.ones(3, requires_grad=True)  # noqa: E731
    status, out = run_script(row("grad_missing", "eager_backward"), one_call(backward=True), GRADIENT, relu=cut)
    assert status == 1
    assert out.splitlines()[-1] == "STANDS: gradient of x is None, but should be a tensor"


def test_script_within_its_tests_tolerance(run_script: Any) -> None:
    """What the test allows is no difference."""
    status, _ = run_script(row("value"), one_call(backward=True), OUTPUT, Rules(0.0, 0.6), relu=wrong_relu)
    assert status == 0


def test_script_of_an_exception(run_script: Any) -> None:
    """An op that raises, or is not there, stands."""

    def refuse(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no kernel")

    status, out = run_script(row("exception"), one_call(backward=True), OUTPUT, relu=refuse)
    assert (status, out.splitlines()[-1]) == (1, "STANDS: raises RuntimeError: no kernel")


def test_script_of_a_refusal(run_script: Any) -> None:
    """Where PyTorch refuses, the target should as well, with a class that has something in common."""
    program = one_call(backward=True)
    program.calls[0] = Call("function", "stack", (Ref(0), 7), {}, raises=("TypeError",))
    program.outputs, program.cotangents = None, {}
    told, shown = row("accepts_invalid"), {"call": 0, "part": "output", "key": ""}
    status, out = run_script(told, program, shown, stack=lambda x, y: x)
    assert (status, out.splitlines()[-1]) == (1, "STANDS: accepts what torch refuses")

    def unrelated(x: Any, y: Any) -> None:
        raise OSError("no")

    status, out = run_script(row("exception_class"), program, shown, stack=unrelated)
    assert (status, out.splitlines()[-1]) == (1, "STANDS: raises OSError, but should raise TypeError")
    assert run_script(told, program, shown)[0] == 0


def test_script_of_a_host_read(run_script: Any) -> None:
    """A value that Python read is bound and compared."""
    program = one_call(backward=True)
    program.calls.append(Call("method", "sum", (Ref(1),), {}, out=Ref(2)))
    program.calls.append(Call("method", "item", (Ref(2),), {}, out=2.1))
    shown = {"call": 2, "part": "host", "key": ""}
    status, out = run_script(row("value", op="item"), program, shown, relu=wrong_relu)
    assert status == 1
    assert out.splitlines()[-1].startswith("STANDS: item read by Python is 2.")
    assert run_script(row("value", op="item"), program, shown)[0] == 0


def test_script_of_several_host_reads(run_script: Any) -> None:
    """Each is compared, not the last alone."""
    program = one_call()
    for number, op in enumerate(("sum", "max")):
        program.calls.append(Call("method", op, (Ref(1),), {}, out=Ref(2 + number)))
        program.calls.append(Call("method", "item", (Ref(2 + number),), {}, out=2.1))
    shown = {"call": None, "part": "host", "key": ""}
    status, out = run_script(row("value", op="item"), program, shown, relu=lambda x: torch.relu(x) + (x > 0) * (x < 1))
    assert status == 1
    told = [line for line in out.splitlines() if line.startswith("STANDS: ")]
    assert re.fullmatch(r"STANDS: item read by Python into h0 is 3\.09\d*, but should be 2\.09\d*", told[0]), told
    assert run_script(row("value", op="item"), program, shown)[0] == 0


@pytest.mark.parametrize(
    ("phase", "compared"),
    [
        ("eager_forward", {"t0", "x afterwards", "buffers"}),
        ("eager_backward", {"gradients"}),
        ("graph_forward", {"t0"}),
        ("graph_backward", {"gradients"}),
        ("graph_state", {"buffers"}),
    ],
)
def test_script_of_an_unknown_place_compares_its_phase_alone(phase: str, compared: set[str]) -> None:
    """Else what a layer's buffers are known for would stand in the script of another fault, with it or without."""
    state = {name: np.ones(2, np.float32) for name in ("weight", "bias", "running_mean", "running_var")}
    state["num_batches_tracked"] = np.array(0)
    x = Input(0, "", np.ones((3, 2), np.float32), "float32", requires_grad=True)
    calls = [
        Call("module", "nn.BatchNorm1d", (2,), {}, Ref(1), state),
        Call("call", "BatchNorm1d", (Ref(1), Ref(0)), {}, Ref(2)),
    ]
    program = Program([x], calls, Ref(2), {2: np.ones((3, 2), np.float32)})
    told = row("value", phase, "BatchNorm1d")
    text = script(told, program, Rules(), None, ENVIRONMENT).text
    run = text[text.index("def run(") : text.index("def facts(")]
    words = {"t0": '"t0":', "x afterwards": '"x afterwards":', "buffers": '"buffer m0', "gradients": '"gradient of x":'}
    assert {name for name, word in words.items() if word in run} == compared


def test_script_of_a_module(run_script: Any) -> None:
    """A module gets its recorded state; its parameters' gradients and its buffers can be told."""
    state = {
        "weight": np.array([1.5], np.float32),
        "bias": np.array([0.5], np.float32),
        "running_mean": np.array([0.25], np.float32),
        "running_var": np.array([2.0], np.float32),
        "num_batches_tracked": np.array(0),
    }
    x = Input(0, "", np.arange(4, dtype=np.float32).reshape(4, 1), "float32", True)
    make = Call("module", "nn.BatchNorm1d", (1,), {}, out=Ref(1), state=state)
    program = Program([x], [make, Call("call", "BatchNorm1d", (Ref(1), Ref(0)), {}, out=Ref(2))], Ref(2))
    program.cotangents = {2: np.arange(4, dtype=np.float32).reshape(4, 1)}

    class Norm(torch.nn.BatchNorm1d):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out = super().forward(x)
            self.running_mean = self.running_mean + 1
            return WrongGradient.apply(out)

    nn = types.SimpleNamespace(**{**vars(torch.nn), "BatchNorm1d": Norm})
    for told, shown, said in (
        (
            row("value", op="BatchNorm1d"),
            ("buffer", "1.running_mean"),
            "buffer m0.running_mean differs in 1 of 1 elements",
        ),
        (row("value", "eager_backward"), ("gradient", "1.bias"), "gradient of m0.bias differs in 1 of 1 elements"),
    ):
        where = {"call": 1, "part": shown[0], "key": shown[1]}
        status, out = run_script(told, program, where, nn=nn)
        assert status == 1, out
        assert out.splitlines()[-1].startswith(f"STANDS: {said}")
        assert run_script(told, program, where)[0] == 0


def test_script_of_what_a_module_holds(run_script: Any) -> None:
    """A module's entries are compared by name, dtype, shape and requires_grad."""
    state = {"weight": np.ones((1, 2), np.float32), "bias": np.zeros(1, np.float32)}
    x = Input(0, "", np.ones((3, 2), np.float32), "float32")
    make = Call("module", "nn.Linear", (2, 1), {}, out=Ref(1), state=state)
    program = Program([x], [make, Call("call", "Linear", (Ref(1), Ref(0)), {}, out=Ref(2))], Ref(2))

    class Frozen(torch.nn.Linear):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.weight.requires_grad = False

    nn = types.SimpleNamespace(**{**vars(torch.nn), "Linear": Frozen})
    told, where = row("requires_grad", op="Linear"), {"call": 0, "part": "call", "key": "1.weight"}
    status, out = run_script(told, program, where, nn=nn)
    assert (status, out.splitlines()[-1]) == (
        1,
        "STANDS: what m0 holds is ({'weight': ('float32', (1, 2), False), 'bias': ('float32', (1,), True)}, "
        "['bias', 'weight']), but should be ({'weight': ('float32', (1, 2), True), 'bias': ('float32', (1,), True)}, "
        "['bias', 'weight'])",
    )
    assert run_script(told, program, where)[0] == 0


def test_script_of_a_module_alone(run_script: Any) -> None:
    """A module that is only made is held against PyTorch's, whether the program ends with it or not."""
    state = {"weight": np.ones((1, 2), np.float32)}
    make = Call("module", "nn.Linear", (2, 1, False), {}, out=Ref(1), state=state)
    train = Call("method", "train", (Ref(1),), {}, out=Ref(1))

    class Other(torch.nn.Linear):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.scale = self.weight

    nn = types.SimpleNamespace(**{**vars(torch.nn), "Linear": Other})
    told, where = row("structure", op="Linear"), {"call": 0, "part": "call", "key": ""}
    for program in (Program([], [make], None), Program([], [make, train], Ref(1))):
        status, out = run_script(told, program, where, nn=nn)
        assert (status, out.splitlines()[-1]) == (
            1,
            "STANDS: what m0 holds is ({'weight': ('float32', (1, 2), True)}, ['scale', 'weight']), "
            "but should be ({'weight': ('float32', (1, 2), True)}, ['weight'])",
        )
        assert run_script(told, program, where)[0] == 0


class Graph:
    """A static graph that computes once, and then gives the same again."""

    def __call__(self, *args: Any) -> Any:
        """Build at the first call."""
        if not hasattr(self, "made"):
            self.made = self.build(*args)  # type: ignore[attr-defined]
        return self.made


class Faithful(Graph):
    """A static graph that computes at every call."""

    def __call__(self, *args: Any) -> Any:
        """Build at each call."""
        return self.build(*args)  # type: ignore[attr-defined]


def test_script_of_a_second_call(run_script: Any) -> None:
    """The same graph is called twice, with other values, which PyTorch is given as well."""
    program = one_call(backward=True)
    program.cotangents = {}
    for graph, facts, status, said in (
        (Graph, "float32,again", 1, "STANDS: t0 differs in 2 of 3 elements: "),
        (Graph, "float32", 0, "gone: both sides agree"),
        (Faithful, "float32,again", 0, "gone: both sides agree"),
    ):
        nn = types.SimpleNamespace(**{**vars(torch.nn), "Graph": graph})
        ended, out = run_script(row("value", "graph_forward", facts=facts), program, OUTPUT, nn=nn)
        assert (ended, out.splitlines()[-1][: len(said)]) == (status, said)


class Unfed(Faithful):
    """A static graph that ends the process where an input has size 0."""

    def add_optimizer(self, optimizer: Any) -> None:
        """Take the optimizer without which a graph has no backward."""

    def __call__(self, *args: Any) -> Any:
        """Build at each call."""
        if not all(arg.numel() for arg in args):
            raise SystemExit("aborted")
        return super().__call__(*args)


def test_watched_output_is_what_is_returned(run_script: Any) -> None:
    """A value that the body returns, and that an eager run watches, too, is there once."""
    program = one_call()
    program.watched = [1]
    text = script(row("requires_grad", op="relu"), program, Rules(), None, ENVIRONMENT).text
    assert 'return {"t0": out,' in text
    status, out = run_script(row("requires_grad", op="relu"), program)
    assert (status, out.splitlines()[-1]) == (0, "gone: both sides agree")


def test_script_of_a_graph_under_a_configuration() -> None:
    """The graph is built so, and compared as closely as a test's own rules and the dtype of the configuration allow."""
    made = {
        name: script(
            row("value", "graph_forward", facts=f"float32,config={name}"), one_call(), Rules(), OUTPUT, ENVIRONMENT
        ).text
        for name in ("enable_amp.bfloat16", "enable_straighten_algorithm.SpeedFirst", "set_outputs_buffer_size.3")
    }
    said = {name: [line.strip() for line in text.splitlines() if "self.config" in line] for name, text in made.items()}
    assert said == {
        "enable_amp.bfloat16": ["self.config.enable_amp(True, dtype=torch.bfloat16)"],
        "enable_straighten_algorithm.SpeedFirst": ["self.config.enable_straighten_algorithm('SpeedFirst')"],
        "set_outputs_buffer_size.3": ["self.config.set_outputs_buffer_size(3)"],
    }
    assert "    rtol, atol = (0.05, 0.01)\n" in made["enable_amp.bfloat16"]
    assert "    rtol, atol = " not in made["set_outputs_buffer_size.3"].replace("rtol, atol = TOLERANCES", "")


def test_script_of_a_training_under_a_configuration() -> None:
    """The graph that trains is built so, too."""

    def body(recording: Any) -> Any:
        layer = dual.nn.Linear(2, 1)
        dual.optim.SGD(layer.parameters(), lr=0.1)
        return layer(trainings.batch(recording)).sum()

    def configured(name: str) -> str:
        told = row("value", "graph_update", "SGD", facts=f"float32,config={name}")
        lines = script(told, trainings.recorded(body), Rules(), None, ENVIRONMENT).text.splitlines()
        start = lines.index("    class Graph(torch.nn.Graph):")
        assert lines[start + 1 : start + 4] == [
            "        def __init__(self):",
            "            super().__init__()",
            "            self.m0 = m0",
        ]
        return lines[start + 4].strip()

    assert configured("allow_fuse_model_update_ops") == "self.config.allow_fuse_model_update_ops(True)"
    checkpointed = "self.m0.to(torch.nn.graph.GraphModule).activation_checkpointing = True"
    assert configured("activation_checkpointing") == checkpointed


def test_script_of_a_training_whose_gradients_are_wrong() -> None:
    """A training returns its gradients: whatever is not known to show it, all of them are compared."""

    def body(recording: Any) -> Any:
        layer = dual.nn.Linear(2, 1)
        dual.optim.SGD(layer.parameters(), lr=0.1)
        return layer(trainings.batch(recording)).sum()

    text = script(row("value", "eager_backward", "SGD"), trainings.recorded(body), Rules(), None, ENVIRONMENT).text
    shown = text.partition("def run(torch):")[2].partition("\ndef ")[0]
    first = re.search(r"(t\d+), (t\d+) = gradients\(", text)
    assert first is not None
    assert all(f'"{name}": ' in shown for name in first.groups())


def test_script_of_a_training_waits_for_its_copies() -> None:
    """What a step of a graph shows is copied before the next call writes to it; nothing follows the last one."""

    def body(recording: Any) -> Any:
        layer = dual.nn.Linear(2, 1)
        dual.optim.Adam(layer.parameters(), lr=0.1)
        return layer(trainings.batch(recording)).sum()

    text = script(row("value", "graph_update", "Adam"), trainings.recorded(body, 3), Rules(), None, ENVIRONMENT).text
    lines = text.partition("def run_graph(torch):")[2].partition("\ndef ")[0].splitlines()
    called = [place for place, line in enumerate(lines) if line.startswith("    results = graph(")]
    waited = [place for place, line in enumerate(lines) if line.startswith("    torch._oneflow_internal.eager.Sync()")]
    assert len(called) == 3
    assert waited == [place - 1 for place in called[1:]]
    assert all(line.startswith('    shown["t') for line in (lines[place - 1] for place in waited))


def test_script_of_a_buffer_shows_no_other(run_script: Any) -> None:
    """Another one of the same layer may differ for a reason of its own."""
    state = {name: np.ones(2, np.float32) for name in ("weight", "bias", "running_mean", "running_var")}
    x = Input(0, "", np.array([[1, 2], [3, 5], [4, 9]], np.float32), "float32")
    make = Call("module", "nn.BatchNorm1d", (2,), {}, out=Ref(1), state=state)
    program = Program([x], [make, Call("call", "BatchNorm1d", (Ref(1), Ref(0)), {}, out=Ref(2))], Ref(2))

    def changing(name: str) -> Any:
        class Changed(torch.nn.BatchNorm1d):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                y = super().forward(x)
                getattr(self, name).add_(1)
                return y

        return types.SimpleNamespace(**{**vars(torch.nn), "BatchNorm1d": Changed})

    told, where = row("value", op="BatchNorm1d", facts="float32,running_mean"), {"call": 1, "part": "buffer", "key": ""}
    status, out = run_script(told, program, where, nn=changing("running_mean"))
    assert status == 1
    assert "STANDS: buffer m0.running_mean differs in 2 of 2 elements" in out
    assert run_script(told, program, where, nn=changing("running_var"))[0] == 0
    told = row("value", op="BatchNorm1d")
    assert run_script(told, program, where, nn=changing("running_var"))[0] == 1


def test_graph_under_an_unknown_configuration_has_no_script() -> None:
    """Such as one that another version of the target has had."""
    told = row("value", "graph_forward", facts="float32,config=enable_xla_jit")
    with pytest.raises(Unscripted) as caught:
        script(told, one_call(), Rules(), OUTPUT, ENVIRONMENT)
    assert str(caught.value) == "a script does not know the configuration enable_xla_jit of oneflow's graphs"


def test_script_of_a_graph_whose_result_is_empty(run_script: Any) -> None:
    """What an empty result's backward starts from is an input of the graph, and no graph takes an empty one."""
    program = one_call("masked_select", [-1.0, -2.0], backward=True)
    program.calls.insert(0, Call("method", "gt", (Ref(0), 0), {}, out=Ref(2)))
    program.calls[1].args = (Ref(0), Ref(2))
    program.cotangents = {1: np.zeros(0, np.float32)}
    nn = types.SimpleNamespace(**{**vars(torch.nn), "Graph": Unfed})
    status, out = run_script(row("exception", "graph_forward", "masked_select"), program, None, nn=nn)
    assert (status, out.splitlines()[-1]) == (0, "gone: both sides agree")


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (
            lambda x: torch.nn.functional.dropout(x, 0.6),
            "STANDS: the share of t0 at most 0 is 0.5",
        ),
        (
            lambda x: torch.nn.functional.dropout(x) * 1.2,
            "STANDS: the mean of t0 is 1.2",
        ),
        (
            lambda x: x * torch.tensor([0.0, 2.0] * 16),
            "STANDS: t0 has the same numbers in all 1000 results, but should be drawn anew",
        ),
    ],
)
def test_script_of_random_numbers(run_script: Any, planted: Any, said: str) -> None:
    """Random results are compared by many of them."""
    program = one_call("dropout", [1.0] * 32, backward=True)
    fair = {"dropout": torch.nn.functional.dropout}
    torch.manual_seed(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "dropout", torch.nn.functional.dropout)
        status, out = run_script(row("random", op="dropout"), program, OUTPUT, dropout=planted)
        assert (status, said in out) == (1, True), out
        status, out = run_script(row("random", op="dropout"), program, OUTPUT, **fair)
    assert (status, out.splitlines()[-1]) == (0, "gone: both sides agree")


def test_script_of_a_random_module(run_script: Any) -> None:
    """Many results are those of one module: a target may draw the same from each that is made anew."""

    class Seeded(torch.nn.Dropout):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            torch.manual_seed(0)

    x = Input(0, "", np.ones(32, np.float32), "float32")
    make = Call("module", "nn.Dropout", (0.5,), {}, out=Ref(1))
    train = Call("method", "train", (Ref(1),), {}, out=Ref(1))
    program = Program([x], [make, train, Call("call", "Dropout", (Ref(1), Ref(0)), {}, out=Ref(2))], Ref(2))
    nn = types.SimpleNamespace(**{**vars(torch.nn), "Dropout": Seeded})
    status, out = run_script(row("random", op="Dropout"), program, OUTPUT, nn=nn)
    assert (status, out.splitlines()[-1]) == (0, "gone: both sides agree")


def test_script_of_a_random_gradient(run_script: Any) -> None:
    """A gradient has the random factors of its result."""
    program = one_call("dropout", [1.0] * 32, backward=True)
    told = row("random", "eager_backward", "dropout")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "dropout", torch.nn.functional.dropout)
        status, out = run_script(told, program, GRADIENT, dropout=lambda x: WrongGradient.apply(torch.dropout(x)))
        assert status == 1
        assert out.splitlines()[-1] == ("STANDS: whether the gradient of x follows t0 is False, but should be True")
        assert run_script(told, program, GRADIENT)[0] == 0


def test_script_keeps_strides_dtypes_and_values(run_script: Any) -> None:
    """Inputs are those that the test drew: strides, float16, bfloat16, negative zero, infinities and NaN."""
    given: list[torch.Tensor] = []

    def look(x: torch.Tensor) -> torch.Tensor:
        given.append(x.detach())
        return torch.relu(x)

    data = [[-0.0, np.inf], [np.nan, 0.1]]
    program = one_call(values=data, strides=(1, 2), backward=True)
    run_script(row("value"), program, OUTPUT, relu=look)
    assert given[-1].stride() == (1, 2)
    assert given[-1].numpy().tobytes() == np.array(data, np.float32).tobytes()
    for dtype in ("bfloat16", "float16", "float64"):
        array = np.array([0.1, 3.0], {"bfloat16": np.float32}.get(dtype, dtype))
        program.inputs[0] = Input(0, "", array, dtype)
        program.cotangents = {}
        run_script(row("value"), program, OUTPUT, relu=look)
        assert given[-1].dtype == getattr(torch, dtype)
        assert given[-1].tolist() == torch.from_numpy(array).to(getattr(torch, dtype)).tolist()


@pytest.mark.parametrize("strides", [None, (4, 1), (6, 2)])
def test_script_keeps_where_tensors_lie(run_script: Any, strides: tuple[int, ...] | None) -> None:
    """An input begins as far into its memory as it did, and lies there in its strides; a backward starts from a
    cotangent with its own.
    """
    given: list[tuple[int, tuple[int, ...], bool, list[list[float]]]] = []
    started: list[tuple[int, ...]] = []

    def look(x: torch.Tensor) -> torch.Tensor:
        given.append((x.storage_offset(), x.stride(), x.requires_grad, x.tolist()))
        out = torch.relu(x)
        out.register_hook(lambda gradient: started.append(gradient.stride()))
        return out

    program = one_call(values=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], strides=strides, offset=3, backward=True)
    program.cotangent_strides = {1: (1, 2)}
    told, where = row("value", "eager_backward"), {"call": 0, "part": "gradient", "key": "0"}
    assert run_script(told, program, where, relu=look)[0] == 0
    assert given[-1] == (3, strides or (3, 1), True, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert started[-1] == (1, 2)


def test_script_of_long_inputs_reads_them_from_a_file(run_script: Any, tmp_path: Path) -> None:
    """More than 64 elements stand beside the script, bit for bit, in the safetensors format."""
    data = np.random.default_rng(0).standard_normal((9, 8)).astype(np.float32)
    given: list[bytes] = []

    def look(x: torch.Tensor) -> torch.Tensor:
        given.append(x.detach().numpy().tobytes())
        return torch.relu(x)

    status, _ = run_script(row("value"), one_call(values=data, backward=True), OUTPUT, relu=look)
    assert status == 0
    assert given == [data.tobytes()]
    raw = (tmp_path / "inputs.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert raw[8 : 8 + length].rstrip() == b'{"x":{"dtype":"F32","shape":[9,8],"data_offsets":[0,288]}}'
    assert raw[8 + length :] == data.tobytes()


def test_file_keeps_numbers_without_dimensions(tmp_path: Path) -> None:
    """The cotangent of a loss is a single number: as a row of one it starts no backward."""
    write(tmp_path, {"x": np.array(2.5, np.float32), "y": np.ones((2, 3)).T})
    found = load_file(tmp_path / FILE_NAME)
    assert {name: array.shape for name, array in found.items()} == {"x": (), "y": (3, 2)}


def test_eager_and_graph_share_the_arrays() -> None:
    """A script that runs the Program twice, once in a graph, holds each array once."""
    program = one_call(values=np.ones((9, 8), np.float32))
    made = script(row("value", "graph_forward"), program, Rules(), OUTPUT, ENVIRONMENT)
    assert made.text.count('ARRAYS["x"]') == 2
    assert sorted(made.arrays) == ["x"]


def test_script_that_cannot_run(run_script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """125 where PyTorch itself refuses, where the target cannot be imported, and where there is no such device."""
    status, out = run_script(row("value"), one_call("no_such_op", backward=True), OUTPUT)
    assert (status, out.splitlines()[-1]) == (125, "cannot run here: torch itself refuses the program")
    program = one_call(backward=True)
    program.calls.insert(0, Call("method", "to", (Ref(0), Device("cuda")), {}, out=Ref(7)))
    status, out = run_script(row("value"), program, OUTPUT, cuda=types.SimpleNamespace(is_available=lambda: False))
    assert (status, out.splitlines()[-1]) == (125, "cannot run here: no such device here: cuda")
    path = tmp_path / "oneflow.py"
    path.write_text("raise ImportError('not today')\n")
    (tmp_path / "nvidia.py").write_text("raise ImportError('nor this')\n")
    (tmp_path / "repro.py").write_text(script(row("value"), one_call(backward=True), Rules(), OUTPUT, ENVIRONMENT).text)
    done = run_python(tmp_path / "repro.py")
    assert (done.returncode, done.stdout) == (125, "cannot run here: oneflow cannot be imported: nor this\n")


@pytest.mark.usefixtures("real_interpreter")
@pytest.mark.parametrize(
    ("kind", "fault", "status", "said"),
    [
        ("crash", "os.abort()", 1, "STANDS: the target ended its process by signal 6"),
        ("timeout", "time.sleep(600)", 1, "STANDS: the target did not end within 1 seconds"),
        ("crash", "return torch.relu(x)", 0, "gone: the target ends by itself"),
        ("crash", "return print('many words' * 20_000) or torch.relu(x)", 0, "gone: the target ends by itself"),
        ("crash", "raise OSError", 1, "STANDS: the target raises instead"),
        ("out_of_memory", "return torch.relu(x)", 0, "gone: the target ends by itself"),
        (
            "out_of_memory",
            "y = [bytes([i]) * (32 << 20) for i in range(99)]",
            1,
            "STANDS: the target held more than 1 GiB of memory",
        ),
        ("out_of_memory", "time.sleep(600)", 1, "STANDS: the target did not end within 1 seconds"),
    ],
)
def test_script_of_a_death(tmp_path: Path, kind: str, fault: str, status: int, said: str) -> None:
    """The target's part runs in a process of its own, whose end is judged."""
    head = "import os\nimport time\n\nimport torch\n\n\ndef __getattr__(name):\n    return getattr(torch, name)\n"
    (tmp_path / "oneflow.py").write_text(f"{head}\n\ndef relu(x):\n    {fault}\n")
    told = {**row(kind), **({"memory_limit": 1 << 30} if kind == "out_of_memory" else {})}
    text = script(told, one_call(backward=True), Rules(), OUTPUT, ENVIRONMENT).text
    seconds = "1" if "sleep" in fault else "60"
    text = text.replace("timeout=20", f"timeout={seconds}").replace("within 20 ", f"within {seconds} ")
    text = text.replace("time.monotonic() + 20", f"time.monotonic() + {seconds}")
    (tmp_path / "repro.py").write_text(text)
    done = run_python(tmp_path / "repro.py", forked=kind != "out_of_memory")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, said)


@pytest.mark.parametrize(("fault", "status"), [("0.5", 1), ("0", 0)])
def test_target_that_dies_after_the_verdict(tmp_path: Path, fault: str, status: int) -> None:
    """What it does while Python ends its process changes no verdict."""
    text = script(row("value"), one_call(backward=True), Rules(), OUTPUT, ENVIRONMENT).text
    (tmp_path / "repro.py").write_text(text)
    (tmp_path / "oneflow.py").write_text(
        "import atexit\nimport os\n\nimport torch\n\natexit.register(os.abort)\n__version__ = '0.9.0'\n\n\n"
        "def __getattr__(name):\n    return getattr(torch, name)\n\n\n"
        f"def relu(x):\n    return torch.relu(x) + {fault}\n"
    )
    done = run_python(tmp_path / "repro.py")
    assert (done.returncode, done.stdout.splitlines()[-1][:6]) == (status, "STANDS" if status else "gone: ")


def test_script_is_short() -> None:
    """One call takes less than 150 lines, whose program is the one that people saw."""
    text = script(row("value", "eager_backward"), one_call(backward=True), Rules(), GRADIENT, ENVIRONMENT).text
    assert text.count("\n") < 150
    assert "def program(torch, x):\n    t0 = torch.relu(x)\n    return t0\n" in text
    assert "autotest" not in text


@pytest.mark.parametrize(
    ("told", "change", "reason"),
    [
        (row("batch_only", "graph_forward"), {}, "it shows only in a static graph that other cases share"),
        (
            {**row("value"), "target": "nobody"},
            {},
            "target 'nobody' is not one that a script knows how to import "
            "(oneflow, torch, paddle, jax, package.module:Class)",
        ),
        ({**row("layout"), "target": "a.b:C"}, {}, "a script does not ask a.b:C for offset, strides"),
        ({**row("value", "graph_forward"), "target": "a:C"}, {}, "a script builds no static graph of a:C"),
        ({**row("value", "graph_forward"), "target": "torch"}, {}, "a script builds no static graph of torch"),
        (row("value"), {"inline": "a lambda"}, "a lambda"),
        (
            row("value"),
            {"calls": [Call("custom", "f", (Ref(0),), {}, out=Ref(1), custom=("m:<lambda>", "m:g"))]},
            "its custom op f cannot be imported",
        ),
    ],
)
def test_no_script(told: dict[str, Any], change: dict[str, Any], reason: str) -> None:
    """What no script can show is refused with its reason."""
    program = one_call(backward=True)
    for name, value in change.items():
        setattr(program, name, value)
    with pytest.raises(Unscripted) as refused:
        script(told, program, Rules(), OUTPUT, ENVIRONMENT)
    assert str(refused.value) == reason


#: Known divergences of OneFlow 0.9.0 of every phase; a script of each.
KNOWN = (
    "oneflow/eager_backward/grad_missing/",
    "oneflow/eager_backward/value/",
    "oneflow/eager_forward/crash/",
    "oneflow/eager_forward/dtype/",
    "oneflow/eager_forward/exception/",
    "oneflow/eager_forward/structure/",
    "oneflow/graph_forward/exception/",
    "oneflow/graph_forward/value/",
    "oneflow/graph_state/value/",
)


def test_scripts_of_known_divergences(tmp_path: Path) -> None:
    """Against OneFlow itself: a known divergence of each kind stands."""
    entries = read(LEDGER, "oneflow").entries
    chosen: dict[str, Entry] = {}
    for start in KNOWN:
        # Of those that need no special inputs and no chance. A buffer's name says nothing of inputs.
        ordinary = (
            name
            for name in sorted(entries)
            if name.startswith(start)
            and entries[name].strict == "proof"
            and "," not in name.removesuffix(",num_batches_tracked")
        )
        chosen[start] = entries[next(ordinary)]
    paths = []
    for number, entry in enumerate(chosen.values()):
        program, rules = entry.proof
        target, phase, kind, op, facts = entry.fingerprint.split("/")
        told = new_row((target, phase, kind, op, facts), entry.tests[0], "#0", entry.message)
        made = script(told, program, rules, None, ENVIRONMENT)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "repro.py").write_text(made.text)
        write(folder, dict(made.arrays))
        paths.append(folder / "repro.py")
    ended = dict(zip(chosen, run_all(paths), strict=True))
    assert {start: script.status for start, script in ended.items()} == dict.fromkeys(chosen, 1), ended
    assert all("\nSTANDS: " in script.out for script in ended.values()), ended


ADAPTER = """
import torch
from dual_object.adapters.torch import adapter as base


class Targets:
    class Adapter(base.Adapter):
        name = "mine"

        def resolve(self, path):
            if path == "relu":
                return lambda x: torch.relu(x) * {factor}
            return super().resolve(path)
"""


@pytest.mark.parametrize(("factor", "status"), [(2, 1), (1, 0)])
def test_script_of_a_class(tmp_path: Path, factor: int, status: int) -> None:
    """A class of the user's is asked for what it resolves, its tensors are read by it, values and gradients."""
    (tmp_path / "mine.py").write_text(ADAPTER.format(factor=factor))
    told = {**row("value", "eager_backward"), "target": "mine:Targets.Adapter"}
    made = script(told, one_call(backward=True), Rules(), GRADIENT, ENVIRONMENT)
    assert "\nIt imports the target, so run it where Python finds mine.\n" in made.text
    (tmp_path / "repro.py").write_text(made.text)
    done = run_python(tmp_path / "repro.py")
    assert done.returncode == status, done.stdout + done.stderr
    said = "STANDS: gradient of x differs in " if status else "gone: both sides agree"
    assert done.stdout.splitlines()[-1].startswith(said), done.stdout
    assert done.stdout.startswith("mine:Targets.Adapter torch, torch ")


def own_op() -> Program:
    """Of a function for each side."""
    program = one_call()
    program.calls = [Call("custom", "scaled", (Ref(0),), {}, out=Ref(1), custom=("own:one", "own:other"))]
    return program


def test_graph_of_an_own_op() -> None:
    """The target's graph calls the target's function."""
    made = script(row("value", "graph_forward"), own_op(), Rules(), OUTPUT, ENVIRONMENT)
    assert "\n            scaled = scaled_of_target\n            out = program(torch, scaled, x)\n" in made.text


def test_script_of_an_own_op(tmp_path: Path) -> None:
    """Each side calls its own function, also where the target is PyTorch."""
    (tmp_path / "own.py").write_text("def one(x):\n    return x * 2\n\n\ndef other(x):\n    return x * 3\n")
    made = script({**row("value"), "target": "torch"}, own_op(), Rules(), OUTPUT, ENVIRONMENT)
    (tmp_path / "repro.py").write_text(made.text)
    done = run_python(tmp_path / "repro.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("STANDS: t0 differs in 3 of 3 elements: ")


def test_script_of_a_graph_that_trains_keeps_regions() -> None:
    """What stands inside of a region stands inside of it in the `build` of the graph, too."""

    def body(recording: Recording) -> Any:
        layer = dual.nn.Linear(2, 1)
        dual.optim.SGD(layer.parameters(), lr=0.1)
        x = trainings.batch(recording)
        with dual.no_grad():
            y = dual.square(x)
        return (layer(x) + y.sum()).mean()

    made = script(row("value", "graph_update", "SGD"), trainings.recorded(body), Rules(), None, ENVIRONMENT).text
    build = made.partition("        def build(self, x):\n")[2].partition("        def ")[0]
    assert build.splitlines()[:9] == [
        "            m0 = self.m0",
        "            with torch.no_grad():",
        "                t3 = torch.square(x)",
        "            t4 = m0(x)",
        "            t5 = t3.sum()",
        "            t6 = t4 + t5",
        "            t7 = t6.mean()",
        "            t7.backward()",
        "            return t7, *(leaf.grad for leaf in leaves)",
    ]
