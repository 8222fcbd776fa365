"""Tensor values from a fill and a seed."""

import hashlib
import math

import numpy as np
import psutil
import pytest

from generators import DTYPES, FILLS, RangeError, fill_values, round_to_bfloat16
from generators.checks import most_bytes
from generators.fills import CORNERS, edge_values, scale_words

FLOATS = [name for name, dtype in DTYPES.items() if dtype.category == "floating"]
INTEGERS = [name for name, dtype in DTYPES.items() if dtype.category == "integer"]
CALM = [fill for fill in FILLS if fill != "edge"]
RANGES = [
    (0, 1),
    (-2.3, 5),
    (0.3, 0.31),
    (100, 200.5),
    (-7, -3),
    (1000, 3000),
    (-1e300, 1e300),
    (-1.7e308, 1.7e308),
]


# In the order of FILLS.
GOLDEN_BYTES = {
    "float16": "094c4931 d0adbcac ea9a93c7 f0c77356 3543a2ad dee68e9a 7973c22f 62009bce",
    "bfloat16": "4fea5e6a fab5e80e c998f7ad 1b02d096 caf69aa0 0803c4e9 eff9b5bf 08abc2ea",
    "float32": "4fea5e6a fab5e80e c998f7ad 6b6d08a4 ef3a38a8 0803c4e9 a6a82e0f a73c0797",
    "float64": "e3c2af35 5493ebe6 c7b2c2c6 c9e7c88e 4413390b 8569b32c 9419429c 4eaa54f6",
    "int8": "c9023258 41122349 23b81a9e bd3fc22e bcc340d8 23b81a9e 4a6b3565 01256edc",
    "uint8": "c9023258 41122349 44b465fb 4bfb8b4e 074e4e8b 44b465fb 65c14cdc 12374f57",
    "int16": "094c4931 8596c93f ce3c9adc 281092c4 d269bc37 ce3c9adc ec8fc074 07d2690c",
    "int32": "4fea5e6a 03bef89b 4aee5d7c 2d0331dc dffd2278 4aee5d7c 9c4d855f 9a3330fb",
    "int64": "e3c2af35 7b0f2fad dd07864f a434db40 2765ff4b dd07864f 8e187ad5 d83e54a9",
    "bool": "c9023258 41122349 bc373fc9 bc373fc9 bc373fc9 bc373fc9 bc373fc9 bc373fc9",
    "complex64": "e3c2af35 eea83029 bedb08e5 a6ce3fe4 a8b55378 bb6b3d12 48ed9314 fd5f086f",
    "complex128": "52a3e080 a4a5dbb0 80aa4781 888ee779 0f4b6af3 7115b409 a0c0f2c2 8dd8f2b2",
}


def digest(array: np.ndarray) -> str:
    """The first eight hexadecimal digits that tell the bytes of an array, little end first."""
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()[:8]


def parts(array: np.ndarray) -> np.ndarray:
    """The real numbers of an array as float64."""
    if np.iscomplexobj(array):
        return np.concatenate([array.real.ravel(), array.imag.ravel()]).astype(np.float64)
    return array.ravel().astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bytes_of_every_fill_are_golden(dtype: str) -> None:
    """The same fill and seed give the same bytes on every machine."""
    found = " ".join(digest(fill_values(fill, 12345, (3, 7), dtype, -3.5, 9)) for fill in FILLS)
    assert found == GOLDEN_BYTES[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (2, 3, 4)])
def test_a_fill_has_the_shape_and_owns_its_memory(fill: str, shape: tuple[int, ...], dtype: str) -> None:
    """The array is contiguous, writeable, no view of another, and stored as the table of dtypes says."""
    array = fill_values(fill, 1, shape, dtype)
    assert type(array) is np.ndarray
    assert array.shape == shape
    assert array.dtype == DTYPES[dtype].storage
    assert array.flags.c_contiguous
    assert array.flags.owndata
    assert array.flags.writeable


@pytest.mark.parametrize("fill", CALM)
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_calm_fills_stay_in_the_range(fill: str, dtype: str, low: float, high: float) -> None:
    """Every value is finite, at least `low`, and below `high` even after rounding to the dtype."""
    values = parts(fill_values(fill, 3, (400,), dtype, low, high))
    assert np.isfinite(values).all()
    assert (values >= low).all()
    assert (values < high).all()


@pytest.mark.parametrize("fill", CALM)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2.3, 5), (100, 120.5), (-1e30, 1e30)])
def test_calm_fills_of_integers_stay_in_the_range(fill: str, dtype: str, low: float, high: float) -> None:
    """Every value is in the range and not wrapped around."""
    values = fill_values(fill, 3, (400,), dtype, low, high)
    assert all(low <= value < high for value in values.tolist())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 1.02), (-1, 0), (2040, 2080)])
def test_uniform_values_never_round_up_to_the_end(dtype: str, low: float, high: float) -> None:
    """Among many values of a coarse dtype some would round to `high`; none does."""
    values = parts(fill_values("uniform", 5, (20_000,), dtype, low, high))
    assert values.max() < high
    assert values.min() >= low


def test_unclipped_values_would_round_up_to_the_end() -> None:
    """The check above can fail: the same draws rounded without care do reach the end."""
    careless = round_to_bfloat16(fill_values("uniform", 5, (20_000,), "float32", 0, 1))
    assert careless.max() == 1


@pytest.mark.parametrize(
    ("fill", "low", "high", "expected"),
    [
        ("zeros", -1, 1, 0.0),
        ("zeros", 0.5, 1, 0.5),
        ("zeros", -3, -2, math.nextafter(-2, -3)),
        ("ones", -1, 2, 1.0),
        ("ones", 0, 1, math.nextafter(1, 0)),
        ("ones", 3, 4, 3.0),
        ("small_integers", 0.25, 0.75, 0.25),
    ],
)
def test_a_constant_fill_is_the_nearest_value_in_range(fill, low, high, expected) -> None:
    """Where the range lacks 0, 1 or any integer, its value nearest to it stands in."""
    assert set(fill_values(fill, 1, (9,), "float64", low, high).tolist()) == {expected}


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128", *INTEGERS])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0.5, 1.5), (0, 40), (-2, 1e30)])
@pytest.mark.parametrize("bounded", [True, False])
def test_distinct_values_are_distinct(dtype: str, low: float, high: float, bounded: bool) -> None:
    """No two are equal, one NaN at most among them, and they come in no order; in the range, where it is a bound."""
    low = max(low, 0) if dtype == "uint8" else low
    span = min(high, 2**7) - low if dtype in INTEGERS else 40
    for seed in range(50):
        values = fill_values("distinct", seed, (min(20, int(span)),), dtype, low, high, bounded=bounded)
        assert len(np.unique(values)) == len(values)
        if bounded:
            assert (parts(values) >= low).all()
            assert (parts(values) < high).all()
    assert not (np.diff(parts(values)) > 0).all() or len(values) < 3


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int16"])
def test_distinct_values_are_special_where_the_range_is_no_bound(dtype: str) -> None:
    """One in eight of the real numbers is what kernels go wrong at; none is where the range is a bound."""
    values = parts(fill_values("distinct", 1, (40,), dtype, -3, 100, bounded=False))
    assert ((values < -3) | (values >= 100) | np.isnan(values) | (np.abs(values) < 1e-20)).sum() >= len(values) // 16
    every = [parts(fill_values("distinct", seed, (3,), dtype, -3, 100, bounded=False)) for seed in range(200)]
    assert np.isnan(np.concatenate(every)).any() == (dtype != "int16")


@pytest.mark.parametrize(("amount", "dtype", "low", "high"), [(4, "int64", 0, 3), (200, "bfloat16", 1, 1.5)])
def test_distinct_values_of_too_small_a_range(amount: int, dtype: str, low: float, high: float) -> None:
    """A range that has not so many values is refused."""
    with pytest.raises(RangeError) as caught:
        fill_values("distinct", 1, (amount,), dtype, low, high)
    assert str(caught.value) == (
        f"low={low}, but should leave {amount} distinct values of {dtype} below high={high} "
        f"[fill_values('distinct', dtype={dtype!r})]"
    )


def test_distinct_values_of_bool() -> None:
    """There are two, in whatever range."""
    with pytest.raises(RangeError) as caught:
        fill_values("distinct", 1, (9, 9), "bool")
    assert str(caught.value) == (
        "81 distinct values are wanted, but bool has two [fill_values('distinct', dtype='bool')]"
    )


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool"])
def test_distinct_values_of_nothing(dtype: str) -> None:
    """An empty array has none."""
    assert fill_values("distinct", 1, (0, 2), dtype, bounded=False).shape == (0, 2)


def test_ones_of_a_complex_dtype_are_real() -> None:
    """The imaginary parts are as near to 0 as the range allows."""
    assert set(fill_values("ones", 1, (4,), "complex64", -2, 2).tolist()) == {1 + 0j}
    assert set(fill_values("ones", 1, (4,), "complex64", 0.5, 2).tolist()) == {1 + 0.5j}


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-100, 100, range(-4, 5)), (-1, 3, range(-1, 3)), (10, 90, range(10, 15)), (-90, -9.5, range(-14, -9))],
)
def test_small_integers_are_those_around_the_one_nearest_to_zero(dtype, low, high, expected) -> None:
    """All of them come up."""
    assert set(fill_values("small_integers", 1, (300,), dtype, low, high).tolist()) == set(expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_edge_values_of_floats_hold_all_that_is_dangerous(dtype: str) -> None:
    """NaN, infinities, both zeros, subnormals and the largest numbers come up, whatever the range."""
    values = fill_values("edge", 1, (500,), dtype, 0, 1)
    assert np.isnan(values).any()
    assert {math.inf, -math.inf} <= set(values.tolist())
    zeros = values[values == 0]
    assert np.signbit(zeros).any()
    assert not np.signbit(zeros).all()
    huge = {"bfloat16": 255 * 2.0**120}.get(dtype, float(np.finfo(values.dtype).max))
    assert {huge, -huge} <= set(values.tolist())
    tiny = {"bfloat16": 2.0**-126}.get(dtype, float(np.finfo(values.dtype).tiny))
    assert ((np.abs(values.astype(np.float64)) < tiny) & (values != 0)).any()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_edge_values_of_integers_hold_the_extremes(dtype: str) -> None:
    """The ends come up, the least value of a signed dtype apart, and none is wrapped around."""
    info = np.iinfo(dtype)
    values = set(fill_values("edge", 1, (500,), dtype, 0, 1).tolist())
    assert {0 if dtype == "uint8" else info.min + 1, info.max, 0, 1} <= values
    assert values == set(edge_values(DTYPES[dtype]).tolist())
    assert len(values) == {"uint8": 4, "int8": 6, "int16": 6, "int32": 8, "int64": 10}[dtype]


@pytest.mark.parametrize("fill", FILLS)
def test_bfloat16_values_need_no_more_rounding(fill: str) -> None:
    """What is stored as float32 has the precision of bfloat16 already."""
    values = fill_values(fill, 1, (300,), "bfloat16", 257, 700)
    np.testing.assert_array_equal(values, round_to_bfloat16(values))


def test_uniform_floats_are_uniform() -> None:
    """Mean and quarters of 40,000 values are within four standard deviations."""
    values = fill_values("uniform", 1, (200, 200), "float32", 2, 6)
    assert abs(float(values.mean()) - 4) < 4 * 4 / math.sqrt(12 * 40_000)
    counts, _ = np.histogram(values, bins=4, range=(2, 6))
    assert (abs(counts - 10_000) < 347).all()


def test_uniform_integers_are_uniform() -> None:
    """Each of five values has its fifth of 10,000, within four standard deviations."""
    values, counts = np.unique(fill_values("uniform", 1, (10_000,), "int64", -2, 3), return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2]
    assert (abs(counts - 2000) < 160).all()


def test_uniform_integers_cover_the_widest_range() -> None:
    """All 64 bits of an int64 are drawn, the sign included."""
    values = fill_values("uniform", 1, (1000,), "int64", -(2**63), 2**63)
    assert values.min() < -(2**62)
    assert values.max() > 2**62
    assert len(set(values.tolist())) == 1000


def test_booleans_are_fair_whatever_the_range() -> None:
    """Half of them are true, within four standard deviations."""
    assert abs(int(fill_values("uniform", 1, (10_000,), "bool", 0, 1).sum()) - 5000) < 200


def test_parts_of_a_complex_value_are_independent() -> None:
    """Real and imaginary parts are drawn each for itself."""
    values = fill_values("uniform", 1, (10_000,), "complex128", -1, 1)
    assert abs(np.corrcoef(values.real, values.imag)[0, 1]) < 0.04


@pytest.mark.parametrize("span", [1, 3, 7, 2**31 + 1, 2**32, 2**32 + 1, 2**53 + 7, 2**63 + 3, 2**64 - 1, 2**64])
def test_words_are_scaled_exactly(span: int) -> None:
    """The vectorised product has the upper 64 bits of the exact one."""
    raw = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 2**32, 2**64 - 1, 0x123456789ABCDEF0, 0xFEDCBA9876543210]
    assert scale_words(np.array(raw, np.uint64), span).tolist() == [(word * span) >> 64 for word in raw]


def test_different_seeds_give_different_values() -> None:
    """The seed is what the values depend on."""
    assert (fill_values("uniform", 1, (50,), "float32") != fill_values("uniform", 2, (50,), "float32")).all()


def test_a_large_array_begins_with_the_values_of_a_small_one() -> None:
    """Values go by their position, so that shrinking a shape keeps those that remain."""
    small, large = (fill_values("uniform", 9, (n,), "float32") for n in (5, 50))
    assert small.tolist() == large[:5].tolist()


@pytest.mark.parametrize(
    ("fill", "dtype", "low", "high", "message"),
    [
        ("zeros", "float32", 3.0, 3.0,
         "low=3.0, but should be less than high=3.0 [fill_values('zeros', dtype='float32')]"),
        ("uniform", "bool", 1, 0,
         "low=1, but should be less than high=0 [fill_values('uniform', dtype='bool')]"),
        ("uniform", "int8", 0.2, 0.8,
         "low=0.2, but should leave a value of int8 below high=0.8 [fill_values('uniform', dtype='int8')]"),
        ("edge", "uint8", 300, 400,
         "low=300, but should leave a value of uint8 below high=400 [fill_values('edge', dtype='uint8')]"),
        ("ones", "float16", 1e6, 2e6,
         "low=1000000.0, but should leave a value of float16 below high=2000000.0 "
         "[fill_values('ones', dtype='float16')]"),
        ("ones", "float32", 10**400, 10**401,
         f"low={10**400}, but should leave a value of float32 below high={10**401} "
         "[fill_values('ones', dtype='float32')]"),
        ("uniform", "bfloat16", 1.001, 1.002,
         "low=1.001, but should leave a value of bfloat16 below high=1.002 "
         "[fill_values('uniform', dtype='bfloat16')]"),
        ("zeros", "int32", -math.inf, 1,
         "low=-inf, but should be finite [fill_values('zeros', dtype='int32')]"),
        ("twos", "float32", 0, 1,
         "fill='twos', but should be one of zeros, ones, small_integers, uniform, ties, halves, sprinkled, edge, "
         "distinct, nan, infinities, signed_zeros, subnormals, greatest, ends, far, lowest "
         "[fill_values('twos', dtype='float32')]"),
    ],
)  # fmt: skip
def test_what_cannot_be_filled_is_refused(fill, dtype, low, high, message: str) -> None:
    """An empty range, one without a value of the dtype, and an unknown fill are named."""
    with pytest.raises(RangeError) as caught:
        fill_values(fill, 1, (2,), dtype, low, high)
    assert str(caught.value) == message


def test_ties_have_few_values() -> None:
    """At most three of the range, so that a maximum is met twice."""
    for dtype in ("float32", "int64"):
        values = fill_values("ties", 2, (50,), dtype, -100, 100)
        assert len(set(values.tolist())) == 3
    assert len(set(fill_values("ties", 2, (50,), "float32", -1, 1).tolist())) == 3


def test_halves_are_where_rounding_and_activations_turn() -> None:
    """Halves, integers, both zeros and the kinks of activations come up; integers are small ones."""
    values = fill_values("halves", 1, (900,), "float32", -8, 8).tolist()
    assert {-3.0, -0.5, 0.0, 0.5, 1.5, 2.5, 3.0, 6.0} <= set(values)
    assert any(value == 0 and math.copysign(1, value) < 0 for value in values)
    assert set(fill_values("halves", 1, (300,), "int32", -8, 8).tolist()) == set(range(-4, 5))
    assert set(fill_values("halves", 1, (30,), "float64", 0.1, 0.4).tolist()) == {0.1, math.nextafter(0.4, 0)}


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.5, 3), (-3, 0)])
def test_negative_zero_stays_out_of_a_range_without_negative_numbers(low: float, high: float) -> None:
    """There 1 / x and the square root would leave their domain by the sign of a zero."""
    values = fill_values("halves", 1, (300,), "float32", low, high)
    assert not np.any((values == 0) & np.signbit(values))


@pytest.mark.parametrize("shape", [(1,), (7,), (64,), (5, 5, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_a_sprinkled_tensor_has_a_few_special_values(shape: tuple[int, ...], seed: int) -> None:
    """At least one element is no uniform one, and about one in eight; the others are."""
    plain = fill_values("uniform", seed, shape, "float32", -1, 1)
    special = fill_values("sprinkled", seed, shape, "float32", -1, 1, bounded=False) != plain
    assert 1 <= special.sum() <= 1 + plain.size // 4


def test_sprinkled_values_leave_a_range_only_where_it_is_no_bound() -> None:
    """Bounded, they are kinks and ends of the range; else NaN, infinities, -0.0, subnormal, tiny and huge numbers."""
    bounded = fill_values("sprinkled", 1, (4000,), "float32", -0.75, 1)
    assert {-0.5, 0.0, 0.5, -0.75, float(np.nextafter(np.float32(1), np.float32(0)))} <= set(bounded.tolist())
    free = fill_values("sprinkled", 1, (4000,), "float32", -1, 1, bounded=False)
    info = np.finfo(np.float32)
    assert np.isnan(free).any()
    assert {math.inf, -math.inf, float(info.tiny), float(info.smallest_subnormal)} <= set(free.tolist())
    assert np.any((free == 0) & np.signbit(free))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_sprinkled_tensor_has_one_huge_value_at_most(dtype: str) -> None:
    """Two would overflow together, or not, as they are summed."""
    for seed in range(30):
        values = parts(fill_values("sprinkled", seed, (200,), dtype, -1, 1, bounded=False))
        assert np.sum(np.isfinite(values) & (np.abs(values) > 2)) <= 1


def test_sprinkled_integers_are_those_that_a_float_cannot_hold() -> None:
    """2**24 + 1 and 2**53 + 1 of both signs, and the extremes, where the range is no bound; kinks and ends else."""
    free = set(fill_values("sprinkled", 1, (4000,), "int64", -8, 8, bounded=False).tolist())
    assert {2**24 + 1, -(2**24) - 1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 1 - 2**63} <= free
    assert set(fill_values("sprinkled", 1, (400,), "int64", 2, 5).tolist()) == {2, 3, 4}


@pytest.mark.parametrize("dtype", [name for name in INTEGERS if name != "uint8"])
def test_no_integer_is_the_least_of_its_dtype(dtype: str) -> None:
    """PyTorch ends the process where it truncates the least integer divided by -1."""
    for fill in ("sprinkled", "edge"):
        assert np.iinfo(dtype).min not in fill_values(fill, 1, (4000,), dtype, -8, 8, bounded=False)


CORNER_VALUES = {
    "nan": [math.nan],
    "infinities": [math.inf],
    "signed_zeros": [-0.0],
    "subnormals": [2.0**-149],
    "greatest": [3.4028234663852886e38],
    "ends": [0.9999999403953552],
}


@pytest.mark.parametrize("fill", CORNERS)
def test_corners_are_strewn_among_uniform_values(fill: str) -> None:
    """One element in eight, and at least one; the others are those that `uniform` has."""
    uniform, strewn = (fill_values(name, 7, (3, 3), "float32", -1, 1) for name in ("uniform", fill))
    differs = ~((strewn == uniform) & (np.signbit(strewn) == np.signbit(uniform)))
    assert differs.sum() == 1
    assert repr(strewn[differs].tolist()) == repr(CORNER_VALUES[fill])


def test_of_many_elements_one_in_eight_is_a_corner() -> None:
    """Both infinities, but one greatest value: two of them overflow together or not, as they are summed."""
    both = fill_values("infinities", 7, (16,), "float32", -1, 1)
    assert sorted(both[np.isinf(both)].tolist()) == [-math.inf, math.inf]
    assert (fill_values("greatest", 7, (64,), "float32", -1, 1) > 1).sum() == 1


@pytest.mark.parametrize(
    ("fill", "values"),
    [
        ("nan", [5]),
        ("infinities", [2**63 - 1]),
        ("signed_zeros", [-1]),
        ("subnormals", [2**24 + 1]),
        ("greatest", [3037000499]),
        ("ends", [4]),
    ],
)
def test_corners_of_integers_leave_their_range(fill: str, values: list[int]) -> None:
    """An index beyond its range must be refused by both sides."""
    uniform, strewn = (fill_values(name, 7, (8,), "int64", 0, 5) for name in ("uniform", fill))
    assert strewn[strewn != uniform].tolist() in (values, [])
    assert set(values) <= set(strewn.tolist())


@pytest.mark.parametrize(
    ("dtype", "most"), [("float32", 2**20), ("float16", 2**16), ("complex64", 2**20), ("int64", 2**20), ("int8", 2**7)]
)
def test_far_values_lie_to_both_sides_in_each_power_of_two(dtype: str, most: float) -> None:
    """Beyond what ordinary values reach, and short of overflow."""
    parts = fill_values("far", 7, (4096,), dtype, -1, 8)
    values = parts.view(np.float32 if dtype == "complex64" else parts.dtype).astype(np.float64)
    sizes = np.abs(values)
    assert 4 <= sizes.min() < 4.5
    assert most / 3 < sizes.max() < most
    assert 0.45 < (values < 0).mean() < 0.55
    shares = np.histogram(np.log2(sizes), bins=4)[0] / values.size
    assert shares.min() > 0.15


def test_far_values_of_what_has_none() -> None:
    """uint8 has them to one side; bool is drawn as ever."""
    assert fill_values("far", 7, (64,), "uint8", 0, 8).min() >= 4
    assert set(fill_values("far", 7, (64,), "bool").tolist()) == {False, True}


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", -math.inf),
        ("bfloat16", -math.inf),
        ("int8", -127),
        ("int64", -(2**63) + 1),
        ("uint8", 0),
        ("bool", 0),
    ],
)
def test_lowest_is_alone(dtype: str, value: float) -> None:
    """Whole rows and windows have nothing else; no integer is the least of its dtype."""
    assert fill_values("lowest", 7, (2, 3), dtype, 0, 8).tolist() == [[value] * 3] * 2


def test_corners_that_a_dtype_cannot_hold_are_its_greatest() -> None:
    """uint8 has no value below its range of 0 to 7, and none that a float cannot hold."""
    assert 255 in fill_values("signed_zeros", 7, (8,), "uint8", 0, 8)
    assert 255 in fill_values("subnormals", 7, (8,), "uint8", 0, 8)


@pytest.mark.parametrize(
    ("shape", "dtype", "told"),
    [((5, 5), "float32", None), ((5, 6), "float32", "(5, 6) takes 0.0 GiB"), ((25,), "float64", "(25,) takes 0.0 GiB"),
     ((2**63, 4), "float32", "(9223372036854775808, 4) takes 137,438,953,472.0 GiB")],
)  # fmt: skip
def test_array_that_the_machine_cannot_hold(shape, dtype, told, monkeypatch):
    """It is refused before a byte of it is made, and so is one of a size that NumPy cannot count."""
    monkeypatch.setattr("generators.checks.most_bytes", lambda: 100)
    if told is None:
        assert fill_values("ones", 0, shape, dtype, -1, 1).shape == shape
        return
    with pytest.raises(RangeError) as caught:
        fill_values("ones", 0, shape, dtype, -1, 1)
    assert str(caught.value) == (
        f"the shape {told}, but should take at most 0.0 GiB, an eighth of this machine's memory "
        f"[fill_values('ones', dtype={dtype!r})]"
    )
    monkeypatch.undo()
    assert most_bytes() == psutil.virtual_memory().total // 8
