"""PyTorch as a target conforms, its traced graph included, and its adapter knows PyTorch's objects."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch as real

from autotest.conformance.adapter import AdapterConformance
from autotest.conformance.bodies import BODIES, assert_graph, tensor, torch
from dual_object.errors import MissingOp, TargetError
from dual_object.program.values import Device, Name, Named
from dual_object.replay.adapter import GraphRefusal, GraphRequest, load


class TestTorch(AdapterConformance):
    """PyTorch against itself."""

    target = "torch"
    # A vectorised reduction depends on where its buffer lies in memory, so two processes differ in the last bit.
    rtol = 1e-6
    atol = 1e-6


def test_phase_is_graph_only_while_a_graph_runs(reference, recorded):
    """A planted fault is told what is being replayed; after a graph, a refused one too, it is eager again."""
    phases = []
    case = recorded(BODIES["relu"])
    resolve = reference.resolve
    reference.resolve = lambda path: phases.append(reference.phase) or resolve(path)
    try:
        reference.graph(GraphRequest([case.program], None))
    finally:
        del reference.resolve
    assert set(phases) == {"graph"}
    assert reference.phase == "eager"


def test_planted_fault_is_seen(reference, recorded):
    """A graph that computes something else fails the comparison: the comparison of these tests can fail."""
    case = recorded(BODIES["relu"])
    resolve = reference.resolve
    reference.resolve = lambda path: real.neg if path == "relu" else resolve(path)
    try:
        [seen] = reference.graph(GraphRequest([case.program], [case.gradient_keys()]))
    finally:
        del reference.resolve
    with pytest.raises(AssertionError, match="output 1"):
        assert_graph(case, seen, case.gradient_keys())


def test_graph_does_not_touch_the_next_one(reference, recorded):
    """A training batch norm in a graph starts from its recorded buffers each time."""
    case = recorded(BODIES["batch_norm"])
    first, second = (reference.graph(GraphRequest([case.program], None))[0] for _ in range(2))
    for key, buffer in case.seen.buffers.items():
        np.testing.assert_allclose(first.buffers[key].data, buffer.data, 1e-6)
        np.testing.assert_array_equal(first.buffers[key].data, second.buffers[key].data)


@pytest.mark.parametrize("strides", [(1, 2), (8, 2), (0, 1)], ids=["transposed", "strided", "expanded"])
def test_graph_is_called_with_tensors_that_lie_as_the_traced_ones(strides, reference, recorded):
    """What makes an input contiguous is in the graph where the input is not, at its second call too."""
    program = recorded(lambda: tensor(2, 3).contiguous().view(6)).program
    [x] = program.inputs
    data = np.broadcast_to(x.data[:1], (2, 3))
    program = replace(program, inputs=[replace(x, data=data, strides=strides)])
    [seen] = reference.graph(GraphRequest([program], None, [[data * 2]]))
    [first], [second] = seen.outputs.values(), seen.again.outputs.values()
    np.testing.assert_array_equal(first.data, data.reshape(6))
    np.testing.assert_array_equal(second.data, data.reshape(6) * 2)


@pytest.mark.parametrize("name", ["backward", "grad", "module_of_tensor", "keyword", "memory", "value", "parameter"])
def test_what_no_graph_stands_for(name, reference, recorded):
    """A body that a static graph cannot stand for is skipped with the reason."""

    def backward():
        x = tensor(2)
        (x * x).sum().backward()
        return x * 2

    bodies = {
        "backward": (backward, "the body calls backward itself"),
        "grad": (lambda: tensor(2).grad, "the body reads gradients"),
        "module_of_tensor": (
            lambda: torch.nn.Embedding.from_pretrained(tensor(2, 2)) and torch.nn.CrossEntropyLoss(weight=tensor(2)),
            "a module is constructed from a tensor",
        ),
        "keyword": (
            lambda: tensor(2).clone().random_(0, 7),
            "PyTorch's tracer writes no Python for an overload named as a keyword",
        ),
        "memory": (
            lambda: copy.deepcopy(tensor(2)) * 2,
            "PyTorch's tracer cannot copy the memory of a tensor",
        ),
        "value": (
            lambda: torch.nn.functional.one_hot(tensor(2, dtype="int64", low=0, high=2)),
            "PyTorch's tracer cannot follow a value that an op reads",
        ),
        "parameter": (
            lambda: torch.nn.Embedding(2, 2, max_norm=0.5)(tensor(2, dtype="int64", low=0, high=2)),
            "PyTorch's tracer cannot follow an op that writes a parameter",
        ),
    }
    body, reason = bodies[name]
    case = recorded(body, backward=False)
    assert reference.graph(GraphRequest([case.program], None)) == [GraphRefusal(True, None, (), reason)]


@pytest.mark.parametrize("rows", [1, 2])
def test_graph_that_reads_what_nothing_wrote(rows, reference, recorded):
    """The gradient of a grid over one row has a 0 that PyTorch writes by hand, and a traced graph does not have."""
    case = recorded(lambda: torch.nn.functional.affine_grid(tensor(1, 2, 3), (1, 1, rows, 2), align_corners=False))
    [seen] = reference.graph(GraphRequest([case.program], [case.gradient_keys()]))
    if rows == 1:
        reason = "PyTorch's traced graph lacks what PyTorch's own code wrote by hand, and reads unwritten memory"
        assert seen == GraphRefusal(True, None, (), reason)
    else:
        assert_graph(case, seen, case.gradient_keys())


@pytest.mark.parametrize(
    ("value", "neutral"),
    [
        (real.float32, Name("float32")),
        (real.channels_last, Name("channels_last")),
        (real.strided, Name("strided")),
        (real.Size([1, 2]), (1, 2)),
        (real.device("cpu"), Device("cpu")),
        (real.device("cuda:0"), Device("cuda")),
        (real.device("cuda:1"), Device("cuda:1")),
        (np.float32(1.5), 1.5),
        ([np.int64(1), real.float64], [1, Name("float64")]),
        ("text", "text"),
    ],
    ids=str,
)
def test_encode(value, neutral, reference):
    """PyTorch's plain objects have neutral forms; what has none stays itself."""
    assert reference.encode(value) == neutral
    assert type(reference.encode(value)) is type(neutral)


def test_encode_named_tuple(reference):
    """A `torch.return_types` result keeps its field names."""
    assert reference.encode(real.max(real.ones(1, 1), dim=1)).fields == ("values", "indices")
    assert type(reference.encode(real.max(real.ones(1, 1), dim=1))) is Named


@pytest.mark.parametrize(
    "dtype",
    ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64"],
)
def test_tensor_and_back(dtype, reference):
    """Values go in and come out for every dtype; bfloat16 travels as float32."""
    data = np.array([[0, 1], [1, 1]]).astype("float32" if dtype == "bfloat16" else dtype)
    made, shares = reference.tensor(data, dtype)
    assert reference.describe(made) == (dtype, (2, 2), "cpu", False)
    [back] = reference.read([made])
    assert back.dtype == data.dtype
    assert back.tolist() == data.tolist()
    assert shares == (dtype != "bfloat16")


def test_read_of_views(reference):
    """Conjugated, negated, sparse and transposed tensors are read as what they mean."""
    x = real.tensor([[1 + 2j, 3j]])
    found = reference.read([x.conj(), x.conj().imag, real.eye(2).to_sparse(), real.ones(2, 3).T])
    assert found[0].tolist() == [[1 - 2j, -3j]]
    assert found[1].tolist() == [[-2, -3]]
    assert found[2].tolist() == [[1, 0], [0, 1]]
    assert found[3].shape == (3, 2)


def test_state_of_another_module(reference):
    """A state with a name that the module lacks is refused with the names of both."""
    with pytest.raises(KeyError) as caught:
        reference.load_state(real.nn.Linear(2, 2), {"gain": np.ones((2, 2), np.float32)})
    assert caught.value.args == ("state has ['gain'], but the module has ['bias', 'weight']",)


def test_missing_path(reference):
    """A path that PyTorch lacks is a MissingOp."""
    with pytest.raises(MissingOp) as caught:
        reference.resolve("nn.nonsense.relu")
    assert str(caught.value) == "torch has no 'nn.nonsense.relu'"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "tensorflow",
            "target='tensorflow', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, "
            "or package.module:Class [--target]",
        ),
        (
            "no_module:X",
            "target 'no_module:X' cannot be imported: ModuleNotFoundError: No module named 'no_module'; put the folder "
            "that holds no_module on the import path, as PYTHONPATH=. does for this one",
        ),
        (
            "autotest.conformance.bodies:No",
            "target 'autotest.conformance.bodies:No' cannot be imported: "
            "AttributeError: module 'autotest.conformance.bodies' has no attribute 'No', "
            "but should be package.module:Class [--target]",
        ),
        (
            "os:path",
            "target='os:path' is a module, but should be an adapter's class, package.module:Class [--target]",
        ),
    ],
)
def test_unknown_targets(name, sentence):
    """A target that cannot be loaded is refused in one sentence."""
    with pytest.raises(TargetError) as caught:
        load(name)
    assert str(caught.value) == sentence


def test_installed_class_as_target():
    """Any installed class can be a target."""
    assert load("dual_object.adapters.torch:Adapter").name == "torch"


def test_tensors_without_memory_are_read(reference):
    """Autograd's zero tensors and negated or conjugated views are read as the values that they stand for."""
    x = real.tensor([1 + 2j])
    found = reference.read([real._efficientzerotensor((2,)), x.conj().imag, x.conj()])
    assert [values.tolist() for values in found] == [[0.0, 0.0], [-2.0], [1 - 2j]]


def test_a_gpu_is_lost_once(monkeypatch):
    """Then there is the CPU alone, whose random numbers go on as they did."""
    adapter = load("torch")
    assert adapter.lost_device() == ""
    asked = []

    def lost():
        asked.append(True)
        raise RuntimeError("CUDA error: device-side assert triggered\nSearch for it")

    state = [real.ones(1)]
    monkeypatch.setattr(real.cuda, "is_available", lambda: True)
    monkeypatch.setattr(real.cuda, "synchronize", lost)
    monkeypatch.setattr(real.cuda, "get_rng_state_all", lambda: state)
    monkeypatch.setattr(real.cuda, "set_rng_state_all", lambda states: asked.append(states))
    adapter = load("torch")
    with adapter.random_apart():
        pass
    assert asked == [state]
    assert adapter.info().devices == ("cpu", "cuda")
    before = real.default_generator.get_state()
    with adapter.random_apart():
        adapter.lost_device()
        real.rand(1)
    assert real.equal(real.default_generator.get_state(), before)
    assert adapter.info().devices == ("cpu",)
    assert (adapter.lost_device(), asked) == ("", [state, True])


def test_no_gpu_in_a_fork_of_one_who_has_it(monkeypatch):
    """CUDA cannot begin again there."""
    monkeypatch.setattr(real.cuda, "is_available", lambda: True)
    monkeypatch.setattr(real.cuda, "_is_in_bad_fork", lambda: True)
    assert load("torch").info().devices == ("cpu",)
