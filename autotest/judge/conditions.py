"""Facts of a divergence, found by experiment: what of its inputs it needs in order to show.

A wrong value at NaN and one at ordinary numbers are two faults, a wrong value in eight layouts is one. So each property
that an input has beyond the ordinary is taken away from the least Program known to show the divergence, and it is run
again on both sides. What no longer shows then needs the property: it is a fact of the fingerprint. A target that fails
at times would not show it then by chance: what is claimed has held in repeated runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autotest.compare.difference import Rules
from autotest.compare.divergence import Divergence
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import compare
from autotest.judge.localization import of_death, of_refusal
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from dual_object.program.calls import Input
from dual_object.program.global_layouts import distributed
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Adapter
from dual_object.replay.isolation import waves
from dual_object.replay.observation import Observation
from dual_object.replay.replay import Replay
from generators import DTYPES, fill_values
from generators.layouts import expand_values

#: What a value can be beyond the ordinary, in the order in which it is suspected.
CLASSES = ("nan", "inf", "huge", "subnormal", "zero", "kink", "tie")
#: From here on an integer may not be held by a float32.
GREAT = 1 << 24
#: Where activations bend and numbers are rounded in two ways: halves and integers up to here.
KINKS = 8
#: So many runs with a property must all show a divergence, and as many without it none, for the divergence to need it.
TRIALS = 3
#: (phase, kind) of every difference that a Program shows.
PhaseKinds = frozenset[tuple[str, str]]


def properties(program: Program) -> frozenset[str]:
    """What the inputs of a Program have beyond the ordinary, such as `{"channels_last", "nan"}`: layouts, classes of
    values, `empty`, `0-dim`.
    """
    names: set[str] = set()
    for x in program.inputs:
        names.update(_properties(x))
    return frozenset(names)


@dataclass(slots=True)
class Facts:
    """Finds out what the inputs of divergences need for them to show.

    What one divergence needs is taken over for all others of the same op, phase, kind and properties of inputs.
    """

    reference: Adapter
    target: Target
    rules: Rules
    known: dict[tuple[object, ...], tuple[str, ...]] = field(default_factory=dict)

    def with_conditions(self, divergences: Sequence[Divergence], *, graph: bool) -> list[Divergence]:
        """The divergences with their facts; those whose inputs are ordinary are left as they are."""
        return [self._with_conditions(divergence, graph) for divergence in divergences]

    def _with_conditions(self, divergence: Divergence, graph: bool) -> Divergence:
        program, difference = divergence.proof, divergence.difference
        has = properties(program)
        # Each experiment with what never ends takes as long as the deadline, or all the memory that there is.
        endless = difference.kind in ("timeout", "out_of_memory")
        if not has or program.inline is not None or endless or distributed(program):
            return divergence
        key = (divergence.op, difference.phase, difference.kind, graph, has)
        if key not in self.known:
            wanted = (difference.phase, difference.kind)
            self.known[key] = self._facts(program, wanted, graph)
        return replace(divergence, facts=self.known[key])

    def _facts(self, program: Program, wanted: tuple[str, str], graph: bool) -> tuple[str, ...]:
        """What a Program's divergence needs; nothing where it does not show at each run, for then nobody knows."""

        def stands(candidate: Program) -> bool:
            return wanted in self._phase_kinds(candidate, graph)

        # Each experiment with what ends the target costs a process: such a Program is taken at its word.
        trusted = wanted[1] == "crash"
        if not (trusted or stands(program)):
            return ()
        needed = tuple(self._needed(program, lambda candidate: any(stands(candidate) for _ in range(TRIALS))))
        if needed and not trusted and not all(stands(program) for _ in range(TRIALS - 1)):
            return ()
        return needed

    def _needed(self, program: Program, stands: Callable[[Program], bool]) -> Iterator[str]:
        """One property after the other is taken away; what can go stays away."""
        laid = [_layout(x) for x in program.inputs]
        if any(laid):
            plain = _with(program, _contiguous)
            if stands(plain):
                program = plain
            else:
                yield next(name for name in laid if name)
        classes = sorted(properties(program) & set(CLASSES), key=CLASSES.index)
        if classes:
            plain = _with(program, lambda x: _calmed(x, CLASSES))
            if stands(plain):
                program = plain
            else:
                yield self._class(program, classes, stands)
        for size, name in ((0, "empty"), (None, "0-dim")):
            if name not in properties(program):
                continue
            grown = _grown(self.reference, program, size)
            if grown is not None and stands(grown):
                program = grown
            else:
                yield name

    def _class(self, program: Program, classes: Sequence[str], stands: Callable[[Program], bool]) -> str:
        """The first class of values that alone is enough for the divergence to show, such as `nan`; `special` where
        none is.
        """
        if len(classes) == 1:
            return classes[0]
        for name in classes:
            others = tuple(other for other in classes if other != name)
            if stands(_with(program, lambda x, others=others: _calmed(x, others))):
                return name
        return "special"

    def _phase_kinds(self, program: Program, graph: bool) -> PhaseKinds:
        """What a Program shows; nothing where the reference does not do what was recorded."""
        expected = Replay(self.reference, program, side="reference").run()
        if expected.backward_failure is not None:  # other values may give results of another size: what a mask selects
            program = replace(program, cotangents=waves(self.reference, program), cotangent_strides={})
            expected = Replay(self.reference, program, side="reference").run()
        if expected.ended or expected.failures or expected.backward_failure is not None:
            return frozenset()
        eager = run_alone(self.target, program)
        if isinstance(eager, Death):
            return _of([of_death(program, eager, "eager_forward")])
        if not graph:
            differences = eager_differences(self.reference, program, expected, eager, self.rules)
            return frozenset((d.phase, d.kind) for d in differences)
        if eager.ended:
            return frozenset()
        result = run_graph_alone(self.target, program, eager.gradient_keys())
        if isinstance(result, Death):
            return _of([of_death(program, result, "graph_forward")])
        if not isinstance(result, Observation):
            return _of([of_refusal(program, result)])
        differences = compare(program, eager, result, self.rules, graph=True)
        differences = differences or compare(program, expected, result, self.rules, graph=True)
        return frozenset((d.phase, d.kind) for d in differences)


def _of(divergences: Sequence[Divergence]) -> PhaseKinds:
    return frozenset((d.difference.phase, d.difference.kind) for d in divergences)


def _properties(x: Input) -> Iterator[str]:
    layout = _layout(x)
    if layout:
        yield layout
    if x.data.ndim == 0:
        yield "0-dim"
    if x.data.size == 0:
        yield "empty"
        return
    rest = np.ones(x.data.shape, bool)
    for name in CLASSES:
        mask = _mask(x, name) & rest
        if mask.any():
            rest &= ~mask
            yield name


def _layout(x: Input) -> str:
    """The name of an input's layout; empty where it is contiguous, whatever the strides of its dimensions of size 1."""
    if x.strides is None:
        return "offset" if x.offset else ""
    lying = [(stride, size) for stride, size in zip(x.strides, x.data.shape, strict=True) if size > 1]
    if any(stride == 0 for stride, _ in lying):
        return "expanded"
    step = 1
    for stride, size in sorted(lying):
        if stride != step:
            return "strided"
        step *= size
    if lying == sorted(lying, reverse=True):
        return ""
    channels = x.data.ndim in (4, 5) and x.strides[1] == 1 and lying[-1][0] == x.data.shape[1]
    return "channels_last" if channels else "transposed"


def _mask(x: Input, name: str) -> Array:
    """Which elements are of a class, such as `nan`; a complex one is judged by its absolute value."""
    data = x.data
    kind = data.dtype.kind
    nothing = np.zeros(data.shape, bool)
    if kind not in "iufc":
        return nothing
    size: Array = np.abs(data.astype(np.complex128 if kind == "c" else np.float64))
    if kind in "iu":
        return size > GREAT if name == "huge" else nothing
    info = np.finfo(np.float32) if x.dtype == "bfloat16" else np.finfo(data.dtype)
    mask: Array = nothing
    if name == "nan":
        mask = np.isnan(data)
    elif name == "inf":
        mask = np.isinf(data)
    elif name == "huge":
        mask = np.isfinite(data) & (size >= float(info.max) ** 0.5 * 0.99)
    elif name == "subnormal":
        mask = (size > 0) & (size <= float(info.tiny))
    elif name == "zero":
        mask = size == 0
    elif name == "kink":
        halves = 2 * np.minimum(size, KINKS)  # a float64 twice as great may be none
        mask = (size <= KINKS) & (size > 0) & (halves == np.floor(halves))
    elif name == "tie":
        _, first = np.unique(data, return_index=True)
        repeated = np.ones(data.size, bool)
        repeated[first] = False
        mask = repeated.reshape(data.shape) & np.isfinite(data)
    return mask


def _with(program: Program, change: Any) -> Program:
    return replace(program, inputs=[change(x) for x in program.inputs])


def _contiguous(x: Input) -> Input:
    return replace(x, strides=None, offset=0)


def _calmed(x: Input, classes: Sequence[str]) -> Input:
    """The input with ordinary values in place of those of some classes: [nan, 1.5, 2.5] without `nan` may be [2.1, 1.5,
    2.5].
    """
    if x.data.size == 0:
        return x
    special = np.zeros(x.data.shape, bool)
    for name in classes:
        special |= _mask(x, name)
    if not special.any():
        return x
    every = np.zeros(x.data.shape, bool)
    for name in CLASSES:
        every |= _mask(x, name)
    data = np.where(special, _ordinary(x, x.data[~every]), x.data).astype(x.data.dtype)
    if x.strides is not None and 0 in x.strides:
        data = expand_values(data, x.strides)
    return replace(x, data=data)


def _ordinary(x: Input, others: Array) -> Array:
    """Uniform values in the range of the others; without others, of (0.25, 0.75), where most ops are defined."""
    integer = DTYPES[x.dtype].category == "integer"
    low, high = (1, 8) if integer else (0.25, 0.75)
    if others.size and others.dtype.kind in "iuf":
        least, greatest = float(others.min()), float(others.max())
        if least < greatest:
            low, high = least, greatest + integer
    return fill_values("uniform", x.seed or 0, x.data.shape, x.dtype, low, high)


def _grown(reference: Adapter, program: Program, size: int | None) -> Program | None:
    """The Program with something in its empty inputs, or with a dimension for those that have none; None where the
    reference refuses that.

    `size` 0: shape (0, 3) becomes (2, 3). None: shape () becomes (1,).
    """

    def grow(x: Input) -> Input:
        old = tuple(x.data.shape)
        shape = tuple(2 if length == 0 else length for length in old) if size == 0 else old or (1,)
        if shape == old:
            return x
        data = _ordinary(replace(x, data=np.empty(shape, x.data.dtype)), x.data.reshape(-1))
        return replace(x, data=data if size == 0 else x.data.reshape(shape), strides=None, offset=0)

    grown = replace(_with(program, grow), cotangents={})
    if Replay(reference, grown, side="reference").run().ended:
        return None
    return replace(grown, cotangents=waves(reference, grown)) if program.cotangents else grown
