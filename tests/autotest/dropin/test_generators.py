"""The drop-in's generators: OneFlow's classes and defaults, drawn from the case's own source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Union

import numpy as np
import pytest

from autotest.dropin import generators as g
from autotest.dropin.dtypes import FAMILIES, random_pytorch_dtype
from autotest.dropin.randomness import random_util, rng
from autotest.errors import UsageError
from generators import Nothing, OutsideCaseError, PhiloxSource, drawing


def draws(make: Callable[[], Any], count: int = 200, key: str = "k") -> list[Any]:
    """The values that `make` gives in so many cases."""
    found = []
    for index in range(count):
        with drawing(PhiloxSource(f"{key}/{index}")):
            found.append(make())
    return found


@pytest.fixture
def case() -> Iterator[None]:
    """A case that runs."""
    with drawing(PhiloxSource("case")):
        yield


def test_same_key_same_values() -> None:
    """A case is its key, for `rng` and `random_util`, too."""

    def all_kinds() -> tuple[Any, ...]:
        return (
            g.random(0, 1).to(float).value(),
            g.oneof(1, 2, 3).value(),
            float(rng.random()),
            random_util.randint(0, 1 << 30),
        )

    assert draws(all_kinds) == draws(all_kinds)
    assert draws(all_kinds) != draws(all_kinds, key="other")


def test_ranges_of_random() -> None:
    """int: [low, high); float: [low, high), also where both are equal; bool: both; None without a type."""
    assert set(draws(lambda: g.random(1, 4).to(int).value())) == {1, 2, 3}
    assert set(draws(lambda: g.random().to(int).value())) == {1, 2, 3, 4, 5}
    assert all(2 <= value < 3 for value in draws(lambda: g.random(2, 3).to(float).value()))
    assert draws(lambda: g.random(2, 2).to(float).value(), 1) == [2.0]
    assert set(draws(lambda: g.random().to(bool).value())) == {True, False}
    assert draws(lambda: g.random().value(), 1) == [None]


def test_first_type_wins(case: None) -> None:
    """`to` counts once, for the children as well."""
    low = g.random(1, 3)
    one = g.random(low, 5).to(int).to(float)
    assert type(one.value()) is int
    assert type(low.value()) is int


def test_type_given_before_the_case_stays() -> None:
    """A generator that was typed outside of a case has its type in every case."""
    one = g.random(1, 9).to(int)
    assert {type(value) for value in draws(one.value)} == {int}


def test_type_given_in_a_case_ends_with_it() -> None:
    """What one case says of a shared generator does not reach the next."""
    shared = g.random(1, 9)
    assert draws(lambda: type(shared.to(int).value()), 1) == [int]
    assert draws(lambda: type(shared.to(float).value()), 1) == [float]


def test_one_value_per_case_and_eval(case: None) -> None:
    """A generator keeps its value in a case; `eval` draws anew, its children as well."""
    inner = g.random(0, 1 << 40).to(int)
    outer = inner + 1
    first = outer.value()
    assert outer.value() == first == inner.value() + 1
    assert outer.eval() != first
    assert outer.value() == inner.value() + 1


def test_value_of_the_test_stays_in_its_cases() -> None:
    """What the test has drawn before a case keeps its value inside it; what it has not is drawn by the case."""
    drawn, undrawn = g.random(0, 1 << 40).to(int), g.random(0, 1 << 40).to(int)
    with drawing(PhiloxSource("test")) as around:
        token = g.item_drawing.set(around)
        before = drawn.value()
        inside = draws(lambda: (drawn.value(), undrawn.value()), 3)
        g.item_drawing.reset(token)
    assert {value for value, _ in inside} == {before}
    assert len({value for _, value in inside}) == 3


def test_arithmetic(case: None) -> None:
    """Sums, differences and products of generators and numbers, from both sides."""
    a, b = g.random(1, 9).to(int), g.random(10, 19).to(int)
    x, y = a.value(), b.value()
    for made, expected in [
        (a + b, x + y),
        (a + 1, x + 1),
        (1 + a, 1 + x),
        (b - a, y - x),
        (b - 1, y - 1),
        (9 - a, 9 - x),
        (a * b, x * y),
        (2 * a, 2 * x),
        (-a, -x),
        (g.tuple(a, b, 3), (x, y, 3)),
    ]:
        assert isinstance(made, g.generator)
        assert made.value() == expected


def test_oneof_weights() -> None:
    """`possibility` is that of the first of two, or a list of all; a wrong number of them is refused."""
    assert set(draws(lambda: g.oneof(1, 2, possibility=0.0).value())) == {2}
    assert set(draws(lambda: g.oneof(1, 2, 3, possibility=[0.0, 1.0, 0.0]).value())) == {2}
    assert 0.6 < np.mean(draws(lambda: g.oneof(1, 0, possibility=0.7).value(), 500)) < 0.8
    with pytest.raises(ValueError, match="possibility") as caught:
        g.oneof(1, 2, 3, possibility=0.5)
    assert str(caught.value) == "possibility=0.5, but should be a list of 3 numbers [oneof(...)]"


def test_alternatives_are_fair() -> None:
    """`a | b | c` gives each a third; `random_or_nothing` leaves a third out."""
    thirds = draws(lambda: (g.constant(0) | g.constant(1) | 2).value(), 600)
    assert all(0.25 < thirds.count(value) / 600 < 0.42 for value in (0, 1, 2))
    left = draws(lambda: isinstance(g.random_or_nothing(1, 3).to(int).value(), Nothing), 600)
    assert 0.25 < np.mean(left) < 0.42


def test_oneof_of_functions(case: None) -> None:
    """Calling alternatives calls one of them."""
    assert g.oneof(max, max)(1, 2) == 2


def test_own_subclass() -> None:
    """`_calc_value` of a user's class draws by its children, once in a case."""

    class Twice(g.generator):
        def __init__(self, inner: Any) -> None:
            self.inner = g.pack(inner)
            super().__init__([self.inner])

        def _calc_value(self) -> Any:
            return [self.inner.value()] * 2

    def make() -> Any:
        one = Twice(g.random(1, 9)).to(int)
        return one.value(), one.value() is one.value(), type(one.value()[0])

    assert {(same, kind) for _, same, kind in draws(make)} == {(True, int)}
    with pytest.raises(NotImplementedError, match=r"generator\._calc_value"):
        draws(g.generator([]).value, 1)


def test_unions_and_tuples() -> None:
    """A Union gives one of its types, a tuple as many numbers."""
    kinds = {type(value) for value in draws(lambda: g.random(1, 3).to(Union[int, float]).value())}  # noqa: UP007
    assert kinds == {int, float}
    assert all(len(value) == 2 for value in draws(lambda: g.random(1, 3).to(tuple[int, int]).value(), 5))


def test_dims_of_tensors() -> None:
    """The first dimension is 1 unless it is given, others 1 ... 7, ranks 1 ... 5."""
    shapes = draws(lambda: g.random_pytorch_tensor().drawn().data.shape)
    assert {shape[0] for shape in shapes} == {1}
    assert {len(shape) for shape in shapes} == {1, 2, 3, 4, 5}
    assert {size for shape in shapes for size in shape[1:]} == set(range(1, 8))
    assert set(draws(lambda: g.random_pytorch_tensor(2, None, 3).drawn().data.shape)) == {(n, 3) for n in range(1, 8)}
    assert draws(lambda: g.random_pytorch_tensor(0).drawn().data.shape, 1) == [()]
    assert len(draws(lambda: g.random_pytorch_tensor(6).drawn().data.shape, 1)[0]) == 6


@pytest.mark.parametrize(
    ("given", "dtype", "low", "high"),
    [
        (float, "float32", 0, 1),
        (int, "int64", 3, 9),
        ("int32", "int32", 3, 9),
        (np.float64, "float64", -2, 2),
        (bool, "bool", 0, 1),
        (complex, "complex64", 0, 1),
    ],
)
def test_values_of_tensors(given: Any, dtype: str, low: int, high: int) -> None:
    """Values of [low, high) of the dtype, however it is named."""
    for drawn in draws(lambda: g.random_pytorch_tensor(2, 5, 5, low=low, high=high, dtype=given).drawn(), 5):
        assert drawn.dtype == dtype
        parts = [drawn.data.real, drawn.data.imag] if dtype == "complex64" else [drawn.data]
        assert all(low <= float(part.min()) and float(part.max()) <= high for part in parts)


def test_ranges_that_numpy_takes() -> None:
    """A range that ends where it starts gives one value, a turned one is turned back, as NumPy's `uniform` does."""
    [same] = draws(lambda: g.random_pytorch_tensor(1, 5, low=2, high=2).drawn().data, 1)
    assert set(same.tolist()) == {2.0}
    [turned] = draws(lambda: g.random_pytorch_tensor(1, 50, low=3, high=2).drawn().data, 1)
    assert float(turned.min()) >= 2
    assert float(turned.max()) <= 3


def test_families_of_dtypes() -> None:
    """Each family gives its members, `None` no dtype; an unknown one is refused."""
    names = {str(value) for value in draws(lambda: random_pytorch_dtype(["int", "bool"]).value())}
    assert names == {"torch.int8", "torch.int32", "torch.int64", "torch.bool"}
    arithmetic = {"float32", "float64", "int8", "int32", "int64"}
    assert {*FAMILIES["pod"]} == arithmetic | {"uint8", "bool"}
    assert {*FAMILIES["all"]} == arithmetic | {"float16", "bfloat16"}
    assert draws(lambda: random_pytorch_dtype("None").value(), 1) == [None]
    with pytest.raises(UsageError) as caught:
        random_pytorch_dtype(["wide"])
    assert str(caught.value) == (
        f"seq_names='wide', but should be one of {', '.join(FAMILIES)} [random_pytorch_dtype(...)]"
    )


def test_cpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONEFLOW_TEST_CPU_ONLY leaves the CPU alone to draw."""
    monkeypatch.setenv("ONEFLOW_TEST_CPU_ONLY", "1")
    assert set(draws(lambda: g.random_device().value(), 20)) == {"cpu"}


def test_outside_of_every_test() -> None:
    """Outside of a test a draw is refused, by generators as by `rng`."""
    with pytest.raises(OutsideCaseError) as caught:
        g.source()
    assert str(caught.value) == "a value is drawn outside of every test, but should be drawn while one runs"
    with pytest.raises(OutsideCaseError):
        rng.random()
    assert g.constant(3).value() == 3
