"""What an op is called with beyond PyTorch's own samples."""

from __future__ import annotations

import pytest
import torch

from dual_object.adapters.torch.kernels.samples.arguments import of_arguments
from dual_object.adapters.torch.kernels.samples.drawing import samples
from dual_object.adapters.torch.kernels.samples.layouts import LAYOUTS
from dual_object.adapters.torch.kernels.samples.optional import optional, without_defaults, without_promises
from dual_object.adapters.torch.kernels.samples.refusals import of_refusals
from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.adapters.torch.kernels.samples.sizes import SLOPES, STEEP, of_shapes, of_sizes, resized
from dual_object.adapters.torch.kernels.samples.spelled import function_of, spelled
from dual_object.adapters.torch.kernels.samples.table import drawn_from, named
from dual_object.adapters.torch.kernels.samples.values import FAR_ALONG, LONG, of_values


def test_optional_parameters_of_python_and_of_schemas() -> None:
    """With place and default; a keyword alone has no place; where results go is none."""
    assert optional("nn.functional.relu") == {"inplace": (1, False)}
    assert optional("nn.functional.softplus") == {"beta": (1, 1), "threshold": (2, 20)}
    assert optional("sub") == {"alpha": (-1, 1)}
    assert optional("no.such") == {}


def test_what_is_as_by_default_is_left_out() -> None:
    """A kernel of `gelu(x)` may have no `approximate`, which one call gives nevertheless."""
    sample = Sample((torch.ones(1),), {"beta": 1, "threshold": 20.0, "other": 3})
    assert without_defaults(sample, optional("nn.functional.softplus")).kwargs == {"threshold": 20.0, "other": 3}
    drawn = samples("nn.functional.gelu", dtypes=("float32",))
    told = [sample.detail for sample in drawn if sample.kwargs.get("approximate") == "none"]
    assert told == ["approximate by default"]
    assert any(sample.kwargs.get("approximate") == "tanh" for sample in drawn)


def test_a_size_that_follows_from_others_is_left_out() -> None:
    """And one that is needed, or that says something, is not."""
    rows, times = torch.arange(4.0), torch.tensor([1, 2, 0, 3])
    promising = Sample((rows,), {"repeats": times, "dim": 0, "output_size": 6})
    kept = without_promises(torch.repeat_interleave, promising)
    assert list(kept.kwargs) == ["repeats", "dim"]
    needed = Sample((torch.rand(1, 1, 4),), {"kernel_size": 2})
    assert without_promises(torch.nn.functional.avg_pool1d, needed) is needed


def test_no_sample_names_a_size_that_is_no_more() -> None:
    """Of those whose sizes were changed; PyTorch's own are asked as they are."""
    drawn = samples("repeat_interleave", dtypes=("float32",))
    changed = [sample for sample in drawn if sample.role in ("shape", "size", "plain")]
    assert changed
    assert not any("output_size" in sample.kwargs for sample in changed)
    assert any("output_size" in sample.kwargs for sample in drawn if sample.detail == "a size that follows")


def test_arguments_that_no_sample_gives() -> None:
    """Flags, numbers one by one and two at once; what needs a gradient is not written to."""
    plain = [Sample((torch.rand(3, requires_grad=True),))]
    [flag] = of_arguments(named("nn.functional.relu"), "nn.functional.relu", plain)
    assert (flag.role, flag.detail, flag.kwargs) == ("modes", "inplace=True", {"inplace": True})
    assert not flag.tensors()[0].requires_grad
    details = [one.detail for one in of_arguments(named("nn.functional.softplus"), "nn.functional.softplus", plain)]
    assert details == [
        "beta, threshold by default",
        *("beta=2", "beta=0.5", "threshold=21", "threshold=2", "threshold=0.5"),
        "beta=2, threshold=1.5",
    ]


def test_what_has_no_weight_may_be_nan() -> None:
    """Where PyTorch ignores the first tensor; what `alpha` weighs is not asked for."""
    [plain] = [Sample((torch.rand(2, 2), torch.rand(2, 3), torch.rand(3, 2)))]
    details = [one.detail for one in of_arguments(named("addmm"), "addmm", [plain]) if "NaN" in one.detail]
    assert details == ["beta=0, and NaN in the first tensor"]
    # Of no groups PyTorch divides by 0.
    plain = Sample((torch.rand(1, 6, 3), 3), {"weight": torch.rand(6), "bias": torch.rand(6), "eps": 0.5})
    info = named("nn.functional.group_norm")
    assert not [one for one in of_arguments(info, info.name, [plain]) if "NaN" in one.detail]


def test_indices_stay_within_what_becomes_smaller() -> None:
    """From whichever end they count; whole numbers of an op of such are no indices."""
    index = torch.tensor([[4, -5, 2, 0, -1]])
    [smaller] = resized(Sample((torch.rand(5, 5), index)), 5, 2, "size", "2")
    assert smaller.tensors()[1].tolist() == [[0, -1]]
    [kept] = resized(Sample((index,)), 5, 3, "size", "3")
    assert kept.tensors()[0].tolist() == [[4, -5, 2]]
    # Of integers alone none is an index, and all their values are kept.
    numbers = [one for one in of_shapes([Sample((index,))], False) if one.detail == "dimension 0 as 1"]
    assert numbers[0].tensors()[0].tolist() == index.tolist()
    deeper = [one for one in of_shapes([Sample((torch.rand(5, 5), index))], False) if one.detail == "rank 5"]
    assert deeper[0].tensors()[1].tolist() == [[[[[0, -1, 0, 0, -1]]]]]


def test_rows_alone_are_asked_of_blocks_as_well() -> None:
    """A function of one number, of which PyTorch has samples of one dimension."""
    shapes = [tuple(sample.tensors()[0].shape) for sample in samples("cos") if sample.role == "plain"]
    assert shapes == [(20,), (2, 2, 4)]
    assert any(sample.detail == "channels last" for sample in samples("cos"))


def test_huge_numbers_are_two() -> None:
    """So that no sum of a few overflows in one order alone."""
    row = torch.tensor([2.0, *[1.0] * 7, 0.0])
    [huge] = [one for one in of_values([Sample((row,))], False) if one.detail == "huge"]
    assert huge.tensors()[0].tolist() == pytest.approx([3e38, *[1.0] * 7, -3e38])


def test_numbers_are_changed_one_by_one_and_both() -> None:
    """Of several in a row the first; what may be a dimension becomes another one that is there."""
    info = named("nn.functional.softplus")
    sample = Sample((torch.rand(3),), {"beta": 3.0, "threshold": 0.5})
    details = [one.detail for one in of_arguments(info, "nn.functional.softplus", [sample])]
    assert details == [
        *("without beta", "without threshold"),
        *("beta=6.0", "beta=1.5", "threshold=1.0", "threshold=0.25", "beta=6.0, threshold=1.0"),
    ]
    triangle = [one.detail for one in of_arguments(info, "no.such", [Sample((torch.rand(2, 3),), {"diagonal": 3})])]
    assert triangle == ["without diagonal", "diagonal=4", "diagonal=-1"]
    pair = Sample((torch.rand(2, 3), (4, 5)), {"dim": 1})
    details = [one.detail for one in of_arguments(info, "no.such", [pair])]
    assert details == ["dim=-1", "without dim", "dim=0", "1=(5, 5)"]


def test_one_tensor_is_given_twice() -> None:
    """Of two that have elements and one shape; it stays one where nothing needs a gradient."""
    x, y = torch.rand(2, 3, requires_grad=True), torch.rand(2, 3)
    twice = [one for one in of_values([Sample((torch.rand(0), x, y))], False) if "twice" in one.detail]
    assert [one.detail for one in twice[:2]] == ["one tensor given twice", "one tensor given twice, without gradient"]
    assert all(one.tensors()[1] is one.tensors()[2] and one.tensors()[0].numel() == 0 for one in twice)


def test_only_what_is_called_a_dimension_is_given_twice() -> None:
    """`(2, 2, 2)` may be a size."""
    plain = [Sample((torch.rand(2, 3),), {"dims": (0, 1)}), Sample((torch.rand(2, 3), (2, 2)))]
    refused = [one for one in of_refusals(named("flip"), plain, {torch.float32}) if "twice" in one.detail]
    assert [one.kwargs for one in refused] == [{"dims": (0, 0, 1)}]


def test_numbers_stand_for_tensors() -> None:
    """But not for the first one."""
    sample = Sample((torch.rand(3), torch.full((3,), 0.5), torch.tensor([0.25])))
    given = [one for one in of_arguments(named("clamp"), "no.such", [sample]) if one.detail.endswith("as a number")]
    assert [(one.detail, one.args[1:]) for one in given[-1:]] == [("all as a number", (0.5, 0.25))]
    assert [type(one.args[1]).__name__ for one in given] == ["float", "Tensor", "float"]


def test_samples_are_spelled_as_the_function_is_called() -> None:
    """Where PyTorch's table has its own order of arguments; and others are as they are given."""
    where, add = named("where"), named("add")
    assert function_of(where) is torch.where
    x, condition, y = torch.ones(3), torch.tensor([True, False, True]), torch.zeros(3)
    turned = spelled(where, Sample((x, condition, y), {}, "errors", "ValueError"))
    assert (*map(id, turned.args), turned.role, turned.detail) == (*map(id, (condition, x, y)), "errors", "ValueError")
    # What PyTorch refuses is turned as well.
    assert spelled(where, Sample((x, y, condition))).args[0] is y
    same = Sample((x, y), {"alpha": 2})
    assert spelled(add, same) is same
    drawn = samples("where", dtypes=("float32",))
    assert {"plain", "edges", "layout", "size", "errors"} <= {sample.role for sample in drawn}
    assert all(sample.args[0].dtype == torch.bool for sample in drawn if sample.role == "plain")


def test_dimensions_of_one_nan_far_along_and_kinks() -> None:
    """Each dimension in turn; in the fifth block of a long row; where clipped functions have their corners."""
    sample = Sample((torch.rand(3, 3),))
    shapes = {one.detail: tuple(one.args[0].shape) for one in of_shapes([sample], whole=False)}
    assert (shapes["dimension 0 as 1"], shapes["dimension 1 as 1"]) == ((1, 3), (3, 1))
    edges = {one.detail: one.args[0] for one in of_values([sample], whole=False) if one.role == "edges"}
    assert edges["NaN far along"].isnan().nonzero().tolist() == [[0, FAR_ALONG]]
    assert edges["NaN far along"].shape == (2, LONG)
    assert {3.0, -3.0, 1.0} <= {*edges["kinks"].flatten().tolist()}


def test_layouts_keep_values() -> None:
    """Rows with something between them, and the second dimension innermost."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert all(torch.equal(lay(x), x) for name, lay in LAYOUTS.items() if name != "expanded")
    assert LAYOUTS["padded"](x).stride() == (21, 7, 1)
    assert LAYOUTS["channels last"](x).stride() == (12, 1, 3)
    assert LAYOUTS["channels last"](x[0]) is not None


def test_sizes_of_one_are_refused_where_others_are_meant() -> None:
    """Each size of each of the first three tensors as 1."""
    plain = [Sample((torch.rand(2, 3, 4), torch.rand(2, 4, 5)))]
    asked = [one for one in of_refusals(named("bmm"), plain, {torch.float32}) if one.detail.startswith("a size of 1")]
    assert [[tuple(x.shape) for x in one.tensors()] for one in asked] == [
        *([(1, 3, 4), (2, 4, 5)], [(2, 1, 4), (2, 4, 5)], [(2, 3, 1), (2, 4, 5)]),
        *([(2, 3, 4), (1, 4, 5)], [(2, 3, 4), (2, 1, 5)], [(2, 3, 4), (2, 4, 1)]),
    ]


def test_refusals_are_of_claimed_dtypes() -> None:
    """What a kernel does not take, it need not refuse; but for dtypes that its tensors have beside them."""
    plain = [Sample((torch.rand(3),))]
    dtypes = {x.dtype for one in of_refusals(named("mean"), plain, {torch.float32}) for x in one.tensors()}
    assert dtypes <= {torch.float32}
    both = [*of_refusals(named("mean"), plain, {torch.float32, torch.int64})]
    assert any(x.dtype == torch.int64 for one in both for x in one.tensors())


def test_long_dimensions_rise_and_fall() -> None:
    """From the first element to the last."""
    sizes = [one for one in of_sizes([Sample((torch.zeros(3),))], whole=False) if one.detail.endswith("ing")]
    assert [one.detail for one in sizes] == [f"{size}, {way}" for size in STEEP for way in ("rising", "falling")]
    first = sizes[0].tensors()[0]
    assert (float(first[0]), float(first[-1])) == (0.0, SLOPES["rising"])


def test_rows_of_an_op_of_tables() -> None:
    """Where no sample is a row: the first one of each, long."""
    plain = [Sample((torch.rand(2, 3), torch.rand(2, 3)))]
    rows = [one for one in of_sizes(plain, whole=False) if one.detail.startswith("a row of")]
    assert [tuple(x.shape) for one in rows for x in one.tensors()] == [(257,)] * 2 + [(1025,)] * 2 + [(4097,)] * 2
    assert not [
        one for one in of_sizes([*plain, Sample((torch.rand(3),))], whole=False) if one.detail.startswith("a row of")
    ]


def test_rows_without_elements_but_no_weights_without_channels() -> None:
    """The last size of all tensors becomes 0; one that a weight shares becomes 1 alone."""

    def emptied(*shapes: tuple[int, ...]) -> set[str]:
        plain = [Sample(tuple(torch.rand(shape) for shape in shapes))]
        return {one.detail for one in of_shapes(plain, whole=False) if one.detail.endswith("as 0")}

    assert emptied((2, 5, 7), (2, 6, 7)) == {"7 as 0", "5 as 0"}
    assert emptied((1, 3, 8), (4, 3, 2)) == {"1 as 0", "8 as 0"}


def test_every_variant_of_an_op_is_asked_for() -> None:
    """The modes of `interpolate`; but not `max` of two tensors, which is another function."""
    modes = {one.kwargs.get("mode") for one in drawn_from(named("nn.functional.interpolate"), torch.float32)}
    assert {None, "bilinear", "bicubic", "area"} <= modes
    assert {len(one.tensors()) for one in drawn_from(named("max"), torch.float32)} == {1}
