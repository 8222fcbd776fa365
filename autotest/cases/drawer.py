"""Draws the cases of one test: the body runs once on the reference and is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import numpy as np

from autotest.cases.case import Case, Laid, Origin, Rejection
from autotest.cases.deadline import deadline
from autotest.cases.design import ORDINARY, Design, Outcome, Row
from autotest.cases.dialect import Dialect
from autotest.cases.digest import program_digest
from autotest.cases.mistakes import mistake, numpys, pytorchs, unrecorded
from autotest.cases.places import defined_at, name_place, raised_at, told_at, warnings_at_users_lines
from autotest.cases.randomness import seeded
from autotest.errors import AutotestError, EnvironmentFault, HarnessFault, UsageError, is_sentence
from autotest.options import Coverage, Inputs, TestOptions
from dual_object.adapters.oneflow.global_tensors import neutral
from dual_object.errors import ArgumentError
from dual_object.program.global_layouts import world_size
from dual_object.program.program import Program
from dual_object.program.strides import reversed_strides
from dual_object.program.values import Array
from dual_object.record.recording import Recording, current_recording
from dual_object.record.training import train
from dual_object.replay.adapter import Reference, Trait
from dual_object.replay.modes import Modes
from dual_object.replay.replay import Replay
from generators import (
    LAID_OUT,
    MIXES,
    PLAIN,
    LaidOutSource,
    Mix,
    Nothing,
    PhiloxSource,
    drawing,
    dtype_name,
    fill_values,
)
from generators.source import Source, case_key

#: The case of a test that shows what its body made and did not return, too.
WATCHED = 0
#: The share of the cotangents of a matrix or more that lie transposed, where strided ones are asked for.
STRIDED_SHARE = 0.25
#: The first cases of a test, and of the others one in so many, also show which tensors share memory and what modules
#: hold.
WHOLE, WHOLE_SHARE = 3, 4

#: What laid-out cases have in their keys, `test_x.py::test_y#3@laid`, and their origin: no seed has a part in them.
LAYING: Laid = "laid"
LAID = Origin(0, LAYING)

#: What PyTorch says of a backward that comes after another.
SECOND_BACKWARD = "backward through the graph a second time"
#: What a body has done past its recording, and what to do instead.
BYPASSES: Mapping[Trait, tuple[str, str]] = {
    "values": ("writes to a raw tensor", "write to the dual object, as x.fill_(5)"),
    "requires_grad": ("sets requires_grad of a raw tensor", "set it on the dual object, as x.requires_grad_(False)"),
    "grad": (
        "runs a backward from a raw tensor, or sets the gradient of one,",
        "use the dual object, as y.backward()",
    ),
    "training": ("switches a raw module", "switch the dual object, as m.eval()"),
}


@dataclass(slots=True)
class Drawer:
    """Draws the cases of one test.

    Attributes:
        inputs: the run's inputs mode; the test's own goes before it.
        coverage: what the run's laid-out cases cover, in place of what the test asks for.
        raised: the exception that the body raised by itself, to tell it from a fault of the harness.
        raised_in: the key of the case in which it did.
        timeout: seconds that the body may take for a case; None: as long as it likes.
        listed: how many cases there are, where the body lists them with `each`; None where it does not.
    """

    reference: Reference
    test: str
    seed: int
    target: str
    options: TestOptions
    body: Callable[[], Any]
    dialect: Dialect = field(default_factory=Dialect)
    raised: Exception | None = None
    raised_in: str = ""
    inputs: Inputs = "standard"
    timeout: float | None = None
    coverage: Coverage | None = None
    design: Design = field(init=False)
    _outcome: Outcome | None = None
    listed: int | None = None
    _stream: np.random.MT19937 = field(default_factory=np.random.MT19937, repr=False)
    #: Which of NumPy's errors the test's author is told of: in the body they are as they were.
    _numpy: Any = field(default_factory=np.geterr, repr=False)

    def __post_init__(self) -> None:
        """Starts with nothing laid out. Tests that want plain tensors have no corners."""
        # The corners of a training are its arguments: its tensors are plain anyway.
        trains = self.options.train is not None
        own, plain = self.options.coverage, (self.inputs if trains else self.origin.inputs) == "plain"
        # A test that has none may be one whose corners end PyTorch itself.
        self.design = Design("none" if plain or own == "none" else self.coverage or own)

    @property
    def origin(self) -> Origin:
        """Seed and inputs mode of the run's own cases of this test: those that the test asks for, else the run's.

        The mode is `plain` for tests written for OneFlow's harness, and on several ranks, where a dimension smaller
        than their number would end them all; and for trainings that ask for no other: what is not finite once, stays
        so at each step.
        """
        seed = self.seed if self.options.seed is None else self.options.seed
        if self.dialect.plain or world_size() > 1:
            return Origin(seed, "plain")
        own = "plain" if self.options.train is not None else self.inputs
        return Origin(seed, self.options.inputs or own)

    def key(self, index: int, origin: Origin | None = None) -> str:
        """What a case is called: `test_x.py::test_y#3`, with another seed or mode than the run's
        `test_x.py::test_y#3@7@edge`.
        """
        own = self.origin
        seed, inputs = origin or own
        parts = [f"{self.test}#{index}"]
        parts += [] if seed == own.seed or inputs == LAYING else [str(seed)]
        parts += [] if inputs == own.inputs else [inputs]
        return "@".join(parts)

    def place(self, key: str) -> tuple[int, Origin]:
        """The index and the origin of one of this test's cases: by the key `test_x.py::test_y#3@7`, 3 and seed 7."""
        index, *parts = key.rpartition("#")[2].split("@")
        origin = self.origin
        if LAYING in parts:
            return int(index), LAID
        for part in parts:
            origin = origin._replace(seed=int(part)) if part.isdecimal() else origin._replace(inputs=cast(Inputs, part))
        return int(index), origin

    def draw(
        self, index: int, stepper: Replay | None = None, *, origin: Origin | None = None, source: Source | None = None
    ) -> Case | Rejection:
        """Run the body once on the reference and record it; `stepper` replays each call at once, inline.

        Every decision is taken from `source`, by default that of the case's key; `origin` is by default the run's. What
        the body draws from `random`, `numpy.random` and PyTorch itself follows the key, too.
        Raises what the body raises, unless it is the reference's own refusal; UsageError for a body that returns
        what cannot be compared.
        """
        origin = origin or self.origin
        if origin == LAID:
            return self._lay(index, stepper, source)
        drawn_by = case_key(origin.seed, self.test, index)
        with seeded(drawn_by, self.reference, self._stream):
            source = PhiloxSource(drawn_by) if source is None else source
            return self._draw(index, origin, source, stepper, MIXES[origin.inputs])

    def choices(self, index: int, origin: Origin) -> Source:
        """The source of a case's decisions, as `draw` takes it by itself."""
        if origin != LAID:
            return PhiloxSource(case_key(origin.seed, self.test, index))
        row = self.design.rows[index]
        return LaidOutSource(self._laid_by(row), dict(row.levels))

    def laid_out(self, index: int) -> bool:
        """Whether the test has a laid-out case of this index; those before it are drawn if they were not yet."""
        while len(self.design.rows) <= index:
            if self.design.rows and self._outcome is None:
                self.draw(len(self.design.rows) - 1, origin=LAID)
            if self.design.row(self._outcome) is None:
                return False
            self._outcome = None
        return True

    def repeated(self) -> bool:
        """Whether the laid-out case that was drawn last is a Program that another one was before."""
        assert self._outcome is not None, "it was drawn"
        return self.design.repeats(self._outcome)

    def spare(self) -> None:
        """Note that the target is spared the laid-out case that was drawn last."""
        assert self._outcome is not None, "it was drawn"
        self._outcome = replace(self._outcome, spared=True)
        self.design.spared += 1

    def _laid_by(self, row: Row) -> str:
        return case_key(LAID.seed, f"{LAYING} {self.test}", row.attempt)

    def _lay(self, index: int, stepper: Replay | None, source: Source | None) -> Case | Rejection:
        """Draw a laid-out case. What its corners make the body raise is a refusal: they are not of the body's domain.

        Raises UsageError where the test has no such case.
        """
        if not self.laid_out(index):
            raise UsageError(
                f"{self.key(index, LAID)}: the test has {len(self.design.rows)} laid-out cases, numbered from 0"
            )
        row = self.design.rows[index]
        own = source is None
        drawing_from = self.choices(index, LAID) if source is None else source
        mix = replace(LAID_OUT if self.options.train is None else PLAIN, dtype=row.dtype)
        drawn: Case | Rejection
        with seeded(self._laid_by(row), self.reference, self._stream):
            try:
                drawn = self._draw(index, LAID, drawing_from, stepper, mix, row.attempt)
            except Exception as error:
                if not own or row == Row() or isinstance(error, HarnessFault | EnvironmentFault):
                    raise
                self.raised = None
                drawn = Rejection(index, self.key(index, LAID), Program(), f"{type(error).__name__}: {error}")
        if isinstance(drawing_from, LaidOutSource) and index == len(self.design.rows) - 1 and self._outcome is None:
            lawful = isinstance(drawn, Case)
            digest = program_digest(drawn.program) if lawful else ""
            matrix = any(x.data.ndim == 2 and min(x.data.shape) > 1 for x in drawn.program.inputs)
            self._outcome = Outcome(drawing_from.taken, lawful, digest, matrix)
        return drawn

    def _draw(
        self, index: int, origin: Origin, source: Source, stepper: Replay | None, mix: Mix, turn: int | None = None
    ) -> Case | Rejection:
        """A case, or its rejection: a case that takes the GPU from this process is none."""
        try:
            drawn = self._draw_at_all(index, origin, source, stepper, mix, turn)
        except Exception:
            lost = self.reference.lost_device()
            if not lost:
                raise
        else:
            lost = self.reference.lost_device()
        if not lost:
            return drawn
        return Rejection(index, self.key(index, origin), Program(), f"{lost}; this process goes on without its GPU")

    def _draw_at_all(
        self, index: int, origin: Origin, source: Source, stepper: Replay | None, mix: Mix, turn: int | None
    ) -> Case | Rejection:
        key = self.key(index, origin)
        turn = index if turn is None else turn
        with drawing(source, mix, turn) as drawn:
            recording = self._recording(turn, origin, source, stepper)
            try:
                # Step by step with the target, it is not PyTorch alone that takes its time.
                returned = self._run_body(recording, key, self.timeout if stepper is None else None)
            except Exception as error:
                told = numpys(error) or pytorchs(error)
                if told is None and recording.refused is error:
                    own = self.dialect.cause(error)
                    reason = f"{type(own).__name__}: {_first_line(own)}"
                    why = mistake(error, own, drawn, recording.program.calls[-1])
                    return Rejection(index, key, recording.program, reason, raised_at(error), why)
                told = told or unrecorded(error)
                if is_sentence(told):
                    name_place(told, raised_at(error))
                self.raised, self.raised_in = told, key
                if told is error:
                    raise
                raise told from error
            finally:
                self.listed = drawn.listed or self.listed
            self._heed_bypasses(recording)
            program = recording.program
            try:
                program.outputs = program.outputs if program.training else recording.returned(returned)
            except ArgumentError as error:
                raise self.misuse(str(error)) from None
            backward = True
            if program.training is None:
                backward = self._ask(recording, source, returned, index, strided=mix is not PLAIN)
        # Asking OneFlow where a tensor lies takes as long as running an op on it, and depends on no value.
        program.brief = program.brief or (index >= WHOLE and index % WHOLE_SHARE != 0)
        second = partial(self._second_cotangent, source) if self.options.grad_order == 2 else None
        observation = recording.finish(second)
        op_dtypes = recording.op_dtypes()
        recording.release()
        failure = observation.backward_failure or observation.second_failure
        if failure is not None and "DualError" in failure.classes:
            raise self.misuse(
                "its backward runs a function of the body's that makes dual calls, which are recorded in the body "
                f"alone: {failure.message}"
            )
        if failure is not None and SECOND_BACKWARD in failure.message:
            raise self.misuse(
                "the body has called backward on what it returns, where a second one is to begin: return it detached, "
                "or pass auto_backward=False or train="
            )
        if failure is not None:
            return Rejection(index, key, program, f"{failure.classes[0]}: {failure.message}")
        swept = mix.dtype if mix.dtype != ORDINARY else None
        return Case(index, key, program, observation, op_dtypes, backward, origin == LAID, swept)

    def _recording(self, index: int, origin: Origin, source: Source, stepper: Replay | None) -> Recording:
        """A recording of a case, not begun."""
        return self.dialect.recording(
            self.reference,
            draw_state=_StateDraw(source),
            omitted=Nothing,
            target=self.dialect.target_name(self.target),
            stepper=stepper,
            foreign=neutral,
            trains=self.options.train is not None,
            refusal=self.dialect.refusal,
            # Of its origin, not of its key: as a remembered case it is called otherwise, and draws the same.
            seed=crc32(f"{self.test}#{index}".encode()) ^ origin.seed & 0xFFFFFFFF,
        )

    def _run_body(self, recording: Recording, key: str, timeout: float | None) -> Any:
        """Run the body while `recording` takes down its calls, and the steps of a training; what it returned."""
        token, folder = current_recording.set(recording), Path.cwd()
        try:
            with (
                deadline(timeout, key),
                Modes(self.reference).applied(),
                warnings_at_users_lines(),
                np.errstate(**self._numpy),
            ):
                returned = self.body()
                if self.options.train is not None:
                    self._train(recording, returned, self.options.train)
                return returned
        finally:
            current_recording.reset(token)
            os.chdir(folder)

    def _train(self, recording: Recording, returned: Any, steps: int) -> None:
        try:
            train(recording, returned, steps, self.options.accumulate)
        except ArgumentError as error:
            raise self.misuse(f"{error} [train={steps}]") from None

    def _heed_bypasses(self, recording: Recording) -> None:
        """Raise what the recording has refused, where the body went on, and a write that it does not hold."""
        if recording.misused is not None:
            name_place(recording.misused, raised_at(recording.misused))
            raise recording.misused
        if recording.bypasses is None or recording.program.inline is not None:
            return  # inline a body may write to both sides
        recording.bypasses.look_at_values()
        found = recording.bypasses.found
        if found is not None:
            done, instead = BYPASSES[found.what]
            usage = UsageError(
                f"{self.test}: the body {done} that it has from .pytorch or .reference, which is no call of the "
                f"Program, so the target would not do it: {instead}"
            )
            name_place(usage, told_at(found.code, found.line))
            raise usage

    def misuse(self, words: str) -> UsageError:
        """What a body returns or makes wrongly, at the place where it is defined."""
        usage = UsageError(f"{self.test}: {words}")
        name_place(usage, defined_at(self.body))
        return usage

    def _ask(self, recording: Recording, source: Source, returned: Any, index: int, *, strided: bool) -> bool:
        """Set what of the Program is to be shown, and where its backward starts; whether the test asks for one."""
        program = recording.program
        if index == WATCHED:
            program.watched = recording.intermediates()
        starts, backward = self._close(recording, returned)
        if self.options.auto_backward:
            program.cotangents = self._cotangents(recording, source, starts, strided=strided)
        return backward

    def _close(self, recording: Recording, returned: Any) -> tuple[Sequence[int], bool]:
        try:
            return self.dialect.close(recording, returned, self.test, auto_backward=self.options.auto_backward)
        except UsageError as error:
            name_place(error, raised_at(error) or defined_at(self.body))
            raise
        except AutotestError:
            raise
        except Exception as error:  # of a checker that the test file registered
            self.raised = error
            raise

    def _cotangents(
        self, recording: Recording, source: Source, starts: Sequence[int], *, strided: bool
    ) -> dict[int, Array]:
        cotangents: dict[int, Array] = {}
        low = self.dialect.least_cotangent
        for id_ in starts:
            dtype, shape, _, _ = recording.reference.describe(recording.values.by_id[id_])
            seed = source.integer(0, 1 << 32)
            if self.options.check_grad_use_random_data:
                cotangents[id_] = fill_values("uniform", seed, shape, dtype, low, 1)
            else:
                cotangents[id_] = np.ones(shape, np.float32 if dtype == "bfloat16" else dtype)
            if strided and len(shape) > 1 and source.index(2, (1 - STRIDED_SHARE, STRIDED_SHARE)):
                recording.program.cotangent_strides[id_] = reversed_strides(shape)
        return cotangents

    @staticmethod
    def _second_cotangent(source: Source, dtype: str, shape: tuple[int, ...]) -> Array:
        return fill_values("uniform", source.integer(0, 1 << 32), shape, dtype, -1, 1)


class _StateDraw:
    """Values for a new module's parameters and buffers, of the size that the layers' own initialisation has."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __call__(self, name: str, data: Array) -> Array:
        if data.dtype.kind != "f":
            return np.array(data)
        low, high = -1.0, 1.0
        if data.ndim >= 2:
            high = float(np.prod(data.shape[1:])) ** -0.5 if data.size else 1.0
            low = -high
        elif name.endswith(("running_var", "weight")):  # a variance, a scale: kept away from zero
            low, high = 0.5, 1.5
        seed = self._source.integer(0, 1 << 32)
        return fill_values("uniform", seed, data.shape, dtype_name(data.dtype), low, high)


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else ""
