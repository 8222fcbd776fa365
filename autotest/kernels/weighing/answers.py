"""What of an answer counts: what somebody promises, what was never written, what was meant to be right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.values import wide
from autotest.workers.protocol import Death
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.asked.kernels import MISCONDUCT, NOT_TAKEN, POISONED
from dual_object.replay.observation import Observation, Seen

#: What no number that one computes is beyond: so many times the greatest, or so small a part of the least.
_FAR = 1e15
#: What is off by less than this share of the greatest number was meant to be right.
FIRST_DIGITS = 0.01
#: Of a row whose numbers are far apart, so many units of rounding of the greatest may be lost.
_ROW = 16.0
#: By the way in which a process has ended the category.
OF_ENDS = {"crash": "crash", "timeout": "timeout", "out_of_memory": "memory"}
#: What nobody promises of a function: how its result lies, and the names of a tuple's parts.
_FREE = frozenset({"layout", "structure", "exception_class"})


def of_gradients(difference: Difference) -> bool:
    """Whether a gradient differs, of whatever order."""
    return difference.part in ("gradient", "second") or difference.phase.endswith(("backward", "second"))


def has_gradients(program: Program, expected: Observation) -> bool:
    """Whether gradients are promised: not where an input or a result is not finite, or an input so great that its
    square is not.
    """
    floats = [x.data for x in program.inputs if x.data.dtype.kind == "f"]
    results = [seen.data for seen in expected.outputs.values() if seen.data.dtype.kind == "f"]
    with np.errstate(over="ignore"):
        return all(np.isfinite(np.square(data)).all() for data in floats) and not any(
            not np.isfinite(data).all() for data in results
        )


def of_no_number(difference: Difference) -> bool:
    """Whether whatever differs is a gradient that is NaN in PyTorch, and a number here: PyTorch multiplies nothing by
    infinity there.
    """
    mismatch = difference.mismatch
    if not of_gradients(difference) or mismatch is None or mismatch.expected.dtype.kind not in "fc":
        return False
    return bool(np.isnan(mismatch.expected[mismatch.mask]).all())


def of_zeros(difference: Difference) -> bool:
    """Whether a gradient is there on one side alone, and all zeros or of size 0: as good as none."""
    if difference.kind not in ("grad_missing", "grad_extra"):
        return False
    there = difference.expected or difference.actual
    return there is not None and not there.data.any() and (difference.kind == "grad_extra" or not there.data.size)


def poisoned(difference: Difference) -> bool:
    """Whether an element that differs holds what fresh memory holds here."""
    wrong = _wrong(difference)
    size = 0 if wrong is None else wrong.dtype.itemsize
    if wrong is None or size < 2:
        return False
    return bool((wrong.view(np.uint8).reshape(-1, size) == POISONED).all(axis=1).any())


def unwritten(difference: Difference) -> bool:
    """Whether an element that differs holds what fresh memory holds here, or no number that one computes from these:
    greater or smaller by fifteen digits than any that should be there.
    """
    expected, wrong = difference.expected, _wrong(difference)
    if expected is None or wrong is None:
        return False
    if poisoned(difference):
        return True
    if wrong.dtype.kind != "f":
        return False
    known, given = np.abs(wide(expected.data)), np.abs(wide(wrong))
    known, given = known[np.isfinite(known) & (known > 0)], given[np.isfinite(given) & (given > 0)]
    return bool(known.size and ((given > _FAR * known.max()) | (given < known.min() / _FAR)).any())


def _wrong(difference: Difference) -> Array | None:
    """The elements that differ, of more than one byte each; None without any."""
    actual, mismatch = difference.actual, difference.mismatch
    if actual is None or mismatch is None or mismatch.mask.shape != actual.data.shape:
        return None
    wrong = np.ascontiguousarray(actual.data[mismatch.mask])
    return wrong if wrong.size and wrong.dtype.itemsize > 1 else None


def out_of_range(difference: Difference) -> bool:
    """Whether whatever differs is infinite, NaN or zero where a finite number should be: it has left the range of its
    dtype on the way.
    """
    mismatch = difference.mismatch
    if mismatch is None or mismatch.expected.dtype.kind != "f":
        return False
    expected, actual = mismatch.expected[mismatch.mask], mismatch.actual[mismatch.mask]
    return bool((np.isfinite(expected) & (expected != 0) & (~np.isfinite(actual) | (actual == 0))).all())


def nearly(difference: Difference) -> bool:
    """Whether what differs is the number that it should be in its first two digits."""
    expected, actual = difference.expected, difference.actual
    if difference.kind != "value" or expected is None or actual is None or expected.data.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        off = np.abs(actual.data.astype(np.float64) - expected.data.astype(np.float64))
        return bool(np.nanmax(off) <= FIRST_DIGITS * np.nanmax(np.abs(expected.data)))


def among_greater(difference: Difference) -> bool:
    """Whether whatever differs is off by less than the rounding of the greatest number of its tensor: what a transform
    of a whole row may lose of the small ones.
    """
    expected, actual = difference.expected, difference.actual
    if difference.kind != "value" or expected is None or actual is None or expected.data.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        off = np.abs(wide(actual.data) - wide(expected.data))
        return bool(off.max() <= _ROW * np.finfo(expected.data.dtype).eps * np.abs(expected.data).max())


def complex_infinities(difference: Difference) -> bool:
    """Whether whatever differs is complex and not finite on both sides: which of its parts are NaN, the order of
    multiplications decides.
    """
    mismatch = difference.mismatch
    if mismatch is None or mismatch.expected.dtype.kind != "c":
        return False
    sides = (mismatch.expected[mismatch.mask], mismatch.actual[mismatch.mask])
    return not any(np.isfinite(side).any() for side in sides)


def in_both(expected: Sequence[tuple[int, ...]], given: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Which values share memory on both sides: who is free to give copies is held to no more."""
    both = (tuple(sorted({*group} & {*other})) for group in expected for other in given)
    return [group for group in both if len(group) > 1]


def partly(difference: Difference) -> bool:
    """Whether fewer than half of the elements differ: a formula that is wrong somewhere, not one that is less exact."""
    return difference.mismatch is not None and bool(difference.mismatch.mask.mean() < 0.5)


def ended_words(death: Death) -> str:
    """How a kernel's process ended: `it was killed by SIGKILL`."""
    return f"it {'was ' if death.how.startswith('killed') else ''}{death.sentence()}"


def counts(difference: Difference) -> bool:
    """Whether somebody promises what differs: not how a result lies, nor which zero it is."""
    if difference.kind == "sign" and difference.mismatch is not None:
        return bool(difference.mismatch.beyond.any())
    return difference.kind not in _FREE or (difference.kind == "structure" and difference.part == "output")


def category_of_end(death: Death) -> str:
    """What a kernel is refused for whose process has ended; of one that could no longer answer the descriptors were
    taken.
    """
    if death.cause == "crash" and ("Bad file descriptor" in death.last_words or death.how == "closed its pipe"):
        return "descriptors"
    return OF_ENDS[death.cause]


def valueless(answer: Observation) -> bool:
    """Whether it tells nothing of the kernel's values: what the kernel has done, or does not take, or that it found no
    memory left.
    """
    refused = bool(answer.failures) and answer.failures[-1].classes[:1] in ((MISCONDUCT,), (NOT_TAKEN,))
    return refused or out_of_memory(answer)


def out_of_memory(answer: Observation) -> bool:
    """Whether a GPU had no memory left for it."""
    return bool(answer.failures) and "OutOfMemoryError" in answer.failures[-1].classes


def shown_bits(answer: Observation) -> object:
    """All that an answer shows, bit for bit."""
    failures = [(failure.classes, failure.kind) for failure in answer.failures]
    parts = (answer.outputs, answer.gradients, answer.second, answer.inputs)
    return failures, [{key: _bits(value) for key, value in part.items()} for part in parts]


def _bits(value: Seen | Array | None) -> object:
    if value is None:
        return None
    data = value.data if isinstance(value, Seen) else value
    if data.dtype.kind == "f":  # one NaN is as another
        data = np.where(np.isnan(data), np.array(np.nan, data.dtype), data)
    return data.dtype.str, data.shape, data.tobytes()


__all__ = [
    "OF_ENDS",
    "among_greater",
    "category_of_end",
    "complex_infinities",
    "counts",
    "ended_words",
    "has_gradients",
    "in_both",
    "nearly",
    "of_gradients",
    "of_no_number",
    "of_zeros",
    "out_of_memory",
    "out_of_range",
    "partly",
    "poisoned",
    "shown_bits",
    "unwritten",
    "valueless",
]
