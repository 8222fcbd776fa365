"""Constants, operators and how generators print."""

from collections import Counter

import pytest

from generators import (
    Drawing,
    Generator,
    PhiloxSource,
    array,
    constant,
    drawing,
    nothing,
    oneof,
    pack,
    random,
    random_bool,
    random_or_nothing,
)
from generators import tuple as tuple_of


def test_a_constant_has_its_value_anywhere() -> None:
    """A constant decides nothing, so it needs no case."""
    marker = object()
    assert constant(marker).value() is marker
    assert constant(marker).to(int).value() is marker


def test_a_constant_in_a_case_takes_no_choice(case: Drawing) -> None:
    """Plain operands are not recorded."""
    assert (constant(3) + 4).value() == 7
    assert case.source.choices == []


def test_pack_leaves_generators_alone() -> None:
    """`pack` wraps plain values only; `constant` wraps anything."""
    generator = random(1, 6)
    assert pack(generator) is generator
    assert pack(5).value() == 5
    assert constant(generator).value() is generator


def test_a_generator_without_draw_says_which() -> None:
    """The base class has no value of its own."""
    with drawing(PhiloxSource("key")), pytest.raises(NotImplementedError) as caught:
        Generator().value()
    assert str(caught.value) == "Generator.draw"


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: x + 2, lambda v: v + 2),
        (lambda x: 2 + x, lambda v: 2 + v),
        (lambda x: x - 2, lambda v: v - 2),
        (lambda x: 2 - x, lambda v: 2 - v),
        (lambda x: x * 2, lambda v: v * 2),
        (lambda x: 2 * x, lambda v: 2 * v),
        (lambda x: -x, lambda v: -v),
        (lambda x: 2 * -(x - 3) + x * x, lambda v: 2 * -(v - 3) + v * v),
    ],
)
def test_operators_work_on_the_values(case: Drawing, build, expected) -> None:
    """An expression of generators has the value of the same expression of their values."""
    x = random(10, 1000)
    found = build(x).to(int).value()
    assert found == expected(x.value())


def test_reflected_operators_keep_the_order(case: Drawing) -> None:
    """A sum of sequences shows which side came first."""
    assert ("a" + constant("b")).value() == "ab"
    assert (constant("a") + "b").value() == "ab"


def test_an_expression_annotates_its_operands(case: Drawing) -> None:
    """`.to` reaches generators inside an expression."""
    assert isinstance((random(1, 6) * random(1, 6)).to(float).value(), float)


def test_to_returns_the_generator() -> None:
    """`.to` can be chained."""
    for generator in (random(), constant(1), array(), oneof(1, 2), random() + 1, nothing()):
        assert generator.to(int) is generator


def test_either_is_fair_to_all_alternatives() -> None:
    """`a | b | c` gives each a third, within four standard deviations."""
    letter = constant("a") | "b" | "c"
    source = PhiloxSource("either")
    counts = Counter()
    for _ in range(9000):
        with drawing(source):
            counts[letter.value()] += 1
    assert sorted(counts) == ["a", "b", "c"]
    assert all(abs(count - 3000) < 180 for count in counts.values())
    assert letter.size() == 3


def test_either_takes_a_plain_value_on_its_left(case: Drawing) -> None:
    """`"a" | generator` is a choice as well."""
    assert ("a" | nothing()).size() == 2


REPRS = {
    "random(1, 6)": lambda: random(),
    "random(2, random(3, 5))": lambda: random(2, random(3, 5)),
    "random_bool()": lambda: random_bool(),
    "random_or_nothing(1, 6)": lambda: random_or_nothing(1, 6),
    "nothing()": lambda: nothing(),
    "constant('x')": lambda: constant("x"),
    "oneof('a', random(1, 6))": lambda: oneof("a", random(1, 6)),
    "oneof(1, 2, possibility=0.25)": lambda: oneof(1, 2, possibility=0.25),
    "tuple(1, random(1, 6))": lambda: tuple_of(1, random(1, 6)),
    "array()": lambda: array(),
    "array(ndim=2, dim1=random(1, 3), dtype='int64')": lambda: array(2, dim1=random(1, 3), dtype="int64"),
    "array(shape=(2,), fills=(1, 0, 0, 0, 0, 0, 0, 0))": lambda: array(shape=(2,), fills=(1, 0, 0, 0, 0, 0, 0, 0)),
    "random(1, 6) + 1": lambda: random(1, 6) + 1,
    "1 - random(1, 6)": lambda: 1 - random(1, 6),
    "2 * (random(1, 6) + 1)": lambda: 2 * (random(1, 6) + 1),
    "-random(1, 6)": lambda: -random(1, 6),
    "-(random(1, 6) - 1)": lambda: -(random(1, 6) - 1),
    "random(1, 6) | nothing()": lambda: random(1, 6) | nothing(),
    "(random(1, 6) | 7) + 1": lambda: (random(1, 6) | 7) + 1,
}


@pytest.mark.parametrize("text", REPRS)
def test_a_generator_prints_as_the_call_that_made_it(text: str) -> None:
    """The text of a generator can be read as code."""
    assert repr(REPRS[text]()) == text


def test_operand_that_takes_over():
    """A generator leaves an operator to an operand that NumPy's scalars would leave it to, such as a dual tensor."""

    class Tensor:
        __array_ufunc__ = None

        def __radd__(self, other):
            return ("radd", other)

        def __rsub__(self, other):
            return ("rsub", other)

        def __rmul__(self, other):
            return ("rmul", other)

    drawn = random(1, 3)
    assert drawn + Tensor() == ("radd", drawn)
    assert drawn - Tensor() == ("rsub", drawn)
    assert drawn * Tensor() == ("rmul", drawn)
