"""A dual object does what a tensor or module does, and each step is in the Program."""

from __future__ import annotations

import copy
import functools
import math
import operator

import numpy as np
import pytest
import torch as real

from autotest.conformance.bodies import assert_same, double, integers, scaled, tensor, torch
from dual_object import DualNamespace, DualObject, GetDualObject, Program, Replay, dual
from dual_object.adapters.torch.adapter import Adapter
from dual_object.errors import ArgumentError, OutsideCaseError, RawTargetNeeded
from dual_object.record.namespace import import_path

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
BITWISE = ("and_", "or_", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@pytest.fixture
def body(recorded, reference):
    """Give a function which records a body, replays it, and returns its printed calls without the frame."""

    def run(made, **options):
        case = recorded(made, **options)
        assert_same(case.seen, Replay(reference, case.program).run())
        return [line.removeprefix("    ") for line in case.text().split("\n")[1:]]

    return run


def plain(value):
    """Return the reference's object behind a dual one, as it was drawn."""
    return value.reference.detach().clone()


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name, recorded):
    """An arithmetic operator gives PyTorch's result with a tensor or a number on either side."""
    apply = getattr(operator, name)

    def run():
        x, y = tensor(3, low=1, high=2), tensor(3, low=1, high=2)
        for found, wanted in [
            (apply(x, y), apply(plain(x), plain(y))),
            (apply(x, 2), apply(plain(x), 2)),
            (apply(2, x), apply(2, plain(x))),
            (apply(np.float32(2), x), apply(2.0, plain(x))),
        ]:
            assert type(found) is DualObject
            assert real.equal(found.reference, wanted)
        return x

    recorded(run)


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise(name, recorded):
    """A bitwise operator gives PyTorch's result with a tensor or a number on either side."""
    apply = getattr(operator, name)

    def run():
        x, y = integers(5, 6), integers(1, 2)
        assert real.equal(apply(x, y).reference, apply(plain(x), plain(y)))
        assert real.equal(apply(x, 1).reference, apply(plain(x), 1))
        assert real.equal(apply(9, y).reference, apply(9, plain(y)))
        return x

    recorded(run)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, recorded):
    """A comparison gives a boolean tensor, with a number of Python or NumPy on either side."""
    apply = getattr(operator, name)

    def run():
        x = integers(1, 2, 3)
        assert real.equal(apply(x, 2).reference, apply(plain(x), 2))
        assert real.equal(apply(2, x).reference, apply(2, plain(x)))
        assert real.equal(apply(np.int64(2), x).reference, apply(2, plain(x)))
        return x

    recorded(run)


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE])
def test_in_place_operators(name, recorded):
    """An in-place operator changes the tensor and keeps the object."""
    apply = getattr(operator, "i" + name.rstrip("_"))

    def run():
        x = tensor(data=[5, 6], dtype="float32", grad=False) if name == "truediv" else integers(5, 6)
        before, wanted = x, plain(x)
        x = apply(x, 2)
        assert x is before
        assert real.equal(x.reference, apply(wanted, 2))
        return x

    recorded(run)


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_unary(name, recorded):
    """A unary operator gives PyTorch's result."""

    def run():
        x = integers(-1, 2)
        assert real.equal(getattr(operator, name)(x).reference, getattr(operator, name)(plain(x)))
        return x

    recorded(run)


def test_every_magic_method_of_tensors():
    """A dual object has every magic method that a tensor has, but for Python 2's and those for other libraries."""
    known = {
        *("__div__", "__rdiv__", "__idiv__", "__long__", "__nonzero__", "__setstate__", "__dict__"),
        *("__array_priority__", "__array_wrap__", "__cuda_array_interface__", "__dlpack__", "__dlpack_device__"),
        *("__dlpack_c_exchange_api__", "__torch_dispatch__", "__torch_function__"),
    }
    magic = {name for name in dir(real.Tensor) if name.startswith("__") and name.endswith("__")}
    assert magic - known - set(dir(DualObject)) == set()


def test_matmul_operator(body):
    """`@` is recorded as it is written; in place it gives a new tensor, as on PyTorch."""

    def run():
        x = tensor(2, 2)
        y = x @ x
        y @= x
        return y

    assert body(run) == ["t0 = x @ x", "t1 = t0 @ x", "return t1"]


def test_indexing(body):
    """Every kind of index is recorded as it is written."""

    def run():
        x = tensor(4, 5, 6)
        x[0], x[-1], x[...], x[:, 1:3], x[::2, None, 0, ..., -1], x[[0, 2]], x[integers(1)], x[x > 0], x[()]
        return x

    assert body(run) == [
        "t0 = x[0]",
        "t1 = x[-1]",
        "t2 = x[...]",
        "t3 = x[:, 1:3]",
        "t4 = x[::2, None, 0, ..., -1]",
        "t5 = x[[0, 2]]",
        "t6 = x[y]",
        "t7 = x > 0",
        "t8 = x[t7]",
        "t9 = x[()]",
        "return x",
    ]


def test_index_by_numpy(body):
    """NumPy integers among the indices are plain integers."""
    assert body(lambda: tensor(3)[np.int64(1)])[0] == "t0 = x[1]"


def test_item_assignment(body):
    """Items are set and added to."""

    def run():
        x = tensor(3, 4, grad=False)
        x[0] = 1
        x[1, :2] = x[2, :2]
        x[2] += 1
        return x

    assert body(run) == ["x[0] = 1", "t0 = x[2, :2]", "x[1, :2] = t0", "t1 = x[2]", "t1 += 1", "x[2] = t1", "return x"]


def test_in_place_methods_keep_the_object(body):
    """A method which gives back its tensor gives back the same dual object."""

    def run():
        x = tensor(3, grad=False)
        assert x.add_(1) is x
        assert x.requires_grad_() is x
        assert x.contiguous() is x
        return x

    assert body(run) == ["x.add_(1)", "x.requires_grad_()", "x.contiguous()", "return x"]


def test_host_values_of_builtins(body):
    """Python's own questions get the reference's plain value, and the Program keeps each."""

    def run():
        x, n = tensor(data=[2.5], dtype="float32", grad=False), integers(3)
        assert (bool(x), int(x), float(x), complex(x), len(x)) == (True, 2, 2.5, 2.5 + 0j, 1)
        assert [0, 1, 2, 3][n] == 3
        assert list(range(n[0])) == [0, 1, 2]
        assert (2.5 in x, 7 in x) == (True, False)
        assert math.floor(x) == 2
        return x

    assert body(run) == [
        "bool(x)  # True",
        "int(x)  # 2",
        "float(x)  # 2.5",
        "complex(x)  # (2.5+0j)",
        "len(x)  # 1",
        "index(y)  # 3",
        "t0 = y[0]",
        "index(t0)  # 3",
        "contains(x, 2.5)  # True",
        "contains(x, 7)  # False",
        "float(x)  # 2.5",
        "return x",
    ]


def test_host_values_of_attributes(body):
    """Attributes and methods with plain values give the reference's own, and the Program keeps each."""

    def run():
        x = tensor(2, 3)
        shape = x.shape
        assert type(shape) is real.Size
        assert (shape, x.size(), x.size(1), x.ndim, x.dim()) == ((2, 3), (2, 3), 3, 2, 2)
        assert (x.dtype, x.device, x.requires_grad) == (real.float32, real.device("cpu"), True)
        assert x.sum().item() == x.sum().tolist()
        return x

    assert body(run)[:8] == [
        "x.shape  # (2, 3)",
        "x.size()  # (2, 3)",
        "x.size(1)  # 3",
        "x.ndim  # 2",
        "x.dim()  # 2",
        "x.dtype  # torch.float32",
        'x.device  # torch.device("cpu")',
        "x.requires_grad  # True",
    ]


def test_numpy_values(body):
    """`numpy()` and `np.asarray` give arrays."""

    def run():
        x = tensor(3, grad=False)
        assert x.numpy().tolist() == x.tolist()
        assert np.asarray(x, dtype="float64").dtype == "float64"
        return x.numpy()

    assert body(run)[0] == "x.numpy()  # array(shape=(3,), dtype=float32)"


def test_iteration(body):
    """Iterating, unpacking and reversing give dual objects."""

    def run():
        a, b = tensor(2)
        c, d = reversed(tensor(2))
        return [item * 2 for item in tensor(2)], a + b, c - d

    assert body(run) == [
        "t0, t1 = iter(x)",
        "t2 = reversed(y)",
        "t3, t4 = iter(t2)",
        "t5, t6 = iter(z)",
        "t7 = t5 * 2",
        "t8 = t6 * 2",
        "t9 = t0 + t1",
        "t10 = t3 - t4",
        "return ([t7, t8], t9, t10)",
    ]


def test_copies(body):
    """`copy` and `deepcopy` give new values."""

    def run():
        x = tensor(2, grad=False)
        y, z = copy.copy(x), copy.deepcopy(x)
        z += 1
        assert y is not x
        assert not real.equal(z.reference, x.reference)
        return x, y, z

    assert body(run) == ["t0 = copy(x)", "t1 = deepcopy(x)", "t1 += 1", "return (x, t0, t1)"]


def test_text(body):
    """An f-string with a format and `repr` show the reference's value and leave nothing in the Program."""

    def run():
        x = tensor(data=1.5, dtype="float32", grad=False)
        assert f"{x:.2f}" == "1.50"
        assert repr(x) == "dual(tensor(1.5000))"
        assert repr(x.add) == f"dual({x.reference.add!r})"
        return x

    assert body(run) == ["return x"]


def test_identity_is_the_hash(body):
    """A dual object can be a key and a member of a set."""

    def run():
        x, y = tensor(2), tensor(2)
        assert len({x, y, x}) == 2
        return x

    body(run)


def test_dir_shows_the_tensor(body):
    """`dir` shows what the tensor has, for completion."""

    def run():
        x = tensor(2)
        assert {"matmul", "shape", "reference", "target"} <= set(dir(x))
        return x

    body(run)


def test_methods_have_names(body):
    """Methods and functions have their names, so that `functools.wraps` and messages work."""

    def run():
        x = tensor(2)
        assert (x.add.__name__, torch.add.__name__, torch.nn.functional.relu.__name__) == ("add", "add", "relu")
        assert functools.wraps(torch.add)(lambda: 0).__name__ == "add"
        return x

    body(run)


def test_unknown_names(recorded):
    """A name that PyTorch lacks raises an AttributeError of one sentence."""

    def run():
        with pytest.raises(AttributeError) as caught:
            tensor(2).nonsense()
        assert str(caught.value) == "Tensor has no nonsense"
        with pytest.raises(AttributeError) as caught:
            torch.nonsense(1)
        assert str(caught.value) == "torch has no nonsense"
        with pytest.raises(AttributeError) as caught:
            tensor(2).__nonsense__()
        assert str(caught.value) == "__nonsense__"

    recorded(run)


def test_constants_and_namespaces():
    """Constants and dtypes of the namespace are PyTorch's own, modules are namespaces, no case is needed."""
    assert torch.pi == math.pi
    assert torch.__version__ == real.__version__
    assert torch.float32 is real.float32
    assert type(torch.nn.functional) is DualNamespace
    assert repr(torch) == "<dual namespace torch>"
    assert repr(torch.nn.functional) == "<dual namespace torch.nn.functional>"
    assert repr(torch.nn.functional.relu) == "<dual torch.nn.functional.relu>"
    assert torch.add is torch.add


def test_isinstance(body):
    """`isinstance` with the dual classes asks the reference's object."""

    def run():
        x, m = tensor(2), torch.nn.ReLU()
        assert isinstance(x, torch.Tensor)
        assert not isinstance(x, torch.nn.Module)
        assert isinstance(m, torch.nn.Module)
        assert isinstance(real.ones(1), torch.Tensor)
        return x

    body(run)


def test_other_dual_classes_have_no_subclasses():
    """A class built on a dual one, `nn.Module` apart, is refused with what to do instead."""
    apart = "write one class per framework and join them with dual(reference=..., target=...)"
    with pytest.raises(ArgumentError) as caught:

        class _Function(torch.autograd.Function):
            pass

    assert str(caught.value) == f"base=torch.autograd.Function, but should be a class of one framework: {apart}"
    with pytest.raises(ArgumentError) as caught:

        class _Mine(torch.nn.Linear):
            pass

    assert str(caught.value) == (
        f"base=torch.nn.Linear, but should be torch.nn.Module, whose forward calls a torch.nn.Linear; or {apart}"
    )


def test_attribute_setters(body):
    """Setting an attribute sets it on both sides."""

    def run():
        x, m = tensor(2, grad=False), torch.nn.Linear(2, 2)
        x.requires_grad = True
        m.weight = torch.nn.Parameter(torch.ones(2, 2))
        m.bias = None
        return m(x)

    assert body(run) == [
        "m0 = torch.nn.Linear(2, 2)",
        "x.requires_grad = True",
        "t0 = torch.ones(2, 2)",
        "t1 = torch.nn.Parameter(t0)",
        "m0.weight = t1",
        "m0.bias = None",
        "t2 = m0(x)",
        "return t2",
    ]


def test_context_managers(body):
    """A region ends where its block ends, an exception included."""

    def run():
        x = tensor(2)
        with torch.no_grad():
            y = x * 2
            with torch.enable_grad():
                z = x * 3
        with pytest.raises(ValueError, match="mine"), torch.no_grad():
            raise ValueError("mine")
        w = x * 4
        assert (y.requires_grad, z.requires_grad, w.requires_grad) == (False, True, True)
        return y, z, w

    assert body(run)[:7] == [
        "with torch.no_grad():",
        "    t0 = x * 2",
        "    with torch.enable_grad():",
        "        t1 = x * 3",
        "with torch.no_grad():",
        "    pass",
        "t2 = x * 4",
    ]


def test_modules(body):
    """Modules are constructed once, called, put into each other and asked for their parts."""

    def run():
        inner = torch.nn.Linear(3, 3)
        m = torch.nn.Sequential(inner, torch.nn.ReLU())
        assert m[0] is inner
        assert len(m) == 2
        assert m.train() is m
        assert m.training
        assert [p.shape for p in m.parameters()] == [(3, 3), (3,)]
        m.zero_grad()
        return m(tensor(2, 3)) + inner.weight.sum()

    assert body(run) == [
        "m0 = torch.nn.Linear(3, 3)",
        "m1 = torch.nn.ReLU()",
        "m2 = torch.nn.Sequential(m0, m1)",
        "m2[0]",
        "len(m2)  # 2",
        "m2.train()",
        "m2.training  # True",
        "t0, t1 = m2.parameters()",
        "t0.shape  # (3, 3)",
        "t1.shape  # (3,)",
        "m2.zero_grad()",
        "t2 = m2(x)",
        "m0.weight",
        "t3 = t0.sum()",
        "t4 = t2 + t3",
        "return t4",
    ]


def test_state_dict(body):
    """A state is a dict of dual tensors, which another module loads."""

    def run():
        a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        state = a.state_dict()
        assert list(state) == ["weight", "bias"]
        b.load_state_dict(state)
        x = tensor(1, 2)
        assert real.equal(a(x).reference, b(x).reference)
        return b(x)

    assert body(run)[2:4] == [
        "t0, t1 = m0.state_dict().values()",
        'm1.load_state_dict(OrderedDict({"weight": t0, "bias": t1}))  # ([], [])',
    ]


def test_custom_dual(body):
    """A custom dual op is recorded by its name and replayed by its import path."""
    assert body(lambda: double(tensor(2))) == ["t0 = double(x)", "return t0"]
    assert repr(double) == "<dual double>"


def test_custom_dual_of_a_module_class(body):
    """A class that can be imported makes a module with state."""
    linear = dual(reference=real.nn.Linear, target=real.nn.Linear, name="MyLinear")
    assert body(lambda: linear(2, 3)(tensor(1, 2))) == ["m0 = MyLinear(2, 3)", "t0 = m0(x)", "return t0"]


def test_custom_dual_takes_its_name_from_the_reference():
    """Without a name the reference's is taken."""
    assert repr(dual(reference=scaled, target=real.neg)) == "<dual scaled>"


@pytest.mark.parametrize("side", ["reference", "target"])
def test_custom_dual_of_no_function(side):
    """Each side must be callable; the sentence names which is not."""
    sides = {"reference": scaled, "target": scaled, side: 3}
    with pytest.raises(ArgumentError) as caught:
        dual(**sides, name="mine")
    assert str(caught.value) == f"{side}=3, but should be a function or a class [dual(mine)]"


def test_lambda_needs_the_target(recorded):
    """A lambda cannot travel: the test must run inline."""
    negated = dual(reference=lambda x: -x, target=lambda x: -x, name="negated")
    with pytest.raises(RawTargetNeeded) as caught:
        recorded(lambda: negated(tensor(2)))
    assert str(caught.value) == "negated calls a function that cannot be imported by name (a lambda or closure)"


def test_lambda_runs_inline(recorded):
    """Inline, a lambda runs on both sides, and the Program says why it cannot be stored."""
    target = Adapter()
    stepper = Replay(target, Program())
    negated = dual(reference=lambda x: -x, target=lambda x: -x * 2, name="negated")
    case = recorded(lambda: negated(tensor(2)), stepper=stepper)
    assert case.program.inline == "negated calls a function that cannot be imported by name (a lambda or closure)"
    [id_] = case.seen.outputs
    assert real.equal(stepper.values.by_id[id_], case.returned.reference * 2)


def test_raw_target(recorded):
    """The target's own object asks for an inline run under every name it has."""
    for read in (lambda x: x.target, lambda x: x.oneflow):
        with pytest.raises(RawTargetNeeded) as caught:
            recorded(lambda read=read: read(tensor(2)))
        assert str(caught.value) == "the body uses a raw target object"


def test_raw_target_inline(recorded):
    """Inline, the target's own object is at hand, and `.oneflow` exists only where that is the target."""

    def run():
        x = tensor(2)
        y = x * 2
        assert type(y.target) is real.Tensor
        assert y.target is not y.reference
        assert y.pytorch is y.reference
        with pytest.raises(AttributeError):
            _ = y.oneflow
        return y

    case = recorded(run, stepper=Replay(Adapter(), Program()), target="torch")
    assert case.program.inline == "the body uses a raw target object"


def test_target_of_a_failed_call(recorded):
    """Inline, a value which the target never computed is missing with the target's words."""
    stepper = Replay(Adapter(), Program())

    def run():
        x = tensor(2)
        stepper.values.by_id.clear()
        with pytest.raises(RuntimeError) as caught:
            _ = x.target
        assert str(caught.value) == "the target has no value here: it was never computed"

    recorded(run, stepper=stepper)


def test_outside_a_case():
    """A dual call outside a case says where it has a meaning."""
    for call, name in [
        (lambda: torch.zeros(2), "torch.zeros"),
        (lambda: double(1), "double"),
        (lambda: GetDualObject("x", 1, 2), "GetDualObject('x')"),
    ]:
        with pytest.raises(OutsideCaseError) as caught:
            call()
        assert str(caught.value) == (
            f"{name} is used outside a case; dual calls have a meaning only in the body of a test with @autotest() "
            "above it, not in a fixture or another thread"
        )


def test_get_dual_object_of_frameworks_and_functions(body):
    """Frameworks and their modules give a root, functions and classes a dual op."""
    assert repr(GetDualObject("torch", real, real)) == "<dual namespace torch>"
    assert repr(GetDualObject("nn", real.nn, real.nn)) == "<dual namespace torch.nn>"
    relu = GetDualObject("", real.relu, real.relu)
    assert repr(relu) == "<dual relu>"
    assert body(lambda: relu(tensor(2)))[0] == "t0 = relu(x)"


def test_get_dual_object_of_tensors(recorded):
    """A pair of tensors needs an inline run, in which it is one value."""
    with pytest.raises(RawTargetNeeded) as caught:
        recorded(lambda: GetDualObject("x", real.ones(2), real.ones(2)))
    assert str(caught.value) == "GetDualObject('x') holds a raw target object"
    stepper = Replay(Adapter(), Program())
    case = recorded(lambda: GetDualObject("x", real.ones(2), real.zeros(2)) + 1, stepper=stepper)
    assert case.program.inline == "GetDualObject('x') holds a raw target object"
    [id_] = case.seen.outputs
    assert stepper.values.by_id[id_].tolist() == [1, 1]
    assert case.returned.reference.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("function", "path"),
    [
        (scaled, "autotest.conformance.bodies:scaled"),
        (real.nn.Linear, "torch.nn.modules.linear:Linear"),
        (real.relu, "torch:relu"),
        (real.nn.functional.gelu, "torch._C._nn:gelu"),
        (real.Tensor.add_, None),
        (lambda: 0, None),
        (functools.partial(scaled), None),
        (operator.add, "_operator:add"),
    ],
    ids=["mine", "class", "builtin", "functional", "method", "lambda", "partial", "operator"],
)
def test_import_paths(function, path):
    """A function has the path under which it can be imported again, if there is one."""
    assert import_path(function) == path


def test_assertions():
    """What asserts of PyTorch's own results says nothing of the target's."""
    with pytest.raises(ArgumentError) as caught:
        _ = torch.testing.assert_close
    told = (
        "torch.testing.assert_close(...) holds two results of one side together: "
        "return both, and each is held to the target's"
    )
    assert str(caught.value) == told
    assert torch.testing.make_tensor  # is an op as any other


def test_default_device():
    """What would move the harness's own tensors is refused, and the way out is named."""
    with pytest.raises(ArgumentError) as caught:
        _ = torch.set_default_device
    told = "torch.set_default_device(...) moves what the harness makes, too: give calls a device="
    assert str(caught.value) == told


def test_compile():
    """What compiles for PyTorch alone is refused, and the targets that compile are named."""
    with pytest.raises(ArgumentError) as caught:
        _ = torch.compile
    told = (
        "torch.compile(...) compiles for PyTorch alone: leave it out of the body, and run the test on what it compiles "
        "to, as with --target torch:inductor"
    )
    assert str(caught.value) == told
