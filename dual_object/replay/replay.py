"""Replay: a Program run through an adapter, whole or step by step, eagerly or while a static graph is traced."""

from __future__ import annotations

import builtins
import contextlib
import copy
import importlib
import math
import operator
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from dual_object.errors import MissingOp, ProgramError, StructureError, UnmappedOp
from dual_object.program.calls import Call, Input
from dual_object.program.data_parallel import WRAPPER, unchanged
from dual_object.program.global_layouts import KEYWORDS, MOVES, READS, stand_in
from dual_object.program.program import Program
from dual_object.program.strides import laid, sliced
from dual_object.program.values import (
    PLAIN,
    Array,
    Device,
    Name,
    Named,
    Opaque,
    Placement,
    Ref,
    Sbp,
    Tree,
    map_leaves,
    refs,
)
from dual_object.refusals import refused_as
from dual_object.replay.adapter import Adapter, Distributed, distributed
from dual_object.replay.gradients import Tape, functional
from dual_object.replay.modes import Mode, Modes, current, left_otherwise, switches
from dual_object.replay.observation import MISCONDUCT, Failure, Observation, class_names, failure_of, first_words
from dual_object.replay.reading import Finished, Values, observe
from dual_object.replay.training import look


def _iterate(value: Any) -> list[Any]:
    return list(value)


#: What an operator call applies: the operator module's functions, and the builtins that Python asks a tensor for.
OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in operator.__all__},
    **{name: getattr(builtins, name) for name in ("bool", "complex", "divmod", "float", "int", "len", "round")},
    "iter": _iterate,
    "reversed": reversed,
    "trunc": math.trunc,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def materialise(x: Input) -> Array:
    """A fresh buffer with the values and strides of an input."""
    return laid(x.data, x.strides)


#: What stands for a call's index where the backward is meant.
BACKWARD = -2


def lay(adapter: Adapter, x: Input) -> tuple[Any, Array | None]:
    """An input as a tensor of this side, and the memory of its values where the tensor shares it.

    An offset is made of a slice: a framework that is given an array sees where its elements begin, not what lies
    before them.
    """
    part = sliced(x.data, x.strides, x.offset) if x.offset and "layout" not in adapter.lacks else None
    if part is None:
        data = materialise(x)
        tensor, shares = adapter.tensor(data, x.dtype)
        return tensor, data if shares else None
    tensor, shares = adapter.tensor(part.memory, x.dtype)
    return part.of(tensor), part.of(part.memory) if shares else None


class Replay:
    """One run of a Program. `step` runs one call; a failure that is not the reference's own ends the run
    (`seen.ended`).

    `side` says which of a custom dual op's two functions is meant.
    """

    #: Whether a run may be made again without asking anybody.
    repeatable = True

    def __init__(self, adapter: Adapter, program: Program, side: Literal["reference", "target"] = "target") -> None:
        self.adapter = adapter
        self._tape = None if functional(adapter) is not None else cast(Tape, adapter)
        self._side = 0 if side == "reference" else 1
        self.program = program
        self.values = Values()
        self.seen = Observation()
        #: What the last call gave, as this side has it.
        self.given: Any = None
        self._modes = Modes(adapter)
        #: The regions (`with torch.no_grad()`) that have been entered and not left, by their numbers.
        self._entered: list[int] = []

    def lacking(self) -> RuntimeError:
        """What to raise where a value is asked for that this run has not."""
        failure = self.seen.failures[-1].message if self.seen.failures else "it was never computed"
        return RuntimeError(f"the target has no value here: {failure}")

    def run(self) -> Observation:
        """Run everything and read what it shows."""
        [observation] = observe([self.start()], self.adapter)
        return observation

    def start(self, before: Callable[[int], None] | None = None) -> Finished:
        """Run everything, backward included, without waiting for the target; `before(index)` is told of each call
        before it starts, and of the backward as of `BACKWARD`.
        """
        for x in self.program.inputs:
            self.place(x)
        for index, call in enumerate(self.program.calls):
            if before is not None and not self.seen.ended:
                before(index)
            self.step(index, call)
        if before is not None and self.program.cotangents and not self.seen.ended:
            before(BACKWARD)
        finished = self.finish()
        failed = self.seen.backward_failure and self.seen.second_failure
        if not (self.repeatable and self.program.second_cotangents and failed):
            return finished
        # The gradients may be had without a graph of their own; but only in a run of its own, for OneFlow 0.9.0 doubles
        # those of a backward that follows a failed one.
        failure = self.seen.second_failure
        self.program = replace(self.program, second_cotangents={})
        self.values = Values()
        self.seen = Observation(second_failure=failure)
        self._modes = Modes(self.adapter)
        self._entered = []
        return self.start(before)

    def advance(self, stop: int) -> None:
        """Place the inputs and run the calls before the one with index `stop`."""
        for x in self.program.inputs:
            self.place(x)
        for index, call in enumerate(self.program.calls[:stop]):
            self.step(index, call)

    def finish(self) -> Finished:
        """Ask for the backward, once all calls have been stepped through."""
        self._leave()
        before = current(self.adapter)
        finished = Finished(self.adapter, self.program, self.values, self.seen)
        if not self.seen.ended:
            self._stray(None, before)
        return finished

    def _leave(self) -> None:
        """Leave the regions that a failed call was in, the inner ones first, while the process has this run's modes:
        OneFlow's end when they are freed, and what they bring back then would be the modes of another run.
        """
        while self._entered:
            with self._modes.applied(), contextlib.suppress(Exception):
                self.values.by_id.pop(self._entered.pop()).__exit__(None, None, None)

    def place(self, x: Input) -> None:
        """Create an input tensor; a failure is noted, never raised."""
        if self.seen.ended:
            return
        try:
            tensor, memory = lay(self.adapter, x)
            if x.layout is not None and self._side:
                tensor, memory = self._distributed().spread(tensor, *x.layout), None
            if x.requires_grad and self._tape is not None:
                self._tape.want_grad(tensor)
        except Exception as error:
            self.seen.failures.append(failure_of(error, None))
            self.seen.ended = True
            return
        self.values.place(x.id, tensor)
        if memory is not None:
            self.values.buffers[x.id] = memory

    def step(self, index: int, call: Call) -> None:
        """Run one call and bind what it returns; failures are noted, never raised."""
        if self.seen.ended:
            return
        if self._modes.concern(call):
            with self._modes.applied():
                self._step(index, call)
        else:
            self._step(index, call)

    def _step(self, index: int, call: Call) -> None:
        before = None if switches(call) else current(self.adapter)
        try:
            result = self.apply(call)
            self._stray(index, before)
            self.given = None if call.kind == "enter" else result  # a region ends when nobody holds it any more
            if call.raises:
                why = ": ".join(filter(None, (call.raises[0], call.refusal)))
                message = f"accepted what the reference refuses with {why}"
                self.seen.failures.append(Failure(index, "accepts_invalid", (), message))
                return
            if call.kind not in ("enter", "exit", "set"):  # what those return says nothing of an op
                self.bind(index, call, result)
        except Exception as error:
            self._stray(index, before)
            names = class_names(error)
            if call.raises and not isinstance(error, MissingOp) and MISCONDUCT not in names:
                words = "" if self._side else first_words(error)  # a target has words of its own
                if not ("exceptions" in self.adapter.lacks or refused_as(call.raises, call.refusal, names, words)):
                    self.seen.failures.append(Failure(index, "exception_class", names, first_words(error)))
                return
            self.seen.failures.append(failure_of(error, index))
            self.seen.ended = True

    def _stray(self, call: int | None, before: Mapping[Mode, Any] | None) -> None:
        """Note, and put back, the modes that were switched by what switches none: a call, or the backward (None)."""
        words = None if before is None else left_otherwise(self.adapter, before)
        if words is not None:
            self.seen.failures.append(Failure(call, "mode", (), words))

    def apply(self, call: Call) -> Any:
        """Evaluate one call on this side's values."""
        args = [self.value(arg) for arg in call.args]
        kwargs = {key: self.value(arg) for key, arg in call.kwargs.items()} if call.kwargs else {}
        kind = call.kind
        if not self._side and kwargs and kind != "custom":  # the reference's tensors are all local
            kwargs = {key: arg for key, arg in kwargs.items() if key not in KEYWORDS}
        if kind == "function" or kind == "module":
            return self._function(call.op)(*args, **kwargs)
        if kind == "method":
            return self._attribute(call, args[0])(*args[1:], **kwargs)
        if kind == "operator":
            return OPERATORS[call.op](*args, **kwargs)
        if kind == "call":
            return args[0](*args[1:], **kwargs)
        if kind == "get":
            return self._attribute(call, args[0])
        if kind == "set":
            return setattr(args[0], call.op, args[1])
        if kind == "enter":
            self._entered.append(call.args[0].id)
            return args[0].__enter__()
        if kind == "exit":
            # The region's object dies here: OneFlow's no_grad ends in its destructor, not in `__exit__`.
            del self.values.by_id[call.args[0].id]
            self._entered.remove(call.args[0].id)
            return args.pop().__exit__(None, None, None)
        if kind == "custom":
            assert call.custom is not None
            side = call.custom[self._side]
            return (import_function(side) if isinstance(side, str) else side)(*args, **kwargs)
        if kind == "training":
            return look(self.adapter, call.op, *args)
        raise ProgramError(f"call kind {kind!r} is unknown")

    def _function(self, path: str) -> Any:
        if not self._side and path in MOVES:
            return MOVES[path]
        if path == WRAPPER:
            return self._distributed().data_parallel if self._side else unchanged
        return self.adapter.resolve(path)

    def _attribute(self, call: Call, receiver: Any) -> Any:
        name = call.op
        try:
            return self.adapter.attribute(receiver, name)
        except AttributeError as error:
            if hasattr(type(receiver), name):  # it exists, and its own code failed
                raise
            if name in MOVES or name in READS:
                if self._side:
                    self._distributed()
                else:
                    return stand_in(self.program, call.args[0].id, receiver, name)
            if isinstance(error, MissingOp):
                raise
            raise MissingOp(f"{type(receiver).__name__} has no attribute {name!r}") from error

    def _distributed(self) -> Distributed:
        """The adapter, where it has global tensors; raises NotImplementedError."""
        adapter = distributed(self.adapter)
        if adapter is None:
            raise NotImplementedError(f"{self.adapter.name} has no global tensors")
        return adapter

    def value(self, tree: Tree) -> Any:
        """This side's object for an argument of a call."""
        kind = type(tree)
        if kind is Ref:
            return self.values.by_id[tree.id]
        if kind in PLAIN:
            return tree
        return map_leaves(tree, self._leaf)

    def _leaf(self, leaf: Any) -> Any:
        kind = type(leaf)
        if kind is Ref:
            return self.values.by_id[leaf.id]
        if kind is Name:
            return self.adapter.resolve(leaf.path)
        if kind is Device:
            return self.adapter.device(leaf.spec)
        if kind is Placement or kind is Sbp:
            return self._distributed().own(leaf) if self._side else leaf
        if kind is Opaque:
            return leaf.value
        if isinstance(leaf, np.ndarray):
            return leaf.copy()
        return leaf

    def bind(self, index: int, call: Call, result: Any) -> None:
        """Store what a call returned under the numbers that the reference's results have; host values that differ
        are noted.
        """
        out = call.out
        if call.kind == "training":
            self._bind_look(index, out, result)
            return
        if type(out) is Ref and isinstance(result, self.adapter.tensor_type):
            by_id = self.values.by_id
            # What an attribute gives may be made anew each time; the reference only stands in where tensors move.
            if call.kind != "get" and call.op not in MOVES:
                words = identity(call, out.id, by_id, result)
                if words is not None:
                    self.seen.structures[index] = words
            by_id[out.id] = result
            return
        if result is None and type(out) is Ref and out.id in self.values.by_id:  # what it has written is there
            self.seen.structures[index] = f"returned None, but should return {{{out.id}}} itself"
            return
        if isinstance(result, self.adapter.tensor_type):
            words = f"returned {_structure(result)}, but should return {_structure(out)}"
            if call.results():
                raise StructureError(words)
            self.seen.structures[index] = words  # what was a plain value is no value of the Program
            return
        if isinstance(result, Iterator):
            result = list(result)
        if call.state and type(out) is Ref:
            self._load_state(result, call.state)
        if type(out) is Ref and isinstance(result, self.adapter.module_type) and call.kind in ("module", "custom"):
            self.values.modules[out.id] = result
        actual = self._match(out, result)
        if actual is not _SAME:
            self.seen.hosts[index] = actual
        words = container(out, result)
        if words is not None and index not in self.seen.hosts:
            self.seen.structures[index] = words

    def _bind_look(self, index: int, out: Tree, result: Any) -> None:
        """Bind what a look at a training has shown; what is not there stays unbound, and the places of what should not
        be there are noted, as plain numbers are that differ.
        """
        if not refs(out) and not any(isinstance(item, self.adapter.tensor_type) for item in result):
            if not same_host(out, result):
                self.seen.hosts[index] = result
            return
        extra: list[int] = []
        for place, (wanted, given) in enumerate(zip(out, result, strict=True)):
            kept = isinstance(wanted, dict)
            for ref, tensor in ((ref, given.get(name)) for name, ref in wanted.items()) if kept else [(wanted, given)]:
                if type(ref) is Ref and tensor is not None:
                    self.values.by_id[ref.id] = tensor
                elif ref is None and tensor is not None:
                    extra.append(place)
        if extra:
            self.seen.hosts[index] = extra

    def _load_state(self, module: Any, state: dict[str, Array]) -> None:
        try:
            self.adapter.load_state(module, state)
        except KeyError as error:
            has = {**self.adapter.parameters(module), **self.adapter.buffers(module)}
            lacking = ", ".join(key for key in state if key not in has)
            if lacking:
                raise StructureError(f"has no parameter or buffer {lacking}, but should") from error
            shapes = {key: tuple(self.adapter.describe(has[key])[1]) for key in state}
            key = next(key for key in state if shapes[key] != state[key].shape)
            raise StructureError(f"has {key} of shape {shapes[key]}, but should have {state[key].shape}") from error

    def _match(self, out: Tree, result: Any) -> Any:
        """Bind `result` along `out`; `_SAME`, or the neutral form of the result where a host value differs."""
        kind = type(out)
        if kind is Ref:
            if result is None or isinstance(result, (tuple, list, dict, bool, int, float)):
                raise StructureError(f"returned {_structure(result)}, but should return one object")
            self.values.by_id[out.id] = result
            return _SAME
        if kind is tuple or kind is list or kind is Named:
            items = out.items if kind is Named else out
            if not isinstance(result, (tuple, list)):
                raise StructureError(f"returned {_structure(result)}, but should return {_structure(items)}")
            values = list(result)
            if len(values) != len(items):
                objects = (self.adapter.tensor_type, self.adapter.module_type)
                if any(type(item) is Ref for item in items) or any(isinstance(value, objects) for value in values):
                    raise StructureError(f"returned {len(values)} values, but should return {len(items)}")
                return tuple(self.adapter.encode(item) for item in values)
            matched = [self._match(item, value) for item, value in zip(items, values, strict=True)]
            if all(match is _SAME for match in matched):
                return _SAME
            return tuple(item if match is _SAME else match for item, match in zip(items, matched, strict=True))
        if isinstance(out, dict):
            if not isinstance(result, dict) or set(result) != set(out):
                raise StructureError(f"returned {_structure(result)}, but should return {_structure(out)}")
            return self._match(list(out.values()), [result[key] for key in out])
        if isinstance(result, (self.adapter.tensor_type, self.adapter.module_type)):
            raise StructureError(f"returned {_structure(result)}, but should return {_structure(out)}")
        actual = self.adapter.encode(result)
        if type(actual) not in PLAIN and not isinstance(actual, _NEUTRAL):  # a `grad_fn` for None
            raise StructureError(f"returned {_structure(result)}, but should return {_structure(out)}")
        return _SAME if same_host(out, actual) else actual


class QuietReplay(Replay):
    """A replay that hides the target's warnings, for a process in which warnings are shown to the user."""

    def step(self, index: int, call: Call) -> None:
        """Run one call without its warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().step(index, call)


_SAME: Any = object()
#: What a framework's plain object may be besides.
_NEUTRAL = (complex, tuple, list, dict, np.ndarray, np.generic, Placement, Sbp)


def same_host(expected: Tree, actual: Tree) -> bool:
    """Whether two host values are the same: type, value, NaN equal to itself."""
    if isinstance(expected, np.ndarray) or isinstance(actual, np.ndarray):
        return (
            isinstance(expected, np.ndarray)
            and isinstance(actual, np.ndarray)
            and expected.dtype == actual.dtype
            and expected.shape == actual.shape
            and expected.tobytes() == actual.tobytes()
        )
    if type(expected) is not type(actual):
        return False
    return bool(expected == actual) or (expected != expected and actual != actual)


def identity(call: Call, out: int, by_id: dict[int, Any], result: Any) -> str | None:
    """In which way a call returned one of its own operands where the reference did not, or the reverse."""
    known = by_id.get(out)
    if known is not None:
        x = f"{{{out}}}"
        return None if known is result else f"returned another tensor than {x}, but should return {x} itself"
    for arg in call.args:
        if type(arg) is Ref and by_id[arg.id] is result:
            return f"returned {{{arg.id}}} itself, but should return another tensor"
    return None


def container(out: Tree, result: Any) -> str | None:
    """In which way a call returned another container than the reference: a list for a tuple, a tuple without the
    fields of a named one.
    """
    kind = type(out)
    if kind is Named:
        lacking = [name for name in out.fields if not hasattr(result, name)]
        words = f"returned {_structure(result)} without {', '.join(lacking)}, but should return a named tuple"
        return f"{words} of {', '.join(out.fields)}" if lacking else None
    if kind is tuple or kind is list:
        if isinstance(result, kind) or not isinstance(result, (tuple, list)):
            return None  # what is neither, a tuple of tensors for one, is the framework's own word for it
        return f"returned {_structure(result)}, but should return {_structure(out)}"
    return None


def _structure(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with keys {sorted(map(str, value))}"
    return "None" if value is None else f"a {type(value).__name__}"


def import_function(path: str) -> Any:
    """The object at `module:qualname`. Raises UnmappedOp where this interpreter, which may be a target's own, does not
    have its module, or what that imports.
    """
    module, _, qualname = path.partition(":")
    try:
        member: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UnmappedOp(f"{path!r} is not to be had in {sys.executable}: {error}") from error
    for part in qualname.split("."):
        member = getattr(member, part)
    return member
