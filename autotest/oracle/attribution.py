"""Culprit: which side of a divergence is wrong.

Each side runs twice, so that what comes and goes is told apart. Then both are held against an exact answer: the Program
in float64, by other code than the reference's public functions where there is any. Runs only once per fingerprint, and
within seconds that are counted: a run that is aligned pays nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from autotest.compare.difference import Difference, Rules, allowed_between
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import KINDS, NUMBERS, in_graph
from autotest.compare.observations import compare
from autotest.compare.values import agreeing, short, wide
from autotest.errors import AutotestError
from autotest.oracle.exact import Exact, Opinions, array_of, warm_up
from autotest.oracle.perturbation import epsilon, smallest_normal
from autotest.workers.protocol import Death, Target
from dual_object.program.global_layouts import distributed
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

Verdict = Literal["target", "reference", "ill_conditioned", "nondeterministic", "undecided", "not judged"]
Side = Literal["target", "reference"]

#: Seconds that one fingerprint may take.
EACH = 2.0
#: Runs of the target: of one that is wrong at every other run, three alike are rare.
RUNS = 3
#: A result may be off by so many times what the nudges have moved it: a few runs do not find the worst.
SPREADS = 8.0
#: Where both sides are as near as the tolerance asks, it is the one that is so many times farther off that differs.
FARTHER = 4.0
_PAIRS: tuple[tuple[Side, Side], ...] = (("target", "reference"), ("reference", "target"))


class OutOfTimeError(AutotestError, TimeoutError):
    """The seconds for one verdict are spent."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A verdict and its reason. `worst` is the element that shows it best: its index, both sides' values, the exact one
    and both distances in ULP; None where no number decides.
    """

    verdict: Verdict
    reason: str
    worst: Mapping[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """What the records and the report keep."""
        return {"verdict": self.verdict, "reason": self.reason, "worst": None if self.worst is None else {**self.worst}}


@dataclass(slots=True)
class Time:
    """Seconds that a run may spend on verdicts: `total` for all, EACH for one. `found` are the verdicts so far, by
    fingerprint: what shows in several tests is judged in the first.
    """

    total: float
    each: float = EACH
    left: float = field(init=False)
    found: dict[str, Culprit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is spent yet."""
        self.left = self.total


def judge(
    reference: Reference, target: Target, name: str, rules: Rules, divergence: Divergence, seconds: Time
) -> Culprit:
    """Which side of a divergence is wrong, within the seconds; takes from them what that took."""
    fingerprint = divergence.fingerprint(name)
    known = seconds.found.get(fingerprint)
    if known is not None:
        return known
    kind = KINDS[divergence.difference.kind]
    if kind.of_target:
        culprit = Culprit("target", kind.of_target)
    elif distributed(divergence.program):
        culprit = Culprit("not judged", "its tensors lie on several ranks")
    elif seconds.left <= 0:
        spent = f"the {seconds.total:g} s that this process has for verdicts are spent; --blame-total gives more"
        return Culprit("not judged", spent)
    else:
        if kind.name in NUMBERS:
            warm_up()
        started = time.monotonic()
        each = min(seconds.each, seconds.left)
        try:
            with np.errstate(all="ignore"):  # infinities and NaN are what it is about, often enough
                culprit = Trial(reference, target, rules, divergence, started + each).verdict()
        except OutOfTimeError:
            culprit = Culprit("not judged", f"its {each:g} s were spent")
        seconds.left -= time.monotonic() - started
    seconds.found[fingerprint] = culprit
    return culprit


class Trial:
    """One divergence between its two sides; `verdict` raises OutOfTimeError past `deadline`."""

    def __init__(
        self, reference: Reference, target: Target, rules: Rules, divergence: Divergence, deadline: float
    ) -> None:
        self._reference = reference
        self._target = target
        self._rules = rules
        self._difference = divergence.difference
        self._op = divergence.op
        self._program = divergence.proof
        self._graph = in_graph(self._difference.phase)
        self._deadline = deadline
        several = divergence.call is None and divergence.alone is None
        self._opinions = Opinions(reference, self._program, several=several)

    def verdict(self) -> Culprit:
        """Run each side again, then ask who is right."""
        difference = self._difference
        if difference.again:
            return Culprit("target", "its graph is right at its first call, and wrong at its second")
        expected, again = self._run_reference(), self._run_reference()
        if self._there(expected, again):
            return Culprit("nondeterministic", "the reference gives another result when it runs again")
        if difference.kind == "random":
            return Culprit("target", f"the reference draws from {self._op}'s own distribution; no third opinion on it")
        runs = self._run_target()
        answers = [run for run in runs if isinstance(run, Observation)]
        if len(answers) < len(runs):
            if answers or difference.kind not in ("exception", "structure"):
                return Culprit("nondeterministic", "the target answers at one run, and fails at another")
            return Culprit("target", "it refuses what the reference runs, each time")
        actual = answers[0]
        shown = self._there(expected, actual)
        if any(self._there(expected, other) != shown or self._apart(actual, other) for other in answers[1:]):
            return Culprit("nondeterministic", f"the target gives another result when it runs again ({RUNS} runs)")
        if not shown:
            if self._graph:
                return Culprit("target", "its graph gives what the reference gives, and its eager run does not")
            return Culprit("nondeterministic", f"run again, it does not show ({RUNS} runs)")
        self._check_time()
        if difference.kind in NUMBERS:
            found = self._by_numbers(expected, actual)
            if found is not None:
                return found
        return self._by_facts(expected, shown)

    # Runs.

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise OutOfTimeError("the seconds for a verdict are spent")

    def _run_reference(self) -> Observation:
        self._check_time()
        return QuietReplay(self._reference, self._program, side="reference").run()

    def _run_target(self) -> list[object]:
        """What the target shows at each of several runs; a Death or refusal where it shows nothing."""
        if not self._graph:
            return list(self._target.eager([self._program] * RUNS))
        found: list[object] = []
        [eager] = self._target.eager([self._program])
        keys = eager.gradient_keys() if isinstance(eager, Observation) else []
        for _ in range(RUNS):
            self._check_time()
            answer = self._target.graph([self._program], [keys] if keys and self._program.cotangents else None)
            found.append(answer[0] if isinstance(answer, list) else answer)
            if isinstance(answer, Death):
                break
        return found

    def _there(self, expected: Observation, seen: Observation) -> frozenset[tuple[str, str, str]]:
        """How a run differs from the reference's at the place that the divergence is about: what exactly is wrong with
        numbers, runs tell by themselves.
        """
        wanted = self._difference
        found = compare(self._program, expected, seen, self._rules, graph=self._graph)
        if wanted.kind in NUMBERS:
            return frozenset((d.part, d.key, "") for d in found if self._of_numbers(d))
        worded = wanted.kind in ("dtype", "shape", "layout")
        return frozenset((d.part, d.key, d.message if worded else "") for d in found if d.kind == wanted.kind)

    def _of_numbers(self, other: Difference) -> bool:
        wanted = self._difference
        return other.kind in NUMBERS and (other.part, other.key) == (wanted.part, wanted.key)

    def _apart(self, left: Observation, right: Observation) -> bool:
        """Whether two runs give other numbers."""
        if self._difference.kind not in NUMBERS:
            return False
        return any(self._of_numbers(d) for d in compare(self._program, left, right, self._rules, graph=self._graph))

    # Numbers.

    def _by_numbers(self, expected: Observation, actual: Observation) -> Culprit | None:
        difference, program = self._difference, self._program
        reference, target = (array_of(program, side, difference) for side in (expected, actual))
        if reference is None or target is None or reference.shape != target.shape:
            return None
        if difference.expected is None:
            return None
        dtype = difference.expected.dtype
        allowed = allowed_between(difference.expected, self._rules, signed=difference.kind == "sign")
        wrong = ~agreeing(reference, target, allowed)
        exact = self._opinions.exact(difference, wrong)
        self._check_time()
        if exact is None:
            return None
        wrong = wrong & exact.known
        if not wrong.any():
            return None
        rounded = _rounded(exact.values, dtype)
        sides: dict[Side, Array] = {"reference": reference, "target": target}
        far = {side: _apart(values, rounded) for side, values in sides.items()}
        right = {side: agreeing(rounded, values, allowed) for side, values in sides.items()}
        lawful = right
        if reference.dtype.kind in "fc":
            spread = self._opinions.spread(difference, wrong.shape)
            self._check_time()
            within = allowed.atol + allowed.rtol * np.abs(exact.values) + SPREADS * spread
            within = np.where(np.isfinite(within) & (spread > 0), within, 0.0)
            # Of zeros that differ in sign neither is any farther.
            lawful = {side: right[side] | ((far[side] > 0) & (far[side] <= within)) for side in sides}
        scene = _Scene(dtype, exact, sides, far, wrong)
        for last in (False, True):
            decided = {side: wrong & lawful[other] & ~lawful[side] for side, other in _PAIRS}
            if decided["target"].any() != decided["reference"].any():
                return scene.convict("target" if decided["target"].any() else "reference", decided)
            if (right["reference"] & right["target"])[wrong].all():
                return self._nearer(scene)
            if (lawful["reference"] & lawful["target"])[wrong].all():
                return scene.ill_conditioned()
            if not last:  # each side is right somewhere by luck, or neither is
                lost = SPREADS * self._opinions.unsteadiness(difference, wrong.shape)
                self._check_time()
                lawful = {side: lawful[side] | ((far[side] > 0) & (far[side] <= lost)) for side in sides}
        return scene.undecided()

    def _nearer(self, scene: _Scene) -> Culprit:
        """Both are as near as the tolerance asks: the one that is much farther off is the one that differs."""
        worst = {side: float(distance[scene.wrong].max()) for side, distance in scene.far.items()}
        for side, other in _PAIRS:
            if worst[side] > FARTHER * worst[other]:
                return scene.convict(side, dict.fromkeys(worst, scene.wrong))
        return scene.undecided()

    # Everything else.

    def _by_facts(self, expected: Observation, shown: frozenset[tuple[str, str, str]]) -> Culprit:
        """Ask the reference's kernels, called past its public functions; `shown` is what the target does otherwise."""
        seen, sources = self._opinions.plain
        self._check_time()
        if not sources:
            return Culprit("target", f"no third opinion on {self._op}, and the reference gives the same twice")
        who, told = _listed(sources), self._there(expected, seen)
        if not told:
            return Culprit("target", f"{who} does as the reference does")
        if told == shown:
            return Culprit("reference", f"{who} does as the target does")
        return Culprit("target", f"{who} does as neither side, and the reference gives the same twice")


@dataclass(frozen=True, slots=True)
class _Scene:
    """Both sides' numbers and the exact ones, at the elements that are wrong."""

    dtype: str
    exact: Exact
    sides: Mapping[Side, Array]
    far: Mapping[Side, Array]
    wrong: Array

    def convict(self, culprit: Side, where: Mapping[Side, Array]) -> Culprit:
        """One side is wrong, at some elements."""
        other: Side = "reference" if culprit == "target" else "target"
        worst = self._worst(culprit, where[culprit])
        if _in_ulps(worst):
            apart, near = (_ulps(worst[f"{side}_ulp"]) for side in (culprit, other))
            return Culprit(culprit, f"{apart} off; the {other} is {near} from {self._whose()}", worst)
        reason = f"{worst[culprit]} where {self._whose()} gives {worst['exact']}; the {other} gives {worst[other]}"
        return Culprit(culprit, reason, worst)

    def ill_conditioned(self) -> Culprit:
        """Neither side is."""
        worst = self._worst("target", self.wrong)
        reason = f"rounding of its inputs alone moves the result as far; {self._both(worst)}"
        return Culprit("ill_conditioned", reason, worst)

    def undecided(self) -> Culprit:
        """Nobody knows."""
        worst = self._worst("target", self.wrong)
        return Culprit("undecided", self._both(worst), worst)

    def _both(self, worst: Mapping[str, Any]) -> str:
        if _in_ulps(worst):
            apart, near = (_ulps(worst[f"{side}_ulp"]) for side in ("target", "reference"))
            return f"the target is {apart} and the reference {near} from {self._whose()}"
        given = f"the target gives {worst['target']} and the reference {worst['reference']}"
        return f"{given} where {self._whose()} gives {worst['exact']}"

    def _whose(self) -> str:
        sources = self.exact.sources
        return f"{_listed(sources)} in float64" if sources else "the reference's float64 run (no third opinion)"

    def _worst(self, culprit: Side, where: Array) -> dict[str, Any]:
        flat = int(np.argmax(np.where(where, self.far[culprit], -1.0)))
        index = np.unravel_index(flat, self.wrong.shape)
        exact = self.exact.values[index]
        told: dict[str, Any] = {"index": [int(i) for i in index], "exact": _plain(short(np.asarray(exact)[()]))}
        for side, values in self.sides.items():
            told[side] = _plain(short(np.asarray(values[index])[()]))
            told[f"{side}_ulp"] = _plain(_distance(values[index], exact, self.dtype))
        return told


def _listed(sources: tuple[str, ...]) -> str:
    first, *rest = sources
    return f"{first} of {' and '.join(rest)}" if rest and first == "finite differences" else " and ".join(sources)


def _rounded(exact: Array, dtype: str) -> Array:
    """The exact values as this dtype holds them."""
    return exact if dtype == "bfloat16" else exact.astype(dtype)


def _apart(left: Array, right: Array) -> Array:
    """|left - right|, infinite where only one is finite or a number; 0 where both are the same infinity, or NaN."""
    left, right = wide(left), wide(right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    distance = np.where(same, 0.0, np.abs(left - right))
    return np.where(np.isnan(distance), np.inf, distance)


def _distance(value: Any, exact: Any, dtype: str) -> float | None:
    """How many units in the last place of the exact value another one is off; None for integers."""
    try:
        unit = epsilon(dtype)
    except KeyError:
        return None
    off = abs(complex(value) - complex(exact))
    if not np.isfinite(off):
        same = value == exact or (value != value and exact != exact)
        return 0.0 if same else float("inf")
    size = max(
        abs(complex(exact)), smallest_normal({"complex64": "float32", "complex128": "float64"}.get(dtype, dtype))
    )
    return float(off / (unit * 2.0 ** np.floor(np.log2(size))))


def _in_ulps(worst: Mapping[str, Any]) -> bool:
    """Whether distances in ULP say anything: not from 0, nor where something is infinite, nor of integers."""
    distances = (worst["target_ulp"], worst["reference_ulp"])
    return bool(worst["exact"]) and all(isinstance(distance, float) for distance in distances)


def _ulps(distance: float) -> str:
    return f"{distance:.1f} ULP" if distance < 1000 else f"{distance:.1e} ULP"


def _plain(value: Any) -> Any:
    """A number as JSON has it: NaN, infinities and complex numbers as text."""
    if isinstance(value, complex) or (isinstance(value, float) and not np.isfinite(value)):
        return str(value)
    return value


__all__ = ["Culprit", "Time", "judge"]
