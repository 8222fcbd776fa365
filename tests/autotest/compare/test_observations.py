"""What counts as a difference, its kind, and the words and elements that show it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Difference, Rules, unlike
from autotest.compare.observations import compare, graph_differences
from autotest.compare.tolerance import Tolerance
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Device, Name, Placement, Ref, Sbp
from dual_object.replay.observation import ALL_PARTS, Failure, GraphPart, Observation, Seen

NAN, INF = float("nan"), float("inf")
NEAR = Tolerance(1e-2, 1e-3)


def array(*values: Any, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """A vector."""
    return np.array(values, dtype=dtype)


def seen(*values: Any, dtype: str = "float32", device: str = "cpu") -> Seen:
    """A vector as a side shows it."""
    data = array(*values, dtype=dtype)
    return Seen(dtype, data.shape, device, False, data)


@pytest.mark.parametrize(
    ("actual", "rules", "agree"),
    [
        (seen(1.0), Rules(), True),
        (seen(1.0, dtype="float64"), Rules(), False),
        (seen(1.0, dtype="float64"), Rules(check_dtype=False), True),
        (seen(1.0, 1.0), Rules(check_allclose=False), False),
        (seen(1.0, device="cuda"), Rules(), False),
        (seen(1.5), Rules(), False),
        (seen(1.5), Rules(check_allclose=False), True),
        (seen(1.5), Rules(rtol=0.6, atol=0.0), True),
    ],
)
def test_rules_switch_comparisons_off(actual: Seen, rules: Rules, agree: bool) -> None:
    """dtype and values are compared unless switched off; shape and device always."""
    assert (unlike(seen(1.0), actual, rules) is None) is agree


def program(*calls: Call) -> Program:
    """A Program of one input `x`, number 0, whose result `t0`, number 1, is returned."""
    x = Input(0, "", array(1.0, 2.0), "float32", True)
    made = [*calls] or [Call("function", "relu", (Ref(0),), {}, out=Ref(1))]
    return Program([x], made, Ref(1))


def compared(wanted: Program, expected: Observation, actual: Observation, rules: Rules) -> list[Difference]:
    """How an eager run that shows everything differs."""
    return compare(wanted, expected, replace(actual, shows=ALL_PARTS), rules)


def sentences(
    expected: Observation, actual: Observation, rules: Rules | None = None, graph: bool = False, *calls: Call
) -> list[tuple[str, str, str]]:
    """Phase, kind and message of all differences."""
    shown = actual if graph else replace(actual, shows=ALL_PARTS)
    found = compare(program(*calls), expected, shown, rules or Rules(), graph=graph)
    return [(d.phase, d.kind, d.message) for d in found]


ONE = seen(1.0, 2.0)
OTHER = seen(1.0, 3.0)
VALUE = "differs in 1 of 2 elements: [1] is 3.0, but should be 2.0 (rtol=0.0001, atol=1e-05)"


def test_equal_observations_have_no_difference() -> None:
    """Two equal observations give nothing."""
    both = Observation(outputs={1: ONE}, gradients={"0": ONE}, buffers={"1.running_mean": ONE})
    assert sentences(both, both) == []
    assert sentences(both, both, graph=True) == []


@pytest.mark.parametrize(
    ("actual", "kind", "message"),
    [
        (OTHER, "value", f"t0 {VALUE}"),
        (seen(1.0), "shape", "t0 has shape (1,), but should have (2,)"),
        (seen(1.0, 2.0, dtype="float64"), "dtype", "t0 has dtype float64, but should have float32"),
        (seen(1.0, 2.0, device="cuda"), "device", "t0 has device cuda, but should have cpu"),
    ],
)
def test_outputs_are_compared(actual: Seen, kind: str, message: str) -> None:
    """An output's values, shape, dtype and device are compared, eagerly and in a graph."""
    expected = Observation(outputs={1: ONE})
    assert sentences(expected, Observation(outputs={1: actual})) == [("eager_forward", kind, message)]
    assert sentences(expected, Observation(outputs={1: actual}), graph=True) == [("graph_forward", kind, message)]


def whole(*values: int, dtype: str) -> Seen:
    """A tensor of whole numbers or truth values."""
    return Seen(dtype, (len(values),), "cpu", False, np.array(values, dtype))


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (whole(2, 1, dtype="int64"), whole(2, 1, dtype="int32"), None),
        (whole(2, 1, dtype="int64"), whole(1, 2, dtype="int32"), "2 of 2 elements: [0] is 1, but should be 2"),
        # What does not fit into the other dtype is in it as that dtype has it.
        (whole(300, 1, dtype="int64"), whole(44, 1, dtype="uint8"), None),
        (whole(2, 0, dtype="int64"), whole(1, 0, dtype="bool"), None),
        (whole(2, 0, dtype="int64"), whole(1, 1, dtype="bool"), "1 of 2 elements: [1] is True, but should be False"),
        (
            seen(1.0, 2.0, dtype="float64"),
            seen(1.0, 3.0),
            "1 of 2 elements: [1] is 3.0, but should be 2.0 (rtol=0.0001, atol=1e-05)",
        ),
        # Close enough in the coarser of the two.
        (seen(1.0, 2.0, dtype="float64"), seen(1.0, 2.0001), None),
        (seen(1.0, 2.0), seen(1.0, 2.0001, dtype="float64"), None),
        # A fraction that is cut off needs no other fault than the dtype.
        (seen(1.5, 2.0), whole(1, 3, dtype="int64"), None),
        (seen(1.0, 2.0, dtype="float64"), seen(1.0), None),
    ],
)
def test_values_beside_another_dtype(expected: Seen, actual: Seen, said: str | None) -> None:
    """What is known of a dtype hides no wrong value."""
    told = sentences(Observation(outputs={1: expected}), Observation(outputs={1: actual}))
    dtype = f"t0 has dtype {actual.dtype}, but should have {expected.dtype}"
    value = [] if said is None else [("eager_forward", "value", f"t0 differs in {said}")]
    assert told == [("eager_forward", "dtype", dtype), *value]


def test_shapes_are_never_broadcast() -> None:
    """An output of shape (1, 2) differs from one of shape (2,) though every value agrees."""
    actual = Seen("float32", (1, 2), "cpu", False, ONE.data.reshape(1, 2))
    assert sentences(Observation(outputs={1: ONE}), Observation(outputs={1: actual})) == [
        ("eager_forward", "shape", "t0 has shape (1, 2), but should have (2,)")
    ]


STRIDED = replace(ONE, strides=(2,))
LOOSE = replace(ONE, requires_grad=True, leaf=False)


@pytest.mark.parametrize(
    ("expected", "actual", "kind", "message"),
    [
        (ONE, STRIDED, "layout", "t0 has strides (2,), but should have (1,)"),
        (STRIDED, ONE, "layout", "t0 has strides (1,), but should have (2,)"),
        (LOOSE, ONE, "requires_grad", "t0 has requires_grad False, but should have True"),
        (LOOSE, replace(LOOSE, leaf=True), "requires_grad", "t0 is a leaf, but should not be"),
        (replace(LOOSE, leaf=True), LOOSE, "requires_grad", "t0 is no leaf, but should be"),
    ],
)
def test_standing_of_outputs(expected: Seen, actual: Seen, kind: str, message: str) -> None:
    """Strides, requires_grad and leafness are compared where the values agree, and not in a graph."""
    before, after = Observation(outputs={1: expected}), Observation(outputs={1: actual})
    assert sentences(before, after) == [("eager_forward", kind, message)]
    assert sentences(before, after, graph=True) == []


def test_layout_can_be_switched_off() -> None:
    """With `check_layout=False` strides are nobody's business, of outputs and of gradients."""
    expected = Observation(outputs={1: STRIDED}, gradients={"0": STRIDED})
    actual = Observation(outputs={1: ONE}, gradients={"0": ONE})
    assert compared(program(), expected, actual, Rules(check_layout=False)) == []
    assert [found.kind for found in compared(program(), expected, actual, Rules())] == ["layout", "layout"]


def test_layout_of_gradients() -> None:
    """A leaf's gradient should lie as PyTorch promises; that of a tensor which only retains its own may lie anyhow."""
    expected, actual = Observation(gradients={"0": STRIDED}), Observation(gradients={"0": ONE})
    message = "gradient of x has strides (1,), but should have (2,)"
    assert sentences(expected, actual) == [("eager_backward", "layout", message)]
    retaining = program()
    retaining.leaves = [0]
    assert compared(retaining, expected, actual, Rules()) == []


@pytest.mark.parametrize(
    ("expected", "actual", "kind", "message"),
    [
        ([(0, 1)], [], "alias", "t0 shares no memory with x, but should"),
        ([], [(0, 1)], "alias", "t0 shares memory with x, but should not"),
    ],
)
def test_aliasing(expected: list[Any], actual: list[Any], kind: str, message: str) -> None:
    """An output that shares memory with an input on one side only is a difference, but not in a graph."""
    before = Observation(outputs={1: ONE}, shared=expected)
    after = Observation(outputs={1: ONE}, shared=actual)
    assert sentences(before, after) == [("eager_forward", kind, message)]
    assert sentences(before, after, graph=True) == []
    for unknown in (replace(before, unplaced=(0,)), replace(before, unplaced=(1,))):
        assert sentences(unknown, after) == []


def test_views_start_where_they_should() -> None:
    """A view of an input that starts elsewhere in it has another layout, though its values may agree."""
    before = Observation(outputs={1: replace(ONE, offset=2)}, shared=[(0, 1)])
    after = Observation(outputs={1: replace(ONE, offset=1)}, shared=[(0, 1)])
    message = "t0 starts at element 1 of its memory, but should at element 2"
    assert sentences(before, after) == [("eager_forward", "layout", message)]
    assert sentences(replace(before, shared=[]), replace(after, shared=[])) == []


def test_sign_of_zero() -> None:
    """A zero of the other sign is a difference of an output, forward and in a graph, and none of a gradient."""
    zero, other = seen(0.0, 1.0), seen(-0.0, 1.0)
    message = "t0 differs in 1 of 2 elements: [0] is -0.0, but should be 0.0"
    before, after = Observation(outputs={1: zero}), Observation(outputs={1: other})
    assert sentences(before, after) == [("eager_forward", "sign", message)]
    assert sentences(before, after, graph=True) == [("graph_forward", "sign", message)]
    assert sentences(Observation(gradients={"0": zero}), Observation(gradients={"0": other})) == []
    assert compared(program(), before, after, Rules(check_allclose=False)) == []


def test_wrong_value_is_worse_than_a_zero() -> None:
    """Where one element is wrong and another a zero of the other sign, the kind is that of the wrong one."""
    [found] = compared(
        program(), Observation(outputs={1: seen(0.0, 1.0)}), Observation(outputs={1: seen(-0.0, 2.0)}), Rules()
    )
    assert found.kind == "value"


def test_structures_are_worded_with_names() -> None:
    """What a call returned otherwise is told with the names of the values it is about."""
    actual = Observation(structures={0: "returned another tensor than {0}, but should return {0} itself"})
    message = "relu returned another tensor than x, but should return x itself"
    assert sentences(Observation(), actual) == [("eager_forward", "structure", message)]
    assert sentences(Observation(), actual, graph=True) == [("graph_forward", "structure", message)]
    assert sentences(actual, actual, graph=True) == []  # as eager does


def test_state_dict_is_compared() -> None:
    """Keys on one side only, and entries of another dtype, shape or requires_grad, are blamed on the construction."""
    module = Call("module", "nn.BatchNorm1d", (2,), {}, out=Ref(1))
    entry = ("float32", (2,), True)
    expected = Observation(states={1: {"weight": entry, "mean": entry, "var": entry}})
    actual = Observation(states={1: {"weight": ("float64", (2,), False), "mean": entry, "extra": entry}})
    expected.saved, actual.saved = {1: ("mean", "weight")}, {1: ("mean", "scale")}
    found = compared(program(module), expected, actual, Rules())
    assert [(d.kind, d.call, d.message) for d in found] == [
        ("structure", 0, "BatchNorm1d has no parameter or buffer var, but should"),
        ("structure", 0, "BatchNorm1d has a parameter or buffer extra, but should not"),
        ("dtype", 0, "weight of BatchNorm1d has dtype float64, but should have float32"),
        ("requires_grad", 0, "weight of BatchNorm1d has requires_grad False, but should have True"),
        ("structure", 0, "BatchNorm1d has no key weight in its state_dict, but should"),
        ("structure", 0, "BatchNorm1d has a key scale in its state_dict, but should not"),
    ]


def test_parameters_after_the_body() -> None:
    """A parameter that only one side changed is a mutation; one that both changed otherwise has another value."""
    module = Call("module", "nn.Linear", (2,), {}, out=Ref(1))
    one, other = Observation(parameters={"1.weight": ONE}), Observation(parameters={"1.weight": OTHER})
    for expected, actual, kind, message in (
        (Observation(), one, "mutation", "parameter m0.weight was changed, but should keep its values"),
        (one, Observation(), "mutation", "parameter m0.weight kept its values, but should be changed"),
        (one, other, "value", f"parameter m0.weight after the body {VALUE}"),
    ):
        assert sentences(expected, actual, None, False, module) == [("eager_forward", kind, message)]
    assert sentences(one, one, None, False, module) == []
    near = replace(ONE, data=ONE.data + np.float32(1e-6))
    for start, told in ((near.data, 0), (near.data * 2, 1), (near.data[:0], 1)):
        module.state = {"weight": start}
        assert len(sentences(Observation(), one, None, False, module)) == told, "rounding is no change"


def test_missing_output_is_a_structure() -> None:
    """An output that is no tensor on the target is told with the dtype it should have."""
    assert sentences(Observation(outputs={1: ONE}), Observation()) == [
        ("eager_forward", "structure", "t0 is no tensor, but should be a float32 tensor")
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "kind", "message"),
    [
        (ONE, None, "grad_missing", "gradient of x is missing, but should be a float32 tensor"),
        (None, ONE, "grad_extra", "gradient of x is a float32 tensor, but there should be none"),
        (ONE, OTHER, "value", f"gradient of x {VALUE}"),
    ],
)
def test_gradients_are_compared(expected: Seen | None, actual: Seen | None, kind: str, message: str) -> None:
    """A gradient that is missing, that only the target has, or that differs is a difference of the backward."""
    found = sentences(Observation(gradients={"0": expected}), Observation(gradients={"0": actual}))
    assert found == [("eager_backward", kind, message)]


def test_graph_gives_only_the_gradients_asked_for() -> None:
    """In a graph a gradient that was not asked for is not missing; one that was is compared."""
    expected = Observation(gradients={"0": ONE})
    assert sentences(expected, Observation(), graph=True) == []
    assert sentences(expected, Observation(gradients={"0": OTHER}), graph=True) == [
        ("graph_backward", "value", f"gradient of x {VALUE}")
    ]


def test_failed_backward_ends_the_comparison() -> None:
    """A backward that raises is one difference; the gradients it never gave are not further ones."""
    actual = Observation(backward_failure=Failure(None, "exception", ("RuntimeError",), "no"))
    assert sentences(Observation(gradients={"0": ONE}), actual) == [
        ("eager_backward", "exception", "backward raised RuntimeError: no")
    ]


def twice(expected: Observation, actual: Observation) -> list[tuple[str, str, str]]:
    """The differences of two observations of a Program that was differentiated twice."""
    program = Program(
        inputs=[Input(0, "x", array(1.0), "float32", requires_grad=True)], second_cotangents={"0": array(1.0)}
    )
    return [(found.phase, found.kind, found.message) for found in compared(program, expected, actual, Rules())]


def element(value: float, *, requires_grad: bool = True) -> Seen:
    """A tensor of one element."""
    return Seen("float32", (1,), "cpu", requires_grad, array(value))


SECOND_VALUE = "second gradient of x differs in 1 of 1 element: [0] is 3.0, but should be 2.0 (rtol=0.0001, atol=1e-05)"
SECOND_ENDS = "gradient of x has requires_grad False, but should have True: it cannot be differentiated again"


@pytest.mark.parametrize(
    ("expected", "actual", "differentiable", "differences"),
    [
        (element(2.0), element(2.0), True, []),
        (element(2.0), element(3.0), True, [("value", SECOND_VALUE)]),
        (
            element(2.0),
            None,
            True,
            [("grad_missing", "second gradient of x is missing, but should be a float32 tensor")],
        ),
        (
            None,
            element(2.0),
            True,
            [("grad_extra", "second gradient of x is a float32 tensor, but there should be none")],
        ),
        (element(3e-8), None, False, []),
        (None, element(3e-8), True, []),
        (element(0.0), None, True, []),
        (None, element(0.0), True, []),
        (element(0.0), None, False, []),
        (element(2.0), None, False, [("grad_missing", SECOND_ENDS)]),
    ],
)
def test_second_derivatives_are_compared(
    expected: Seen | None, actual: Seen | None, differentiable: bool, differences: list[tuple[str, str]]
) -> None:
    """A second derivative is compared like a first one, but that one of zeros need not be there."""
    reference = Observation(gradients={"0": element(1.0)}, second={"0": expected})
    target = Observation(gradients={"0": element(1.0, requires_grad=differentiable)}, second={"0": actual})
    assert twice(reference, target) == [("eager_second", *difference) for difference in differences]


def test_failed_second_backward_leaves_the_first() -> None:
    """A second backward that raises is one difference; first gradients are compared all the same."""
    failure = Failure(None, "exception", ("RuntimeError",), "no")
    reference = Observation(gradients={"0": element(1.0)}, second={"0": element(2.0)})
    message = "differentiating twice raised RuntimeError: no"
    alone = Observation(gradients={"0": element(1.0)}, second_failure=failure)
    assert twice(reference, alone) == [("eager_second", "exception", message)]
    both = twice(reference, Observation(gradients={"0": element(9.0)}, second_failure=failure))
    assert [(phase, kind) for phase, kind, _ in both] == [("eager_backward", "value"), ("eager_second", "exception")]


def test_buffers_are_compared() -> None:
    """A module's buffer belongs to the forward when eager and is a phase of its own in a graph."""
    module = Call("module", "nn.BatchNorm1d", (2,), {}, out=Ref(1))
    expected, actual = Observation(buffers={"1.mean": ONE}), Observation(buffers={"1.mean": OTHER})
    message = f"buffer m0.mean {VALUE}"
    assert sentences(expected, actual, None, False, module) == [("eager_forward", "value", message)]
    assert sentences(expected, actual, None, True, module) == [("graph_state", "value", message)]
    assert sentences(expected, Observation(), None, True, module) == [
        ("graph_state", "structure", "buffer m0.mean is missing")
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "kind", "message"),
    [
        ({}, {0: array(9.0, 2.0)}, "mutation", "input x was changed, but should keep its values"),
        ({0: array(9.0, 2.0)}, {}, "mutation", "input x kept its values, but should be changed"),
        (
            {0: array(9.0, 2.0)},
            {0: array(9.0, 3.0)},
            "value",
            f"input x after the body {VALUE}",
        ),
    ],
)
def test_mutated_inputs_are_compared(expected: dict[int, Any], actual: dict[int, Any], kind: str, message: str) -> None:
    """An input that only one side changes, or that both change otherwise, is a difference."""
    assert sentences(Observation(inputs=expected), Observation(inputs=actual)) == [("eager_forward", kind, message)]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Failure(0, "exception", ("ValueError",), "no"), "relu raised ValueError: no"),
        (Failure(None, "exception", ("ValueError",), "no"), "the program raised ValueError: no"),
        (Failure(0, "structure", ("StructureError",), "returned None"), "relu returned None"),
        (Failure(0, "missing", ("MissingOp",), "no relu"), "relu raised MissingOp: no relu"),
    ],
)
def test_failures_end_the_comparison(failure: Failure, message: str) -> None:
    """A failure that ended the target's run is told; what it then could not show is not."""
    actual = Observation(failures=[failure], ended=True)
    found = compared(program(), Observation(outputs={1: ONE}), actual, Rules())
    raised = failure.classes[0] if failure.kind == "exception" else ""
    assert found == [
        Difference("eager_forward", failure.kind, found[0].where, message, call=failure.call, raised=raised),
    ]


def test_refused_calls_do_not_end_the_comparison() -> None:
    """A call that should raise and does not is told beside what else differs."""
    refused = Call("function", "mm", (Ref(0),), {}, raises=("RuntimeError",))
    call = Call("function", "relu", (Ref(0),), {}, out=Ref(1))
    failures = [Failure(0, "exception_class", ("KeyError",), "'k'"), Failure(0, "accepts_invalid", (), "accepted it")]
    actual = Observation(outputs={1: OTHER}, failures=failures)
    assert sentences(Observation(outputs={1: ONE}), actual, None, False, refused, call) == [
        ("eager_forward", "exception_class", "mm raised KeyError: 'k'; but should raise RuntimeError"),
        ("eager_forward", "accepts_invalid", "mm accepted it"),
        ("eager_forward", "value", f"t0 {VALUE}"),
    ]


@pytest.mark.parametrize(
    ("op", "expected", "actual", "kind", "message"),
    [
        ("item", 1.0, 2.0, "value", "item gives 2.0, but should give 1.0"),
        ("item", 1.0, 1, "structure", "item gives 1, but should give 1.0"),
        ("bool", True, False, "value", "bool gives False, but should give True"),
        ("shape", (2,), (3,), "shape", "shape gives (3,), but should give (2,)"),
        ("stride", (2, 1), (1, 2), "layout", "stride gives (1, 2), but should give (2, 1)"),
        ("is_contiguous", True, False, "layout", "is_contiguous gives False, but should give True"),
        ("storage_offset", 1, 0, "layout", "storage_offset gives 0, but should give 1"),
        ("requires_grad", True, False, "requires_grad", "requires_grad gives False, but should give True"),
        ("is_leaf", True, False, "requires_grad", "is_leaf gives False, but should give True"),
        ("dtype", Name("float32"), Name("float64"), "dtype", None),
        ("device", Device("cpu"), Device("cuda"), "device", None),
        ("tolist", [1.0, [2.0]], [1.0, [3.0]], "value", "tolist gives [1.0, [3.0]], but should give [1.0, [2.0]]"),
        (
            "numpy",
            array(1.0, 2.0),
            array(1.0, 3.0),
            "value",
            f"numpy {VALUE}",
        ),
        (
            "numpy",
            array(1.0, 2.0),
            array(1.0, 2.0, 3.0),
            "shape",
            "numpy gives an array of shape (3,), but should give one of (2,)",
        ),
    ],
)
def test_host_reads_are_compared(op: str, expected: Any, actual: Any, kind: str, message: str | None) -> None:
    """A host read that gives another value, shape, dtype or device is blamed on its own call."""
    call = Call("method", op, (Ref(0),), {}, out=expected)
    [found] = compared(program(call), Observation(), Observation(hosts={0: actual}), Rules())
    assert (found.phase, found.kind, found.call) == ("eager_forward", kind, 0)
    if message is not None:
        assert found.message == message


def test_complex_results_are_compared() -> None:
    """A complex output that is wrong is told as any other; whether its zeros have signs is not asked."""
    expected = Observation(outputs={1: seen(1j, 0j, dtype="complex64")})
    actual = Observation(outputs={1: seen(2j, -0j, dtype="complex64")})
    message = "t0 differs in 1 of 2 elements: [0] is 2j, but should be 1j"
    assert sentences(expected, actual) == [("eager_forward", "value", message)]


@pytest.mark.parametrize(
    ("expected", "actual"), [(1.0, 1.00001), ([1.0, (2.0,)], [1.00001, (2.0,)]), (array(1.0), array(1.00001))]
)
def test_host_floats_have_a_tolerance(expected: Any, actual: Any) -> None:
    """Floats read on the host agree within the tolerance of float32."""
    call = Call("method", "item", (Ref(0),), {}, out=expected)
    assert compared(program(call), Observation(), Observation(hosts={0: actual}), Rules()) == []


def test_difference_holds_what_was_compared() -> None:
    """A difference of tensors says of which part, and holds both of them, or the one that there is."""
    expected = Observation(outputs={1: ONE}, gradients={"0": ONE})
    both = compared(program(), expected, Observation(outputs={1: OTHER}, gradients={"0": OTHER}), Rules())
    assert [(d.part, d.key, d.expected, d.actual) for d in both] == [
        ("output", "1", ONE, OTHER),
        ("gradient", "0", ONE, OTHER),
    ]
    lacking = compared(program(), expected, Observation(gradients={"0": None}), Rules())
    assert [(d.part, d.key, d.expected, d.actual) for d in lacking] == [
        ("output", "1", ONE, None),
        ("gradient", "0", ONE, None),
    ]
    [extra] = compared(program(), Observation(gradients={"0": None}), Observation(gradients={"0": ONE}), Rules())
    assert (extra.part, extra.expected, extra.actual) == ("gradient", None, ONE)


def test_difference_of_buffers_holds_them() -> None:
    """A buffer that differs or is missing is a difference of that part."""
    module = Call("module", "nn.BatchNorm1d", (2,), {}, out=Ref(1))
    expected = Observation(buffers={"1.mean": ONE})
    for actual, held in ((Observation(buffers={"1.mean": OTHER}), OTHER), (Observation(), None)):
        [found] = compared(program(module), expected, actual, Rules())
        assert (found.part, found.key, found.expected, found.actual) == ("buffer", "1.mean", ONE, held)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [({}, {0: array(9.0, 2.0)}), ({0: array(9.0, 2.0)}, {}), ({0: array(9.0, 2.0)}, {0: array(9.0, 3.0)})],
)
def test_difference_of_an_input_holds_its_values(expected: dict[int, Any], actual: dict[int, Any]) -> None:
    """An input that one side left alone still has its values there: those it was given."""
    given = array(1.0, 2.0)
    [found] = compared(program(), Observation(inputs=expected), Observation(inputs=actual), Rules())
    assert (found.part, found.key) == ("input", "0")
    assert found.expected is not None
    assert found.actual is not None
    assert found.expected.data.tolist() == expected.get(0, given).tolist()
    assert found.actual.data.tolist() == actual.get(0, given).tolist()


def test_host_reads_of_two_runs() -> None:
    """Two runs that read the same wrong number are alike, whatever was recorded."""
    read = program(Call("method", "item", (Ref(0),), {}, out=1.0))
    wrong = Observation(hosts={0: 2.0})
    assert compared(read, wrong, wrong, Rules()) == []
    assert [one.message for one in compared(read, wrong, Observation(hosts={0: 3.0}), Rules())] == [
        "item gives 3.0, but should give 2.0"
    ]
    assert [one.message for one in compared(read, wrong, Observation(), Rules())] == [
        "item gives 1.0, but should give 2.0"
    ]


def test_difference_of_a_host_array_holds_both() -> None:
    """An array that a call gave to Python is kept as both sides had it; a number is not."""
    call = Call("method", "numpy", (Ref(0),), {}, out=array(1.0, 2.0))
    [found] = compared(program(call), Observation(), Observation(hosts={0: array(1.0, 3.0)}), Rules())
    assert found.part == "host"
    assert found.expected is not None
    assert found.actual is not None
    assert (found.expected.data.tolist(), found.actual.data.tolist()) == ([1.0, 2.0], [1.0, 3.0])
    [number] = compared(
        program(Call("method", "item", (Ref(0),), {}, out=1.0)), Observation(), Observation(hosts={0: 2.0}), Rules()
    )
    assert (number.part, number.expected, number.actual) == ("host", None, None)


def test_how_global_tensors_stand_is_not_compared() -> None:
    """The reference's are local: their strides, memory and leafness are no promise for global ones."""
    placement, sbp = Placement("cpu", (0,)), (Sbp("broadcast"),)
    globally = Program([Input(0, "x", array(1.0), "float32", layout=(placement, sbp))], program().calls, Ref(1))
    left, right = Observation(outputs={1: seen(1.0)}), Observation(outputs={1: seen(1.0)})
    right.outputs[1].requires_grad = right.outputs[1].leaf = True
    right.shared = [(0, 1)]
    assert [difference.kind for difference in compared(program(), left, right, Rules())] == ["requires_grad", "alias"]
    assert compared(globally, left, right, Rules()) == []


@pytest.mark.parametrize(
    ("eager", "graph", "told"),
    [
        ((ONE, OTHER), (ONE, ONE), []),
        ((ONE, OTHER), (ONE, OTHER), []),
        ((ONE, OTHER), (OTHER, ONE), ["t0"]),
        ((ONE, OTHER), (ONE, seen(4.0, 4.0)), ["gradient of x"]),
        ((ONE, OTHER), (OTHER, OTHER), ["t0"]),
    ],
    ids=["right", "as eager", "elsewhere", "otherwise", "both"],
)
def test_graph_where_eager_is_wrong(eager: tuple[Seen, Seen], graph: tuple[Seen, Seen], told: list[str]) -> None:
    """A graph is told wrong in what is neither as eager nor as it should be."""
    expected, by_eager, by_graph = (
        Observation(outputs={1: output}, gradients={"0": gradient}) for output, gradient in ((ONE, ONE), eager, graph)
    )
    found = graph_differences(program(), expected, by_eager, by_graph, Rules(), apart=True)
    assert [one.where for one in found] == told


@pytest.mark.parametrize(
    ("part", "actual"),
    [
        ("layout", Observation(outputs={1: STRIDED})),
        ("standing", Observation(outputs={1: replace(ONE, requires_grad=True)})),
        ("sharing", Observation(outputs={1: ONE}, shared=[(0, 1)])),
        ("inputs", Observation(outputs={1: ONE}, inputs={0: array(9.0, 9.0)})),
        ("parameters", Observation(outputs={1: ONE}, parameters={"1.weight": ONE})),
    ],
)
def test_what_an_eager_run_does_not_show_is_not_compared(part: GraphPart, actual: Observation) -> None:
    """A target without an aspect is held to the others alone."""
    expected = Observation(outputs={1: ONE})
    assert len(compare(program(), expected, replace(actual, shows=ALL_PARTS), Rules())) == 1
    assert compare(program(), expected, replace(actual, shows=ALL_PARTS - {part}), Rules()) == []


def test_second_derivatives_that_are_not_shown() -> None:
    """A target without second derivatives is held to the first ones."""
    twice = program()
    twice.second_cotangents = {"0": array(1.0, 1.0)}
    expected = Observation(gradients={"0": replace(ONE, requires_grad=True)}, second={"0": ONE})
    actual = Observation(gradients={"0": replace(ONE, requires_grad=True)}, shows=ALL_PARTS)
    assert [found.kind for found in compare(twice, expected, actual, Rules())] == ["grad_missing"]
    assert compare(twice, expected, replace(actual, shows=ALL_PARTS - {"second"}), Rules()) == []
