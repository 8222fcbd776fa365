"""What surrounds a test of a drop-in file: outside of its cases, too, generators draw and dual calls run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autotest.cases.randomness import seeded
from autotest.dropin.duals.recording import AutoTestRecording
from autotest.dropin.errors import refused
from autotest.dropin.generators import item_drawing
from autotest.run.session import Session
from dual_object.program.calls import Call
from dual_object.program.values import Array
from dual_object.record.recording import Recording, outside_cases
from generators import Nothing, PhiloxSource, case_key, drawing


@contextmanager
def surrounded(session: Session, test: str) -> Iterator[None]:
    """Inside the block, generators draw and dual calls run though no case does: draws are seeded by the test's name,
    calls run on both sides in this process.

    That is what the bodies of test methods, setups and modules do outside of `@autotest`; OneFlow's harness compares
    nothing there, and nor does this.
    """
    made: list[Recording] = []

    def outside() -> Recording:
        if not made:
            stepper = session.inline.stepper()
            made.append(Outside(session.reference, stepper))
        return made[0]

    key = case_key(session.options.seed, test, -1)
    with seeded(key, session.reference), drawing(PhiloxSource(key)) as drawn:
        tokens = item_drawing.set(drawn), outside_cases.set(outside)
        try:
            yield
        finally:
            item_drawing.reset(tokens[0])
            outside_cases.reset(tokens[1])
            for recording in made:
                recording.release()


class Outside(AutoTestRecording):
    """The recording of dual calls outside of a case: both sides run each call at once, and the caller gets the target's
    exception.
    """

    def __init__(self, reference: Any, stepper: Any) -> None:
        super().__init__(
            reference, draw_state=_as_it_is, omitted=Nothing, target="oneflow", stepper=stepper, refusal=refused
        )

    def _append(self, call: Call) -> None:
        super()._append(call)
        assert self.stepper is not None
        observation = self.stepper.seen
        if observation.ended:
            failure = observation.failures.pop()
            observation.ended = False
            raise RuntimeError(f"the target's {call.op} raised {failure.classes[0]}: {failure.message}")


def _as_it_is(name: str, data: Array) -> Array:
    return np.array(data)
