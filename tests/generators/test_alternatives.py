"""Alternatives, arguments that are left out, and tuples."""

import copy
import pickle
from collections import Counter

import pytest

from generators import (
    ChoiceError,
    Drawing,
    Nothing,
    OutsideCaseError,
    PhiloxSource,
    drawing,
    each,
    nothing,
    oneof,
    random,
    random_or_nothing,
)
from generators import tuple as tuple_of


class Simplest(PhiloxSource):
    """Chooses as a shrinker would."""

    def index(self, n, weights=None) -> int:
        """Always the first."""
        return 0


def counted(generator, count: int = 6000) -> Counter:
    """How often each value comes up in `count` cases."""
    source = PhiloxSource("alternatives")
    counts = Counter()
    for _ in range(count):
        with drawing(source):
            counts[generator.value()] += 1
    return counts


def test_oneof_is_uniform_by_default() -> None:
    """Three values come up a third of the time each, within four standard deviations."""
    counts = counted(oneof("a", "b", "c"))
    assert all(abs(counts[letter] - 2000) < 146 for letter in "abc")


def test_oneof_follows_one_possibility_of_two() -> None:
    """A single number is the probability of the first."""
    assert abs(counted(oneof("a", "b", possibility=0.25))["a"] - 1500) < 134


def test_oneof_follows_a_list_of_possibilities() -> None:
    """A list gives the probability of each; one of 0 never comes up."""
    counts = counted(oneof("a", "b", "c", possibility=[0.5, 0, 0.5]))
    assert sorted(counts) == ["a", "c"]
    assert abs(counts["a"] - 3000) < 155


def test_possibilities_may_miss_one_by_a_rounding() -> None:
    """Ten tenths do not sum to 1 exactly, and are taken."""
    assert counted(oneof(*range(10), possibility=[0.1] * 10), 10).total() == 10


def test_only_the_drawn_alternative_takes_choices(case: Drawing) -> None:
    """The others stay undrawn, so that a case holds no decision without effect."""
    oneof(random(1, 6), random(1, 6)).to(int).value()
    assert [choice.kind for choice in case.source.choices] == ["index", "integer"]


def test_calling_oneof_calls_the_drawn_function(case: Drawing) -> None:
    """The same function is called each time in a case."""
    function = oneof(min, max)
    expected = function.value()(3, 4)
    assert function(3, 4) == expected
    assert function([3, 4], key=lambda x: x) == expected
    assert len(case.source.choices) == 1


def test_calling_oneof_outside_a_case_is_an_error() -> None:
    """There is no drawn function to call."""
    with pytest.raises(OutsideCaseError) as caught:
        oneof(1, 2)()
    assert str(caught.value) == (
        "oneof(1, 2) is used outside a case; generators have values only in the body of a test with @autotest() "
        "above it, not in a fixture or another thread"
    )


@pytest.mark.parametrize(
    ("args", "possibility", "message"),
    [
        ((), None, "args=(), but should be at least one alternative [oneof()]"),
        (
            (1, 2, 3),
            0.5,
            "possibility=0.5, but should be a list of 3 numbers, as one is for two alternatives "
            "[oneof(1, 2, 3, possibility=0.5)]",
        ),
        (
            (1, 2),
            [0.5, 0.25, 0.25],
            "possibility=(0.5, 0.25, 0.25), but should have 2 entries [oneof(1, 2, possibility=[0.5, 0.25, 0.25])]",
        ),
        (
            (1, 2),
            1.5,
            "possibility=(1.5, -0.5), but should have no negative entry [oneof(1, 2, possibility=1.5)]",
        ),
        (
            (1, 2),
            [0.5, 0.4],
            "possibility=(0.5, 0.4), but should sum to 1, not 0.9 [oneof(1, 2, possibility=[0.5, 0.4])]",
        ),
        (
            (1, 2),
            float("nan"),
            "possibility=(nan, nan), but should have no negative entry [oneof(1, 2, possibility=nan)]",
        ),
    ],
)
def test_possibilities_that_are_no_distribution_are_refused(args, possibility, message: str) -> None:
    """The error comes when the generator is built, not when it is drawn."""
    with pytest.raises(ChoiceError) as caught:
        oneof(*args, possibility=possibility)
    assert str(caught.value) == message


def test_nothing_is_recognised_after_a_copy() -> None:
    """A copied or pickled Nothing is still equal to every other, and to nothing else."""
    for twin in (Nothing(), copy.deepcopy(Nothing()), pickle.loads(pickle.dumps(Nothing()))):  # noqa: S301  # our own bytes
        assert twin == Nothing()
        assert hash(twin) == hash(Nothing())
    assert Nothing() != None  # noqa: E711  # the comparison itself is tested
    assert repr(Nothing()) == "Nothing()"


def test_nothing_takes_no_choice(case: Drawing) -> None:
    """The value of `nothing()` is one `Nothing`."""
    assert isinstance(nothing().value(), Nothing)
    assert nothing().value() is nothing().value()
    assert case.source.choices == []


def test_random_or_nothing_is_random_two_times_out_of_three() -> None:
    """Within four standard deviations; the values are those of the range."""
    counts = counted(random_or_nothing(3, 5).to(int))
    assert set(counts) == {3, 4, Nothing()}
    assert abs(counts[Nothing()] - 2000) < 146


def test_the_simplest_choice_of_random_or_nothing_is_nothing() -> None:
    """A shrinker that goes to index 0 leaves the argument out."""
    with drawing(Simplest("key")):
        assert isinstance(random_or_nothing(3, 5).value(), Nothing)


def test_a_tuple_holds_the_values_of_its_elements(case: Drawing) -> None:
    """Plain values and generators mix, in order."""
    k = random(1, 6)
    assert tuple_of(1, k, k + 1).to(int).value() == (1, k.value(), k.value() + 1)
    assert tuple_of().value() == ()


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, (int, int)),
        (tuple[int, float], (int, float)),
        (tuple[float, ...], (float, float)),
        (list[bool], (bool, bool)),
        (int | tuple[int, int], (int, int)),
    ],
)
def test_a_tuple_hands_each_element_its_part_of_the_annotation(case: Drawing, annotation, expected) -> None:
    """A tuple of two integers is not a tuple of two tuples."""
    value = tuple_of(random(1, 6), random(1, 6)).to(annotation).value()
    assert type(value) is tuple
    assert tuple(map(type, value)) == expected


def listed(*generators, index: int):
    """The values of generators in a case, and how many cases there are."""
    with drawing(PhiloxSource("listed"), index=index) as drawn:
        return (*(generator.value() for generator in generators), drawn.listed)


def test_each_gives_its_items_in_turn() -> None:
    """Case k has item k; items may be generators; after the last comes the first again."""
    letters = each("a", each.__name__, random(5, 6).to(int))
    assert [listed(letters, index=index) for index in range(4)] == [("a", 3), ("each", 3), (5, 3), ("a", 3)]
    assert repr(letters) == "each('a', 'each', random(5, 6))"
    assert letters.size() == 3


def test_several_each_give_all_combinations() -> None:
    """Two and three items make six cases, each combination once."""
    two, three = each(0, 1), each(0, 1, 2)
    assert [listed(two, three, index=index) for index in range(6)] == [
        (0, 0, 6),
        (1, 0, 6),
        (0, 1, 6),
        (1, 1, 6),
        (0, 2, 6),
        (1, 2, 6),
    ]


def test_each_takes_no_decision() -> None:
    """Nothing is drawn for it: what else a case draws stays as it is."""
    source = PhiloxSource("listed")
    with drawing(source, index=1):
        assert each(1, 2).value() == 2
    assert source.choices == []


def test_each_of_nothing_is_refused() -> None:
    """There has to be an item."""
    with pytest.raises(ChoiceError) as caught:
        each()
    assert str(caught.value) == "args=(), but should be at least one item [each()]"
