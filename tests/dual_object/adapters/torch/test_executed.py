"""The adapter of executors: what a module shows that was run by one, alone and in a batch."""

from __future__ import annotations

import importlib
import os
from copy import deepcopy
from dataclasses import replace

import pytest
import torch as real

from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.conformance.bodies import BODIES, tensor, torch
from dual_object.adapters.torch.executors import NotCaptured, make_executor, private
from dual_object.errors import TargetError
from dual_object.replay.adapter import GraphRefusal, GraphRequest, load
from dual_object.replay.asked.executors import EXECUTORS, asked_executor
from dual_object.replay.observation import Capture, Observation
from dual_object.replay.second_call import second_call
from support.executors import Plain, adapter, refusing

pytestmark = pytest.mark.slow

#: A body of which no executor makes a graph, and why.
UNGRAPHED = {"leaf": "the body makes leaves, which are none outside of a graph"}


def shown(target, *cases, backward=True, again=None):
    """What each case shows in a graph, as an Observation."""
    keys = [case.gradient_keys() for case in cases] if backward else None
    return target.graph(GraphRequest([case.program for case in cases], keys, again))


def differences(case, seen):
    """How it differs from the reference: kind and place."""
    assert isinstance(seen, Observation), seen
    return [(d.phase, d.kind, d.where) for d in compare(case.program, case.seen, seen, Rules(), graph=True)]


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
def test_source_run_plainly_is_aligned(together, reference, recorded):
    """The control of all executors: Python on the source of every kind of Program shows all that eager shows, at a
    second call, too.
    """
    cases = {name: recorded(body) for name, body in BODIES.items()}
    seconds = {name: second_call(reference, case.program, case.seen) for name, case in cases.items()}
    again = [None if isinstance(second, str) else second.arrays for second in seconds.values()]
    plain = Plain(takes_batches=together)
    results = shown(adapter(plain), *cases.values(), again=again)
    assert sum(second is not None for second in again) > 20
    for (name, case), seen in zip(cases.items(), results, strict=True):
        if name in UNGRAPHED:
            assert seen == GraphRefusal(True, None, (), UNGRAPHED[name])
            continue
        assert differences(case, seen) == [], name
        second = seconds[name]
        if not isinstance(second, str):
            assert compare(second.program, second.reference, seen.again, Rules(), graph=True) == [], name
    assert plain.compiled == (2 if together else len(cases) - 1)  # `host` reads a value: it breaks graphs, and is alone


def _after(change):
    return lambda module: lambda *inputs: change(list(module(*inputs)), inputs)


def _first(change):
    return _after(lambda results, inputs: [change(results[0]), *results[1:]])


def _mutating(results, inputs):
    with real.no_grad():
        inputs[0].mul_(2)
    return results


FAULTS = {
    "value": (_first(lambda y: y + 1), ("graph_forward", "value", "t0")),
    "dtype": (_first(lambda y: y.double()), ("graph_forward", "dtype", "t0")),
    "layout": (_first(lambda y: y.t().contiguous().t()), ("graph_forward", "layout", "t0")),
    "requires_grad": (_first(lambda y: y.detach()), ("graph_forward", "requires_grad", "t0")),
    "alias": (
        _after(lambda results, inputs: [results[0], results[1].clone(), *results[2:]]),
        ("graph_forward", "alias", "t1"),
    ),
    "offset": (
        _after(lambda results, inputs: [results[0], inputs[0][:1], *results[2:]]),
        ("graph_forward", "layout", "t1"),
    ),
    "mutation": (_after(_mutating), ("graph_forward", "mutation", "input x")),
    "gradient": (_first(lambda y: y.detach() + 2 * (y - y.detach())), ("graph_backward", "value", "gradient of x")),
    "host": (
        _after(lambda results, inputs: [*results[:2], *(7 for _ in results[2:])]),
        ("graph_forward", "shape", "dim"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_seen(name, recorded):
    """Whatever a graph does otherwise than eager shows, if the executor shows that part; else it does not."""

    def body():
        x = tensor(3, 4)
        x.dim()
        return x * 2, x[1:2]

    change, expected = FAULTS[name]
    case = recorded(body)
    executor = Plain(change)
    [seen] = shown(adapter(executor), case)
    assert expected in differences(case, seen)
    executor.shows = frozenset({"values", "gradients"})
    [seen] = shown(adapter(executor), case)
    plain = name in ("value", "dtype", "gradient")
    assert (expected in differences(case, seen)) == plain


def test_state_is_that_before_compiling(recorded):
    """A tracer runs the module once; its buffers start the first call as recorded all the same, and gradients of
    parameters do not add up.
    """
    case = recorded(BODIES["batch_norm"])
    again = [[x.data for x in case.program.inputs]]
    [seen] = shown(adapter(Plain()), case, again=again)
    assert differences(case, seen) == []
    for key, gradient in seen.gradients.items():
        assert gradient.data.tobytes() == seen.again.gradients[key].data.tobytes()
    assert any(seen.buffers[key].data.tobytes() != seen.again.buffers[key].data.tobytes() for key in seen.buffers)


@pytest.fixture
def one_start(recorded):
    """A case with two results. The backward starts at the first: eagerly the second input, y, has no gradient."""
    case = recorded(lambda: (tensor(2) * 2, tensor(3).sum()))
    case.program.cotangents.popitem()
    [seen] = shown(adapter(Plain()), case)
    return replace(case, seen=seen)


EXTRA = ("graph_backward", "grad_extra", "gradient of y")


@pytest.mark.parametrize(("scale", "zero_gradients"), [(0, True), (0, False), (1, True)])
def test_zeros_where_no_backward_starts(scale, zero_gradients, one_start):
    """AOTAutograd's one backward gives a leaf zeros where eager gives it none. Of another executor that is a
    difference, and so is another gradient than zeros.
    """

    def joined(results, inputs):
        return [results[0] + scale * results[1], results[1]]

    executor = Plain(_after(joined))
    executor.zero_gradients = zero_gradients
    [seen] = shown(adapter(executor), one_start)
    assert (EXTRA in differences(one_start, seen)) == bool(scale or not zero_gradients)


@pytest.mark.parametrize("target", ["torch:eager", "torch:aot_eager"])
def test_aotautograd_gives_zeros(target, one_start):
    """The real one does; Dynamo alone does not."""
    target = load(target)
    [seen] = shown(target, one_start)
    assert differences(one_start, seen) == []
    target.executor.zero_gradients = False
    [seen] = shown(target, one_start)
    assert differences(one_start, seen) == ([EXTRA] if target.name == "torch:aot_eager" else [])


def test_backward_that_fails(recorded):
    """A backward that raises is the graph's divergence, not the harness's end."""

    def raising(gradient):
        raise RuntimeError("planted in the backward")

    def hooked(results, inputs):
        results[0].register_hook(raising)
        return results

    case = recorded(BODIES["relu"])
    [seen] = shown(adapter(Plain(_after(hooked))), case)
    [difference] = compare(case.program, case.seen, seen, Rules(), graph=True)
    assert difference.phase == "graph_backward"
    assert difference.message == "backward raised RuntimeError: planted in the backward"


def test_refusal_and_failure(recorded):
    """A Program that an executor does not take is told apart from one in which it fails; the call is known by its line
    of the source.
    """
    case = recorded(lambda: torch.relu(tensor(2)).exp())
    target = adapter(Plain(refusing))
    message = "torch:fx refuses it: planted: no such thing in a graph"
    assert shown(target, case) == [GraphRefusal(True, None, ("TypeError",), message, uncaptured=True)]
    case.program.calls[1].op = "no_such_method"
    [failed] = shown(adapter(Plain()), case)
    assert (failed.skipped, failed.call, failed.classes) == (False, 1, ("AttributeError",))
    assert failed.message == "'Tensor' object has no attribute 'no_such_method'"


def test_batch_runs_without_the_one_that_fails(recorded):
    """What fails in its own body costs its own case only: the others run together once more."""
    cases = [recorded(lambda size=size: torch.relu(tensor(size, 3))) for size in range(1, 6)]
    cases[2].program.calls[0].op = "no_such_op"
    plain = Plain(takes_batches=True)
    results = shown(adapter(plain), *cases)
    assert [isinstance(seen, Observation) for seen in results] == [True, True, False, True, True]
    assert [seen.outputs[1].shape[0] for seen in results if isinstance(seen, Observation)] == [1, 2, 4, 5]
    assert plain.compiled == 3  # 5, 4, and that one


def test_batch_is_halved(recorded):
    """Where nobody says which of them fails, it costs its own case only; in a batch that is not whole each case is
    asked alone what it is.
    """
    cases = [recorded(lambda size=size: torch.relu(tensor(size, 3))) for size in range(1, 6)]

    def failing(module):
        def run(*inputs):
            if any(x.shape[0] == 3 for x in inputs):
                raise RuntimeError("planted")
            return module(*inputs)

        return run

    plain = Plain(failing, takes_batches=True)
    results = shown(adapter(plain), *cases)
    assert [isinstance(seen, Observation) for seen in results] == [True, True, False, True, True]
    assert plain.compiled == 5  # 5, 2, 3, and of those 1 and 2
    plain = Plain(takes_batches=True, outcome=Capture("broken", ("planted",)))
    results = shown(adapter(plain), *cases[:2])
    assert [seen.capture for seen in results] == [Capture("broken", ("planted",))] * 2
    assert plain.compiled == 3


def test_internal_error_is_no_refusal(recorded):
    """What PyTorch asks to be told of as a bug is red, though it came while the module was captured; addresses are left
    out of reasons.
    """

    def broken(module):
        raise RuntimeError("0 INTERNAL ASSERT FAILED at x.cpp:1, please report a bug to PyTorch.")

    target = load("torch:fx")
    target.executor._capture = lambda module, inputs: broken(module)
    [failed] = shown(target, recorded(BODIES["relu"]))
    assert (failed.skipped, failed.uncaptured, failed.classes) == (False, False, ("RuntimeError",))
    assert str(NotCaptured(ValueError("no source of <function f at 0x7f00ab>"))) == "no source of <function f>"


def test_forward_only(recorded):
    """An executor that shows no gradients is asked for none."""
    executor = Plain()
    executor.shows = frozenset({"values"})
    [seen] = shown(adapter(executor), recorded(BODIES["relu"]))
    assert seen.gradients == {}
    assert not any(output.requires_grad for output in seen.outputs.values())


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        (
            "fx",
            BODIES["no_grad"],
            "records ops on tensors alone, and not what switches gradients on or off around them",
        ),
        ("trace", lambda: tensor(2, grad=False).requires_grad_() * 2, "records ops on tensors alone, and not what "),
        ("fx", lambda: torch.rand(2) + tensor(2), "documents that random numbers which are drawn without a tensor "),
    ],
)
def test_known_limits_are_told_of(name, body, reason, recorded):
    """What an executor is known not to record is counted with that reason, and not held against it; the same op of a
    tensor is.
    """
    target = load(f"torch:{name}")
    [refused] = shown(target, recorded(body))
    assert refused.uncaptured
    assert refused.message.startswith(f"torch:{name} {reason}")
    [seen] = shown(target, recorded(lambda: torch.normal(tensor(2).abs())))
    assert isinstance(seen, Observation)


QUICK = [name for name, row in EXECUTORS.items() if "torch.compile" not in row.code and not row.packages]


@pytest.mark.parametrize("name", QUICK)
def test_each_executor(name, recorded):
    """Each runs a plain body whole and shows what eager shows, at a second call, too; the modules of the body are what
    they were afterwards.
    """
    target = load(f"torch:{name}")
    assert target.info().name == f"torch:{name}"
    assert target.info().environment[f"torch:{name}"] == real.__version__
    for body in (lambda: torch.relu(tensor(2, 3)) @ tensor(3, 2), BODIES["submodule"], BODIES["evaluated"]):
        case = recorded(body)
        [seen] = shown(target, case, again=[[x.data * 2 for x in case.program.inputs]])
        assert seen.capture == Capture("captured")
        assert differences(case, seen) == []
        forward_only = EXECUTORS[name].forward_only
        assert ("gradients" in seen.shows) != forward_only
        assert bool(seen.gradients) != forward_only
        assert bool(seen.buffers) == bool(case.seen.buffers)
        assert seen.again.outputs.keys() == case.seen.outputs.keys()


REFUSED = {
    "fx": (lambda: torch.stack([*tensor(2, 3)]), "Proxy object cannot be iterated."),
    "script": (lambda: deepcopy(tensor(2, grad=False)), "prim::id("),
    "export": (lambda: deepcopy(tensor(2, grad=False)), "Cannot access data pointer of Tensor"),
    "meta": (lambda: tensor(2).to("cpu") + 1, "Cannot copy out of meta tensor; no data!"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, recorded):
    """What an executor does not take by design is told as that, in its own words."""
    body, words = REFUSED[name]
    [refused] = shown(load(f"torch:{name}"), recorded(body))
    assert isinstance(refused, GraphRefusal), refused
    assert (refused.skipped, refused.uncaptured) == (True, True)
    assert refused.message.startswith(f"torch:{name} refuses it: ")
    assert words in refused.message


def test_script_fails_alike_each_time(recorded):
    """What a failed compilation leaves half done is not what the next one is told of."""

    def body():
        pooled, indices = torch.nn.functional.max_pool1d(tensor(1, 2, 4), 2, return_indices=True)
        return torch.nn.MaxUnpool1d(2)(pooled, indices)

    target, case = load("torch:script"), recorded(body)
    [first], [again] = shown(target, case), shown(target, case)
    assert isinstance(first, GraphRefusal)
    assert "INTERNAL ASSERT FAILED" in first.message
    assert again == first


def test_an_older_pytorch_has_fewer_refusals(monkeypatch):
    """What a version lacks is left out of what is asked for by name."""
    assert [one.__name__ for one in private.refusals()] == ["Unsupported", "UserError", "ConstraintViolationError"]
    monkeypatch.delattr(real._dynamo.exc, "UserError")
    assert [one.__name__ for one in private.refusals()] == ["Unsupported", "ConstraintViolationError"]


def test_inductor_without_a_compiler(monkeypatch):
    """The target says so before any case does, in the compiler's words."""

    def compile_nothing(*args, **kwargs):
        raise RuntimeError("No working C++ compiler found")

    monkeypatch.setattr(real, "compile", compile_nothing)
    with pytest.raises(TargetError) as caught:
        load("torch:inductor,dynamic")
    assert str(caught.value) == "target 'torch:inductor,dynamic' cannot compile here: No working C++ compiler found"


@pytest.mark.parametrize(("known", "tried"), [(True, [True]), (False, [True, None])])
def test_what_the_processor_says_is_tried_first(known, tried, monkeypatch):
    """Where the compiler does not know what it has, Inductor finds out what both know."""
    config = importlib.import_module("torch._inductor.config")
    valid = importlib.import_module("torch._inductor.cpu_vec_isa").valid_vec_isa_list
    valid()
    trusted = []

    def compile_where_known(*args, **kwargs):
        trusted.append(config.cpp.vec_isa_ok)
        if config.cpp.vec_isa_ok and not known:
            raise RuntimeError("unrecognized command-line option '-mamx-tile'")
        return real.neg

    monkeypatch.setattr(real, "compile", compile_where_known)
    with config.patch({"cpp.vec_isa_ok": None}):
        load("torch:inductor")
        assert trusted == tried
        assert (config.cpp.vec_isa_ok is None, valid.cache_info().currsize == 0) == (not known, not known)


@pytest.mark.parametrize("asked", [True, False])
def test_an_environment_says_what_the_processor_has(asked):
    """Then it is that, whatever comes of it."""
    config = importlib.import_module("torch._inductor.config")
    with config.patch({"cpp.vec_isa_ok": asked}):
        with pytest.raises(ValueError, match="planted"), private.processor_trusted():
            raise ValueError("planted")
        assert config.cpp.vec_isa_ok is asked


def test_workers_share_one_cache(monkeypatch):
    """What one of xdist's workers has compiled, another one need not: the next run deals the tests otherwise."""
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "where-it-is")
    private.prepare_dynamo()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == "where-it-is"
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    private.prepare_dynamo()
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ


class _Body(real.nn.Module):
    """A module of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        """Call it."""
        return self.function(x)


def _item(x):
    return x * x.sum().item()


def _branch(x):
    return x * 2 if x.sum() > 0 else x


def _several(x):
    return real.compiler.disable(lambda y: y + 1)(x * 2) * 3


X, LONGER = real.ones(2, 3), real.ones(5, 3)
OUTCOMES = {
    "whole": (lambda x: x * 2, [X, -X], "captured", []),
    "nothing to compute": (lambda x: x, [X, X], "captured", []),
    "another shape": (lambda x: x * 2, [X, LONGER], "recompiled", ["its guards did not hold for other values"]),
    "item": (_item, [X], "broken", ["Unsupported Tensor.item() call with capture_scalar_outputs=False"]),
    "branch": (_branch, [X], "broken", ["Data-dependent branching"]),
    "lstm": (real.nn.LSTM(3, 2), [X], "broken", ["Attempted to wrap RNN, GRU, or LSTM"]),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_dynamo_captured(name):
    """Whole, anew for other shapes, or in pieces, with Dynamo's reason in one line."""
    function, calls, outcome, reasons = OUTCOMES[name]
    executor = load("torch:eager").executor
    compiled = executor.compile(_Body(function), [calls[0]])
    for x in calls:
        compiled(x)
    assert compiled.capture() == Capture(outcome, tuple(reasons))


def test_break_that_dynamo_does_not_count(monkeypatch):
    """Where it gives no reason, the number of graphs and of functions left to Python tells of it."""
    executor = load("torch:eager").executor
    compiled = executor.compile(_Body(_item), [X])
    compiled(X)
    monkeypatch.setattr(private, "graph_breaks", list)
    assert compiled.capture() == Capture("broken", ("Dynamo made 2 graphs of it",))
    compiled = executor.compile(_Body(real.nn.LSTM(3, 2)), [X])
    compiled(X)
    assert compiled.capture() == Capture("broken", ("Dynamo made no graph of it",))


def test_options(recorded):
    """`fullgraph` makes a break a refusal; marked dimensions that cannot change are refused; no option goes unused."""
    [refused] = shown(load("torch:eager,fullgraph"), recorded(BODIES["lstm"]))
    assert refused.uncaptured
    assert refused.message == "torch:eager,fullgraph refuses it: Attempted to wrap RNN, GRU, or LSTM"
    [fixed] = shown(load("torch:eager,mark_dynamic"), recorded(BODIES["linear"]))
    assert fixed.uncaptured
    assert fixed.message.startswith("torch:eager,mark_dynamic refuses it: ")
    [seen] = shown(load("torch:eager,mark_dynamic,dynamic"), recorded(BODIES["relu"]))
    assert seen.capture == Capture("captured")


def test_private_names_are_all_there():
    """This version of PyTorch has every name that is used of it without being promised."""
    assert private.missing() == []
    assert not private._has("torch._dynamo", "config.no_such_option")
    assert not private._has("torch._no_such_module", "name")


def test_each_executor_has_words():
    """The table that a command line is checked against is the one that executors are made from."""
    assert [*EXECUTORS] == [
        "fx",
        "make_fx",
        "trace",
        "script",
        "eager",
        "aot_eager",
        "aot_eager_decomp_partition",
        "inductor",
        "export",
        "export_decomp",
        "lazy",
        "refs",
        "meta",
        "fake",
        "onnxruntime",
        "iree",
    ]
    assert NotCaptured(ValueError("no\nmore")).classes == ("ValueError",)


def test_precision_casts_are_emulated_by_one_executor_alone():
    """Another executor of the same process compiles as it would without that option."""
    config = importlib.import_module("torch._inductor.config")
    asked = asked_executor("torch:inductor,emulate_precision_casts")
    assert make_executor(asked)._settings["options"] == {"emulate_precision_casts": True}
    assert config.emulate_precision_casts is False
