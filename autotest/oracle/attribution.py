"""Attribution: which side of a divergence is wrong.

Each side runs twice, so that what comes and goes is told apart. Then both are held against an exact answer: the Program
in float64, by other code than the reference's public functions where there is any. Runs only once per fingerprint, and
within seconds that are counted: a run that is aligned pays nothing.
"""

from __future__ import annotations

import numpy as np

from autotest.budget import Allowance, Budget, OutOfTimeError
from autotest.compare.difference import Difference, Rules, allowed_between
from autotest.compare.divergence import Divergence
from autotest.compare.kinds import KINDS, NUMBERS, in_graph
from autotest.compare.observations import compare
from autotest.compare.values import agreeing
from autotest.oracle.exact import Opinions, array_of, warm_up
from autotest.oracle.spread import SPREADS
from autotest.oracle.weighing import Attribution, Side, Weighing, listed
from autotest.workers.alone import run_alone, run_graph_alone
from autotest.workers.protocol import Death, Target
from autotest.workers.wrapped.configured import under
from dual_object.program.global_layouts import together
from dual_object.program.values import Array
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation
from dual_object.replay.replay import QuietReplay

#: Seconds that one fingerprint may take.
EACH = 2.0
#: Runs of the target: of one that is wrong at every other run, three alike are rare.
RUNS = 3


def attribute(
    reference: Reference,
    target: Target,
    name: str,
    rules: Rules,
    divergence: Divergence,
    budget: Budget[Attribution],
) -> Attribution:
    """Which side of a divergence is wrong, within the budget; takes from it what that took."""
    fingerprint = divergence.fingerprint(name)
    known = budget.found.get(fingerprint)
    if known is not None:
        return known
    own = KINDS[divergence.difference.kind].of_target
    if own:
        return budget.keep(fingerprint, Attribution("target", own))
    if together(divergence.program):
        return budget.keep(fingerprint, Attribution("not judged", "its tensors lie on several ranks"))
    if budget.spent:
        spent = f"the {budget.total:g} s that this process has for verdicts are spent; --blame-total gives more"
        return Attribution("not judged", spent)
    if divergence.difference.kind in NUMBERS:
        warm_up()
    allowance = budget.allow()
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are what it is about, often enough
            attribution = Inquiry(reference, target, rules, divergence, allowance).verdict()
    except OutOfTimeError:
        attribution = Attribution("not judged", f"its {allowance.seconds:g} s were spent")
    budget.take(allowance)
    return budget.keep(fingerprint, attribution)


class Inquiry:
    """One divergence between its two sides; `verdict` raises OutOfTimeError past its `allowance`."""

    def __init__(
        self, reference: Reference, target: Target, rules: Rules, divergence: Divergence, allowance: Allowance
    ) -> None:
        self._reference = reference
        self._difference = divergence.difference
        # Where the target no longer has the configuration, its plain graph is asked, which does not show it.
        configured = under(target, rules, self._difference.configuration, divergence.proof)
        self._target, self._rules = configured or (target, rules)
        self._op = divergence.op
        self._program = divergence.proof
        self._graph = in_graph(self._difference.phase)
        self._allowance = allowance
        trains = self._program.training is not None
        several = trains or (divergence.call is None and divergence.alone is None)
        self._opinions = Opinions(reference, self._program, several=several)

    def verdict(self) -> Attribution:
        """Run each side again, then ask who is right."""
        difference = self._difference
        if difference.again:
            return Attribution("target", "its graph is right at its first call, and wrong at its second")
        expected, again = self._run_reference(), self._run_reference()
        if self._places(expected, again):
            return Attribution("nondeterministic", "the reference gives another result when it runs again")
        if difference.kind == "random":
            return Attribution(
                "target", f"the reference draws from {self._op}'s own distribution; no third opinion on it"
            )
        runs = self._run_target()
        answers = [run for run in runs if isinstance(run, Observation)]
        if len(answers) < len(runs):
            if answers or difference.kind not in ("exception", "structure"):
                return Attribution("nondeterministic", "the target answers at one run, and fails at another")
            return Attribution("target", "it refuses what the reference runs, each time")
        return self._by_repetition(expected, answers) or self._by_opinions(expected, answers[0])

    # Runs.

    def _run_reference(self) -> Observation:
        self._allowance.check()
        return QuietReplay(self._reference, self._program, side="reference").run()

    def _run_target(self) -> list[object]:
        """What the target shows at each of several runs; a Death or refusal where it shows nothing."""
        if not self._graph:
            return list(self._target.eager([self._program] * RUNS))
        results: list[object] = []
        eager = run_alone(self._target, self._program)
        gradients = eager.gradient_keys() if isinstance(eager, Observation) else ()
        for _ in range(RUNS):
            self._allowance.check()
            results.append(run_graph_alone(self._target, self._program, gradients))
            if isinstance(results[-1], Death):
                break
        return results

    def _places(self, expected: Observation, observation: Observation) -> frozenset[tuple[str, str, str]]:
        """Part, key and message of each tensor that differs in the way that the divergence is about.

        The message is empty but where it says which dtype, shape or layout is wrong: what is wrong with numbers, runs
        tell by themselves.
        """
        wanted = self._difference
        differences = compare(self._program, expected, observation, self._rules, graph=self._graph)
        if wanted.kind in NUMBERS:
            return frozenset((d.part, d.key, "") for d in differences if self._of_numbers(d))
        worded = wanted.kind in ("dtype", "shape", "layout")
        return frozenset((d.part, d.key, d.message if worded else "") for d in differences if d.kind == wanted.kind)

    def _of_numbers(self, other: Difference) -> bool:
        wanted = self._difference
        return other.kind in NUMBERS and (other.part, other.key) == (wanted.part, wanted.key)

    def _apart(self, left: Observation, right: Observation) -> bool:
        """Whether two runs give other numbers."""
        if self._difference.kind not in NUMBERS:
            return False
        return any(self._of_numbers(d) for d in compare(self._program, left, right, self._rules, graph=self._graph))

    def _by_repetition(self, expected: Observation, answers: list[Observation]) -> Attribution | None:
        """What it says that the target was run several times; None where it was wrong in one way each time."""
        actual, *others = answers
        places = self._places(expected, actual)
        if any(self._places(expected, other) != places or self._apart(actual, other) for other in others):
            return Attribution("nondeterministic", f"the target gives another result when it runs again ({RUNS} runs)")
        if places:
            return None
        if self._graph:
            return Attribution("target", "its graph gives what the reference gives, and its eager run does not")
        return Attribution("nondeterministic", f"run again, it does not show ({RUNS} runs)")

    def _by_opinions(self, expected: Observation, actual: Observation) -> Attribution:
        """Ask for a third opinion: exact numbers where numbers differ, else what other code of the reference does."""
        self._allowance.check()
        by_numbers = self._by_numbers(expected, actual) if self._difference.kind in NUMBERS else None
        return by_numbers or self._by_facts(expected, self._places(expected, actual))

    # Numbers.

    def _by_numbers(self, expected: Observation, actual: Observation) -> Attribution | None:
        difference, program = self._difference, self._program
        reference, target = (array_of(program, side, difference) for side in (expected, actual))
        if reference is None or target is None or reference.shape != target.shape:
            return None
        if difference.expected is None:
            return None
        allowed = allowed_between(difference.expected, self._rules, signed=difference.kind == "sign")
        wrong = ~agreeing(reference, target, allowed)
        exact = self._opinions.exact(difference, wrong)
        self._allowance.check()
        if exact is None:
            return None
        wrong = wrong & exact.known
        if not wrong.any():
            return None
        sides: dict[Side, Array] = {"reference": reference, "target": target}
        weighing = Weighing(difference.expected.dtype, exact, sides, wrong, allowed)
        if reference.dtype.kind in "fc":
            spread = self._opinions.spread(difference, wrong.shape)
            self._allowance.check()
            room = allowed.atol + allowed.rtol * np.abs(exact.values) + SPREADS * spread
            weighing.allow(np.where(np.isfinite(room) & (spread > 0), room, 0.0))
        decision = weighing.decision()
        if decision is None:
            lost = SPREADS * self._opinions.unsteadiness(difference, wrong.shape)
            self._allowance.check()
            weighing.allow(lost)
            decision = weighing.decision()
        return decision or weighing.undecided()

    # Everything else.

    def _by_facts(self, expected: Observation, places: frozenset[tuple[str, str, str]]) -> Attribution:
        """Ask the reference's kernels, called past its public functions; `shown` is what the target does otherwise."""
        observation, sources = self._opinions.plain
        self._allowance.check()
        if not sources:
            return Attribution("target", f"no third opinion on {self._op}, and the reference gives the same twice")
        who, others = listed(sources), self._places(expected, observation)
        if not others:
            return Attribution("target", f"{who} does as the reference does")
        if others == places:
            return Attribution("reference", f"{who} does as the target does")
        return Attribution("target", f"{who} does as neither side, and the reference gives the same twice")


__all__ = ["Attribution", "attribute"]
