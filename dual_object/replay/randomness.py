"""Randomness: which calls of a Program draw random numbers on the reference, and what of its results depends on them.

Found by running it, not listed: a call is random where the reference's generator has moved. What depends on it is
followed through operands, memory that tensors share, and what a call writes to.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from dual_object.program.calls import Call
from dual_object.program.program import Program, Randomness
from dual_object.program.values import refs
from dual_object.replay.adapter import Reference
from dual_object.replay.reading import leaf_tensors, module_buffers, module_parameters
from dual_object.replay.replay import Replay

#: What a tensor says of itself without its values.
_METADATA = frozenset(
    (
        "shape",
        "size",
        "dim",
        "ndim",
        "len",
        "numel",
        "nelement",
        "dtype",
        "device",
        "stride",
        "requires_grad",
        "is_leaf",
    )
)
#: Their results are as long as the values say.
_SIZED = frozenset(
    ("nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount", "repeat_interleave")
)
#: They set the generator, and draw nothing.
_SEEDING = frozenset({"manual_seed", "seed", "set_rng_state"})


def randomness(reference: Reference, program: Program) -> Randomness | None:
    """What is random in `program`, None where nothing is; it is run once more on the reference for that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when the body ran
        return _Follower(reference, program).follow()


class _Follower:
    """One run of a Program that follows its randomness."""

    def __init__(self, reference: Reference, program: Program) -> None:
        self.reference = reference
        self.program = program
        self.replay = Replay(reference, program, side="reference")
        self.random: list[int] = []
        self.depending: set[int] = set()
        self.values: set[int] = set()
        self.memory: set[int] = set()
        self.sizes: set[int] = set()
        self.hosts: set[int] = set()
        self.everything = False

    def follow(self) -> Randomness | None:
        for x in self.program.inputs:
            self.replay.place(x)
        for index, call in enumerate(self.program.calls):
            self._step(index, call)
            if self.replay.seen.ended:
                break
        if not self.random:
            return None
        values, program = self.replay.values, self.program
        by_id = values.by_id
        shared = {id_ for id_ in by_id if any(self._of(tensor) in self.memory for tensor in self._tensors([id_]))}
        parameters = module_parameters(self.reference, program, values)
        state = {**module_buffers(self.reference, program, values), **{key: x for key, (x, _) in parameters.items()}}
        leaves = leaf_tensors(self.reference, program, values) if not self.replay.seen.ended else {}
        return Randomness(
            tuple(self.random),
            frozenset(self.values | shared),
            frozenset(self.sizes),
            frozenset(self.hosts),
            frozenset(key for key in leaves if self.everything or self._reaches(int(key.partition(".")[0]))),
            frozenset(key for key, held in state.items() if self._of(held) in self.memory),
        )

    def _step(self, index: int, call: Call) -> None:
        operands = call.operands()
        # Compared by bytes: batch norm writes to its statistics and counts no version up.
        before = [(id_, tensor, self._bytes(tensor)) for id_, tensor in self._numbered(operands)]
        state = self.reference.random_state()
        self.replay.step(index, call)
        name = call.op.rpartition(".")[2]
        drawn = self.reference.random_state() != state and name not in _SEEDING
        if drawn and not (call.kind == "module" or call.state):  # what a new module starts with is the case's own
            self.random.append(index)
        elif not (
            self.everything
            or not self.values.isdisjoint(operands)
            or any(self._of(tensor) in self.memory for _, tensor, _ in before)
        ):
            return
        self.depending.add(index)
        sized = not self.sizes.isdisjoint(operands)
        if name in ("backward", "grad") and call.kind != "get":
            self.everything = True  # the gradients that it leaves are anywhere
        if name in _SIZED or (name == "getitem" and index not in self.random and self._masked(call)):
            self.sizes.update(call.results())
        if sized:
            self.sizes.update(call.results())
        if not (name in _METADATA and not sized):
            self.hosts.add(index)
        written = [(id_, tensor) for id_, tensor, held in before if self._bytes(tensor) != held]
        for id_, tensor in [*written, *self._numbered(call.results())]:
            self.values.add(id_)
            self.memory.add(self._of(tensor))
        self.memory.discard(0)  # where empty tensors lie

    def _masked(self, call: Call) -> bool:
        by_id = self.replay.values.by_id
        return any(self.reference.describe(by_id[id_])[0] == "bool" for id_ in refs(call.args[1:]) if id_ in by_id)

    def _numbered(self, ids: Iterable[int]) -> Iterator[tuple[int, Any]]:
        for id_ in ids:
            for tensor in self._tensors([id_]):
                yield id_, tensor

    def _tensors(self, ids: Iterable[int]) -> Iterator[Any]:
        """The tensors behind values: a module's are its parameters and buffers."""
        reference, by_id = self.reference, self.replay.values.by_id
        for id_ in ids:
            value = by_id.get(id_)
            if isinstance(value, reference.tensor_type):
                yield value
            elif isinstance(value, reference.module_type):
                yield from reference.parameters(value).values()
                yield from reference.buffers(value).values()

    def _bytes(self, tensor: Any) -> bytes:
        return self.reference.read([tensor])[0].tobytes()

    def _of(self, tensor: Any) -> int:
        return self.reference.memory(tensor)

    def _reaches(self, leaf: int) -> bool:
        """Whether what is computed from a leaf meets anything random."""
        reached = {leaf}
        for index, call in enumerate(self.program.calls):
            operands = call.operands()
            if not reached.isdisjoint(operands):
                if index in self.depending:
                    return True
                reached.update(call.results() if call.out is not None else operands)
        return False


__all__ = ["randomness"]
