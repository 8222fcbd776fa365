"""Recording: a test body runs on the reference, call by call, and leaves a Program behind.

All that a body does goes through one object, which knows every value by its number: calls, what they are given and
give, what the body reads, and regions. Apart they would hand these numbers around, so they are one long module.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import FrameType, FunctionType, GeneratorType, MethodType
from typing import Any, TypeAlias

import numpy as np

from dual_object.errors import ArgumentError, DualError, OutsideCaseError, RawTargetNeeded
from dual_object.program.calls import Call, CallKind, Input
from dual_object.program.global_layouts import KEYWORDS, MOVES, in_global_scope, scope_layout
from dual_object.program.program import Program
from dual_object.program.training import clips
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
from dual_object.record.annotations import draw, is_drawable
from dual_object.record.bypasses import Bypasses
from dual_object.record.dual import DualObject
from dual_object.record.own_module import OwnModule
from dual_object.replay.adapter import Reference
from dual_object.replay.observation import Observation, class_names, first_words
from dual_object.replay.randomness import randomness
from dual_object.replay.reading import Finished, Values, leaf_tensors, observe
from dual_object.replay.replay import Replay, lay
from dual_object.replay.second_derivatives import SecondDraw, differentiable_again, draw_second

#: An argument of a call: the function that has the parameter, its position or name, and all arguments of the call.
Place: TypeAlias = "tuple[Any, int | str, tuple[Any, ...], dict[str, Any]]"

current_recording: ContextVar[Recording] = ContextVar("current_recording")
#: Gives the recording of dual calls that are made outside of a case, where such calls are allowed at all.
outside_cases: ContextVar[Callable[[], Recording]] = ContextVar("outside_cases")


def recording(what: str) -> Recording:
    """The recording of the case that is running; raises OutsideCaseError."""
    running = current_recording.get(None)
    if running is not None:
        return running
    try:
        return outside_cases.get()()
    except LookupError:
        raise OutsideCaseError(
            f"{what} is used outside a case; dual calls have a meaning only in the body of a test with @autotest() "
            "above it, not in a fixture or another thread"
        ) from None


class Recording:
    """One case in the making.

    Args:
        reference: the adapter that computes each call at once.
        draw_state: `draw_state(name, data)` gives the values of a new module's parameter or buffer.
        omitted: the class whose instances, drawn by a generator, mean: leave this argument out.
        target: the target's name, for `x.oneflow`.
        stepper: in inline runs, the replay that makes each call on the raw target at once.
        refusal: gives what a body is shown instead of the reference's own exception.
        seed: where the reference's random numbers start.
        trains: whether the body is a step of a training: what clips gradients is put by in `clipping`, for there are
            none before the backward.
        foreign: gives the neutral form of a target's own plain object, such as a placement, and None for any other.

    Attributes:
        misused: the last error of ours that a call of the body's raised, which the body may have caught.
    """

    #: Whether a body may do nothing past the recording.
    watches = True

    def __init__(
        self,
        reference: Reference,
        *,
        draw_state: Callable[[str, Array], Array],
        omitted: type,
        target: str = "target",
        stepper: Replay | None = None,
        refusal: Callable[[Exception], Exception] | None = None,
        seed: int = 0,
        trains: bool = False,
        foreign: Callable[[Any], Tree] = lambda value: None,
    ) -> None:
        self.reference = reference
        self.target = target
        self.program = stepper.program if stepper is not None else Program()
        self.stepper = stepper
        self.refused: BaseException | None = None
        self.refusal = refusal
        self.values = Values()
        self._draw_state = draw_state
        self._omitted = omitted
        self._known: dict[int, DualObject] = {}
        self._groups: list[Any] = []
        self._next = 0
        self._drew = False
        self._seed = seed
        self._foreign = foreign
        self.trains = trains
        self.clipping: list[Call] = []
        self.bypasses = Bypasses(reference) if self.watches else None
        self.misused: ArgumentError | None = None
        #: The op whose function runs now.
        self._running = ""
        self._start_randomness()

    def input(
        self,
        data: Array,
        dtype: str,
        *,
        requires_grad: bool = False,
        name: str = "",
        fill: str | None = None,
        seed: int | None = None,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> DualObject:
        """Add an input tensor; both sides get their own copy of `data` (`strides` and `offset`, in elements, say
        how it lies in memory; it is contiguous without). Inside a `global_scope` the target's is global.
        """
        x = Input(self._number(), name, data, dtype, requires_grad, strides, fill, seed, scope_layout(), offset)
        tensor, memory = lay(self.reference, x)
        if requires_grad:
            tensor.requires_grad = True
        if memory is not None:
            self.values.buffers[x.id] = memory
        self.program.inputs.append(x)
        if self.stepper is not None:
            self.stepper.place(x)
        self.values.place(x.id, tensor)
        return self._remember(x.id, tensor)

    def adopt(self, name: str, reference: Any, target: Any) -> DualObject:
        """Take a pair of existing objects in as one value; raises RawTargetNeeded where the target lives in another
        process.
        """
        reason = f"GetDualObject({name!r}) holds a raw target object"
        if self.stepper is None:
            raise RawTargetNeeded(reason)
        self.program.inline = reason
        dual = self._remember(self._number(), reference)
        self.stepper.values.by_id[dual._ref.id] = target
        if isinstance(reference, self.reference.module_type):
            self.values.modules[dual._ref.id] = reference
            self.stepper.values.modules[dual._ref.id] = target
        return dual

    def hold(self, value: Any, frame: FrameType) -> None:
        """Note that what runs in `frame` gets hold of a raw value, and so of all that a backward from it reaches."""
        if self.bypasses is not None:
            reached = self._leaves() if getattr(value, "grad_fn", None) is not None else ()
            self.bypasses.hold([value, *reached], frame)

    def call(
        self,
        kind: CallKind,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        receiver: DualObject | None = None,
        custom: tuple[Any, Any] | None = None,
        annotated: Any = None,
    ) -> Any:
        """Run one call on the reference and record it.

        `function` takes the reference's own objects, without the receiver. Generators among the arguments draw their
        values first, from the parameter types of `annotated` (default: `function`). The reference's own exception
        propagates unchanged.
        """
        with self._watched(op):
            typed = annotated or function
            raw_args, neutral = self._positional(receiver, op, typed, args, kwargs)
            raw_kwargs, neutral_kwargs = self._keywords(kind, op, typed, args, kwargs) if kwargs else ({}, {})
            record = Call(kind, op, neutral, neutral_kwargs, custom=custom)
            if self.trains and clips(record):
                self.clipping.append(record)
                return None
            if kind == "module":
                self._note_randomness()
            ahead = kind == "exit"  # the sides may share a process, and there the region that began last ends first
            if ahead:
                self._append(record)
            self._running = op
            try:
                result = function(*raw_args, **raw_kwargs)
            except Warning:  # an error only by the user's own warning filters: no refusal
                raise
            except DualError as error:
                raise _inside(op, [*raw_args, *raw_kwargs.values()]) from error
            except Exception as error:
                record.raises, record.refusal = class_names(error), first_words(error)
                if not ahead:
                    self._append(record)
                self.refused = error if self.refusal is None else self.refusal(error)
                if self.refused is error:
                    raise
                raise self.refused from error
            finally:
                self._running = ""
            if kind != "function" and isinstance(result, Iterator):
                result = list(result)
            returned, record.out = self._result(result, record)
            if kind == "module":  # what a new module draws for itself is replaced
                self._start_randomness()
            if not ahead:
                self._append(record)
            if record.state and in_global_scope() and not record.operands():
                self._make_global(returned)
            returned = self.shown(record, result, returned)
            if isinstance(returned, (tuple, list)):
                self._groups.append(returned)
            return returned

    @contextmanager
    def _watched(self, op: str) -> Iterator[None]:
        """Look for what the body has done past the recording before a call of `op`, and keep what it is refused for."""
        try:
            if self.bypasses is not None:
                if self._running:
                    raise ArgumentError(
                        f"{op} is called while {self._running} runs: calls inside of a call cannot be recorded, so "
                        "make them in the body itself"
                    )
                self.bypasses.look(op)
            yield
        except ArgumentError as error:
            self.misused = error
            raise
        finally:
            if self.bypasses is not None:
                self.bypasses.settle()

    def repeating(self) -> Replay:
        """What runs calls again on this case's values; it knows the regions that they have entered."""
        replay = Replay(self.reference, self.program, side="reference")
        replay.values = self.values
        return replay

    def repeat(self, call: Call, numbers: dict[int, int], replay: Replay) -> None:
        """Record a call again, on the values that `numbers` has in place of its own; what it gives now is noted there.
        `replay` is what `repeating` gave.

        Raises what the reference raises.
        """
        again = _renumbered(call, numbers)
        result = replay.apply(again)
        _, again.out = self._result(list(result) if isinstance(result, Iterator) else result, again)
        self._append(again)
        if self.bypasses is not None:
            self.bypasses.settle()
        if call.out is not None:
            numbers.update(zip(call.results(), again.results(), strict=True))

    def numbered(self, id_: int) -> DualObject:
        """The dual object of a value."""
        return self._known[id(self.values.by_id[id_])]

    def shown(self, call: Call, result: Any, returned: Any) -> Any:
        """What the body is shown of a call's result: `returned`, that is `result` with dual objects for the reference's
        own. A subclass may show more.
        """
        return returned

    def _positional(
        self, receiver: DualObject | None, op: str, typed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], tuple[Tree, ...]]:
        """The positional arguments as the reference takes them, and in their neutral form, the receiver before them."""
        raw_args: list[Any] = []
        neutral: list[Tree] = [] if receiver is None else [receiver._ref]
        for position, arg in enumerate(args):
            kind_of = type(arg)
            if kind_of is DualObject:
                raw_args.append(self._own(arg, op))
                neutral.append(arg._ref)
            elif kind_of in PLAIN:
                raw_args.append(arg)
                neutral.append(arg)
            else:
                if is_drawable(arg):
                    arg = draw(arg, typed, op, position, args, kwargs)
                    if isinstance(arg, self._omitted):
                        continue
                raw, tree = self._argument(arg, op, (typed, position, args, kwargs))
                raw_args.append(raw)
                neutral.append(tree)
        return raw_args, tuple(neutral)

    def _keywords(
        self, kind: CallKind, op: str, typed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Tree]]:
        """The arguments given by name as the reference takes them, and in their neutral form."""
        raw_kwargs: dict[str, Any] = {}
        neutral: dict[str, Tree] = {}
        for key, arg in kwargs.items():
            if is_drawable(arg):
                arg = draw(arg, typed, op, key, args, kwargs)
                if isinstance(arg, self._omitted):
                    continue
            raw, neutral[key] = self._argument(arg, op, (typed, key, args, kwargs))
            if key not in KEYWORDS or kind == "custom":  # the reference's tensors are all local
                raw_kwargs[key] = raw
        return raw_kwargs, neutral

    def _start_randomness(self) -> None:
        self.reference.seed(self._seed)
        self._random_state = self.reference.random_state()

    def _note_randomness(self) -> None:
        self._drew = self._drew or self.reference.random_state() != self._random_state

    def _make_global(self, module: DualObject) -> None:
        """Move a new module to where the inputs of a `global_scope` lie."""
        placement, sbp = scope_layout() or (None, ())
        move = partial(MOVES["to_global"], module._value)
        self.call("method", "to_global", move, (), {"placement": placement, "sbp": list(sbp)}, receiver=module)

    def _append(self, call: Call) -> None:
        calls = self.program.calls
        calls.append(call)
        if self.stepper is not None:
            self.stepper.step(len(calls) - 1, call)

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def _remember(self, id_: int, value: Any) -> DualObject:
        dual = DualObject(self, Ref(id_), value)
        self.values.by_id[id_] = value
        self._known[id(value)] = dual
        return dual

    def _own(self, dual: DualObject, op: str) -> Any:
        if dual._recording is not self:
            raise ArgumentError(f"{op} was given a dual object of another case; draw it inside the body, once per case")
        return dual._value

    def _argument(self, arg: Any, op: str, place: Place) -> tuple[Any, Tree]:
        """The reference's object and the neutral form of one argument, or of a part of the one at `place`."""
        if type(arg) is GeneratorType:  # the parameters of a test's own module class
            arg = list(arg)
        kind = type(arg)
        if kind in PLAIN:
            return arg, arg
        if kind is DualObject:
            return self._own(arg, op), arg._ref
        if kind is tuple or kind is list:
            pairs = [self._argument(self._item(item, op, place), op, place) for item in arg]
            return kind(raw for raw, _ in pairs), kind(tree for _, tree in pairs)
        if kind is dict or kind is OrderedDict:
            both = [(key, *self._argument(self._item(item, op, place), op, place)) for key, item in arg.items()]
            return kind((key, raw) for key, raw, _ in both), kind((key, tree) for key, _, tree in both)
        if kind is slice:
            parts = [self._argument(self._item(part, op, place), op, place) for part in (arg.start, arg.stop, arg.step)]
            return slice(*(raw for raw, _ in parts)), slice(*(tree for _, tree in parts))
        if kind is complex or arg is Ellipsis or kind is Placement or kind is Sbp:
            return arg, arg
        path = getattr(arg, "_dual_path", None)
        if path is not None:
            return self.reference.resolve(path), Name(path)
        if isinstance(arg, np.ndarray):
            return arg, arg.copy()
        if isinstance(arg, np.generic):
            return arg.item(), arg.item()
        return self._framework_object(arg, op)

    def _item(self, item: Any, op: str, place: Place) -> Any:
        if is_drawable(item):
            function, parameter, args, kwargs = place
            return draw(item, function, op, parameter, args, kwargs, inside=True)
        return item

    def _framework_object(self, arg: Any, op: str) -> tuple[Any, Tree]:
        known = self._known.get(id(arg))
        # A raw object may have a number already, as in `m.training_step(m.weight.pytorch)`.
        if known is not None and known._value is arg:
            return arg, known._ref
        if isinstance(arg, self.reference.module_type):
            raise ArgumentError(
                f"{op} was given a raw {type(arg).__name__}, but should be given a dual object: make it by autotest's "
                f"`torch`, as torch.nn.{type(arg).__name__}(...)"
            )
        if isinstance(arg, self.reference.tensor_type):
            raise ArgumentError(
                f"{op} was given a raw {type(arg).__module__}.{type(arg).__name__}, but should be given a dual object: "
                "draw it with random_tensor, make it one with dual_tensor, "
                'or wrap it in GetDualObject("x", pytorch, oneflow)'
            )
        tree = self.reference.encode(arg)
        if tree is not arg or isinstance(tree, (Name, Device)):
            if type(tree) is tuple:
                return arg, tree
            if isinstance(tree, (Name, Device)):
                return arg, tree
        tree = self._foreign(arg)
        if tree is not None:
            return tree, tree
        if isinstance(arg, tuple) and any(type(part) is DualObject for part in arg):
            raise ArgumentError(
                f"{op} was given a {type(arg).__name__}, but should be given tensors: one that a call gave can be "
                "returned, and not handed on to another call, so make one call of both by dual(reference=..., "
                "target=...)"
            )
        if type(arg).__module__.partition(".")[0] == self.target:
            return self._raw_target(arg, op)
        if isinstance(arg, OwnModule):
            raise ArgumentError(
                f"{op} was given {type(arg).__name__}, a module class of the test, but should be given modules of the "
                "framework: hold both as attributes of another such class, or give them to a new nn.ModuleList or "
                "nn.Sequential at once, and call them in its forward"
            )
        if self.stepper is None:
            raise RawTargetNeeded(f"{op} was given a {type(arg).__name__}, which only an inline run can pass on")
        self.program.inline = f"{op} was given a {type(arg).__name__}, which cannot be stored"
        return arg, Opaque(arg)

    def _raw_target(self, arg: Any, op: str) -> tuple[Any, Tree]:
        """What `_argument` gives for one of the target's own objects; for subclasses that take such."""
        raise ArgumentError(
            f"{op} was given a raw {type(arg).__module__}.{type(arg).__name__}, but should be given a dual object: "
            'wrap it in GetDualObject("x", pytorch, oneflow)'
        )

    def _result(self, result: Any, call: Call) -> tuple[Any, Tree]:
        """What the body gets for a call's result, and its neutral form."""
        kind = type(result)
        if kind in PLAIN:
            return result, result
        if isinstance(result, self.reference.tensor_type):
            known = self._known.get(id(result))
            if known is None:
                known = self._remember(self._number(), result)
            return known, known._ref
        if kind is tuple or kind is list:
            pairs = [self._result(item, call) for item in result]
            return kind(returned for returned, _ in pairs), kind(tree for _, tree in pairs)
        if kind is dict or kind is OrderedDict:
            both = [(key, *self._result(item, call)) for key, item in result.items()]
            return kind((key, made) for key, made, _ in both), kind((key, tree) for key, _, tree in both)
        if isinstance(result, tuple):
            fields = self.reference.fields(result)
            if fields:
                pairs = [self._result(item, call) for item in result]
                made = [returned for returned, _ in pairs]
                return _rebuild(result, made), Named(fields, tuple(tree for _, tree in pairs))
        if isinstance(result, (np.ndarray, np.generic)):
            return result, np.array(result) if isinstance(result, np.ndarray) else result.item()
        tree = self.reference.encode(result)
        if isinstance(tree, (Name, Device, tuple)) or kind is complex:
            return result, tree
        known = self._known.get(id(result))
        if known is None or known._value is not result:
            known = self._remember(self._number(), result)
            if isinstance(result, self.reference.module_type) and call.kind in ("module", "custom"):
                self._start_state(known, result, call)
        return known, known._ref

    def _start_state(self, dual: DualObject, module: Any, call: Call) -> None:
        """Give a new module parameters and buffers of the case's own, so that they are the same on every torch
        version.
        """
        named = {**self.reference.parameters(module), **self.reference.buffers(module)}
        # A tensor that the body passed in has its values already.
        tensors = {name: tensor for name, tensor in named.items() if id(tensor) not in self._known}
        call.state = {
            name: self._draw_state(name, self.reference.read([tensor])[0]) for name, tensor in tensors.items()
        }
        if call.state:
            self.reference.load_state(module, call.state)
        self.values.modules[dual._ref.id] = module

    def returned(self, value: Any) -> Tree:
        """The neutral form of what the body returned; raises ArgumentError for anything but dual objects, containers
        and plain values.
        """

        def leaf(item: Any) -> Any:
            if type(item) is DualObject:
                self._own(item, "return")
                return item._ref
            if isinstance(item, (bool, int, float, complex, str, type(None), np.ndarray)):
                return item
            if isinstance(item, tuple):
                return tuple(map_leaves(part, leaf) for part in item)
            tree = self.reference.encode(item)
            if isinstance(tree, (Name, Device, tuple)):
                return tree
            raise ArgumentError(f"the body returned {_no_dual(item)}")

        try:
            return map_leaves(value, leaf)
        except RecursionError:
            raise ArgumentError(
                "the body returned a container that holds itself, or is nested too deep: return the tensors in it"
            ) from None

    def duals(self, kind: type) -> list[DualObject]:
        """The dual objects so far whose reference object is of this type."""
        return [dual for dual in self._known.values() if isinstance(dual._value, kind)]

    def directly(self, returned: Any) -> list[int]:
        """Numbers of the tensors that the body returned alone or in a tuple or list that it built itself, each once;
        none where it returned the very group that a call gave, as in `return torch.split(x, 2)`.
        """
        if any(returned is group for group in self._groups):
            return []
        items = returned if isinstance(returned, (tuple, list)) else [returned]
        members = [item for item in items if type(item) is DualObject]
        tensors = [dual for dual in members if isinstance(dual._value, self.reference.tensor_type)]
        return list(dict.fromkeys(dual._ref.id for dual in tensors))

    def differentiable(self) -> list[int]:
        """Numbers of the returned tensors that a backward can start from, each once."""
        values = self.values.by_id
        return [
            id_
            for id_ in dict.fromkeys(refs(self.program.outputs))
            if isinstance(values[id_], self.reference.tensor_type) and values[id_].requires_grad
        ]

    def intermediates(self) -> list[int]:
        """Numbers of the tensors that calls made and the body did not return. `program.outputs` must be set.

        What an attribute gives is left out: it may be made anew each time, and a parameter is its module's.
        """
        made = (id_ for call in self.program.calls if call.kind != "get" for id_ in call.results())
        met = {x.id for x in self.program.inputs} | set(refs(self.program.outputs))
        met.update(id_ for call in self.program.calls if call.kind == "get" for id_ in call.results())
        values, tensor = self.values.by_id, self.reference.tensor_type
        return [id_ for id_ in dict.fromkeys(made) if id_ not in met and isinstance(values.get(id_), tensor)]

    def _leaves(self) -> list[Any]:
        """The reference's inputs and modules so far: what a backward may leave a gradient in."""
        inputs = (self.values.by_id[x.id] for x in self.program.inputs)
        return [*inputs, *self.values.modules.values()]

    def finish(self, second: SecondDraw | None = None) -> Observation:
        """Run the reference's backward and return what the reference shows.

        `program.outputs` and `.cotangents` must be set. `second` draws the cotangents of second derivatives, where
        those are wanted.
        """
        inputs = {x.id for x in self.program.inputs}
        # Those are observed as their module's parameters; a static graph does not know them otherwise.
        parameters = {
            id(parameter)
            for module in self.values.modules.values()
            for parameter in self.reference.parameters(module).values()
        }
        self.program.leaves = [
            id_
            for id_, value in self.values.by_id.items()
            if isinstance(value, self.reference.tensor_type)
            and id_ not in inputs
            and id(value) not in parameters
            and (value.is_leaf or value.retains_grad)
            and value.requires_grad
        ]
        self._note_randomness()
        if self._drew:
            random = self.program.random = randomness(self.reference, self.program)
            for id_ in random.sizes if random is not None else ():  # no array is the cotangent of both sides
                self.program.cotangents.pop(id_, None)
        if second is not None and self.program.cotangents and self.program.random is None:
            leaves = leaf_tensors(self.reference, self.program, self.values)
            self.program.second_cotangents = draw_second(self.reference, leaves, second)
        [observation] = observe([Finished(self.reference, self.program, self.values, Observation())], self.reference)
        self.program.second_cotangents = differentiable_again(self.program.second_cotangents, observation.gradients)
        return observation

    def op_dtypes(self) -> list[str]:
        """For each of the Program's `ops()` the dtype of the first tensor that it was given; empty where it was given
        none. Only before `release`.
        """
        by_id, tensor_type = self.values.by_id, self.reference.tensor_type
        dtypes = []
        for call in self.program.op_calls():
            tensors = (value for id_ in call.operands() if isinstance(value := by_id.get(id_), tensor_type))
            first = next(tensors, None)
            dtypes.append("" if first is None else self.reference.describe(first)[0])
        return dtypes

    def release(self) -> None:
        """Let go of the case's values. Recording and dual objects refer to one another: without this, each case waits
        for the garbage collector, which then costs a quarter of the case.
        """
        self._known.clear()
        self._groups.clear()
        self.values = Values()


def _renumbered(call: Call, numbers: Mapping[int, int]) -> Call:
    """The call on other values; what it gives is yet to be seen."""

    def renumbered(leaf: Any) -> Any:
        return Ref(numbers.get(leaf.id, leaf.id)) if type(leaf) is Ref else leaf

    args = tuple(map_leaves(arg, renumbered) for arg in call.args)
    kwargs = {key: map_leaves(arg, renumbered) for key, arg in call.kwargs.items()}
    return replace(call, args=args, kwargs=kwargs, out=None)


def _inside(op: str, given: list[Any]) -> ArgumentError:
    """What to raise where a call has run a function of the test's that makes dual calls of its own."""
    function = next((each for each in given if type(each) in (FunctionType, MethodType)), None)
    if function is None:  # it has one already: a hook, or what `torch.vmap` was given
        made = "runs a function that makes dual calls, but should run none"
    else:
        made = f"was given {function.__name__}, a function that makes dual calls, but should be given none"
    return ArgumentError(f"{op} {made}: calls inside of a call cannot be recorded, so make them in the body itself")


def _rebuild(named: Any, items: list[Any]) -> Any:
    """A named tuple of the same type holding dual objects."""
    make = getattr(type(named), "_make", type(named))
    return make(items)


def _no_dual(item: Any) -> str:
    """What a body may not return, with the way out."""
    if callable(getattr(item, "value", None)):
        return f"{item!r}, but should return dual objects: its .value() is what a generator has drawn"
    if hasattr(item, "_dual_path"):
        return f"{item!r}, but should return dual objects: call it"
    return (
        f"a {type(item).__module__}.{type(item).__name__}, but should return dual objects: "
        "return what dual calls gave you, or pass auto_backward=False and return None"
    )
