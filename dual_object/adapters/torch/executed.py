"""The targets `torch:EXECUTOR`: eagerly PyTorch itself, in a graph what an executor has made of a Program's source."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator, Sequence

import torch

from dual_object.adapters.torch.adapter import Adapter as EagerAdapter
from dual_object.adapters.torch.executors import Compiled, Executor, NotCaptured, make_executor
from dual_object.adapters.torch.executors.body import Batch, Body
from dual_object.adapters.torch.executors.private import cause
from dual_object.errors import StructureError
from dual_object.program.calls import op_name
from dual_object.program.program import Program
from dual_object.program.strides import laid
from dual_object.program.values import Array
from dual_object.replay.adapter import GraphRefusal, GraphRequest, TargetInfo
from dual_object.replay.asked.executors import REFUSES, AskedExecutor, versions_of
from dual_object.replay.modes import Modes
from dual_object.replay.observation import Observation, Seen, class_names, first_words
from dual_object.replay.reading import Finished, observe
from dual_object.replay.replay import Replay
from dual_object.replay.tracing import TraceRefused, keep, obstacle, run_calls, setup_calls

#: What becomes of one Program.
Result = Observation | GraphRefusal
#: What a body may ask of a tensor without asking for its values: nothing of that breaks a graph.
_METADATA = frozenset(
    {"size", "dim", "ndimension", "numel", "nelement", "len", "stride", "storage_offset", "is_contiguous"}
    | {"is_floating_point", "is_complex", "is_signed", "element_size", "get_device"}
)


class Adapter(EagerAdapter):
    """PyTorch whose static graphs are made and run by one of its executors."""

    def __init__(self, asked: AskedExecutor) -> None:
        super().__init__()
        self.name = asked.target
        self._packages = versions_of(asked)
        self.executor: Executor = make_executor(asked)

    def info(self) -> TargetInfo:
        """PyTorch's own, under the name of the target, with the packages that it runs on besides."""
        info = super().info()
        environment = {**info.environment, self.name: torch.__version__, **self._packages}
        return dataclasses.replace(
            info,
            name=self.name,
            environment=environment,
            capabilities=("compiled_graphs",),
            shares=(self.name,) if self.executor.takes_batches else (),
        )

    def graph(self, request: GraphRequest) -> list[Result]:
        """Run all Programs, in one callable where the executor takes many."""
        wanted = request.gradients or [()] * len(request.programs)
        again = request.again or [None] * len(request.programs)
        asked = [_Asked(*one) for one in zip(request.programs, wanted, again, strict=True)]
        results: dict[int, Result] = {}
        for index, one in enumerate(asked):
            reason = obstacle(one.program, inside=False)
            limit = self._limit(one.program) if reason is None else None
            if reason is not None or limit is not None:
                results[index] = GraphRefusal(True, None, (), reason or limit or "", uncaptured=limit is not None)
        able = [index for index in range(len(asked)) if index not in results]
        together = [index for index in able if self.executor.takes_batches and not _reads_values(asked[index].program)]
        self.phase = "graph"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tracers warn of their own internals
                for indices in (together, *([index] for index in able if index not in together)):
                    found = self._narrowed([asked[index] for index in indices])
                    results.update(zip(indices, found, strict=True))
        finally:
            self.phase = "eager"
        return [results[index] for index in range(len(asked))]

    def _limit(self, program: Program) -> str | None:
        """Why the executor is known not to do what a Program does."""
        limits = self.executor.limits
        ops = [op_name(call) for call in program.calls if call.kind in ("method", "set") or not call.operands()]
        op = next((op for op in ops if op in limits), None)
        return None if op is None else f"{self.name} {limits[op]} ({op})"

    def _narrowed(self, asked: Sequence[_Asked]) -> list[Result]:
        """What becomes of each. A batch that fails, or is not captured whole, runs again without the one that it comes
        of; in halves where nobody tells.
        """
        if not asked:
            return []
        if len(asked) == 1:
            return [self._alone(asked[0])]
        members: list[_Member] = []
        try:
            for one in asked:
                members.append(_Member(self, one))
            seen = self._run(members)
            if all(one.capture is not None and one.capture.outcome == "captured" for one in seen):
                return [*seen]
            blamed = None
        except Exception as error:  # whichever raises, raises again by itself
            blamed = _blamed(members, error) if len(members) == len(asked) else len(members)
        if blamed is None:
            half = len(asked) // 2
            return [*self._narrowed(asked[:half]), *self._narrowed(asked[half:])]
        others = self._narrowed([*asked[:blamed], *asked[blamed + 1 :]])
        return [*others[:blamed], self._alone(asked[blamed]), *others[blamed:]]

    def _alone(self, asked: _Asked) -> Result:
        """One Program in a callable of its own."""
        try:
            member = _Member(self, asked)
        except TraceRefused as refused:
            return refused.as_refusal()
        try:
            [seen] = self._run([member])
        except TraceRefused as refused:
            return refused.as_refusal()
        except NotCaptured as reason:
            call = member.body.call_of(reason.__cause__ or reason)
            return GraphRefusal(True, call, reason.classes, f"{self.name} {REFUSES} {reason}", uncaptured=True)
        except Exception as error:
            raised = cause(error)
            return GraphRefusal(False, member.body.call_of(error), class_names(raised), first_words(raised))
        return seen

    def _run(self, members: Sequence[_Member]) -> list[Observation]:
        """Compile the members as one, call that, and call it again where one of them has a second call."""
        module = members[0].body.module
        if len(members) > 1:
            module = Batch([member.body.module for member in members], [len(m.program.inputs) for m in members])
        with _state_kept(members), Modes(self).applied():
            compiled = self.executor.compile(module, [x for member in members for x in member.examples()])
        seen = self._called(compiled, members, [member.first for member in members])
        if any(member.again is not None for member in members):
            for one in seen:
                keep(one)
            second = self._called(compiled, members, [member.second() for member in members])
            for member, one, again in zip(members, seen, second, strict=True):
                one.again = None if member.again is None else again
        for one in seen:
            one.capture = compiled.capture()
        return seen

    def _called(self, compiled: Compiled, members: Sequence[_Member], runs: Sequence[Replay]) -> list[Observation]:
        """What the members show when the callable gets the inputs of `runs`."""
        inputs = [run.values.by_id[x.id] for run in runs for x in run.program.inputs]
        for member in members:
            member.drop_gradients()
        with Modes(self).applied(), torch.set_grad_enabled("gradients" in self.executor.shows):
            results = compiled(*inputs)
        shares = results if len(members) > 1 else [results]
        for member, run, share in zip(members, runs, shares, strict=True):
            member.bind(run, share)
        if len(members) > 1:  # AOTAutograd has one backward for all of them
            starts = [start for member, run in zip(members, runs, strict=True) for start in member.starts(run)]
            if starts:
                self.backward([tensor for tensor, _ in starts], [array for _, array in starts])
        finished = []
        for member, run in zip(members, runs, strict=True):
            alone = len(members) == 1 and member.backward
            program = dataclasses.replace(run.program, second_cotangents={})
            if not alone:
                program.cotangents = {}
            finished.append(Finished(self, program, run.values, run.seen))
        observed = observe(finished, self)
        for member, one in zip(members, observed, strict=True):
            one.shows = self.executor.shows
            one.gradients = member.gradients(one)
        return observed


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """One Program of a request, the leaves whose gradients are wanted, and its inputs' values at a second call."""

    program: Program
    keys: Sequence[str]
    again: Sequence[Array] | None


class _Member:
    """One Program that is compiled. Raises TraceRefused where its modules cannot be made."""

    def __init__(self, adapter: Adapter, asked: _Asked) -> None:
        self.program = asked.program
        self.again = asked.again
        self._keys = frozenset(asked.keys)
        self.backward = bool(asked.keys) and "gradients" in adapter.executor.shows
        self._adapter = adapter
        self.first = self._placed(self.program)
        run_calls(self.first, setup_calls(self.program))
        self.modules = self.first.values.modules
        self.body = Body(self.program, self.modules, hosts="hosts" in adapter.executor.shows)

    def _placed(self, program: Program) -> Replay:
        replay = Replay(self._adapter, program)
        for x in program.inputs:
            replay.place(x)
        if replay.seen.ended:
            raise TraceRefused(replay.seen.failures[-1])
        return replay

    def examples(self) -> list[torch.Tensor]:
        """Its inputs once more, for an executor to run it on."""
        placed = self._placed(self.program)
        return [placed.values.by_id[x.id] for x in self.program.inputs]

    def second(self) -> Replay:
        """The run of its second call, with the modules as they are; where there is none, its first inputs again: the
        callable runs all of its Programs.
        """
        arrays = [x.data for x in self.program.inputs] if self.again is None else self.again
        inputs = [dataclasses.replace(x, data=array) for x, array in zip(self.program.inputs, arrays, strict=True)]
        replay = self._placed(dataclasses.replace(self.program, inputs=inputs))
        replay.values.modules = self.modules
        replay.values.by_id.update(self.modules)
        return replay

    def buffers(self) -> Iterator[torch.Tensor]:
        """Those of its modules."""
        for module in self.modules.values():
            yield from self._adapter.buffers(module).values()

    def drop_gradients(self) -> None:
        """Take away the gradients of its modules' parameters."""
        for module in self.modules.values():
            for parameter in self._adapter.parameters(module).values():
                parameter.grad = None

    def gradients(self, seen: Observation) -> dict[str, Seen | None]:
        """What its backward gave each leaf; none where it has no backward."""
        if not self.backward:
            return {}
        if not self._adapter.executor.zero_gradients:
            return seen.gradients
        return {
            key: None if key not in self._keys and gradient is not None and not gradient.data.any() else gradient
            for key, gradient in seen.gradients.items()
        }

    def bind(self, run: Replay, results: Sequence[object]) -> None:
        """Take in what its body returned."""
        source = self.body.source
        shown = len(source.returned)
        run.values.by_id.update(zip(source.returned, results[:shown], strict=True))
        for index, value in zip(source.hosts, results[shown:], strict=True):
            try:
                run.bind(index, self.program.calls[index], value)
            except StructureError as error:
                run.seen.structures[index] = str(error)

    def starts(self, run: Replay) -> Iterator[tuple[torch.Tensor, Array]]:
        """Where its backward starts, and from what."""
        if not self.backward:
            return
        for id_, array in self.program.cotangents.items():
            tensor = run.values.by_id[id_]
            if tensor.requires_grad:
                yield tensor, laid(array, self.program.cotangent_strides.get(id_))


@contextlib.contextmanager
def _state_kept(members: Sequence[_Member]) -> Iterator[None]:
    """While it lasts buffers may change: a tracer runs the modules once."""
    kept = [(buffer, buffer.detach().clone()) for member in members for buffer in member.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, before in kept:
                buffer.copy_(before)


def _blamed(members: Sequence[_Member], error: Exception) -> int | None:
    """Whose body an exception came out of; None where that cannot be told."""
    bodies = (
        index for index, member in enumerate(members) if member.body.call_of(error.__cause__ or error) is not None
    )
    return next(bodies, None)


def _reads_values(program: Program) -> bool:
    """Whether the body reads plain values that a graph has to break for."""
    return any(
        call.operands() and call.out is not None and not call.results()
        for call in program.calls
        if call.kind != "get" and call.op not in _METADATA
    )


__all__ = ["Adapter"]
