"""Tensors, devices and dtypes drawn for both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch as pytorch

from autotest import (
    UsageError,
    autotest,
    choice_tensor,
    dual_tensor,
    oneof,
    random,
    random_device,
    random_dtype,
    random_tensor,
)
from autotest.run.session import Session
from generators import DtypeError, RangeError
from support.places import told


def drawn(session: Session, make: Callable[[], Any], n: int = 12) -> list[Any]:
    """The reference's values of what `make` draws in n cases, each replayed on the target as well."""
    found: list[Any] = []

    def body() -> Any:
        dual = make()
        found.append(dual.reference)
        return dual.clone()

    session.counts.clear()
    autotest(n=n, check_graph=False)(body)()
    assert session.counts == {"aligned": n}
    return found


def test_defaults(session: Session) -> None:
    """By default 1 to 5 dimensions of 1 to 7, float32 of [-1, 1), with gradient."""
    tensors = drawn(session, random_tensor, n=30)
    assert {x.ndim for x in tensors} == {1, 2, 3, 4, 5}
    assert {size for x in tensors for size in x.shape} == set(range(1, 8))
    for x in tensors:
        assert x.dtype == pytorch.float32
        assert x.requires_grad
        assert x.min() >= -1
        assert x.max() < 1


def test_shape_is_as_asked(session: Session) -> None:
    """Sizes given as numbers or generators are obeyed; one generator gives one size."""

    def make() -> Any:
        k = random(2, 5).to(int)
        return random_tensor(ndim=3, dim0=k, dim1=4, dim2=k)

    for x in drawn(session, make):
        assert x.shape[1] == 4
        assert x.shape[0] == x.shape[2]
        assert 2 <= x.shape[0] < 5


def test_zero_dimensions(session: Session) -> None:
    """`ndim=0` is a scalar tensor."""
    assert {tuple(x.shape) for x in drawn(session, lambda: random_tensor(ndim=0), n=3)} == {()}


@pytest.mark.parametrize(
    ("dtype", "own", "low", "high", "gradient"),
    [
        (float, pytorch.float32, -1, 1, True),
        ("float64", pytorch.float64, -1, 1, True),
        (pytorch.float16, pytorch.float16, -1, 1, True),
        (int, pytorch.int64, -8, 8, False),
        ("uint8", pytorch.uint8, 0, 8, False),
        (bool, pytorch.bool, 0, 2, False),
    ],
)
def test_dtypes(session: Session, dtype: Any, own: Any, low: int, high: int, gradient: bool) -> None:
    """A dtype is a Python type, a name or torch's own; range and gradient follow from it."""
    for x in drawn(session, lambda: random_tensor(ndim=2, dtype=dtype)):
        assert x.dtype == own
        assert x.requires_grad is gradient
        values = x.to(pytorch.float64)
        assert low <= values.min()
        assert values.max() < high


def test_range_is_half_open(session: Session) -> None:
    """Values lie in [low, high)."""
    for x in drawn(session, lambda: random_tensor(ndim=2, low=3, high=5, dtype=int)):
        assert set(x.flatten().tolist()) <= {3, 4}


def test_the_first_case_has_gradients(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is left open: a test of one case is not without any backward by chance. Later ones may be without."""
    wanted: dict[int, list[bool]] = {0: [], 1: []}

    for seed in range(40):

        @autotest(n=2, check_graph=False, coverage="none", inputs="standard")
        def body() -> Any:
            x = random_tensor(ndim=1)
            wanted[len(wanted[0]) - len(wanted[1])].append(x.requires_grad)
            return x.square()

        monkeypatch.setattr(session, "options", replace(session.options, seed=seed))
        body()
    assert all(wanted[0])
    assert len(wanted[0]) == 40
    assert 1 <= wanted[1].count(False) <= 15


def test_gradient_may_be_drawn(session: Session) -> None:
    """`requires_grad` takes a generator."""
    tensors = drawn(session, lambda: random_tensor(ndim=1, requires_grad=oneof(True, False)), n=12)
    assert {x.requires_grad for x in tensors} == {True, False}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: random_tensor(low=1), "low=1 is given alone, but should come with high [random_tensor(...)]"),
        (
            lambda: random_tensor(ndim=6),
            "ndim=6, but should be an int from 0 to 5 [random_tensor(ndim=6)]",
        ),
        (
            lambda: random_tensor(ndim=1, dim0=2, dim1=random(1, 3)),
            "dim1=random(1, 3) is given, but should come with an ndim of at least 2 "
            "[random_tensor(ndim=1, dim0=2, dim1=random(1, 3))]",
        ),
        (
            lambda: random_tensor(1, 9, low=0, high=4, dtype=int, distinct=True),
            "low=0, but should leave 9 distinct values of int64 below high=4 "
            "[random_tensor(ndim=1, dim0=9, dtype='int64', distinct=True, low=0, high=4)]",
        ),
        (lambda: random_tensor(high=1), "high=1 is given alone, but should come with low [random_tensor(...)]"),
        (
            lambda: random_tensor(dtype=int, requires_grad=True),
            "requires_grad=True, but should be False for dtype='int64': "
            "only floating tensors have gradients [random_tensor(...)]",
        ),
        (lambda: choice_tensor([]), "a=[], but should have at least one value [choice_tensor(...)]"),
        (
            lambda: choice_tensor(3, p=[0.5, 0.5]),
            "p=[0.5, 0.5], but should be 3 weights of at least 0 that sum to 1 [choice_tensor(...)]",
        ),
        (
            lambda: choice_tensor(3, size=4, replace=False),
            "size=4, but should be at most 3 values without replace [choice_tensor(...)]",
        ),
    ],
)
def test_bad_arguments(session: Session, make: Callable[[], Any], message: str) -> None:
    """What cannot be drawn is refused by name, with what it should be."""
    with pytest.raises((UsageError, RangeError)) as caught:
        drawn(session, make, n=1)
    assert told(caught.value, __file__) == message


def test_choices(session: Session) -> None:
    """A choice tensor holds the given values only, as often as their weights say, and without `replace` each once."""
    values = drawn(session, lambda: choice_tensor([2, 5, 7], size=(40,), p=[0.0, 0.25, 0.75]), n=5)
    assert {v for x in values for v in x.tolist()} == {5, 7}
    sevens = sum(x.tolist().count(7) for x in values)
    assert 110 < sevens < 190
    for x in drawn(session, lambda: choice_tensor(6, size=6, replace=False), n=5):
        assert sorted(x.tolist()) == [0, 1, 2, 3, 4, 5]


def test_random_device_is_one_of_both(session: Session) -> None:
    """A drawn device is one that the reference and the target have."""
    devices = {str(x.device.type) for x in drawn(session, lambda: random_tensor(ndim=1).to(random_device()), n=4)}
    assert devices <= {"cpu", "cuda"}


def test_random_dtype_is_one_of_the_family(session: Session) -> None:
    """A drawn dtype belongs to the family or names given."""
    found = {x.dtype for x in drawn(session, lambda: random_tensor(ndim=1).to(random_dtype("floating")), n=12)}
    assert found == {pytorch.float32, pytorch.float64}
    named = drawn(session, lambda: random_tensor(ndim=1).to(random_dtype("int8")), n=2)
    assert {x.dtype for x in named} == {pytorch.int8}


def test_random_dtype_of_no_family() -> None:
    """What is neither a dtype nor a family is refused with all that there are, and the call."""
    with pytest.raises(DtypeError) as caught:
        random_dtype("int8", "floatin")
    assert str(caught.value) == (
        "dtype='floatin', but should be one of float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, "
        "bool, complex64, complex128, or Python's float, int, bool or complex, a NumPy dtype or an object that prints "
        "like torch.float32; or a family: floating, integral, all [random_dtype('floatin')]"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: pytorch.arange(6.0).reshape(2, 3),
        lambda: pytorch.arange(6.0).reshape(2, 3).T,
        lambda: pytorch.arange(12)[1::2],
        lambda: pytorch.arange(12.0).reshape(3, 4)[1:, :3],
        lambda: pytorch.arange(3.0).expand(2, 3),
        lambda: pytorch.tensor(2.5, dtype=pytorch.bfloat16, requires_grad=True),
        lambda: pytorch.zeros(0, 3),
        lambda: pytorch.tensor([True, False]),
        lambda: pytorch.tensor([1 + 2j]).conj(),
    ],
)
def test_existing_tensor_becomes_an_input(session: Session, make: Callable[[], Any]) -> None:
    """A PyTorch tensor comes in with its values, dtype, strides, offset and requires_grad, on both sides."""
    given = make()
    for x in drawn(session, lambda: dual_tensor(given), n=2):
        assert pytorch.equal(x, given)
        assert (x.dtype, x.requires_grad) == (given.dtype, given.requires_grad)
        if given.numel():
            assert (x.stride(), x.storage_offset()) == (given.stride(), given.storage_offset())
        assert x is not given


def test_existing_tensor_is_copied(session: Session) -> None:
    """What a body writes into the input does not reach the tensor that it came from."""
    given = pytorch.ones(3)

    def body() -> Any:
        return dual_tensor(given).add_(1)

    autotest(n=1)(body)()
    assert session.counts == {"aligned": 1}
    assert given.tolist() == [1, 1, 1]


#: What `dual_tensor` is to be given.
PYTORCHS_OWN = (
    "but should be one of PyTorch's own, such as pytorch.from_numpy(...) gives, where pytorch is your own "
    "`import torch as pytorch` [dual_tensor(...)]"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, f"tensor=3, {PYTORCHS_OWN}"),
        (lambda: np.ones(2), f"tensor is a numpy.ndarray, {PYTORCHS_OWN}"),
        (lambda: random_tensor(ndim=1), f"tensor is a dual object, which an op takes as it is, {PYTORCHS_OWN}"),
        (
            lambda: pytorch.ones(2).to_sparse(),
            "tensor is sparse_coo on cpu, but should be strided on cpu: "
            "convert it, and convert the dual object back [dual_tensor(...)]",
        ),
        (
            lambda: pytorch.ones(2, device="meta"),
            "tensor is strided on meta, but should be strided on cpu: "
            "convert it, and convert the dual object back [dual_tensor(...)]",
        ),
        (
            lambda: pytorch.ones(2, dtype=pytorch.uint16),
            "tensor.dtype=uint16, but should be one of float16, bfloat16, float32, float64, int8, uint8, int16, int32, "
            "int64, bool, complex64, complex128 [dual_tensor(...)]",
        ),
    ],
)
def test_what_cannot_be_an_input_is_refused(session: Session, make: Callable[[], Any], message: str) -> None:
    """Anything but a strided CPU tensor of a known dtype is refused by what it is."""
    with pytest.raises(UsageError) as caught:
        autotest(n=1)(lambda: dual_tensor(make()))()
    assert told(caught.value, __file__) == message


def test_plain_draws_are_golden(session: Session) -> None:
    """With plain inputs a tensor's values depend on its test's name and the seed alone, whatever else is there to
    draw.
    """
    found = drawn(session, lambda: random_tensor(ndim=2, dim0=2, dim1=2), n=2)
    assert [x.flatten().tolist() for x in found] == [
        [-0.7404148578643799, 0.9881957173347473, 0.7898893356323242, 0.5089218616485596],
        [-0.01899661123752594, -0.755064070224762, 0.23511704802513123, 0.18563617765903473],
    ]


WILD = 120


def wild(session: Session, make: Callable[[], Any], inputs: str) -> list[Any]:
    """The reference's values of what `make` draws in many cases of one kind of inputs."""
    found: list[Any] = []

    def body() -> Any:
        dual = make()
        found.append(dual.reference)
        return dual.clone()

    autotest(n=WILD, check_graph=False, inputs=inputs, coverage="none")(body)()
    return found


def test_standard_inputs_reach_the_corners(session: Session) -> None:
    """Special values, layouts, sizes and tensors without a gradient, where the author left them open."""
    tensors = wild(session, random_tensor, "standard")
    assert session.counts == {"aligned": WILD}
    assert any(x.isnan().any() for x in tensors)
    assert any(x.isinf().any() for x in tensors)
    assert any(x.numel() == 0 for x in tensors)
    assert any(x.dim() == 0 for x in tensors)
    assert any(not x.is_contiguous() for x in tensors)
    assert any(x.storage_offset() for x in tensors if x.is_contiguous())
    assert any(x.storage_offset() for x in tensors if not x.is_contiguous())
    assert {x.requires_grad for x in tensors} == {True, False}


def test_what_the_author_says_is_kept(session: Session) -> None:
    """Range, sizes and gradient are the op's domain under standard inputs."""
    tensors = wild(
        session, lambda: random_tensor(ndim=2, dim0=2, dim1=3, low=0, high=2, requires_grad=True), "standard"
    )
    for x in tensors:
        assert tuple(x.shape) == (2, 3)
        assert x.requires_grad
        assert ((x >= 0) & (x < 2)).all()
        assert not ((x == 0) & x.signbit()).any()
    assert any((x == 1).any() for x in tensors)


def test_edge_inputs_leave_a_range_of_floats_alone(session: Session) -> None:
    """NaN comes with a range too; integers are indices and stay in theirs."""
    assert any(x.isnan().any() for x in wild(session, lambda: random_tensor(2, 3, 3, low=0, high=1), "edge"))
    for x in wild(session, lambda: random_tensor(2, 3, 3, low=2, high=5, dtype=int), "edge"):
        assert set(x.flatten().tolist()) <= {2, 3, 4}
    assert any((x > 2**24).any() for x in wild(session, lambda: random_tensor(2, 3, 3, dtype=int), "edge"))


def test_inputs_are_part_of_what_a_test_asks_for(session: Session) -> None:
    """The test's own word counts before the run's; what is no kind of inputs is refused."""
    assert session.options.inputs == "plain"
    assert all(x.is_contiguous() for x in wild(session, random_tensor, "plain"))
    with pytest.raises(UsageError) as caught:
        autotest(inputs="wild")
    assert str(caught.value) == (
        "inputs='wild', but should be one of 'plain', 'standard', 'edge', or None [@autotest(...)]"
    )
