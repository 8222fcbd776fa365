"""What a kernel is asked: Programs of calls of the op, and PyTorch's answers, which no process with a kernel sees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from autotest.api.tensors import dual_tensor
from autotest.cases.case import Origin, Rejection
from autotest.cases.dialect import Dialect
from autotest.cases.drawer import Drawer
from autotest.kernels.between import INPUTS_CHANGED, RESULT_CHANGED, without_clones
from autotest.options import TestOptions
from autotest.options.test import GradOrder
from dual_object.adapters.torch.kernels.samples.drawing import samples
from dual_object.adapters.torch.kernels.samples.layouts import EXPANDED
from dual_object.adapters.torch.kernels.samples.results import factorises, unique, views
from dual_object.adapters.torch.kernels.samples.sample import (
    Sample,
    detached,
    floats,
    goes_up,
    leaves,
    mapped,
    near_one,
    spread,
)
from dual_object.adapters.torch.kernels.samples.sizes import resized
from dual_object.adapters.torch.kernels.shapes import MOST_ELEMENTS, Pattern, fits, within, worded
from dual_object.errors import TargetError
from dual_object.program.program import Program
from dual_object.record.dual import DualObject
from dual_object.record.namespace import torch
from dual_object.record.recording import recording
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation

#: A case of such a number also shows what shares memory, and what modules hold.
_WHOLE = 4
#: So many calls of the same come in one Program, where a kernel may be right at first only.
WORN = 100
#: What is asked where one element is written to between two calls.
ONE_WRITTEN = "one element written to"
#: And where the result is; what gives its input back, as dropout may, is not asked so.
RESULT_WRITTEN = "the result written to"
#: What is asked where a graph is kept, and differentiated once more.
TWICE = "asked for twice"
#: So many samples are called several times in a row, each of another form as far as there are such.
REPEATED = 4
#: A size of tensors so large that memory which is free again is given to the next one of the size.
KEPT_SIZE = 129
#: Of so many samples gradients are asked for otherwise than of everything and from what is contiguous.
OTHERWISE = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """What of an op is asked: `edges` and `NaN` in float32.

    `role` is one of those of samples, or `again` (several calls in a row), `modes` (without gradients), `backward`
    (gradients of one tensor alone, and from other gradients), `second` (second derivatives).
    """

    role: str
    detail: str
    dtype: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.role, self.detail, self.dtype)))


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A Program, and what PyTorch shows of it."""

    cell: Cell
    program: Program
    expected: Observation


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of an op.

    Attributes:
        path: the op below `torch`.
        dtypes: those that the kernel claims; empty: all that the op takes.
        gradients: whether gradients are asked for.
        whole: whether everything is asked, not a choice.
        shapes: those of the first tensor that the kernel claims; empty: all that the op takes.
    """

    path: str
    dtypes: tuple[str, ...] = ()
    gradients: bool = True
    whole: bool = False
    shapes: tuple[Pattern, ...] = ()


def questions(reference: Reference, asking: Asking) -> list[Question]:
    """What is asked, plain calls first, so that the simplest of what differs comes first. Raises TargetError where
    PyTorch has no samples of the op, or none of the shapes, or takes none of those that it has.
    """
    claimed = partial(within, patterns=asking.shapes)
    drawn = samples(asking.path, dtypes=asking.dtypes, whole=asking.whole, within=claimed)
    drawn = [sample for sample in drawn if fits(sample, asking.shapes)]
    if not asking.gradients:
        drawn = [sample.changed(detached, sample.role, sample.detail) for sample in drawn]
    asked = _Asked(reference, asking)
    found: list[Question] = []
    for sample in drawn:
        found += asked.of(Cell(sample.role, sample.detail, _dtype(reference, sample)), asked.once(sample))
    if asking.shapes and not asked.lawful:
        raise TargetError(
            f"shapes={worded(asking.shapes)}, but no sample of torch.{asking.path} is of such a shape, or can be "
            f"brought to it with at most {MOST_ELEMENTS} elements [--shapes]"
        )
    if not asked.lawful:
        raise TargetError(
            f"PyTorch takes none of its own samples of torch.{asking.path}, so there is nothing that a kernel could be "
            "held against [--like]"
        )
    lawful = [sample for sample in asked.lawful if sample.tensors()]
    for turn, sample in enumerate(
        _of_other_forms([s for s in lawful if any(x.numel() > 1 for x in s.tensors())], REPEATED)
    ):
        dtype = _dtype(reference, sample)
        sample = asked.telling(sample)
        for detail, body in asked.again(sample, lawful):
            found += asked.of(Cell("again", detail, dtype), body)
        large = _grown(sample) if not turn else None
        if large is not None and fits(large, asking.shapes):
            for detail, body in asked.again(large, lawful):
                found += asked.of(Cell("again", f"{detail}, {KEPT_SIZE} elements along one dimension", dtype), body)
        if asking.gradients:
            found += asked.of(Cell("modes", "no_grad", dtype), asked.without_gradients(sample))
    if asking.gradients:
        differentiable = [sample for sample in lawful if any(x.requires_grad for x in sample.tensors())]
        for sample in spread(differentiable, 6 if asking.whole else OTHERWISE):
            dtype = _dtype(reference, sample)
            for detail, body in asked.differentiated(sample):
                found += asked.of(Cell("backward", detail, dtype), body)
            for detail, body in asked.written_between(sample):
                made = asked.of(Cell("backward", detail, dtype), body)
                found += [replace(one, program=without_clones(one.program, asking.path)) for one in made]
        for sample in spread(differentiable, 6 if asking.whole else 3):
            found += asked.of(Cell("second", "", _dtype(reference, sample)), asked.once(sample), order=2)
    return found


def _of_other_forms(drawn: Sequence[Sample], most: int) -> list[Sample]:
    """At most so many: of each way in which arguments are given one, the fewest arguments first; and at least two."""
    forms: dict[object, Sample] = {}
    for sample in sorted(drawn, key=lambda one: len(one.places())):
        form = len(sample.args), *sample.kwargs, *(x.dim() for x in sample.tensors()[:1])
        forms.setdefault(form, sample)
    if len(forms) == 1:
        return spread(drawn, 2)
    return spread([*forms.values()], most)


def question(
    reference: Reference,
    name: str,
    cell: Cell,
    body: Callable[[], Any],
    *,
    number: int = 1,
    order: GradOrder = 1,
) -> list[Question]:
    """The question that a body makes, with gradients of this order; none where PyTorch refuses it. What is drawn for it
    follows from `name` and `number`.
    """
    options = TestOptions(check_graph=False, coverage="none", grad_order=order, auto_backward=cell.role != "errors")
    drawer = Drawer(reference, name, 0, "torch", options, body, Dialect())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = drawer.draw(_WHOLE * number, origin=Origin(0, "plain"))
    if isinstance(drawn, Rejection) or drawn.program.inline is not None:
        return []
    return [Question(cell, drawn.program, drawn.reference)]


def _dtype(reference: Reference, sample: Sample) -> str:
    tensors = sample.tensors()
    return reference.describe(tensors[0])[0] if tensors else ""


class _Asked:
    """Draws questions of one op."""

    def __init__(self, reference: Reference, asking: Asking) -> None:
        self._reference = reference
        self._path = asking.path
        self._shown = unique(asking.path)
        self._numbers = count(1)
        #: Plain samples that PyTorch takes.
        self.lawful: list[Sample] = []
        self._sample: Sample | None = None

    def of(self, cell: Cell, body: Callable[[], Any], order: GradOrder = 1) -> list[Question]:
        """The question that a body makes; none where PyTorch refuses it, or gives more than can be looked at."""
        name = f"kernel {self._path}"
        try:
            made = question(self._reference, name, cell, body, number=next(self._numbers), order=order)
        except _NothingError:
            return []
        if any(sum(x.data.size for x in one.expected.outputs.values()) > MOST_ELEMENTS for one in made):
            return []
        if factorises(self._path) and any(not np.isfinite(x.data).all() for one in made for x in one.program.inputs):
            return []
        # Who gives copies where PyTorch gives views of its own accord has other results once something is written to.
        if cell.role == "again" and not views(self._path) and any(map(_shares, made)):
            return []
        # No result is written to that is an input, as dropout may give it; what the op writes to is not expanded.
        if cell.detail in (RESULT_WRITTEN, EXPANDED) and any(one.expected.inputs for one in made):
            return []
        if made and cell.role == "plain" and self._sample is not None:
            self.lawful.append(self._sample)
        return made

    def once(self, sample: Sample) -> Callable[[], Any]:
        """One call."""
        self._sample = sample

        def body() -> Any:
            return self._call(*sample_inputs(sample))

        if sample.role == "errors":
            return lambda: _refused(body)
        return body

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        function: Any = torch
        for part in self._path.split("."):
            function = getattr(function, part)
        return self._shown(function(*args, **kwargs))

    def without_gradients(self, sample: Sample) -> Callable[[], Any]:
        """One call under `no_grad`."""

        def body() -> Any:
            given = sample_inputs(sample)
            with torch.no_grad():
                return self._call(*given)

        return body

    def differentiated(self, sample: Sample) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Calls whose gradients are asked for otherwise: those of one tensor alone, and from a gradient that lies
        otherwise, or that another op takes as well.
        """
        wanted = [turn for turn, x in enumerate(sample.tensors()) if x.requires_grad]
        if len(wanted) > 1:
            for turn in wanted:
                yield f"of tensor {turn} alone", self.once(_detached_but(sample, turn))

        def transposed() -> Any:
            result = _differentiable(self._call(*sample_inputs(sample)))
            if result.pytorch.ndim < 2:
                raise _NothingError
            return result.transpose(0, -1)

        def expanded() -> Any:
            return _differentiable(self._call(*sample_inputs(sample))).sum()

        def shared() -> Any:
            given = sample_inputs(sample)
            with torch.no_grad():
                like = self._call(*given)
            # Added first, so that what writes to its gradient does so before this one is read.
            beside = torch.ones_like(_differentiable(like, needed=False)).requires_grad_() * 1
            return _differentiable(self._call(*given)) + beside

        def again() -> Any:
            given = sample_inputs(sample)
            wanted = [x for x in leaves(given) if _needs_gradient(x)]
            total = _differentiable(self._call(*given)).sum()
            first = torch.autograd.grad(total, wanted, retain_graph=True)
            return [*first, *torch.autograd.grad(total, wanted)]

        yield TWICE, again
        yield "from a gradient that is transposed", transposed
        yield "from a gradient that is expanded", expanded
        yield "from a gradient that another op takes as well", shared

    def written_between(self, sample: Sample) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Calls after which clones of a result or of what it was made of are written to, before the backward."""

        def result() -> Any:
            changed = _differentiable(self._call(*sample_inputs(sample))).clone()
            changed.mul_(2.0)
            return changed

        def inputs() -> Any:
            # What is no leaf may be written to.
            given = mapped(sample_inputs(sample), lambda x: x * 1 if _needs_gradient(x) else x)
            taken = mapped(given, lambda x: x.clone() if _needs_gradient(x) else x)
            made = _differentiable(self._call(*taken))
            mapped(given, lambda x: x.mul_(2.0) if _needs_gradient(x) else x)
            return made

        yield RESULT_CHANGED, result
        yield INPUTS_CHANGED, inputs

    def telling(self, sample: Sample) -> Sample:
        """A sample whose result changes with its last element: the same where it does, or cannot be brought to it."""
        near = sample.changed(floats(near_one), sample.role, sample.detail)
        for one in (sample, near):
            bodies = dict(self.again(one, [one]))
            for made in self.of(Cell("again", ONE_WRITTEN, ""), bodies.get(ONE_WRITTEN, bodies["the same twice"])):
                values = [seen.data for seen in made.expected.outputs.values()]
                half = len(values) // 2
                pairs = zip(values[:half], values[half : 2 * half], strict=True)
                if not all(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc") for x, y in pairs):
                    return one
        return sample

    def again(self, sample: Sample, others: Sequence[Sample]) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Several calls in a row: with the same tensors, with others of the same shapes, with what was written to."""
        plain = sample.changed(detached, "again", "")
        other = next((s for s in others if _shapes(s) != _shapes(sample)), sample).changed(detached, "again", "")

        def twice() -> Any:
            given = sample_inputs(plain)
            return [self._call(*given), self._call(*given)]

        def of_the_same_shapes() -> Any:
            given = sample_inputs(plain)
            # Elements in another order are as lawful as they were.
            turned = _mapped_tensors(given, lambda x: x.flip([0]) if x.ndim else x)
            return [self._call(*given), self._call(*turned), self._call(*given)]

        def after_another() -> Any:
            given = sample_inputs(plain)
            return [self._call(*given), self._call(*sample_inputs(other)), self._call(*given)]

        def written_to(change: Callable[[Any], Any]) -> Callable[[], Any]:
            def body() -> Any:
                given = sample_inputs(plain)
                first = self._call(*given)
                _mapped_tensors(given, change)
                return [first, self._call(*given)]

            return body

        def result_written_to() -> Any:
            given = sample_inputs(plain)
            first = self._call(*given)
            for tensor in first if isinstance(first, (list, tuple)) else [first]:
                tensor.zero_()
            return [first, self._call(*given)]

        def worn() -> Any:
            given = sample_inputs(plain)
            for _ in range(WORN):
                last = self._call(*given)
            return last

        yield "the same twice", twice
        yield "other shapes between", after_another
        yield f"{WORN} times", worn
        if any(map(goes_up, plain.tensors())):
            return
        yield "others of the same shapes", of_the_same_shapes
        yield "inputs written to", written_to(lambda x: x.copy_(x.flip([0])) if x.ndim else x)
        yield (
            "inputs written to through `data`, which counts no version",
            written_to(lambda x: x.data.copy_(x.flip([0])) if x.ndim else x),
        )
        yield ONE_WRITTEN, written_to(_last_as_first)
        yield "two elements swapped", written_to(_second_as_last_but_one)
        yield RESULT_WRITTEN, result_written_to


def _shares(question: Question) -> bool:
    """Whether a result shares memory with an input."""
    given = {x.id for x in question.program.inputs}
    return any(given.intersection(group) and set(group) - given for group in question.expected.shared)


def _detached_but(sample: Sample, turn: int) -> Sample:
    """A sample of whose tensors the one at `turn` alone needs a gradient."""
    kept = sample.tensors()[turn]
    return sample.changed(lambda leaf: leaf if leaf is kept else detached(leaf), sample.role, sample.detail)


def _differentiable(result: Any, *, needed: bool = True) -> Any:
    """A result that is one tensor which needs a gradient, or could."""
    made = result.pytorch if isinstance(result, DualObject) else result  # what is asked of that is no part of a Program
    if not hasattr(made, "is_floating_point") or not made.is_floating_point() or (needed and not made.requires_grad):
        raise _NothingError
    return result


def _needs_gradient(item: Any) -> bool:
    return isinstance(item, DualObject) and bool(item.pytorch.requires_grad)


def _grown(sample: Sample) -> Sample | None:
    """A sample whose last size is KEPT_SIZE wherever it is; None where it cannot be."""
    sizes = [size for x in sample.tensors() for size in x.shape if size > 1]
    return next(resized(sample, sizes[-1], KEPT_SIZE, sample.role, sample.detail), None) if sizes else None


def _last_as_first(x: Any) -> Any:
    """The last element as the first one is: of the op's domain, and mostly another number."""
    if x.ndim and x.numel() > 1:
        x[(-1,) * x.ndim] = x[(0,) * x.ndim]
    return x


def _second_as_last_but_one(x: Any) -> Any:
    """The second element and the last but one in each other's place: what a sum or a corner does not show."""
    if x.is_contiguous() and x.numel() > 4:
        flat = x.view(-1)
        second = flat[1].clone()
        flat[1] = flat[-2]
        flat[-2] = second
    return x


def _shapes(sample: Sample) -> list[tuple[int, ...]]:
    return [tuple(x.shape) for x in sample.tensors()]


def sample_inputs(sample: Sample) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A sample with its tensors as the running case's inputs; a tensor given twice stays one."""
    known: dict[int, Any] = {}

    def leaf(item: Any) -> Any:
        if not hasattr(item, "untyped_storage"):
            return item
        if id(item) not in known:
            known[id(item)] = _input(item)
        return known[id(item)]

    return mapped(sample.args, leaf), mapped(sample.kwargs, leaf)


def _input(tensor: Any) -> Any:
    """An input that lies as a tensor does: of those that are contiguous, also where in their memory."""
    if tensor.is_conj():
        return _input(tensor.conj()).conj()
    offset = tensor.storage_offset()
    if not (offset and tensor.is_contiguous()):
        return dual_tensor(tensor)
    record = recording("a kernel's question")
    dtype, _, _, requires_grad = record.reference.describe(tensor)
    [values] = record.reference.read([tensor])
    return record.input(np.array(values, order="C"), dtype, requires_grad=requires_grad, offset=offset)


def _mapped_tensors(given: Any, change: Callable[[Any], Any]) -> Any:
    return mapped(given, lambda item: change(item) if isinstance(item, DualObject) else item)


def _refused(call: Callable[[], Any]) -> None:
    """A call that PyTorch is to refuse: one that it takes is no question."""
    try:
        call()
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("builtins", "torch"):
            raise
    else:
        raise _NothingError


class _NothingError(Exception):
    """There is nothing to ask: PyTorch takes what it was to refuse, or a result has no such gradient."""


__all__ = ["WORN", "Asking", "Cell", "Question", "question", "questions", "sample_inputs"]
