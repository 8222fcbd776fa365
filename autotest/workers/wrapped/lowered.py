"""A supervisor of a target that may have no modules: its Programs are lowered to functions before they are sent, and
what it shows is told of the modules again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.workers.launch import Launch
from autotest.workers.pending import Answers
from autotest.workers.protocol import Death, GraphFailure
from autotest.workers.supervisor import Supervisor
from dual_object.errors import NotLowered
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.record.lowered import Lowering
from dual_object.record.lowering import lower
from dual_object.replay.adapter import GraphRefusal, Reference
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.replay import QuietReplay

#: So many lowered Programs are kept: a case is lowered before it is judged, run eagerly and run in a graph.
_KEPT = 64


class LoweringSupervisor(Supervisor):
    """A supervisor that lowers what it sends where the target lacks `modules`, on a `reference` that is asked for then.

    A Program that cannot be lowered is not sent: eagerly it comes to an unsupported run, in a graph to a refusal, both
    with the reason. Who asks `unlowered` before can leave such a Program out.
    """

    def __init__(
        self,
        target: str | Launch,
        timeout: float | None,
        default_dtype: str | None = None,
        memory: int | None = None,
        *,
        reference: Callable[[], Reference],
    ) -> None:
        super().__init__(target, timeout, default_dtype, memory)
        self._reference = reference
        self._kept: OrderedDict[int, tuple[Program, Lowering | str]] = OrderedDict()

    def unlowered(self, program: Program) -> str | None:
        """Why the target cannot be asked about a Program for its modules; None where it can."""
        lowering = self._lowered(program) if self._lowers else None
        return lowering if isinstance(lowering, str) else None

    def submit(self, programs: Sequence[Program], *, together: bool = True, enough: int | None = None) -> Answers:
        """Have Programs replayed, lowered where that is needed."""
        if not self._lowers:
            return super().submit(programs, together=together, enough=enough)
        lowered = [self._lowered(program) for program in programs]
        sent = [one.program for one in lowered if isinstance(one, Lowering)]
        return _Restored(super().submit(sent, together=together, enough=enough), lowered)

    def graph(
        self,
        programs: Sequence[Program],
        gradients: Sequence[Sequence[str]] | None,
        again: Sequence[Sequence[Array] | None] | None = None,
        configuration: str = "",
        stage: str | None = None,
    ) -> list[Observation | GraphRefusal] | GraphFailure | Death:
        """Run Programs in ONE static graph, lowered where that is needed."""
        if not self._lowers:
            return super().graph(programs, gradients, again, configuration, stage)
        lowered = [self._lowered(program) for program in programs]
        sent = [(index, one) for index, one in enumerate(lowered) if isinstance(one, Lowering)]
        results: list[Observation | GraphRefusal] = [
            GraphRefusal(True, None, (), one if isinstance(one, str) else "") for one in lowered
        ]
        if not sent:
            return results
        answer = super().graph(
            [one.program for _, one in sent],
            None if gradients is None else [one.gradient_keys(gradients[index]) for index, one in sent],
            None if again is None else [_arrays(one, again[index]) for index, one in sent],
            configuration,
            stage,
        )
        if isinstance(answer, Death):
            return _told(answer, sent[min(answer.case, len(sent) - 1)][1])
        if isinstance(answer, GraphFailure):
            return answer
        for (index, one), result in zip(sent, answer, strict=True):
            asked = () if gradients is None else gradients[index]
            results[index] = one.restored(result, asked) if isinstance(result, Observation) else _refusal(result, one)
        return results

    @property
    def _lowers(self) -> bool:
        return "modules" in self.info().lacks

    def _lowered(self, program: Program) -> Lowering | str:
        """A Program's lowering, or why there is none."""
        kept = self._kept.get(id(program))
        if kept is None or kept[0] is not program:
            kept = program, proved(program, self._reference())
            self._kept[id(program)] = kept
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return kept[1]


class _Restored:
    """Answers of lowered Programs, told of those that they stand for."""

    def __init__(self, answers: Answers, lowered: Iterable[Lowering | str]) -> None:
        self._answers = answers
        self._lowered = list(lowered)

    @property
    def ready(self) -> bool:
        """Whether there is hardly anything to wait for."""
        return self._answers.ready

    def result(self) -> list[Observation | Death]:
        """Wait for them, up to the first that was not asked for."""
        answers = iter(self._answers.result())
        results: list[Observation | Death] = []
        for one in self._lowered:
            if isinstance(one, str):
                results.append(_unsupported(one))
                continue
            answer = next(answers, None)
            if answer is None:
                break
            results.append(_answer(answer, one))
        return results


def proved(program: Program, reference: Reference) -> Lowering | str:
    """A Program's lowering, if the reference shows the same of both; else why there is none."""
    try:
        lowering = lower(program, reference)
    except NotLowered as reason:
        return str(reason)
    if lowering.shown is None:
        return lowering
    with reference.random_apart():
        reference.seed(0)
        seen = QuietReplay(reference, lowering.program, side="reference").run()
    differences = compare(program, lowering.shown, lowering.restored(seen), Rules())
    if differences:
        return f"what its modules call does not do what they do: {differences[0].message}"
    return lowering


def _answer(answer: Observation | Death, lowering: Lowering) -> Observation | Death:
    return _told(answer, lowering) if isinstance(answer, Death) else lowering.restored(answer)


def _told(death: Death, lowering: Lowering) -> Death:
    """How the target ended in a lowered Program, told of the other; what it was at within a module, its words say."""
    place = lowering.place(death.call)
    if place is None:
        return death
    within = f"in {place.within}: {death.last_words}".rstrip(": ") if place.within else death.last_words
    return replace(death, call=place.call, last_words=within)


def _refusal(refusal: GraphRefusal, lowering: Lowering) -> GraphRefusal:
    call, message = lowering.told(refusal.call, refusal.message)
    return replace(refusal, call=call, message=message)


def _arrays(lowering: Lowering, again: Sequence[Array] | None) -> list[Array] | None:
    return None if again is None else lowering.arrays(again)


def _unsupported(reason: str) -> Observation:
    """What comes of a Program that is not sent."""
    failure = Failure(None, "unsupported", (NotLowered.__name__,), reason)
    return Observation(failures=[failure], ended=True)


__all__ = ["LoweringSupervisor", "proved"]
