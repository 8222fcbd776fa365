"""Calls that are made from PyTorch's schemas: what they vary, and what they leave out."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.cases.case import Case, Rejection
from autotest.cases.drawer import LAID, Drawer
from autotest.options import Coverage, TestOptions
from dual_object.replay.adapter import load_reference
from generators import DTYPES
from generators.laid_out import MOST_ALTERNATIVES

SUITES = Path(__file__).parents[2] / "suites"
#: Ops of each kind: elementwise, a reduction, a scan, an index, a list of tensors, one in place alone, some left out.
NAMES = (
    *("abs", "bernoulli", "cat", "ctc_loss", "cumsum", "div", "empty_like", "fill_diagonal_", "gather", "linalg_det"),
    "sum",
)


@pytest.fixture(scope="module")
def schemas() -> Iterator[Any]:
    """The module beside the suites."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SUITES)
        yield importlib.import_module("schemas")


@pytest.fixture(scope="module")
def known(schemas: Any) -> dict[str, Any]:
    """Operations of the names above, by id."""
    return {operation.id: operation for operation in schemas.operations() if operation.name in NAMES}


def laid_out(operation: Any, coverage: Coverage = "pairs") -> tuple[list[Case], list[Rejection]]:
    """What comes of an operation's laid-out cases: those that PyTorch takes, and those that it refuses."""
    options = TestOptions(n=0, coverage=coverage, auto_backward=False)
    drawer = Drawer(load_reference(), f"test_a.py::test_op[{operation.id}]", 0, "torch", options, operation.run)
    taken: list[Case] = []
    refused: list[Rejection] = []
    index = 0
    while drawer.laid_out(index):
        drawn = drawer.draw(index, origin=LAID)
        if isinstance(drawn, Case):
            taken.append(drawn)
        else:
            refused.append(drawn)
        index += 1
    return taken, refused


def test_an_op_is_one_operation_under_all_its_names(known: dict[str, Any]) -> None:
    """A function, a method and the form in place are forms of it; each overload is one."""
    assert known["torch.abs"].spelled == ("torch.abs", "Tensor.abs", "Tensor.abs_")
    assert "Tensor.abs_" not in known
    assert known["torch.linalg.det"].name == "linalg_det"
    assert {"torch.sum", "torch.sum-dim_IntList", "torch.div-Tensor", "torch.div-Tensor_mode"} <= {*known}
    assert "torch.div-Scalar" not in known
    assert "torch.sum-dim_DimnameList" not in known


def test_what_cannot_be_compared_says_why(known: dict[str, Any]) -> None:
    """It is skipped with the reason."""
    assert known["torch.bernoulli"].plan == "it is random"
    assert known["torch.empty_like"].plan == "its values are whatever memory held"
    told = "PyTorch reads beyond its memory on lengths and targets out of range"
    assert known["torch.ctc_loss-Tensor"].plan == told


def test_dtypes_ranks_and_places_of_size_0_are_laid_out(known: dict[str, Any]) -> None:
    """In function, method and in place."""
    taken, _ = laid_out(known["torch.abs"])
    inputs = [case.program.inputs[0] for case in taken]
    assert {x.dtype for x in inputs} == {*DTYPES} - {"bool"}
    assert {x.data.ndim for x in inputs} == {0, 1, 2, 3}
    assert {x.data.shape for x in inputs} >= {(), (0,), (0, 2), (3, 0), (1, 2)}
    assert {case.program.calls[-1].op for case in taken} == {"abs", "abs_"}
    assert {case.program.calls[-1].kind for case in taken} == {"function", "method"}


def test_arguments_meet_one_another_and_few_dtypes(known: dict[str, Any]) -> None:
    """Where pairs of arguments are asked for: all other pairs of how inputs look are a survey's."""
    taken, _ = laid_out(known["torch.sum-dim_IntList"], "arguments")
    calls = [case.program.calls[-1] for case in taken]
    assert {("keepdim" in call.kwargs, "dtype" in call.kwargs) for call in calls} == {*product((False, True), repeat=2)}
    assert len({x.dtype for case in taken for x in case.program.inputs}) == len(DTYPES)
    others = {case.program.inputs[0].dtype for case in taken if case.program.calls[-1].kwargs}
    assert others == {"float32", "int64", "float16"}


def test_arguments_meet_looks(known: dict[str, Any]) -> None:
    """A NaN, infinities, nothing at all, integers and what lies transposed: with each value of each argument."""
    taken, _ = laid_out(known["torch.cumsum"], "arguments")
    dims = {call.args[1] for call in (case.program.calls[-1] for case in taken)}
    assert {0, -1} <= dims
    for dim in (0, -1):
        met = [case.program.inputs[0] for case in taken if case.program.calls[-1].args[1] == dim]
        assert any(np.isnan(x.data).any() for x in met if x.dtype == "float32")
        assert any(np.isinf(x.data).any() for x in met if x.dtype == "float32")
        assert {(0, 2), (3, 0)} <= {x.data.shape for x in met}
        assert any(x.dtype == "int64" for x in met)
        assert any(x.strides == (1, 3) for x in met)
    divided, _ = laid_out(known["torch.div-Tensor_mode"], "arguments")
    modes = {
        case.program.calls[-1].kwargs["rounding_mode"]
        for case in divided
        if (y := case.program.inputs[-1].data).size and not y.all()
    }
    assert modes == {None, "trunc", "floor"}


def test_looks_are_laid_out(known: dict[str, Any]) -> None:
    """A NaN, infinities, ties, both ends, integers that no float holds, a long dimension, and how a tensor lies."""
    looks = importlib.import_module("looks")
    assert len(looks.LOOKS) + len(looks.MIXED) <= MOST_ALTERNATIVES, "more would be left to chance"
    taken, _ = laid_out(known["torch.abs"], "arguments")
    inputs = [case.program.inputs[0] for case in taken]
    floats = [x.data for x in inputs if x.dtype == "float32"]
    assert any(np.isnan(data).any() and np.isfinite(data).any() for data in floats)
    assert any(
        np.isposinf(data).any() and np.isneginf(data).any() and np.signbit(data[data == 0]).any() for data in floats
    )
    assert any(data.size > 1 and (data == data.flat[0]).all() for data in floats)
    assert any({np.finfo(np.float32).max, np.finfo(np.float32).min} <= {*data.flat} for data in floats)
    assert any(129 in data.shape for data in floats)
    assert any(data.size and not data.any() for data in floats)
    assert any(data.imag.any() for data in (x.data for x in inputs) if data.dtype == np.complex64)
    assert any((1 << 24) + 1 in x.data for x in inputs if x.dtype == "int64")
    assert {x.strides for x in inputs} >= {None, (1, 3), (0, 1)}


def test_two_dtypes_meet(known: dict[str, Any]) -> None:
    """A wider and a narrower float, floats and integers, either first; not where special values want a dtype."""
    taken, _ = laid_out(known["torch.div-Tensor_mode"], "arguments")
    met = {
        (x.dtype, y.dtype)
        for x, y in (case.program.inputs for case in taken if len(case.program.inputs) == 2)
        if x.dtype != y.dtype
    }
    assert met == {
        *(("float32", "float64"), ("float32", "int32"), ("float16", "float32"), ("float16", "int64")),
        ("int64", "float32"),
        ("complex64", "float64"),
    }


def test_halves_have_values_of_their_own(known: dict[str, Any]) -> None:
    """Infinities, the ends of float16, and numbers whose squares it cannot hold: each in a case, none twice."""
    looks = importlib.import_module("looks")
    assert len({*DTYPES}) + len(looks.ENDS) <= MOST_ALTERNATIVES, "more would be left to chance"
    taken, _ = laid_out(known["torch.abs"], "arguments")
    halves = [case.program.inputs[0].data for case in taken if case.program.inputs[0].dtype == "float16"]
    assert len({data.tobytes() for data in halves}) == 1 + sum(look.dtype == "float16" for look in looks.ENDS)
    doubles = [case.program.inputs[0].data for case in taken if case.program.inputs[0].dtype == "float64"]
    assert any(np.isposinf(data).any() for data in doubles)
    assert any(np.isposinf(data).any() and np.isneginf(data).any() for data in halves)
    assert any({65504.0, -65504.0} <= {*data.flat} for data in halves)
    with np.errstate(over="ignore"):
        assert any(np.isfinite(data).all() and np.isinf(data * data).sum() == 2 for data in halves if data.max() < 999)


def test_several_dimensions_are_named_at_once(known: dict[str, Any]) -> None:
    """The first and the last, in an order that is not that of memory as well as one after the other."""
    taken, _ = laid_out(known["torch.sum-dim_IntList"], "arguments")
    assert [0, -1] in [list(case.program.calls[-1].args[1] or ()) for case in taken]


def test_a_divisor_is_zero_in_each_integer(known: dict[str, Any]) -> None:
    """Which ends the process of whoever has not thought of it; the target is asked for what PyTorch refuses, too."""
    taken, refused = laid_out(known["torch.div-Tensor_mode"])
    zero = {x.dtype for case in (*taken, *refused) for x in case.program.inputs[1:] if x.data.size and not x.data.all()}
    assert {"int8", "uint8", "int16", "int32", "int64", "float16", "float32"} <= zero


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("torch.sum-dim_IntList", "Dimension out of range"),
        ("torch.gather", "index 9 is out of bounds"),
        ("torch.cat", "expected a non-empty list of Tensors"),
    ],
)
def test_refusals_are_among_them(known: dict[str, Any], id_: str, words: str) -> None:
    """With the call that PyTorch refused at their end, for the target to refuse it, too."""
    _, refused = laid_out(known[id_])
    [first, *_] = [rejection for rejection in refused if words in rejection.reason]
    assert first.program.calls[-1].raises


def test_an_operation_has_no_more_cases_than_a_run_can_bear(known: dict[str, Any]) -> None:
    """Some hundred, of each operation."""
    for id_ in ("torch.abs", "torch.div-Tensor", "torch.gather"):
        taken, refused = laid_out(known[id_])
        assert 40 < len(taken) + len(refused) < 500
