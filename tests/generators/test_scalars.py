"""Random numbers and the annotations that they follow."""

import collections.abc
import typing
from typing import Annotated, Any, Literal, Optional, Union

import numpy as np
import pytest

from generators import AnnotationError, Drawing, PhiloxSource, RangeError, drawing, random, random_bool
from generators.annotations import bound, drawable, element, typed


class Tensor:
    """Stands for a type that nothing can be drawn for."""


SIZE_2 = Union[int, typing.Tuple[int, int]]  # noqa: UP006, UP007  # as torch 2.0 spells it


def drawn(annotation: object, count: int = 60, low: float = 1, high: float = 6) -> list[Any]:
    """Values of `random(low, high)` with that annotation, one for each of `count` cases."""
    source = PhiloxSource("scalars")
    found = []
    for _ in range(count):
        with drawing(source):
            found.append(random(low, high).to(annotation).value())
    return found


def kinds(values: list[Any]) -> set[str]:
    """The shapes of values: scalar types by name, containers with what they hold."""

    def kind(value: Any) -> str:
        if isinstance(value, (tuple, list)):
            return f"{type(value).__name__}({', '.join(map(kind, value))})"
        return type(value).__name__

    return set(map(kind, values))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, {"int"}),
        (float, {"float"}),
        (bool, {"bool"}),
        (None, {"NoneType"}),
        (type(None), {"NoneType"}),
        (SIZE_2, {"int", "tuple(int, int)"}),
        (int | tuple[int, int, int], {"int", "tuple(int, int, int)"}),
        (float | int, {"float", "int"}),
        (Optional[int], {"int", "NoneType"}),  # noqa: UP045  # the typing object itself is tested
        (Optional[str], {"NoneType"}),  # noqa: UP045  # as above
        (Union[str, int], {"int"}),  # noqa: UP007  # as above
        (str | Tensor | SIZE_2, {"int", "tuple(int, int)"}),
        (tuple[int | None, int | None], {"tuple(int, int)", "tuple(NoneType, NoneType)",
         "tuple(int, NoneType)", "tuple(NoneType, int)"}),
        (tuple[int, float, bool], {"tuple(int, float, bool)"}),
        (tuple[int, ...], {"tuple(int)"}),
        (tuple[()], {"tuple()"}),
        (typing.Tuple[()], {"tuple()"}),  # noqa: UP006  # Python 3.10 gives it other arguments than tuple[()]
        (list[int], {"list(int)"}),
        (typing.List[float], {"list(float)"}),  # noqa: UP006  # the typing object itself is tested
        (collections.abc.Sequence[int], {"list(int)"}),
        (typing.Sequence[int], {"list(int)"}),  # as above
        (list[tuple[int, int]], {"list(tuple(int, int))"}),
        (Annotated[int, "positive"], {"int"}),
        (Annotated[int, ["no hash"]], {"int"}),
        (Literal["mean", 3], {"str", "int"}),
    ],
)  # fmt: skip
def test_a_value_has_the_annotated_type(annotation: object, expected: set[str]) -> None:
    """Each annotation gives values of its own kinds, and in 60 cases all of them."""
    assert kinds(drawn(annotation)) == expected


UNDRAWABLE = [
    str,
    Tensor,
    complex,
    list,
    tuple,
    typing.Tuple,  # noqa: UP006  # the bare typing object is tested
    typing.List,  # noqa: UP006  # as above
    list[str],
    tuple[int, str],
    str | Tensor,
    dict[str, int],
    "int",
    typing.Callable[[int], int],
]


@pytest.mark.parametrize("annotation", UNDRAWABLE)
def test_a_type_that_cannot_be_drawn_is_refused(annotation: object) -> None:
    """The error names the annotation and the generator."""
    assert not drawable(annotation)
    with pytest.raises(AnnotationError) as caught:
        drawn(annotation)
    way = (
        "give the type, not its name: .to(int)"
        if annotation == "int"
        else "pass a value of that type instead of a generator"
    )
    assert str(caught.value) == (
        f"annotation={typed(annotation)}, but should be int, float, bool, None, or a Union, tuple, list or "
        f"Literal of those [random(1, 6)]; {way}"
    )


def test_annotations_print_as_code() -> None:
    """A class is named, a typing object and a text print as themselves."""
    assert [typed(str), typed(list[str]), typed("int")] == ["str", "list[str]", "'int'"]


def test_without_annotation_there_is_no_value(case: Drawing) -> None:
    """The error says how to give a type."""
    with pytest.raises(AnnotationError) as caught:
        random(1, 6).value()
    assert str(caught.value) == (
        "random(1, 6) has no type, but should have one: call .to(int), .to(float) or .to(bool), "
        "or pass it to a parameter whose type is known"
    )


def test_the_first_annotation_wins(case: Drawing) -> None:
    """A later `.to` changes nothing, be it in the same case or another."""
    assert isinstance(random(1, 6).to(int).to(float).value(), int)
    with drawing(PhiloxSource("outer")):
        generator = random(1, 6).to(float)
        assert isinstance(generator.to(int).value(), float)


def test_numbers_lie_in_the_range() -> None:
    """Integers reach both ends of [low, high), floats stay inside, and high is never met."""
    assert sorted(set(drawn(int, 200))) == [1, 2, 3, 4, 5]
    floats = drawn(float, 200, -0.5, 0.5)
    assert -0.5 <= min(floats) < -0.4
    assert 0.4 < max(floats) < 0.5


def test_float_ends_of_an_integer_range_are_rounded_up() -> None:
    """[0.5, 3.5) holds the integers 1, 2 and 3; [1.0, 3.0) holds 1 and 2."""
    assert set(drawn(int, 100, 0.5, 3.5)) == {1, 2, 3}
    assert set(drawn(int, 100, 1.0, 3.0)) == {1, 2}


def test_elements_of_a_tuple_are_drawn_separately() -> None:
    """Not every tuple has equal elements."""
    assert any(first != second for first, second in drawn(tuple[int, int]))


def test_union_members_are_equally_probable() -> None:
    """Of 3000 draws each of three members has a third, within four standard deviations; a str is none."""
    values = drawn(bool | float | None | str, 3000)
    for kind in (bool, float, type(None)):
        assert abs(sum(type(value) is kind for value in values) - 1000) < 104


def test_a_single_member_takes_no_choice(case: Drawing) -> None:
    """Where nothing is decided nothing is recorded."""
    assert random().to(str | None).value() is None
    assert case.source.choices == []


def test_ends_may_be_generators(case: Drawing) -> None:
    """A range can depend on another value, which is annotated through it."""
    for _ in range(30):
        high = random(3, 9)
        number = random(2, high).to(int).value()
        assert isinstance(high.value(), int)
        assert 2 <= number < high.value()


def test_ends_of_a_range_for_tuples_are_numbers(case: Drawing) -> None:
    """A generator as an end gets the type of the numbers, not of the tuple."""
    first, second = random(random(1, 3), 5).to(tuple[int, int]).value()
    assert min(first, second) >= 1
    assert max(first, second) < 5


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [(int, int), (float, float), (bool, int), (SIZE_2, int), (int | float, float), (tuple[float, ...], float),
     (str, int)],
)  # fmt: skip
def test_ends_are_floats_where_a_float_may_be_drawn(annotation: object, expected: type) -> None:
    """Only a range that no float is drawn from has integer ends."""
    assert bound(annotation) is expected


@pytest.mark.parametrize(
    ("annotation", "position", "expected"),
    [(int, 0, int), (tuple[int, float], 1, float), (tuple[int, float], 2, float),
     (tuple[float, ...], 3, float), (list[bool], 5, bool), (SIZE_2, 1, int),
     (str | list[float], 0, float), (tuple[()], 0, tuple[()]),
     (Annotated[list[int], "sizes"], 0, int), (int | None, 0, int | None)],
)  # fmt: skip
def test_an_element_of_a_sequence_has_its_part_of_the_annotation(annotation, position: int, expected) -> None:
    """Tuples, lists and Unions with them say what their elements are; others pass as they are."""
    assert element(annotation, position) == expected


def test_numpy_scalars_may_be_ends(case: Drawing) -> None:
    """A NumPy number is an end like a Python one, and the record stays plain."""
    random(np.int64(2), np.int32(9)).to(int).value()
    random(np.float32(0.5), np.float64(1)).to(float).value()
    assert [type(choice.low) for choice in case.source.choices] == [int, float]


def test_random_bool_ignores_annotations(case: Drawing) -> None:
    """A coin stays a coin."""
    assert {type(random_bool().to(int).value()) for _ in range(10)} == {bool}


def test_bool_does_not_look_at_the_range(case: Drawing) -> None:
    """A coin needs no bounds."""
    assert random(5, 5).to(bool).value() in (True, False)


@pytest.mark.parametrize(
    ("generator", "annotation", "message"),
    [
        (random(5, 5), int, "random(5, 5): the range [5, 5) is empty, but low should be less than high"),
        (random(5, 5), float, "random(5, 5): the range [5, 5) is empty, but low should be less than high"),
        (
            random(1.2, 1.8),
            int,
            "random(1.2, 1.8): the range [2, 2) is empty, but low should be less than high",
        ),
        (random(0, float("inf")), float, "high=inf, but should be finite [random(0, inf)]"),
        (random(float("nan"), 1), int, "low=nan, but should be finite [random(nan, 1)]"),
        (random("a", 6), int, "low='a', but should be a number [random('a', 6)]"),
    ],
)
def test_a_range_without_a_value_is_refused(case: Drawing, generator, annotation, message: str) -> None:
    """The error shows the call and the range that was left of it."""
    with pytest.raises(RangeError) as caught:
        generator.to(annotation).value()
    assert str(caught.value) == message
