"""Samples of a random call: many repetitions on both sides, held against each other as distributions.

Every statistic is worked out per repetition, so that elements which depend on one another (whole channels that are
dropped together) do not count as many. A sound target exceeds `LIMIT` at one statistic in 500 million; there are
about 100 per call, so that one call in five million is a false alarm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.evidence import Sides
from autotest.compare.kinds import Phase
from autotest.judge.graph_batches import RECURRENT_OPS, weight
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Target
from dual_object.program.calls import Call, op_name
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref, Tree, leaves, map_leaves, refs
from dual_object.replay.adapter import Adapter
from dual_object.replay.isolation import isolate
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

#: Elements of a sample, and the bounds of the repetitions that they are drawn in.
ELEMENTS = 20_000
FEWEST, MOST = 200, 1500
#: Standard errors at which a statistic differs: p = 2e-9.
LIMIT = 6.0
#: What is seen more often than this in one of two like samples is seen in the other, too, but for 2**-30.
OFTEN_SEEN = 30
#: Elements of one repetition that are looked at one by one.
POSITIONS = 64
#: What can be squared twice and added up in float64.
GREATEST = 1e70
#: Ops that scale each element by a random factor.
_RATIOS = frozenset(
    (
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "rrelu",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "RReLU",
    )
)
#: What an argument switches rather than measures.
_SWITCHES = (bool, str, type(None))
#: Repetitions in a graph, which is called twice. A compiler may take all of them for one.
IN_GRAPH = 16
#: So two calls of a graph are compared where no two of so many draws of the reference are alike.
DRAWS, FEW_DRAWS = 200, 20
#: Where two repetitions agree with more than this chance, they say nothing.
OFTEN = 0.25


def random_calls(reference: Adapter, program: Program) -> Iterator[tuple[int, str, Program]]:
    """The random calls of a Program: index, op, and the call as a Program of its own."""
    if program.random is None or program.inline is not None:
        return
    for index, alone, _ in isolate(reference, program):
        if index in program.random.calls and alone.random is not None:
            yield index, op_name(program.calls[index]), alone


def way(alone: Program) -> tuple[object, ...]:
    """How a random call is made, numbers apart: its op, its switches, and the types of its other arguments.

    Two calls of one way share a sample: dropout with p=0.3 and with p=0.4 are one way, dropout with `inplace=True` is
    another.
    """
    return tuple(
        (call.op, *((key, part if type(part) in _SWITCHES else type(part).__name__) for key, part in _parts(call)))
        for call in alone.calls
    )


def _parts(call: Call) -> Iterator[tuple[object, object]]:
    for key, arg in (*enumerate(call.args), *sorted(call.kwargs.items())):
        for leaf in leaves(arg):
            yield key, leaf


def sample_differences(
    reference: Adapter, target: Target, program: Program, index: int, alone: Program, *, graph: bool
) -> list[Divergence]:
    """How a target's samples of the random call `alone`, which is the call `index` of `program`, differ."""
    op = op_name(program.calls[index])
    once = _repeated_samples(reference, alone, 1)
    if not once or not once[0].size:
        return []
    broken = _gradient(target, program, index, alone, graph=graph) if op in _RATIOS else []
    if broken:
        return broken
    if graph:
        words = _compare_calls_of_graph(reference, target, alone)
    else:
        words = _compare_eager(reference, target, alone, max(array.size for array in once))
    return _divergences(words, "graph_forward" if graph else "eager_forward", op, program, index, alone)


def _compare_eager(reference: Adapter, target: Target, alone: Program, size: int) -> str | None:
    """In which way eager samples of both sides differ, in words; `size` is how many elements one repetition gives."""
    repetitions = int(np.clip(ELEMENTS // size, FEWEST, FEWEST if _recurrent(alone) else MOST))
    repeated = _repeated(alone, repetitions)
    expected = QuietReplay(reference, repeated, side="reference").run()
    answer = run_alone(target, repeated)
    if not isinstance(answer, Observation) or answer.ended or expected.ended:
        return None  # how it fails, the case itself has shown
    return compare_samples(_samples(expected, repetitions), _samples(answer, repetitions))


def _compare_calls_of_graph(reference: Adapter, target: Target, alone: Program) -> str | None:
    """Whether two calls of one graph draw the same numbers, in words; None where the reference may do so, too."""
    recurrent = _recurrent(alone)
    drawn = _repeated_samples(reference, alone, FEW_DRAWS if recurrent else DRAWS)
    if (_counts(drawn) > 1).any():
        return None
    repetitions = 4 if recurrent else IN_GRAPH
    repeated = _repeated(alone, repetitions)
    result = run_graph_alone(target, repeated, (), [x.data for x in repeated.inputs])
    if not isinstance(result, Observation) or result.again is None:
        return None
    first, second = _samples(result, repetitions), _samples(result.again, repetitions)
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
    return "gives the same numbers at every call of the same graph, but should draw anew" if same else None


def _recurrent(alone: Program) -> bool:
    """Whether a call takes so long that it is repeated less often."""
    return weight(alone) >= RECURRENT_OPS


def _repeated_samples(reference: Adapter, alone: Program, repetitions: int) -> list[Array]:
    """Samples of so many repetitions on the reference."""
    return _samples(QuietReplay(reference, _repeated(alone, repetitions), side="reference").run(), repetitions)


def _gradient(target: Target, program: Program, index: int, alone: Program, *, graph: bool) -> list[Divergence]:
    """Where the call multiplies each element by a random factor, as dropout does, check that the gradient has the same
    factor.
    """
    [x, *_] = alone.inputs
    key = str(x.id)
    if not (x.requires_grad and len(alone.cotangents) == 1):
        return []
    answer = run_graph_alone(target, alone, [key]) if graph else run_alone(target, alone)
    [(id_, cotangent)] = alone.cotangents.items()
    if not isinstance(answer, Observation) or answer.ended or id_ not in answer.outputs:
        return []
    out, gradient = answer.outputs[id_].data, answer.gradients.get(key)
    if gradient is None or gradient.data.shape != x.data.shape or out.shape != x.data.shape:
        return []  # the case itself has shown it
    factor, given, drawn, result = (side.astype(np.float64) for side in (gradient.data, x.data, cotangent, out))
    known = np.isfinite(given) & np.isfinite(result)  # of an infinite result no factor can be read
    with np.errstate(all="ignore"):
        wrong = known & ~np.isclose(factor * given, drawn * result, rtol=1e-3, atol=1e-6)
    words = f"has a gradient that does not follow its output in {int(wrong.sum())} of {wrong.size} elements"
    phase: Phase = "graph_backward" if graph else "eager_backward"
    return _divergences(words if wrong.any() else None, phase, op_name(program.calls[index]), program, index, alone)


def _divergences(
    words: str | None, phase: Phase, op: str, program: Program, index: int, alone: Program
) -> list[Divergence]:
    if words is None:
        return []
    difference = Difference(phase, "random", op, f"{op} {words}", call=index)
    return [Divergence(difference, program, index, alone, Sides())]


def compare_samples(expected: Sequence[Array], actual: Sequence[Array]) -> str | None:
    """In which way samples differ in distribution, in words; None where they do not. Each array is one output, of shape
    (repetitions, *shape).
    """
    for left, right in zip(expected, actual, strict=True):
        if left.shape == right.shape:  # else the case itself has shown it
            # Floats meet by rounding, and integers of a wide range at times.
            if left.dtype.kind in "iu" and not _repeating(left) and _repeating(right) > OFTEN_SEEN:
                return "repeats elements in one row, but should not"
            flat = left.reshape(len(left), -1), right.reshape(len(right), -1)
            words = _infinite(*flat) or _difference(*_within_reach(*flat))
            if words is not None:
                return words
    return None


def _infinite(expected: Array, actual: Array) -> str | None:
    """In which way the values that are not finite differ in their share; where both have some, each kind counts."""
    total = f"{actual.size:,} values"
    if not np.isfinite(actual).all() and np.isfinite(expected).all():
        return f"gives {int((~np.isfinite(actual)).sum()):,} of {total} that are not finite, but should give none"
    for name, test in (("NaN", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf)):
        left, right = test(expected).mean(1), test(actual).mean(1)
        z = _z(left, right)
        if z > LIMIT:
            return f"gives {total} that are {right.mean():.4g} {name}, but should be {left.mean():.4g} (z={z:.0f})"
    return None


def _within_reach(*samples: Array) -> Iterator[Array]:
    """Samples in float64: zeros for what is not finite, and nothing beyond `GREATEST`, whose square would overflow."""
    for sample in samples:
        yield np.clip(np.where(np.isfinite(sample), sample, 0).astype(np.float64), -GREATEST, GREATEST)


def _difference(expected: Array, actual: Array) -> str | None:
    total = f"{actual.size:,} values"
    if not _certain([expected]) and (actual == actual[0]).all():
        return "gives the same numbers at every call, but should draw anew"
    levels, counts = np.unique(expected, return_counts=True)
    if levels.size <= MOST and counts.min() > OFTEN_SEEN:
        near = np.isclose(actual[..., None], levels, rtol=1e-5, atol=1e-7).any(-1) if levels.size < 50 else None
        if near is not None and (~near).sum() > OFTEN_SEEN:
            stranger = actual[~near][0]
            return f"gives {stranger:.4g}, as {int((~near).sum()):,} of {total}, but should never give it"
    sorted_ = np.sort(expected, axis=1)
    if (sorted_ == sorted_[0]).all() and not (np.sort(actual, axis=1) == sorted_[0]).all():
        return "gives other elements than a permutation of the same ones"
    left, right = expected, actual
    if levels.size > 50:  # a Cauchy has no mean
        low, high = np.quantile(expected, (0.001, 0.999))
        left, right = np.clip(expected, low, high), np.clip(actual, low, high)
    rounding = 1e-5 * float(np.abs(left).max())
    middle = left.mean()
    spread = left.mean(1).mean()
    statistics: list[tuple[str, Array, Array]] = [
        (f"have a share of {{}} at most {t:.4g}", (left <= t + rounding).mean(1), (right <= t + rounding).mean(1))
        for t in np.unique(np.quantile(expected, np.linspace(0.05, 0.95, 10), method="lower"))
    ]
    # What varies less than values are rounded, a mean of elements that add up to one for instance, does not vary.
    statistics += [
        ("have mean {}", left.mean(1), right.mean(1)),
        *(
            (words, np.maximum(a, rounding**2), np.maximum(b, rounding**2))
            for words, a, b in (
                ("have variance {}", ((left - middle) ** 2).mean(1), ((right - middle) ** 2).mean(1)),
                ("vary together by {}", (left.mean(1) - spread) ** 2, (right.mean(1) - spread) ** 2),
            )
        ),
    ]
    statistics += [(f"have mean {{}} at element {i}", left[:, i], right[:, i]) for i in _positions(left.shape[1])]
    words, z, ours, theirs = max(
        ((words, _z(a, b), float(a.mean()), float(b.mean())) for words, a, b in statistics), key=lambda row: row[1]
    )
    if z <= LIMIT:
        return None
    return f"gives {total} that {words.format(f'{theirs:.4g}')}, but should be {ours:.4g} (z={z:.0f})"


def _z(left: Array, right: Array) -> float:
    """How many standard errors apart the means of two samples are. The error also counts half an observation that may
    vary, so that samples without variance have one.
    """
    floor = max(float(np.abs(left).max()), float(np.abs(right).max())) / len(left)
    error = np.sqrt((left.var() + right.var()) / len(left)) + floor / np.sqrt(len(left))
    return float(abs(left.mean() - right.mean()) / error) if error else 0.0


def _positions(size: int) -> list[int]:
    return sorted({int(i) for i in np.linspace(0, size - 1, min(size, POSITIONS))})


def _certain(outputs: Sequence[Array]) -> bool:
    """Whether two repetitions agree with more than the chance `OFTEN`, as those of a single boolean do: then all being
    the same says nothing.
    """
    counts = _counts(outputs)
    total = int(counts.sum())
    return bool((counts * (counts - 1)).sum() > OFTEN * total * (total - 1))


def _counts(outputs: Sequence[Array]) -> Array:
    """How often each different repetition comes."""
    joined = np.concatenate([output.reshape(len(output), -1) for output in outputs], axis=1)
    _, counts = np.unique(joined, axis=0, return_counts=True)
    return np.asarray(counts)


def _repeating(array: Array) -> int:
    """How many rows along the last dimension have an element twice."""
    ordered = np.sort(array, axis=-1)
    return int((ordered[..., 1:] == ordered[..., :-1]).any(-1).sum())


def _samples(observation: Observation, repetitions: int) -> list[Array]:
    """The outputs of a repeated Program, one array per output of one repetition: 100 repetitions of a call that gives
    shape (2, 3) give one array of shape (100, 2, 3).
    """
    arrays = [np.atleast_1d(output.data) for output in observation.outputs.values()]
    each = len(arrays) // repetitions
    samples = []
    for position in range(each):
        column = arrays[position::each]
        if len({array.shape for array in column}) == 1 and column[0].dtype.kind in "biuf":
            samples.append(np.stack(column))
    return samples


def _repeated(alone: Program, repetitions: int) -> Program:
    """The call many times over, each time from the same operands; modules are made once."""
    made = {id_ for call in alone.modules() for id_ in call.results()}
    setup = [call for call in alone.calls if made & {*call.results()}]
    rest = [call for call in alone.calls if not made & {*call.results()}]
    numbers = alone.free()
    calls, outputs = list(setup), []
    for _ in range(repetitions):
        new: dict[int, int] = {}

        def renamed(leaf: object, new: dict[int, int] = new) -> object:
            return Ref(new[leaf.id]) if type(leaf) is Ref and leaf.id in new else leaf

        def rename(tree: Tree, renamed: object = renamed) -> Tree:
            return map_leaves(tree, renamed)  # type: ignore[arg-type]

        for call in rest:
            args = tuple(rename(arg) for arg in call.args)
            kwargs = {key: rename(arg) for key, arg in call.kwargs.items()}
            for id_ in call.results():
                if id_ not in new:
                    new[id_] = next(numbers)
            calls.append(Call(call.kind, call.op, args, kwargs, rename(call.out), call.state, (), call.custom))
        outputs += [Ref(new.get(id_, id_)) for id_ in dict.fromkeys(refs(alone.outputs))]
    inputs = [dataclasses.replace(x, requires_grad=False) for x in alone.inputs]
    return Program(inputs, calls, tuple(outputs))


__all__ = ["compare_samples", "random_calls", "sample_differences", "way"]
