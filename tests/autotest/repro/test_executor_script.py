"""Repro scripts of executors: the captured module is held against the module itself, in the kind that was found."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from autotest.compare.difference import Rules
from autotest.compare.divergence import new_row
from autotest.conformance.bodies import BODIES, tensor
from autotest.conformance.bodies import torch as dual_torch
from autotest.repro import Unscripted, script
from autotest.repro.issue import Extent, Issue
from autotest.repro.lines.arrays import write
from autotest.repro.short.trial import Told
from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Ref
from support.programs import one_call, recorded

ENVIRONMENT = {"torch:fx": "2.14.1", "torch": "2.14.1", "numpy": "1.26.4", "python": "3.10.13"}


def row(kind: str, phase: str = "graph_forward", target: str = "torch:fx", facts: str = "float32") -> dict[str, Any]:
    """The row of a divergence of an executor."""
    identity = (target, phase, kind, "relu", facts)
    return dict(new_row(identity, "test_x.py::test_a", "test_x.py::test_a#0", "relu: x"))


@pytest.fixture
def run_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Give a function that runs a script here, with something planted in what `torch.fx` captures."""

    def run(
        told: dict[str, Any],
        program: Program,
        change: Callable[[Any], Any] | None = None,
        shown: dict[str, Any] | None = None,
    ) -> tuple[int, str]:
        made = script(told, program, Rules(), shown, ENVIRONMENT)
        path = tmp_path / "repro.py"
        path.write_text(made.text)
        if made.arrays:
            write(tmp_path, dict(made.arrays))
        real = torch.fx.symbolic_trace
        if change is not None:
            monkeypatch.setattr(torch.fx, "symbolic_trace", lambda module: change(real(module)))
        space = {"__name__": "__main__", "__file__": str(path)}
        with pytest.raises(SystemExit) as end:
            exec(compile(made.text, str(path), "exec"), space)  # noqa: S102 - our own text
        monkeypatch.setattr(torch.fx, "symbolic_trace", real)
        return int(end.value.code or 0), capsys.readouterr().out.splitlines()[-1]

    return run


def after(change: Callable[[torch.Tensor, torch.Tensor], Any]) -> Callable[[Any], Any]:
    """Change the first result of a captured module, given its first input."""
    return lambda run: lambda *inputs: (change(run(*inputs)[0], inputs[0]), *run(*inputs)[1:])


def written(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The result, and the input written to."""
    with torch.no_grad():
        x.add_(1)
    return y


SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("kind", "phase", "change", "sentence"),
    [
        (
            "value",
            "graph_forward",
            after(lambda y, x: y + 1),
            "t0 differs in value: [[2. 3.] [4. 5.]], but should be [[1. 2.] [3. 4.]]",
        ),
        ("sign", "graph_forward", after(lambda y, x: y + 1), "t0 differs in value: "),
        (
            "dtype",
            "graph_forward",
            after(lambda y, x: y.double()),
            "t0 differs in dtype: torch.float64, but should be ",
        ),
        ("shape", "graph_forward", after(lambda y, x: y[:1]), "t0 differs in shape: (1, 2), but should be (2, 2)"),
        (
            "layout",
            "graph_forward",
            after(lambda y, x: y.t().contiguous().t()),
            "t0 differs in layout: ([1, 2], 0), but should be ([2, 1], 0)",
        ),
        (
            "requires_grad",
            "graph_forward",
            after(lambda y, x: y.detach()),
            "t0 differs in requires_grad: (False, True), but should be (True, False)",
        ),
        ("alias", "graph_forward", after(lambda y, x: x), "t0 differs in alias: ['x'], but should be []"),
        ("mutation", "graph_forward", after(written), "input x differs in mutation: "),
        (
            "value",
            "graph_backward",
            after(lambda y, x: y.detach() + 2 * (y - y.detach())),
            "gradient of x differs in value: ",
        ),
    ],
)
def test_each_kind(kind: str, phase: str, change: Any, sentence: str, run_script: Any) -> None:
    """It exits with 1 where what was found stands, with 0 where it does not, whatever else differs."""
    program = one_call(values=SQUARE, backward=True)
    status, out = run_script(row(kind, phase), program, change)
    assert status == 1
    assert out.startswith(f"STANDS: {sentence}"), out
    assert run_script(row(kind, phase), program) == (0, "gone: both agree")
    other = after(lambda y, x: y.double()) if kind != "dtype" else after(lambda y, x: x)
    assert run_script(row(kind, "graph_forward"), program, other) == (0, "gone: both agree")


def test_raising(run_script: Any) -> None:
    """What raises where the module does not is told with its words."""

    def raising(run: Any) -> Any:
        def raises(*inputs: Any) -> Any:
            raise IndexError("planted")

        return raises

    assert run_script(row("exception"), one_call(), raising) == (1, "STANDS: raises IndexError: planted")
    assert run_script(row("value"), one_call(), raising) == (0, "gone: both agree")
    program = one_call()
    program.calls[0].op = "no_such_op"
    status, out = run_script(row("value"), program)
    assert status == 125
    assert out == ("cannot run here: torch itself refuses the program: module 'torch' has no attribute 'no_such_op'")


def test_second_call(run_script: Any) -> None:
    """What a graph keeps from its first call shows at its second."""

    def kept(run: Any) -> Any:
        results: list[Any] = []

        def call(*inputs: Any) -> Any:
            results.append(run(*inputs))
            return results[0]

        return call

    for shown in ({"call": 0, "part": "output", "key": "1"}, None):
        status, out = run_script(row("value", facts="float32,again"), one_call(), kept, shown)
        assert status == 1
        assert out.startswith("STANDS: t0 differs in value: ")
    assert run_script(row("value"), one_call(), kept) == (0, "gone: both agree")


def test_modules_and_names(reference: Any, run_script: Any) -> None:
    """State, custom ops, arrays, strides and long inputs are in the script or beside it."""
    for name in ("batch_norm", "custom", "strided", "loss", "sequential"):
        program, _ = recorded(reference, BODIES[name])
        assert run_script(row("value", "graph_backward"), program) == (0, "gone: both agree"), name
    program, _ = recorded(
        reference, lambda: dual_torch.relu(tensor(20, 20)) + dual_torch.tensor(np.ones(20, "float32"))
    )
    assert run_script(row("value"), program, after(lambda y, x: y + 1))[0] == 1


def test_real_executor(run_script: Any) -> None:
    """PyTorch 2.14.1's `torch.jit.trace` gives its input for `x * 1` where a dropout that does nothing comes after."""
    program = one_call()
    program.calls = [
        Call("module", "nn.Dropout", (), {}, out=Ref(5)),
        Call("method", "eval", (Ref(5),), {}, out=Ref(5)),
        Call("operator", "mul", (Ref(0), 1), {}, out=Ref(1)),
        Call("call", "Dropout", (Ref(5), Ref(1)), {}, out=Ref(1)),
    ]
    told = row("alias", target="torch:trace")
    with pytest.warns(FutureWarning, match=r"torch\.jit\.trace"):
        assert run_script(told, program) == (1, "STANDS: t0 differs in alias: ['x'], but should be []")


def test_breaks(run_script: Any) -> None:
    """A script of a graph that was to be whole reads to Python what the body did, and stands where that breaks it."""
    told = row("unsupported", target="torch:eager")
    program = one_call(values=[1.0])
    assert run_script(told, program) == (0, "gone: both agree")
    program.calls.append(Call("method", "item", (Ref(0),), {}, out=1.0))
    assert run_script(told, program) == (
        1,
        "STANDS: raises RuntimeError: Dynamo's graphs: 1, breaks: "
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
    )
    told = row("unsupported", target="torch:eager,fullgraph")
    assert run_script(told, program) == (0, "gone: both agree")  # which takes that in
    random = one_call()  # of those that only the number of graphs tells
    random.calls = [Call("method", "random_", (Ref(0),), {}, out=Ref(1))]
    assert run_script(row("unsupported", target="torch:eager"), random) == (
        1,
        "STANDS: raises RuntimeError: Dynamo's graphs: 0, breaks: ",
    )
    told = {**row("unsupported"), "message": "relu is not captured in one graph: torch:fx refuses it: a branch"}
    assert ".item(" not in script(told, program, Rules(), None, ENVIRONMENT).text  # no graph of tensors has it
    assert run_script(told, program) == (0, "gone: both agree")


@pytest.fixture
def toy_runtime(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Give a function that puts a toy in the place of ONNX Runtime and its converter: PyTorch, and a change to its
    results.
    """

    def put(change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        programs: list[Any] = []

        class Session:
            def __init__(self, model: bytes, providers: list[str]) -> None:
                assert (model, providers) == (b"toy", ["CPUExecutionProvider"])

            def get_inputs(self) -> list[Any]:
                return [SimpleNamespace(name="x0")]

            def run(self, names: None, feed: dict[str, Any]) -> list[Any]:
                results = programs[-1].module()(torch.from_numpy(feed["x0"]))
                return [change(result).numpy(force=True) for result in results]

        def export(program: Any, **settings: Any) -> Any:
            programs.append(program)
            return SimpleNamespace(model_proto=SimpleNamespace(SerializeToString=lambda: b"toy"))

        toy = ModuleType("onnxruntime")
        toy.__spec__ = ModuleSpec("onnxruntime", None)  # Dynamo looks whether there is one
        monkeypatch.setattr(toy, "InferenceSession", Session, raising=False)
        monkeypatch.setitem(sys.modules, "onnxruntime", toy)
        monkeypatch.setattr(torch.onnx, "export", export)
        monkeypatch.setattr(importlib.metadata, "version", lambda package: "1.0")

    return put


def test_runtime(run_script: Any, toy_runtime: Any, reference: Any, tmp_path: Path) -> None:
    """The script of a runtime below PyTorch looks at its results alone, and keeps what that was given."""
    told = row("value", target="torch:onnxruntime")
    program = one_call(values=SQUARE, backward=True)
    toy_runtime(lambda y: y + 1)
    status, out = run_script(told, program)
    assert status == 1
    assert out.startswith("STANDS: t0 differs in value: [[2. 3.] [4. 5.]], but should be [[1. 2.] [3. 4.]]")
    assert (tmp_path / "program.onnx").read_bytes() == b"toy"
    toy_runtime(lambda y: y)
    assert run_script(told, program) == (0, "gone: both agree")
    trained, _ = recorded(reference, BODIES["batch_norm"])
    assert run_script(told, trained) == (0, "gone: both agree")  # whose buffers are not looked at


def test_runtime_that_is_not_there(run_script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script says which package it lacks, and stands for nothing."""

    def absent(package: str) -> str:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    for name, package in (("onnxruntime", "onnx"), ("iree", "iree-base-compiler")):
        assert run_script(row("exception", target=f"torch:{name}"), one_call()) == (
            125,
            f"cannot run here: No package metadata was found for {package}",
        )


def test_runtime_is_told_of() -> None:
    """The head of the script and the issue name the versions of its packages, and the files that it keeps."""
    told = row("value", target="torch:iree")
    packages = {"iree-base-compiler": "3.13.0", "iree-base-runtime": "3.13.0", "iree-turbine": "3.9.0"}
    environment = {"torch:iree": "2.14.1", "torch": "2.14.1", "python": "3.10.13", **packages}
    made = script(told, one_call(), Rules(), None, environment)
    assert (
        "Seen with torch:iree 2.14.1, torch 2.14.1, iree-base-compiler 3.13.0, iree-base-runtime 3.13.0, "
        "iree-turbine 3.9.0, python 3.10.13.\n"
        "It keeps beside itself, as far as it comes: program.torch.mlir, program.linalg.mlir.\n"
    ) in made.text
    issue = Issue(told, "def program(torch, x):", Rules(), {}, Extent(1, 1, ["graph_forward"], ""), {}, "pass", "")
    text = issue.text(Told(reason="both sides are PyTorch"))
    assert "It needs PyTorch, iree-base-compiler, iree-base-runtime, iree-turbine and NumPy, and exits with 1" in text
    assert (
        "It keeps what the program came to, as far as that went, beside it: `program.torch.mlir`, "
        "`program.linalg.mlir`.\n"
    ) in text


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (row("crash"), "its script would end with the process that it ends"),
        (row("random"), "it shows in many results together"),
        (row("value", "eager_forward"), "outside of a graph torch:fx is PyTorch itself"),
        (row("value", target="torch:eager,mark_dynamic"), "a script does not mark dimensions as dynamic"),
        (row("batch_only"), "it shows only in a static graph that other cases share"),
        (
            {**row("unsupported"), "message": "relu is not captured in one graph: torch:fx documents that it is not"},
            "torch:fx makes a graph of it without a word, and is known to make a wrong one",
        ),
    ],
)
def test_obstacles(told: dict[str, Any], reason: str) -> None:
    """What has no script says why."""
    with pytest.raises(Unscripted) as caught:
        script(told, one_call(), Rules(), None, ENVIRONMENT)
    assert str(caught.value) == reason


def test_issue() -> None:
    """An issue is about PyTorch alone: what is expected is eager, and its script needs no other framework."""
    told = row("alias", target="torch:inductor")
    issue = Issue(told, "def program(torch, x):", Rules(), {}, Extent(1, 1, ["graph_forward"], ""), {}, "pass", "")
    text = issue.text(Told(reason="both sides are PyTorch"))
    assert "Expected: what eager PyTorch does. As it was found: relu: x\n" in text
    blamed = replace(issue, evidence={"blame": {"verdict": "reference", "reason": "0.5 where NumPy gives 0.0"}})
    assert (
        "Expected: not what eager PyTorch does, which looks wrong itself here (see below). As it was found: relu: x\n"
    ) in blamed.text(Told(reason="both sides are PyTorch"))
    assert "It needs PyTorch and NumPy, and exits with 1 while the difference stands" in text


def test_options_are_in_the_script() -> None:
    """A variant's options are given to `torch.compile`, which raises by itself where it was asked for one graph."""
    made = script(row("value", target="torch:inductor,dynamic,emulate_precision_casts"), one_call(), Rules(), None, {})
    assert (
        "    import torch._inductor.config\n"
        "    torch._inductor.config.emulate_precision_casts = True\n"
        '    captured = torch.compile(module, backend="inductor", dynamic=True)\n'
    ) in made.text
    whole = script(row("unsupported", target="torch:eager,fullgraph"), one_call(), Rules(), None, {})
    assert '    captured = torch.compile(module, backend="eager", fullgraph=True)\n' in whole.text
    assert "explain" not in whole.text
    decomposed = script(row("value", target="torch:export_decomp"), one_call(backward=True), Rules(), None, {})
    assert (
        "    with torch.no_grad():\n"
        "        captured = torch.export.export(module, inputs).run_decompositions().module()\n"
    ) in decomposed.text
