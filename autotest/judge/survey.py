"""The survey of a test's errors: by op, dtype, device and phase, the largest error of what was accepted, in units of
what the tolerance table allows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from autotest.cases.case import Case
from autotest.compare.difference import Difference, Part
from autotest.compare.tolerance import Tolerance, tolerance
from autotest.compare.ulp import ulps
from autotest.compare.values import agreeing
from autotest.options import TestOptions
from autotest.oracle.perturbation import Reruns, compared_array
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation, Seen

#: What is surveyed of a test: op, dtype, device, phase.
Place = tuple[str, str, str, str]
#: So many ops of a Program name it; one of more is told by its first and last ones.
_NAMED = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Error:
    """The largest error of one op, dtype, device and phase.

    Attributes:
        share, ulp: the error in units of what the tolerance table allows, and in units in the last place.
        key: the case that shows it.
        reference, target: how far each side is off the reference's float64 run, as shares like `share`; None where that
            cannot be run.
    """

    share: float
    ulp: float
    key: str
    reference: float | None
    target: float | None


class Survey:
    """The largest errors of one test. With `exact` the reference also runs each case in float64, which costs a run per
    case.
    """

    def __init__(self, reference: Reference, options: TestOptions, *, exact: bool) -> None:
        self._reference = reference
        self._options = options
        self._exact = exact
        self._largest: dict[Place, Error] = {}

    def take(self, case: Case, answer: Observation, *, graph: bool = False) -> None:
        """Measure how far a side is off the reference in a case; what the tolerance does not accept is a divergence,
        and not measured.
        """
        side = "graph" if graph else "eager"
        reruns = Reruns(self._reference, case.program, several=False) if self._exact else None
        for part, key, expected, actual in _pairs(case.reference, answer):
            if expected.data.dtype.kind not in "fc" or expected.dtype != actual.dtype or expected.shape != actual.shape:
                continue
            phase = {"gradient": "backward", "buffer": "state" if graph else "forward"}.get(part, "forward")
            place = (op_of(case), expected.dtype, expected.device.partition(":")[0], f"{side}_{phase}")
            error = self._error(case, part, key, expected, actual, reruns)
            held = self._largest.get(place)
            if error is not None and (held is None or error.share > held.share):
                self._largest[place] = error

    def _error(
        self, case: Case, part: Part, key: str, expected: Seen, actual: Seen, reruns: Reruns | None
    ) -> Error | None:
        rules = self._options.rules
        accepted = agreeing(
            expected.data, actual.data, tolerance(expected.dtype, expected.device, rules.rtol, rules.atol)
        )
        measured = accepted & np.isfinite(expected.data) & np.isfinite(actual.data)
        if not measured.any():
            return None
        table = tolerance(expected.dtype, expected.device, None, None)
        shares: list[float | None] = [None, None]
        if reruns is not None and reruns.exact is not None:
            question = Difference("eager_forward", "value", "", "", part=part, key=key)
            exact = compared_array(reruns.program, reruns.exact, question)
            if exact is not None and exact.shape == expected.shape:
                shares = [_share(exact, side.data, table, measured) for side in (expected, actual)]
        apart = ulps(expected.data, actual.data, expected.dtype)[measured]
        share = _share(expected.data, actual.data, table, measured)
        return Error(share, float(apart.max()), case.key, *shares)

    def rows(self) -> Iterator[Mapping[str, object]]:
        """What was found, as the records keep it."""
        options = self._options
        own = None if options.own_tolerance is None else [*options.own_tolerance]
        for (op, dtype, device, phase), error in sorted(self._largest.items()):
            table = tolerance(dtype, device, None, None)
            yield {
                "op": op,
                "dtype": dtype,
                "device": device,
                "phase": phase,
                "share": error.share,
                "ulp": error.ulp,
                "key": error.key,
                "table": [table.rtol, table.atol],
                "own": own,
                "because": options.because,
                "reference": error.reference,
                "target": error.target,
            }


def op_of(case: Case) -> str:
    """The ops of a case, such as `matmul` or `matmul+relu`."""
    ops = list(dict.fromkeys(case.program.ops()))
    return "+".join(ops if len(ops) <= _NAMED else [ops[0], "...", ops[-1]]) or "no op"


def _pairs(expected: Observation, actual: Observation) -> Iterator[tuple[Part, str, Seen, Seen]]:
    """What both sides show of one thing."""
    for id_, output in expected.outputs.items():
        if id_ in actual.outputs:
            yield "output", str(id_), output, actual.outputs[id_]
    for key, gradient in expected.gradients.items():
        other = actual.gradients.get(key)
        if gradient is not None and other is not None:
            yield "gradient", key, gradient, other
    for key, buffer in expected.buffers.items():
        if key in actual.buffers:
            yield "buffer", key, buffer, actual.buffers[key]


def _share(expected: Array, actual: Array, allowed: Tolerance, measured: Array) -> float:
    """The largest error as a share of what is allowed; 0 where there is none."""
    with np.errstate(all="ignore"):
        left = expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64)
        error = np.abs(actual - left)
        share = np.where(error == 0, 0.0, error / (allowed.atol + allowed.rtol * np.abs(left)))[measured]
    return float(np.nan_to_num(share, nan=0.0, posinf=1e12).max())
