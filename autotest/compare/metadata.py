"""How tensors stand: in memory, in the graph of gradients, and in a module's state. Nothing of this is a value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from dual_object.replay.observation import Observation, Seen, State

#: What an entry of a state holds, in order.
ENTRY = ("dtype", "shape", "requires_grad")


def stands_alike(expected: Seen, actual: Seen, layout: bool, *, grad: bool = True) -> bool:
    """Whether two tensors have one place in memory (`layout`) and in the graph of gradients (`grad`); the fast path."""
    return (not grad or (expected.requires_grad == actual.requires_grad and expected.leaf == actual.leaf)) and (
        expected.strides == actual.strides or not layout
    )


def standing(expected: Seen, actual: Seen, layout: bool, *, grad: bool = True) -> Iterator[tuple[str, str]]:
    """Kind and words of each way in which two tensors do not stand alike."""
    if grad and expected.requires_grad != actual.requires_grad:
        yield "requires_grad", f"has requires_grad {actual.requires_grad}, but should have {expected.requires_grad}"
    elif grad and expected.leaf != actual.leaf:
        yield "requires_grad", "is a leaf, but should not be" if actual.leaf else "is no leaf, but should be"
    if layout and expected.shape == actual.shape and expected.strides != actual.strides:
        yield "layout", layout_words(expected, actual)


def layout_words(expected: Seen, actual: Seen) -> str:
    """The words of two tensors that lie otherwise in memory."""
    has, should = strides_of(actual.shape, actual.strides), strides_of(expected.shape, expected.strides)
    return f"has strides {has}, but should have {should}"


def strides_of(shape: Sequence[int], strides: tuple[int, ...] | None) -> tuple[int, ...]:
    """The strides, written out where a tensor is contiguous; 0 where a size is 1."""
    if strides is not None:
        return strides
    steps: list[int] = []
    step = 1
    for size in reversed(shape):
        steps.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(steps))


def sharing(
    expected: Observation, actual: Observation, name: Callable[[int], str], layout: bool
) -> Iterator[tuple[int, str, str]]:
    """Outputs that share memory with an input or another output on one side only: number, kind and words of each.

    With `layout` also those that start at another element of the memory they share, as `x[1:]` does one element after
    `x`.
    """
    here, there = _partners(expected), _partners(actual)
    unknown = {*expected.unplaced, *actual.unplaced}
    for id_, reference in expected.outputs.items():
        output = actual.outputs.get(id_)
        if output is None or id_ in unknown:
            continue
        should, does = here.get(id_, frozenset()) - unknown, there.get(id_, frozenset()) - unknown
        # Of two outputs only the later one is told of.
        apart = [other for other in sorted(should ^ does) if other < id_ or other not in expected.outputs]
        if apart and apart[0] in does:
            yield id_, "alias", f"shares memory with {name(apart[0])}, but should not"
        elif apart:
            yield id_, "alias", f"shares no memory with {name(apart[0])}, but should"
        elif should and layout and reference.offset != output.offset:
            words = f"starts at element {output.offset} of its memory, but should at element {reference.offset}"
            yield id_, "layout", words


def _partners(observation: Observation) -> dict[int, frozenset[int]]:
    """With which others each value shares memory."""
    return {id_: frozenset(group) - {id_} for group in observation.shared for id_ in group}


def entries(op: str, expected: State, actual: State) -> Iterator[tuple[str, str, str]]:
    """Key, kind and sentence of each way in which a module of class `op` holds something else."""
    for key in expected:
        if key not in actual:
            yield key, "structure", f"{op} has no parameter or buffer {key}, but should"
    for key in actual:
        if key not in expected:
            yield key, "structure", f"{op} has a parameter or buffer {key}, but should not"
    for key in expected:
        for kind, left, right in zip(ENTRY, expected[key], actual.get(key, expected[key]), strict=True):
            if left != right:
                yield key, kind, f"{key} of {op} has {kind} {right}, but should have {left}"


def saved(op: str, expected: Collection[str], actual: Collection[str]) -> Iterator[tuple[str, str]]:
    """Key and sentence of each way in which a module of class `op` has other keys in its `state_dict()`."""
    for key in expected:
        if key not in actual:
            yield key, f"{op} has no key {key} in its state_dict, but should"
    for key in actual:
        if key not in expected:
            yield key, f"{op} has a key {key} in its state_dict, but should not"
