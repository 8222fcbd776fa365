"""Runtimes below PyTorch: those that are installed here, on every kind of Program, and what is told of the others.

Each has an environment of its own: `make onnxruntime`, `make iree`.
"""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace

import pytest
import torch as real

from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.conformance.bodies import BODIES, tensor, torch
from autotest.errors import UsageError
from autotest.options import OPTIONS
from dual_object.adapters.torch.executors import NotCaptured
from dual_object.adapters.torch.executors.exported import arrays, exported, loaded, tensors
from dual_object.adapters.torch.executors.iree import diagnostic
from dual_object.adapters.torch.executors.onnx_runtime import model_of
from dual_object.errors import TargetError
from dual_object.replay.adapter import GraphRefusal, GraphRequest, load
from dual_object.replay.asked import executors
from dual_object.replay.asked.executors import EXECUTORS, asked_executor, versions_of
from dual_object.replay.observation import Capture, Observation

RUNTIMES = [name for name, row in EXECUTORS.items() if row.packages]


@pytest.fixture(params=RUNTIMES)
def runtime(request):
    """The target of each runtime that is installed here."""
    try:
        return load(f"torch:{request.param}")
    except TargetError as absent:
        pytest.skip(str(absent))


def shown(target, *cases, again=None):
    """What each case shows in a graph, as an Observation or a GraphRefusal."""
    return target.graph(GraphRequest([case.program for case in cases], None, again))


def differences(case, seen):
    """How it differs from the reference: kind and place."""
    assert isinstance(seen, Observation), seen
    return [(d.phase, d.kind, d.where) for d in compare(case.program, case.seen, seen, Rules(), graph=True)]


#: What is no graph on any target.
LEAF = {"leaf": "the body makes leaves, which are none outside of a graph"}
#: What a runtime does not take.
UNTAKEN = {
    "onnxruntime": LEAF,
    "iree": LEAF
    | {
        "logic": "torch:iree refuses it: failed to legalize operation 'torch.aten.__and__.Tensor'",
        "lstm": "torch:iree refuses it: failed to legalize operation 'torch.operator' that was explicitly marked "
        "illegal (torch.aten.lstm.input)",
    },
}
#: What is wrong in a runtime, as the suites' ledger has it.
WRONG = {"onnxruntime": {"batch_norm": [("graph_forward", "value", "t0")]}, "iree": {}}


def test_every_kind_of_program(runtime, recorded):
    """No sizes and sizes of 0, integers and booleans, several results, results that are inputs, constants, a batch norm
    that trains, inputs that are not contiguous, writes in place.
    """
    name = runtime.executor.name
    for body, function in BODIES.items():
        case = recorded(function)
        [seen] = shown(runtime, case)
        if isinstance(seen, GraphRefusal):
            assert UNTAKEN[name].get(body) == seen.message, (body, seen)
            continue
        assert body not in UNTAKEN[name]
        assert seen.capture == Capture("captured")
        assert seen.shows == {"values"}
        assert differences(case, seen) == WRONG[name].get(body, []), body


def test_second_call(runtime, recorded):
    """What was compiled once is called with other values; what it gave before stays as it was."""
    case = recorded(lambda: torch.relu(tensor(2, 3)) @ tensor(3, 2))
    [seen] = shown(runtime, case, again=[[x.data * 2 for x in case.program.inputs]])
    assert differences(case, seen) == []
    [first], [second] = seen.outputs.values(), seen.again.outputs.values()
    assert second.data == pytest.approx(4 * first.data)


def test_fault_is_seen(runtime, recorded, monkeypatch):
    """Planted: the runtime's results are off by one."""
    module = type(runtime.executor).__module__
    monkeypatch.setattr(f"{module}.tensors", lambda results: tuple(result + 1 for result in tensors(results)))
    case = recorded(BODIES["relu"])
    [seen] = shown(runtime, case)
    assert differences(case, seen) == [("graph_forward", "value", "t0")]


def test_internal_error_is_no_refusal(runtime, recorded, monkeypatch):
    """Planted: the first step below PyTorch breaks."""

    def broken(*args, **kwargs):
        raise ValueError("planted in the converter")

    monkeypatch.setattr("torch.onnx.export", broken)
    monkeypatch.setattr(
        runtime.executor, "_aot", SimpleNamespace(export=broken, current_aot_decompositions=dict), False
    )
    [failed] = shown(runtime, recorded(BODIES["relu"]))
    assert (failed.skipped, failed.uncaptured, failed.classes) == (False, False, ("ValueError",))
    assert failed.message == "planted in the converter"


def test_versions_are_told(runtime):
    """Of all packages that it runs on."""
    info = runtime.info()
    assert info.environment[info.name] == real.__version__
    assert {*EXECUTORS[runtime.executor.name].packages} <= {*info.environment}


# What follows needs none of them.


@pytest.mark.parametrize("name", RUNTIMES)
def test_missing_package(name, monkeypatch):
    """A target whose packages are not here is one sentence with the way out, whoever asks for it first."""

    def absent(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(executors, "version", absent)
    told = (
        f"target 'torch:{name}' needs {', '.join(EXECUTORS[name].packages)}, not installed here: make an environment "
        f"of its own with pip install 'op-autotest[{name}]', and run it there [--target]"
    )
    with pytest.raises(TargetError) as raised:
        load(f"torch:{name}")
    assert str(raised.value) == told
    with pytest.raises(UsageError) as raised:
        OPTIONS["target"].read(f"torch:{name}", "--target")
    assert str(raised.value) == told
    monkeypatch.setattr(executors, "version", lambda package: "1.0")
    assert versions_of(asked_executor(f"torch:{name}")) == dict.fromkeys(EXECUTORS[name].packages, "1.0")
    assert versions_of(asked_executor("torch:fx")) == {}


class Doubling(real.nn.Module):
    """A module of one op."""

    def forward(self, x):
        """Twice the input."""
        return x * 2


def test_other_shapes():
    """What a toy runtime raises of tensors of other shapes than those that it was compiled for is a refusal."""

    def run(given):
        raise ValueError("planted: bad shape")

    graph = loaded(run, [real.ones(2)])
    with pytest.raises(ValueError, match=r"^planted: bad shape$"):
        graph(real.zeros(2))
    with pytest.raises(NotCaptured, match=r"^planted: bad shape$"):
        graph(real.zeros(3))
    assert loaded(lambda given: given[0] * 2, [real.ones(2)])(real.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_arrays_and_tensors():
    """What goes in and what comes out lies in memory of its own, contiguous, with its shape and dtype."""
    x = real.arange(6).reshape(2, 3).t()
    [array] = arrays([x])
    array[0, 0] = 9
    assert x[0, 0] == 0
    assert array.flags.c_contiguous
    [scalar] = tensors(arrays([real.tensor(True)]))
    assert (scalar.shape, scalar.dtype, scalar.item()) == ((), real.bool, True)


def test_what_export_does_not_take():
    """It is refused in the words of `torch.export`; what PyTorch itself calls a bug is not."""

    def raising(error):
        class Raising(real.nn.Module):
            def forward(self, x):
                raise error

        return Raising()

    with pytest.raises(NotCaptured, match=r"^planted$"):
        exported(raising(TypeError("planted")), [real.ones(2)])
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        exported(raising(RuntimeError("INTERNAL ASSERT FAILED")), [real.ones(2)])


def test_op_without_onnx_function(monkeypatch):
    """The converter's own words of the first cause decide: a missing function is a refusal, all else is not."""
    program = exported(Doubling(), [real.ones(2)])
    from torch.onnx._internal.exporter import _errors

    def fails(cause):
        def export(*args, **kwargs):
            raise _errors.ConversionError("This is step 3/3") from cause

        monkeypatch.setattr("torch.onnx.export", export)

    fails(_errors.DispatchError("No ONNX function found for mul"))
    with pytest.raises(NotCaptured, match=r"^No ONNX function found for mul$"):
        model_of(program)
    fails(AttributeError("planted"))
    with pytest.raises(AttributeError, match=r"^planted$"):
        model_of(program)


SAID = """Error invoking IREE compiler tool iree-compile
Error code: {code}
Diagnostics:
<stdin>:3:10: error: {said}
    %0 = torch.aten.x %arg0
         ^
<stdin>:9:1: error: another one
"""


@pytest.mark.parametrize(
    ("code", "said", "told"),
    [
        (
            1,
            "failed to legalize operation 'torch.aten.flip' that was explicitly marked illegal: %2 = \"flip\"",
            "failed to legalize operation 'torch.aten.flip' that was explicitly marked illegal",
        ),
        (
            1,
            "failed to legalize operation 'torch.operator' that was explicitly marked illegal: %0 = \"torch.operator\""
            '(%arg0) <{name = "torch.aten.median"}> : (!torch.vtensor<[3],f32>)',
            "failed to legalize operation 'torch.operator' that was explicitly marked illegal (torch.aten.median)",
        ),
        (1, "list sizes are not the same", "list sizes are not the same"),
        (-11, "planted", "iree-compile was ended by signal 11"),
    ],
)
def test_first_words_of_the_compiler(code, said, told):
    """Its first diagnostic without the names of values; where it died, that."""
    assert diagnostic(SAID.replace("{code}", str(code)).replace("{said}", said)) == told
    assert diagnostic("killed") == "it said nothing"
