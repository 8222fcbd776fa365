"""The judge of one test's cases: holds what the target shows, eagerly and in graphs, against the reference, and
localizes what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from autotest.cases.case import Case
from autotest.cases.dialect import Dialect
from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.compare.evidence.loss_curves import Trained
from autotest.compare.fingerprint import UNSTEADY, classes
from autotest.compare.kinds import NUMBERS, in_graph
from autotest.compare.layouts import eager_differences
from autotest.compare.observations import graph_differences
from autotest.compare.training import earliest
from autotest.judge import second_call
from autotest.judge.blame.accumulation import adds_up
from autotest.judge.blame.localization import (
    capture_of,
    like,
    localize,
    localize_death,
    of_capture,
    of_death,
    of_refusal,
    of_refused_draw,
    only_call,
)
from autotest.judge.blame.within import told_within
from autotest.judge.consensus import Consensus
from autotest.judge.distributions import random_calls, sample_differences, way
from autotest.judge.facts.arguments import kinds_of_arguments
from autotest.judge.facts.conditions import Facts
from autotest.judge.facts.properties import properties
from autotest.judge.facts.shared import Shared
from autotest.judge.faithful import Faithful
from autotest.judge.graph_batches import Ahead, GraphPhase, GraphRun, backward_share
from autotest.judge.judgement import EAGER_FAILED, VERIFIED, Check, Judgement, second_check
from autotest.judge.repetition import nondeterministic, settled
from autotest.judge.second_call import Draw, drawing
from autotest.judge.survey import Survey
from autotest.options import TestOptions
from autotest.oracle.undecidable import ROUNDING, Doubt, decidable
from autotest.workers.alone import run_alone
from autotest.workers.protocol import Death, GraphFailure, Target
from dual_object.program.data_parallel import wrappers
from dual_object.program.global_layouts import together
from dual_object.program.program import Program
from dual_object.program.training import makes_scaler
from dual_object.replay.adapter import GraphRefusal, Reference
from dual_object.replay.observation import Observation

#: So many divergent cases per test, phase and kind are localized call by call; the others share the call.
LOCALIZED = 2
#: So many ways of calling a random op are sampled per test.
MOST_WAYS = 4


class Judge:
    """Judges the cases of one test and one origin on one target; of several ranks, in `consensus` with the others.

    `known` gives what a divergence needs as far as it is known, None where it is not. A crash that is not is run again:
    it may be one of several ways in which the target fails by chance.

    `again` draws the second calls of graphs, by default anew. Graphs that ran `ahead` are not run again.

    What it has found in some cases spares it work on later ones. Remembered cases have a judge of their own, so that a
    run's own cases get the same verdicts whatever is remembered.
    """

    #: Whether the function within a layer is named that diverges, of a target that has layers, too.
    names_functions = False

    def __init__(
        self,
        reference: Reference,
        target: Target,
        options: TestOptions,
        survey: Survey | None = None,
        consensus: Consensus | None = None,
        dialect: Dialect | None = None,
        known: Callable[[Divergence], Sequence[str] | None] = lambda divergence: None,
        again: Draw | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        self.reference = reference
        self.target = target
        self.options = options
        self.survey = survey
        self._consensus = consensus or Consensus()
        self._dialect = dialect or Dialect()
        self._known = known
        # Several ranks would have to agree on what a second call shows, too.
        self._phase = GraphPhase(target, (again or drawing(reference)) if self._consensus.alone else None, ahead)
        self._facts = Facts(reference, target, options.rules)
        self._shared = Shared(self._facts)
        self._faithful = Faithful(reference, options.rules)
        self._localized: dict[tuple[Any, ...], tuple[int, list[Divergence]]] = {}
        #: What the ordinary one of the laid-out cases shows: the same at a corner is no other fault.
        self._ordinary: dict[tuple[str, str, str, str], Divergence] = {}
        #: The ways in which each random op was sampled.
        self._sampled: dict[str, set[tuple[object, ...]]] = {}
        #: What the first refused draw of an op shows stands for all of its kind.
        self._accepting: dict[tuple[str, str], Divergence] = {}

    def judge(self, judgements: Sequence[Judgement], answers: Sequence[Observation | Death]) -> None:
        """Judge cases by what they have shown eagerly, then by what they show in graphs and in many repetitions."""
        self.judge_eager(judgements, answers)
        self.judge_graphs(judgements)

    def judge_eager(self, judgements: Sequence[Judgement], answers: Sequence[Observation | Death]) -> None:
        """Judge cases by what they have shown eagerly."""
        for judgement, answer in zip(judgements, answers, strict=True):
            self._judge_eager(judgement, answer)

    def judge_graphs(self, judgements: Sequence[Judgement], *, eager: bool = True) -> None:
        """Judge cases, which have been judged eagerly, by what they show in graphs and in many repetitions, in `eager`
        ones, too.
        """
        if self.options.check_graph:
            self._judge_graphs(judgements)
        for judgement in judgements:
            if judgement.case.program.random is not None:
                self._judge_samples(judgement, eager=eager)

    def lacking(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program at all; None where it can."""
        if wrappers(program) and not together(program):
            return "DistributedDataParallel averages the gradients of several ranks: run with --ranks 2"
        if program.random is not None and "random" in self.target.info().lacks:
            return f"the target {self.target.info().name} has no random numbers"
        if any(program.modules()) and "modules" in self.target.info().lacks:
            reason = self.target.unlowered(program)
            if reason is not None:
                return f"the target {self.target.info().name} has no modules: {reason}"
        if not together(program):
            return None
        info = self.target.info()
        return None if "global_tensors" in info.capabilities else f"the target {info.name} has no global tensors"

    def refused(self, program: Program) -> list[Divergence]:
        """What the target does with a draw that the reference refuses, where that is no refusal."""
        if self.lacking(program):
            return []
        answer = run_alone(self.target, program)
        return self._with_conditions(of_refused_draw(self.reference, self.target, program, answer))

    def all_refused(self, programs: Sequence[Program]) -> list[list[Divergence]]:
        """The same for each of many draws, which the target sees in one request. That an op takes what it should refuse
        is one divergence, however many draws show it, with the facts of the first.
        """
        able = [program for program in programs if self.lacking(program) is None]
        answers = iter(self.target.eager(able))
        shown: list[list[Divergence]] = []
        for program in programs:
            found = [] if self.lacking(program) else self._refused(program, next(answers))
            shown.append([self._accepting.setdefault(_kind_of(divergence), divergence) for divergence in found])
        return shown

    def _refused(self, program: Program, answer: Observation | Death) -> list[Divergence]:
        """What an answer to a refused draw comes to; each is looked into where its like was not yet."""
        if isinstance(answer, Death):
            found = [of_death(program, answer, "eager_forward")]
        else:
            found = of_refused_draw(self.reference, self.target, program, answer)
        return [
            self._accepting.get(_kind_of(divergence)) or self._with_conditions([divergence])[0] for divergence in found
        ]

    def _judge_eager(self, judgement: Judgement, answer: Observation | Death) -> None:
        case = judgement.case
        if isinstance(answer, Death):
            self._died(judgement, answer, "eager_forward", ())
            return
        judgement.sides.eager = answer
        if self.options.grad_order == 2:
            judgement.graph.second = second_check(case.program, answer)
        if self.survey is not None:
            self.survey.take(case, answer)
        differences = self._agreed_of_case(
            case,
            "eager",
            eager_differences(self.reference, case.program, case.reference, answer, self.options.rules),
        )
        if case.swept is not None and differences and all(found.kind == "unsupported" for found in differences):
            # The test has not asked for this dtype, so it does not fail where the target has no kernels for it.
            judgement.unsupported = f"{self.target.info().name} says that it does not support {case.swept} there"
            return
        differences = self._faithful.left(judgement, differences)
        if differences:
            self._keep(judgement, differences, self._localize(judgement, differences, graph=False))
            judgement.apart = not judgement.divergences

    def _judge_graphs(self, chunk: Sequence[Judgement]) -> None:
        by_key = {judgement.case.key: judgement for judgement in chunk}
        ready: list[Case] = []
        for judgement in chunk:
            if judgement.case.laid_out and properties(judgement.case.program):
                continue  # a corner of its inputs, not of what trains
            judgement.graph.forward = EAGER_FAILED
            eager = judgement.sides.eager
            if eager is not None and (not eager.ended or _in_graph_alone(judgement.case.program, eager)):
                ready.append(judgement.case)
        share = backward_share(ready, self.options.graph_backward)
        for judgement in chunk:
            eager = judgement.sides.eager
            if eager is not None and eager.backward_failure is not None:
                share.discard(judgement.case.key)  # it would fail again, and take the graph's forward with it
        for run in self._phase.run(ready, share):
            self._judge_graph(by_key[run.case.key], run)

    def _judge_graph(self, judgement: Judgement, run: GraphRun) -> None:
        judgement.graph.ran(run.check(), backward=run.backward)
        trains = judgement.case.program.training is not None
        if trains:
            judgement.graph.backward = judgement.graph.training = judgement.graph.forward
        judgement.graph.capture = capture_of(run.result)
        backward = run.backward or trains
        if backward and isinstance(run.result, Observation) and "gradients" not in run.result.shows:
            lacks = "shows no gradients where it accumulates" if trains else "runs forward only"
            judgement.graph.backward = Check("unverified", f"{self.target.info().name} {lacks}")
        in_pieces = of_capture(judgement.case.program, run.result) if self.options.fullgraph else None
        if in_pieces is not None:
            self._keep(judgement, [in_pieces.difference], [in_pieces])
        if isinstance(run.result, Observation):
            self._judge_graph_result(judgement, run, run.result)
        elif isinstance(run.result, Death):
            self._died(judgement, run.result, "graph_forward", run.case.gradient_keys() if run.backward else ())
        elif run.result is not None and not run.skipped:
            self._graph_refused(judgement, run.result, run)

    def _judge_graph_result(self, judgement: Judgement, run: GraphRun, result: Observation) -> None:
        case = run.case
        judgement.sides.graph = result
        if self.survey is not None:
            self.survey.take(case, result, graph=True)
        if case.reference.buffers:
            shown = "buffers" in result.shows
            judgement.graph.state = VERIFIED if shown else Check("unverified", f"{self.target.info().name} shows none")
        differences = self._agreed_of_case(case, "graph", self._graph_differences(judgement, result))
        if not differences:
            self._judge_again(judgement, result, run)
            return
        told = frozenset(difference.told for difference in differences)
        if told <= judgement.plain:
            return
        judgement.plain = told
        if run.batched:
            alone = self._phase.alone(case, run.backward).result
            if isinstance(alone, Observation) and not self._graph_differences(judgement, alone):
                self._keep_in_batch(judgement, differences[0], case.program)
                return
        self._keep(judgement, differences, self._localize(judgement, differences, graph=True))

    def _judge_again(self, judgement: Judgement, first: Observation, run: GraphRun) -> None:
        """Judge what the same graph showed at a second call, where its first call and eager are sound."""
        second, again, rules = run.second, first.again, self.options.rules
        if judgement.divergences or isinstance(second, str) or again is None:
            reason = second if isinstance(second, str) else "its first call diverges"
            judgement.graph.again = Check("unverified", reason)
            return
        judgement.graph.again = VERIFIED
        differences = second_call.differences(second, again, rules)
        if not differences:
            return
        if run.batched:
            alone = self._phase.alone(judgement.case, run.backward).result
            if isinstance(alone, Observation) and (
                alone.again is None or not second_call.differences(second, alone.again, rules)
            ):
                self._keep_in_batch(judgement, differences[0], second.program)
                return
        program, left = judgement.case.program, partial(self._decidable, judgement)
        judged = second_call.judge(self.reference, self.target, program, second, again, differences, rules, left)
        # What eager computes wrong from these values is told as any other of its divergences.
        kept = [*judged] if any(divergence.difference.again for divergence in judged) else self._with_conditions(judged)
        self._keep(judgement, differences if kept else [], kept)

    def _keep_in_batch(self, judgement: Judgement, difference: Difference, program: Program) -> None:
        """Keep what a case's graph shows only where other cases share it: no call of its own is to blame. What the
        reference does not define, such as memory that nobody has written, may be another in any run.
        """
        found = Divergence(difference, program, only_call(program), sides=judgement.sides)
        for left in self._decidable(judgement, [found]):
            message = f"{left.difference.message}; alone in its graph it does not"
            told = replace(left.difference, kind="batch_only", message=message)
            self._keep(judgement, [told], [Divergence(told, judgement.case.program, None, sides=judgement.sides)])

    def _graph_differences(self, judgement: Judgement, result: Observation) -> list[Difference]:
        """How the graph differs."""
        case, rules, eager = judgement.case, self.options.rules, judgement.sides.eager
        assert eager is not None, "what has no eager result has no graph"
        wrong = any(not in_graph(divergence.difference.phase) for divergence in judgement.divergences)
        apart = wrong or judgement.apart
        return graph_differences(case.program, case.reference, eager, result, rules, apart=apart)

    def _graph_refused(self, judgement: Judgement, result: GraphRefusal | GraphFailure, run: GraphRun) -> None:
        program = judgement.case.program
        if run.batched and isinstance(result, GraphFailure):
            message = f"its graph raised {result.classes[0]}: {result.message}; alone in its graph it does not"
            together = Difference("graph_forward", "batch_only", "the program", message)
            self._keep(judgement, [together], [Divergence(together, program, None)])
        else:
            refused = of_refusal(program, result)
            # One that failed as a whole has cost a process, and so would each experiment.
            believed = self._believed(refused) if isinstance(result, GraphFailure) else None
            refused = believed or self._with_conditions([refused], graph=True)[0]
            if run.once is not None:
                refused = nondeterministic(refused, f"in a graph with others the target {run.once.sentence()}")
            self._keep(judgement, [refused.difference], [refused])
            if self._dialect.passes_graph(self.reference, self.target, program):
                judgement.unseen.append(judgement.divergences[-1])

    def _judge_samples(self, judgement: Judgement, *, eager: bool) -> None:
        """Compare many repetitions of each random op, once per test and way of calling it: of one case nothing random
        can be compared.
        """
        program, shown = judgement.case.program, judgement.sides.eager
        modes = [False] * eager + [True] * (judgement.graph.forward == VERIFIED)
        if judgement.divergences or shown is None or shown.ended or not (modes and self._consensus.alone):
            return
        for index, op, alone in random_calls(self.reference, program):
            sampled, called = self._sampled.setdefault(op, set()), way(alone)
            if len(sampled) == MOST_WAYS or called in sampled:
                continue
            sampled.add(called)
            for graph in modes:
                divergences = sample_differences(self.reference, self.target, program, index, alone, graph=graph)
                self._keep(judgement, [divergence.difference for divergence in divergences], divergences)

    def _keep(self, judgement: Judgement, differences: Sequence[Difference], divergences: Sequence[Divergence]) -> None:
        """Keep the divergences that `differences` were blamed on, and which of them the harness of the dialect would
        have passed.
        """
        case = judgement.case
        if case.program.training is not None and divergences:
            trained = Trained(case.program, judgement.sides, differences[0])
            divergences = [replace(divergence, trained=trained) for divergence in divergences]
        judgement.divergences += divergences
        judgement.unseen += self._dialect.unseen(differences, divergences, case.program, backward=case.backward)

    def _died(
        self,
        judgement: Judgement,
        death: Death,
        phase: Literal["eager_forward", "graph_forward"],
        gradients: Sequence[str],
    ) -> None:
        judgement.death = death
        program = judgement.case.program
        divergence = of_death(program, death, phase)
        signature = (divergence.call, *self._signature(program, [divergence.difference]))
        _, known = self._localized.get(signature, (0, []))
        if not known:  # each look at it costs a worker
            known = [self._look_at_death(judgement.case, divergence, gradients)]
            self._localized[signature] = (1, known)
        elif UNSTEADY in known[0].facts:  # what comes a second time in one test is no chance
            known = [replace(known[0], facts=())]
        blamed = replace(known[0], program=program)
        if known[0].program is not program and known[0].difference.kind == divergence.difference.kind:
            difference = replace(divergence.difference, call=known[0].call)
            blamed = replace(blamed, difference=difference, last_words=divergence.last_words)
        self._keep(judgement, [blamed.difference], [blamed])

    def _look_at_death(self, case: Case, death: Divergence, gradients: Sequence[str]) -> Divergence:
        """What a death is told as: blamed on a call, or as what comes instead when it does not come back."""
        believed = self._believed(death) if death.difference.kind == "crash" and death.call is not None else None
        if believed is not None:
            return believed
        graph = in_graph(death.difference.phase)
        [localized] = self._with_conditions([localize_death(self.reference, self.target, death)], graph=graph)
        kind = death.difference.kind
        if kind not in ("crash", "timeout") or self._known(localized) is not None or not self._consensus.alone:
            return localized
        rules = self.options.rules
        instead = settled(self.reference, self.target, death, case.reference, rules, gradients)
        if instead is None:
            return localized
        if instead.difference.kind == kind:  # by chance: what its inputs have did not bring it about
            return instead
        return self._with_conditions([instead], graph=graph)[0]

    def _believed(self, found: Divergence) -> Divergence | None:
        """A divergence with what it needs where its op is known to show it on inputs like its own; None elsewhere."""
        needs = self._known(replace(found, facts=tuple(classes(properties(found.program)))))
        return None if needs is None else replace(found, facts=tuple(needs))

    def _localize(self, judgement: Judgement, differences: Sequence[Difference], *, graph: bool) -> list[Divergence]:
        """Run the calls of the first `LOCALIZED` such cases one by one; later cases of the same ops share what was
        found.
        """
        case, sides = judgement.case, judgement.sides
        signature = self._signature(case.program, differences)
        reference, target = self.reference, self.target
        count, known = self._localized.get(signature, (0, []))
        if count >= LOCALIZED and len(known) == 1:
            first = known[0]
            wanted = (first.difference.phase, first.difference.kind)
            difference = next((d for d in differences if (d.phase, d.kind) == wanted), differences[0])
            difference = replace(difference, blamed=first.difference.blamed)
            whole = like(case.program, first)
            return [Divergence(difference, whole, first.call, first.alone, sides, facts=first.facts)]
        if count >= LOCALIZED and not self._consensus.alone:  # what was found alone may differ from rank to rank
            return [Divergence(differences[0], case.program, differences[0].call, sides=sides)]
        rules, agreed = self.options.rules, self._agreed
        told: list[Divergence] = []
        shared: list[Divergence] = []
        for found in localize(reference, target, case.program, differences, rules, sides, graph=graph, agreed=agreed):
            before = self._told_before(case, found)
            told += self._looked_at(judgement, found, graph=graph) if before is None else [before]
            # The ordinary case may have other calls: what later cases share are the calls of this one.
            shared += told[len(shared) :] if before is None else [replace(found, facts=before.facts)]
        if _ordinary(case) and not self._ordinary:
            self._ordinary = {_told_by(found): found for found in told}
        if told:
            self._localized[signature] = (count + 1, shared)
        return told

    def _told_before(self, case: Case, found: Divergence) -> Divergence | None:
        """A divergence as one that the test has shown before: at its ordinary case, or with all that this one needs."""
        if case.laid_out and _told_by(found) in self._ordinary:
            return self._ordinary[_told_by(found)]
        return self._shared.told(found) if self._consensus.alone else None

    def _looked_at(self, judgement: Judgement, found: Divergence, *, graph: bool) -> list[Divergence]:
        """A divergence with what it needs; nothing, where the reference does not define the answer."""
        reference, rules = self.reference, self.options.rules
        left = self._decidable(judgement, [found])
        left = told_within(reference, self.target, left, rules, graph=graph, always=self.names_functions)
        left = self._with_conditions(left, graph=graph)
        for one in left:
            self._shared.note(one)
        return left

    def _signature(self, program: Program, differences: Sequence[Difference]) -> tuple[Any, ...]:
        """What cases have in common that share the blamed call and its facts: all their calls, the kinds of these
        calls' arguments, dtypes, differences and properties of inputs.
        """
        calls = tuple((call.kind, call.op, *kinds_of_arguments(call)) for call in program.calls)
        dtypes = tuple(x.dtype for x in program.inputs)
        kinds = tuple(sorted({(d.phase, d.kind, d.buffer) for d in differences}))
        return calls, dtypes, kinds, properties(program)

    def _decidable(self, judgement: Judgement, divergences: Sequence[Divergence]) -> list[Divergence]:
        """What of the divergences the reference defines; the case keeps its doubts about the rest."""
        left, doubts = decidable(self.reference, divergences)
        judgement.doubts += doubts
        standing: list[Divergence] = []
        for found in left:
            if self._consensus.alone and adds_up(self.reference, self.target, found, self.options.rules):
                judgement.doubts.append(Doubt(found.op, found.difference.phase, ROUNDING))
            else:
                standing.append(found)
        return standing

    def _with_conditions(self, divergences: Sequence[Divergence], *, graph: bool = False) -> list[Divergence]:
        """The divergences with what their inputs need for them to show; of several ranks as they are, for ranks would
        have to agree on each experiment.
        """
        if not self._consensus.alone:
            return list(divergences)
        return self._facts.with_conditions(divergences, graph=graph)

    def _agreed_of_case(self, case: Case, mode: str, differences: list[Difference]) -> list[Difference]:
        """The differences of all ranks in a case; of a training, where any rank has seen the first of them."""
        agreed = self._agreed(f"{case.key} {mode}", differences)
        return agreed if self._consensus.alone else earliest(case.program, agreed)

    def _agreed(self, place: str, differences: list[Difference]) -> list[Difference]:
        """The differences of all ranks: whatever one of them has to look at again, all run again."""
        return self._consensus.agree(place, differences)


def _ordinary(case: Case) -> bool:
    return case.laid_out and case.swept is None and not properties(case.program) - {"0-dim"}


def _kind_of(divergence: Divergence) -> tuple[str, str]:
    return divergence.op, divergence.difference.kind


def _told_by(divergence: Divergence) -> tuple[str, str, str, str]:
    """Op, phase, kind and buffer; a wrong number is one, whether it is 0 for 1.5 or 0 for NaN."""
    difference = divergence.difference
    kind = "number" if difference.kind in NUMBERS else difference.kind
    return divergence.op, difference.phase, kind, difference.buffer


def _in_graph_alone(program: Program, eager: Observation) -> bool:
    """Whether a training may do in a graph what it does not eagerly: a target's scaler may be made for graphs."""
    if program.training is None or not eager.failures:
        return False
    call = eager.failures[-1].call
    return call is not None and makes_scaler(program.calls[call])
