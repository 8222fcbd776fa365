"""The ranks of a run, from inside one of them: what all do together, and the note that each leaves for the launcher."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from autotest.compare.difference import Difference
from autotest.compare.divergence import Row
from autotest.errors import EnvironmentFault
from autotest.judge.consensus import Consensus
from autotest.workers.protocol import GraphFailure
from dual_object.program.calls import Call, Input, op_name
from dual_object.program.data_parallel import joined, part_of, wrappers, wraps
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import Distributed, GraphRefusal
from dual_object.replay.observation import Failure, Observation
from dual_object.replay.reading import Finished
from dual_object.replay.replay import QuietReplay

#: A note is one write of so many bytes at most, so that the launcher never reads half of one.
NOTE_BYTES = 4096

GraphAnswer = list[Observation | GraphRefusal] | GraphFailure
Stage = Literal["starting", "refused", "ready", "ended"]


@dataclass(frozen=True, slots=True)
class Note:
    """What a rank does: its stage, the test, the case and the op, the configuration under which a graph is built;
    whether it waits for the other ranks there.

    `said` is the sentence of a rank that refused to start, or what failed where the others may still be. `status` is
    pytest's exit status where the tests have ended. `step` grows with each note.
    """

    stage: Stage = "starting"
    test: str = ""
    key: str = ""
    op: str = ""
    configuration: str = ""
    waits: bool = False
    said: str = ""
    status: int | None = None
    step: int = 0

    def place(self) -> str:
        """Where the rank is, for people."""
        at = f"{self.key or self.test or 'the start'}"
        op = f"{self.op} under {self.configuration}" if self.configuration else self.op
        return f"{at} ({op})" if op else at


class Notes:
    """The file in which a rank notes what it does."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        self.note = Note()

    def write(self, **changes: Any) -> None:
        """Note what has changed."""
        self.note = replace(self.note, step=self.note.step + 1, **changes)
        data = json.dumps(asdict(self.note)).encode()
        if len(data) > NOTE_BYTES:
            data = json.dumps(asdict(replace(self.note, test="", key="", op="", said=self.note.said[:1000]))).encode()
        os.pwrite(self._descriptor, data.ljust(NOTE_BYTES), 0)

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_note(path: Path) -> Note:
    """What a rank noted last; the note of a rank that starts, where there is none yet."""
    data = path.read_bytes() if path.exists() else b""
    return Note(**json.loads(data)) if data.strip() else Note()


class Peers(Consensus):
    """The consensus of all ranks of the run. What they share they share in the same order, at the same places."""

    def __init__(self, adapter: Distributed, notes: Notes | None = None) -> None:
        self._adapter = adapter
        self.notes = notes
        self.rank = adapter.rank
        self.size = adapter.world_size

    @property
    def alone(self) -> bool:
        """Always false."""
        return False

    def share(self, place: str, own: Any) -> list[Any]:
        """What every rank passes at `place`, in the order of the ranks; `own` is this rank's, JSON data.

        Raises EnvironmentFault where another rank is elsewhere: from there on nothing can be compared.
        """
        self._write(waits=True)
        parts = [json.loads(data) for data in self._adapter.gather(json.dumps([place, own]).encode())]
        self._write(waits=False)
        for rank, (where, _) in enumerate(parts):
            if where != place:
                raise EnvironmentFault(
                    f"the ranks have parted: rank {rank} is at {where}, but should be at {place}, as rank "
                    f"{self.rank} is; every rank must run the same calls in the same order"
                )
        return [part for _, part in parts]

    def starts(self, test: str, key: str) -> None:
        """Note the case that begins."""
        self._write(test=test, key=key, op="", configuration="", said="")

    def ends(self) -> None:
        """Note that the case has ended."""
        self._write(key="", op="", configuration="")

    def calls(self, op: str, configuration: str = "") -> None:
        """Note the call, or the part of the case's life, that begins, and under which configuration."""
        self._write(op=op, configuration=configuration)

    def _write(self, **changes: Any) -> None:
        if self.notes is not None:
            self.notes.write(**changes)

    def agree_on_backward(self, observation: Observation) -> Observation:
        """The observation, its backward, or its second one, failed where another rank's has."""
        own = (observation.backward_failure, observation.second_failure)
        failures = [None if failure is None else [failure.kind, failure.classes, failure.message] for failure in own]
        for rank, (first, second) in enumerate(self.share("the backward", failures)):
            if observation.backward_failure is None and first is not None:
                observation.backward_failure = _elsewhere(rank, first)
            if observation.second_failure is None and second is not None:
                observation.second_failure = _elsewhere(rank, second)
        return observation

    def agree_on_graph(self, answer: GraphAnswer) -> GraphAnswer:
        """What this rank's graph gave, or the failure or refusal of the first rank that has one."""
        own: list[Any] | None = None
        if isinstance(answer, GraphFailure):
            own = ["failed", None, answer.classes, answer.message]
        else:
            refused = next(
                (result for result in answer if isinstance(result, GraphRefusal) and not result.skipped), None
            )
            own = None if refused is None else ["refused", refused.call, refused.classes, refused.message]
        if own is not None:  # the others may wait for this rank's part of the graph
            self._write(said=f"its graph raised {own[2][0]}: {own[3]}")
        for rank, other in enumerate(self.share("a graph", own)):
            if other is None or own is not None:
                continue
            how, call, classes, message = other
            said = f"on rank {rank}: {message}"
            if how == "failed":
                return GraphFailure(tuple(classes), said)
            assert isinstance(answer, list)
            return [GraphRefusal(False, call, tuple(classes), said) for _ in answer]
        return answer

    def join(self, program: Program, observation: Observation) -> Observation:
        """The observation of a training whose batches the ranks share, with what its forwards give on all of them: the
        mean of the losses, and the parts of each output one behind the other.
        """
        training = program.training
        if training is None or training.ranks == 1 or observation.ended:
            return observation
        for step in training.steps:
            for id_ in step.parts[0].values:
                seen = observation.outputs[id_]
                seen.data = joined(self._all(seen.data))
                seen.shape = seen.data.shape
        return observation

    def _all(self, own: Array) -> list[Array]:
        """The arrays of all ranks; this one's alone where they are no parts of one."""
        file = io.BytesIO()
        np.save(file, own, allow_pickle=False)
        self._write(waits=True)
        parts = [np.load(io.BytesIO(data)) for data in self._adapter.gather(file.getvalue())]
        self._write(waits=False)
        alike = all(part.dtype == own.dtype and part.shape[1:] == own.shape[1:] for part in parts)
        return parts if alike and all(part.ndim == own.ndim for part in parts) else [own]

    def agree(self, place: str, differences: Sequence[Difference]) -> list[Difference]:
        """The differences that any rank has seen, each with the ranks that saw it; those seen elsewhere have no
        tensors.

        Every rank gets the same ones in the same order, so that all blame the same calls.
        """
        rows = [[d.phase, d.kind, d.where, d.message, d.call, d.part, d.key] for d in differences]
        own = {_identity(d): d for d in differences}
        agreed: dict[tuple[Any, ...], Difference] = {}
        for rank, items in enumerate(self.share(place, rows)):
            for phase, kind, where, message, call, part, key in items:
                difference = Difference(phase, kind, where, message, call, part, key)
                identity = _identity(difference)
                held = agreed.get(identity) or own.get(identity, difference)
                agreed[identity] = replace(held, ranks=(*held.ranks, rank))
        return list(agreed.values())

    def merge(self, place: str, rows: Sequence[tuple[Row, tuple[int, ...]]]) -> list[Row]:
        """The rows of one case from all ranks, each fingerprint once, with the ranks that saw it; the same on every
        rank. `rows` come with the ranks that are known to have seen them: none, for this rank alone.
        """
        own = [row for row, ranks in rows if not ranks or self.rank in ranks]
        merged: dict[str, tuple[Row, list[int]]] = {}
        for rank, items in enumerate(self.share(place, own)):
            for row in items:
                merged.setdefault(row["fingerprint"], (row, []))[1].append(rank)
        return [self._seen_by(row, list(dict.fromkeys(ranks))) for row, ranks in merged.values()]

    def _seen_by(self, row: Row, ranks: list[int]) -> Row:
        if len(ranks) == self.size:
            which = f"all {self.size} ranks" if self.size > 1 else "the one rank"
        else:
            which = f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))} of {self.size}"
        return {**row, "message": f"{row['message']}; seen by {which}"}


def _elsewhere(rank: int, failure: tuple[Any, Any, str]) -> Failure:
    kind, classes, message = failure
    return Failure(None, kind, tuple(classes), f"on rank {rank}: {message}")


def _identity(difference: Difference) -> tuple[Any, ...]:
    return (difference.phase, difference.kind, difference.where, difference.call, difference.key)


class RankReplay(QuietReplay):
    """A replay that ends on every rank where it ends on one: a call that all ranks make together would wait forever
    for one that has given up.
    """

    repeatable = False

    def __init__(self, adapter: Any, program: Program, peers: Peers) -> None:
        super().__init__(adapter, program)
        self.peers = peers
        #: Whether all ranks have heard that the run has ended.
        self._over = False
        self._wrappers = wrappers(program)

    def step(self, index: int, call: Call) -> None:
        """Run one call; before one that ranks may make together, hear whether the run has ended on any of them."""
        if self._meets(call):
            self._meet(f"call {index} ({op_name(call)})")
        if not self.seen.ended:
            self.peers.calls(op_name(call))
            super().step(index, call)

    def place(self, x: Input) -> None:
        """Create an input tensor; of a batch that the ranks share, this one's part."""
        super().place(part_of(x, self.program, self.peers.rank))
        if self.program.training is None:
            self._meet(f"input {x.id}")

    def finish(self) -> Finished:
        """Ask for the backward, unless the run has ended on any rank."""
        self._meet("the end of the calls")
        return super().finish()

    def _meets(self, call: Call) -> bool:
        """Whether ranks may make a call together: of a training that they share only in its wrapper, in the backward,
        and in what the test has made itself. Each meeting costs as much as a hundred calls where others compute, too.
        """
        if self.program.training is None:
            return True
        together = call.kind == "custom" or call.op == "backward" or wraps(call)
        return together or not self._wrappers.isdisjoint(call.operands())

    def _meet(self, place: str) -> None:
        if not self._over and any(self.peers.share(place, self.seen.ended)):
            self.seen.ended = self._over = True


__all__ = ["Note", "Notes", "Peers", "RankReplay", "read_note"]
