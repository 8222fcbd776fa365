"""One case's draw and its memo."""

import gc

import pytest

from generators import Drawing, OutsideCaseError, PhiloxSource, array, current_drawing, drawing, oneof, random

MODULE_LEVEL = random(0, 2**60)


def values_in_cases(generator, count: int) -> list:
    """The value of `generator` in each of `count` cases."""
    found = []
    for index in range(count):
        with drawing(PhiloxSource(str(index))):
            found.append(generator.to(int).value())
    return found


def test_a_generator_has_one_value_in_a_case(case: Drawing) -> None:
    """Asking twice draws once."""
    size = random(0, 2**60).to(int)
    assert size.value() == size.value()
    assert len(case.source.choices) == 1


def test_a_shared_generator_has_the_same_value_in_all_that_use_it(case: Drawing) -> None:
    """Two arrays built with one size agree on it."""
    k = random(1, 100)
    left, right = array(2, dim1=k).value(), array(2, dim0=k).value()
    assert left.data.shape[1] == right.data.shape[0] == k.value()


def test_two_equal_generators_draw_for_themselves(case: Drawing) -> None:
    """The memo goes by identity, not by what a generator says."""
    assert random(0, 2**60).to(int).value() != random(0, 2**60).to(int).value()


def test_a_module_level_generator_has_a_fresh_value_in_every_case() -> None:
    """No value leaks from one case into the next."""
    assert len(set(values_in_cases(MODULE_LEVEL, 5))) == 5


def test_the_same_key_gives_the_same_values() -> None:
    """A case can be drawn again from its key."""
    assert values_in_cases(MODULE_LEVEL, 3) == values_in_cases(MODULE_LEVEL, 3)


def test_an_annotation_given_in_a_case_ends_with_it() -> None:
    """What one case says about a module-level generator is unknown to the next."""
    generator = random(1, 6)
    with drawing(PhiloxSource("a")):
        assert isinstance(generator.to(float).value(), float)
    with drawing(PhiloxSource("b")):
        assert isinstance(generator.to(int).value(), int)


def test_an_annotation_given_outside_a_case_stays() -> None:
    """A module-level `.to(float)` holds in every case, and a later `.to` changes nothing."""
    generator = random(1, 6).to(float).to(int)
    assert all(isinstance(value, float) for value in values_in_cases(generator, 3))


def test_the_memo_keeps_its_generators_alive(case: Drawing) -> None:
    """A generator that nobody holds any more cannot be mistaken for a later one at its address."""
    addresses = set()
    for _ in range(50):
        generator = random(0, 2**60).to(int)
        generator.value()
        addresses.add(id(generator))
        del generator
        gc.collect(0)
    assert len(addresses) == 50


def test_the_memo_holds_a_value_of_none(case: Drawing) -> None:
    """A value that is None is remembered like any other."""
    maybe = oneof(None, None)
    assert maybe.value() is None
    assert maybe.value() is None
    assert len(case.source.choices) == 1


def test_an_inner_drawing_hides_the_outer_until_it_ends(case: Drawing) -> None:
    """Drawings nest, and each keeps its own values."""
    generator = random(0, 2**60)
    outer = generator.to(int).value()
    with drawing(PhiloxSource("inner")) as inner:
        assert current_drawing.get() is inner
        assert generator.to(int).value() != outer
    assert current_drawing.get() is case
    assert generator.value() == outer


def leave_by_an_error() -> None:
    """Opens a drawing and fails in it."""
    with drawing(PhiloxSource("key")):
        raise KeyError("key")


def test_a_drawing_ends_with_an_error() -> None:
    """An exception that leaves the block ends the drawing and passes through."""
    with pytest.raises(KeyError, match="key"):
        leave_by_an_error()
    assert current_drawing.get(None) is None


def test_outside_a_case_a_generator_has_no_value() -> None:
    """The error names the generator and says when it would have one."""
    with pytest.raises(OutsideCaseError) as caught:
        random(1, 6).to(int).value()
    assert str(caught.value) == (
        "random(1, 6) is used outside a case; generators have values only in the body of a test with @autotest() "
        "above it, not in a fixture or another thread"
    )
