"""A generator that is used as its value is told to be asked for it, never answered wrongly."""

import math
import operator
from typing import Any

import numpy as np
import pytest

from generators import Drawing, Generator, UseError, drawing, oneof, random
from generators import tuple as tuple_of
from generators.source import PhiloxSource

USES: dict[str, Any] = {
    "random(1, 6) > 2": lambda k: k > 2,
    "random(1, 6) < 2": lambda k: k < 2,
    "random(1, 6) >= 2": lambda k: k >= 2,
    "random(1, 6) <= 2": lambda k: k <= 2,
    "random(1, 6) == 2": lambda k: k == 2,
    "random(1, 6) != 2": lambda k: k != 2,
    "random(1, 6) == 'a'": lambda k: k in ("a", "b"),
    "random(1, 6) == random(1, 6)": lambda k: k == random(),
    "random(1, 6) // 2": lambda k: k // 2,
    "2 // random(1, 6)": lambda k: 2 // k,
    "random(1, 6) / 2": lambda k: k / 2,
    "random(1, 6) % 2": lambda k: k % 2,
    "random(1, 6) ** 2": lambda k: k**2,
    "random(1, 6) @ 2": lambda k: k @ 2,
    "random(1, 6) & 2": lambda k: k & 2,
    "random(1, 6) ^ 2": lambda k: k ^ 2,
    "1 << random(1, 6)": lambda k: 1 << k,
    "random(1, 6) >> 1": lambda k: k >> 1,
    "+random(1, 6)": lambda k: +k,
    "~random(1, 6)": lambda k: ~k,
    "abs(random(1, 6))": lambda k: abs(k),
    "int(random(1, 6))": lambda k: int(k),
    "float(random(1, 6))": lambda k: float(k),
    "complex(random(1, 6))": lambda k: complex(k),
    "random(1, 6) as an integer": lambda k: range(k),
    "len(random(1, 6))": lambda k: len(k),
    "iter(random(1, 6))": lambda k: [*k],
    "round(random(1, 6))": lambda k: round(k),
    "math.trunc(random(1, 6))": lambda k: math.trunc(k),
    "math.floor(random(1, 6))": lambda k: math.floor(k),
    "math.ceil(random(1, 6))": lambda k: math.ceil(k),
    "random(1, 6) as text": lambda k: f"a{k}",
    "random(1, 6)[0]": lambda k: k[0],
    "'a' in random(1, 6)": lambda k: "a" in k,
}


@pytest.mark.parametrize("use", USES)
def test_use_as_a_value_is_refused(case: Drawing, use: str) -> None:
    """Whatever asks a generator for what only its value has says how to get that, in a case and outside of one."""
    with pytest.raises(UseError) as caught:
        USES[use](random(1, 6))
    assert str(caught.value) == (f"random(1, 6) is a generator, but should be a value here: ask its .value() [{use}]")


def test_operands_are_put_in_brackets() -> None:
    """A use is told as it is written."""
    with pytest.raises(UseError) as caught:
        (random(1, 6) + 1) // 2
    assert str(caught.value) == (
        "random(1, 6) + 1 is a generator, but should be a value here: ask its .value() [(random(1, 6) + 1) // 2]"
    )


def test_elements_of_a_tuple_are_its_values(case: Drawing) -> None:
    """A tuple's elements are asked of its value."""
    with pytest.raises(UseError, match=r"ask its \.value\(\) \[tuple\(1, 2\)\[0\]\]"):
        tuple_of(1, 2)[0]
    assert tuple_of(1, 2).value()[0] == 1


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne", "truediv", "matmul", "pow"])
def test_operand_that_takes_over_has_the_operator(name: str) -> None:
    """A dual tensor on the right has its own reflected operator called."""

    def answer(self: Any, other: object) -> str:
        return "mine"

    names = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
    reflected = f"__{names.get(name, f'r{name}')}__"
    tensor = type("Tensor", (), {"__array_ufunc__": None, reflected: answer})()
    assert getattr(operator, name)(random(1, 6), tensor) == "mine"


def test_generator_has_an_identity() -> None:
    """Generators can be keys and members, and print."""
    k = random(1, 6)
    assert {k: 1}[k] == 1
    assert k in [k]
    assert str(k) == "random(1, 6)"


def test_numpy_scalars_join_generators(case: Drawing) -> None:
    """A NumPy scalar on the left is joined as a number is."""
    joined = np.int64(2) * random(1, 6).to(int)
    assert isinstance(joined, Generator)
    assert joined.value() in range(2, 11)


@pytest.mark.parametrize(
    ("joined", "message"),
    [
        (lambda: random(3, 4).to(int) + "a", "random(3, 4) + 'a' has no value, for here it is 3 + 'a'"),
        (lambda: "a" - oneof("b"), "'a' - oneof('b') has no value, for here it is 'a' - 'b'"),
        (lambda: oneof("b") * 2.5, "oneof('b') * 2.5 has no value, for here it is 'b' * 2.5"),
    ],
)
def test_operands_that_cannot_be_joined(joined: Any, message: str) -> None:
    """Values of types that Python does not join are told with how to join them."""
    with drawing(PhiloxSource("key")), pytest.raises(UseError) as caught:
        joined().value()
    assert str(caught.value) == f"{message}: ask .value() of its parts and convert those"
