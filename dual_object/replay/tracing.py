"""What every static graph shares: which Programs cannot be one, which calls belong into it, how a refusal is told; and
the whole of it, where each Program has a graph of its own: `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from dual_object.program.calls import Call
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref, refs
from dual_object.replay.adapter import Adapter, GraphRefusal, GraphRequest
from dual_object.replay.observation import Failure, Observation, class_names, first_words
from dual_object.replay.reading import module_buffers, see
from dual_object.replay.replay import Replay
from dual_object.replay.second_call import place_again

#: What no graph stands for, for it holds no tensor and no op, by the call: a graph holds what it left.
_OF_THE_PROCESS: Mapping[str, str] = MappingProxyType(
    {
        "Generator": "the body has a random generator of its own",
        "set_default_dtype": "the body sets what new tensors are like",
    }
)

#: What gives parts of a module, or all of them anew.
_OF_MEMBERS = frozenset(
    {
        *("parameters", "buffers", "children", "modules"),
        *("named_parameters", "named_buffers", "named_children", "named_modules"),
        *("get_parameter", "get_buffer", "get_submodule", "getitem", "deepcopy"),
    }
)


class TraceRefused(Exception):  # noqa: N818 - carries a Failure out of a trace
    """A call failed while a graph was traced."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def as_refusal(self) -> GraphRefusal:
        """The same as a result of the batch."""
        failure = self.failure
        return GraphRefusal(False, failure.call, failure.classes, failure.message)


class NotTraced(Exception):  # noqa: N818 - an outcome that is counted, not a fault
    """A graph's maker reached a limit of its own, which is no difference; the message says which."""


#: What a compiled graph gives for the tensors of its inputs: what `Trace.body` has given, and gradients by their keys.
Graph: TypeAlias = "Callable[[list[Any]], tuple[Sequence[Any], Mapping[str, Any]]]"


class Trace:
    """A Program on its way into a static graph: its inputs are placed, its modules made and configured, its other calls
    run wherever `body` does.

    Args:
        keys: the leaves whose gradients are wanted.

    Attributes:
        made: what has been made before the body, by number: the modules.
        returned: the numbers of the tensors that the body returns, once it has run.

    Raises TraceRefused where that much fails.
    """

    def __init__(self, adapter: Adapter, program: Program, keys: Sequence[str]) -> None:
        self.adapter, self.program, self.keys = adapter, program, keys
        self.replay = Replay(adapter, program)
        self.returned: list[int] = []
        for x in program.inputs:
            self.replay.place(x)
        run_calls(self.replay, setup_calls(program))
        self.made = dict(self.replay.values.by_id)

    def placed(self, arrays: Sequence[Array] | None = None) -> list[Any]:
        """The inputs once more, without gradients, with the values that they were drawn with or these."""
        program = self.program
        placed = place_again(self.adapter, program, [x.data for x in program.inputs] if arrays is None else arrays)
        return [placed.values.by_id[x.id] for x in program.inputs]

    def body(self, tensors: Sequence[Any], after: Callable[[int], None] | None = None) -> list[Any]:
        """Run the traced calls on whatever stands for the inputs, and give what the body returns; `after(index)` is
        told of each call. It may run several times: each begins anew. Raises TraceRefused.
        """
        self.replay.values.by_id = dict(self.made)
        for x, tensor in zip(self.program.inputs, tensors, strict=True):
            self.replay.values.place(x.id, tensor)
        run_calls(self.replay, traced_calls(self.program), after)
        self.returned = returned_tensors(self.replay)
        return [self.replay.values.by_id[id_] for id_ in self.returned]

    def shows(self, graph: Graph, seen: Observation, arrays: Sequence[Array] | None = None) -> Observation:
        """What a call of the compiled graph adds to `seen`, of inputs with these values."""
        outputs, gradients = graph(self.placed(arrays))
        buffers = module_buffers(self.adapter, self.program, self.replay.values)
        there = {key: gradient for key, gradient in gradients.items() if gradient is not None}
        readings = iter(see(self.adapter, [*outputs, *there.values(), *buffers.values()]))
        seen.outputs = {id_: next(readings) for id_ in self.returned}
        seen.gradients = {**dict.fromkeys(self.keys), **{key: next(readings) for key in there}}
        seen.buffers = {key: next(readings) for key in buffers}
        return seen


def run_calls(replay: Replay, indices: Iterable[int], after: Callable[[int], None] | None = None) -> None:
    """Run these calls while a graph is traced, and tell `after` of each. Raises TraceRefused where one fails, or has
    before.
    """
    for index in indices:
        replay.step(index, replay.program.calls[index])
        if replay.seen.ended:
            break
        if after is not None:
            after(index)
    if replay.seen.ended:
        raise TraceRefused(replay.seen.failures[-1])


def run(
    adapter: Adapter, request: GraphRequest, compile_: Callable[[Trace], Graph], *, inside: bool = True
) -> list[Observation | GraphRefusal]:
    """Run each Program of a request in a static graph of its own, which `compile_` makes of its trace; `inside` says
    whether the graph has the gradients in it.

    A Program of which `compile_`, or the graph when it is called, raises NotTraced is counted as skipped with that
    reason; TraceRefused and any other exception is how the target refuses it.
    """
    wanted = request.gradients or [()] * len(request.programs)
    again = request.again or [None] * len(request.programs)
    members = zip(request.programs, wanted, again, strict=True)
    return [_alone(adapter, *member, compile_, inside=inside) for member in members]


def _alone(
    adapter: Adapter,
    program: Program,
    keys: Sequence[str],
    again: Sequence[Array] | None,
    compile_: Callable[[Trace], Graph],
    *,
    inside: bool,
) -> Observation | GraphRefusal:
    reason = obstacle(program, inside=inside)
    if reason is not None:
        return GraphRefusal(True, None, (), reason)
    try:
        trace = Trace(adapter, program, keys)
        graph = compile_(trace)
        seen = trace.shows(graph, trace.replay.seen)
        if again is not None:
            keep(seen)
            seen.again = trace.shows(graph, Observation(), again)
    except NotTraced as reached:
        return GraphRefusal(True, None, (), str(reached))
    except TraceRefused as refused:
        return refused.as_refusal()
    except Exception as error:
        return GraphRefusal(False, None, class_names(error), first_words(error))
    return seen


def keep(seen: Observation) -> None:
    """Copy what may lie in memory that a graph's second call writes to."""
    for tensor in (*seen.outputs.values(), *seen.gradients.values(), *seen.buffers.values()):
        if tensor is not None:
            tensor.data = tensor.data.copy()


def obstacle(program: Program, *, inside: bool = True) -> str | None:
    """Why no static graph can stand for this Program, if none can: one that has its gradients `inside`, or one that a
    backward runs through.
    """
    if program.inline is not None:
        return program.inline
    if program.training is not None:
        return "this graph does not train"
    made = {x.id for x in program.inputs}
    constructions = {id(call) for call in program.modules()}
    modules: set[int] = set()
    held: set[int] = set()
    setup = set(setup_calls(program))
    for index, call in enumerate(program.calls):
        if _gives_members(call) and not (modules | held).isdisjoint(call.operands()):
            held.update(call.results())
        if id(call) in constructions:
            if not made.isdisjoint(call.operands()):
                return "a module is constructed from a tensor"
            modules.update(call.results())
        elif index not in setup and _configures(call, modules):
            return "a module is changed after it was used"
        else:
            made.update(set(call.results()) - modules)
        if call.kind in ("method", "function") and call.op.rpartition(".")[2] == "backward":
            return "the body calls backward itself"
        if (call.kind == "get" and call.op == "grad") or call.op == "autograd.grad":
            return "the body reads gradients"
        if call.kind == "set" and call.op in ("data", "grad") and (modules | held).isdisjoint(call.operands()[:1]):
            return f"the body assigns the {call.op} of a tensor"  # tracers know nothing of it, and leave it out
        if _writes_parameters(call, modules, held):
            return "the body writes to a module's parameters"
        if call.op in _OF_THE_PROCESS:
            return _OF_THE_PROCESS[call.op]
    if not traced_calls(program) and not refs(program.outputs):
        return "no call computes a tensor"
    if program.leaves and not inside:
        return "the body makes leaves, which are none outside of a graph"
    return None


def _gives_members(call: Call) -> bool:
    """Whether a call gives what its receiver holds, as `m.weight`, `m.parameters()` and `m[0]` do, or a copy of it."""
    return call.kind == "get" or call.op.rpartition(".")[2] in _OF_MEMBERS


def _writes_parameters(call: Call, modules: set[int], held: set[int]) -> bool:
    """Whether a call changes what modules hold, in place or by a method of theirs: a graph would do so at each call of
    its own, and an executor may have read the values before.
    """
    receiver = call.args[0] if call.args else None
    if type(receiver) is not Ref:
        return False
    if receiver.id in modules:
        return call.kind == "method" and call.op in ("load_state_dict", "reset_parameters")
    op = call.op.rpartition(".")[2]
    return receiver.id in held and call.kind in ("function", "method") and _in_place(op)


def _in_place(op: str) -> bool:
    return op.endswith("_") and not op.endswith("__") and op != "requires_grad_"


def setup_calls(program: Program) -> list[int]:
    """Indices of the calls that come before a static graph: modules are constructed, and configured (`to`, `eval`,
    `torch.nn.utils.weight_norm`) before their first use; a graph's own block for a module refuses both.
    """
    constructions = {id(call) for call in program.modules()}
    indices: list[int] = []
    modules: set[int] = set()
    used: set[int] = set()
    for index, call in enumerate(program.calls):
        if id(call) in constructions:
            indices.append(index)
            modules.update(call.results())
        elif _configures(call, modules) and used.isdisjoint(call.operands()):
            indices.append(index)
        else:
            used.update(call.operands())
    return indices


def _configures(call: Call, modules: set[int]) -> bool:
    """Whether a module's own method changes it and returns it, or a function does that is given nothing else that the
    case has made, such as `torch.nn.utils.weight_norm`.
    """
    receiver = call.args[0] if call.args else None
    if type(receiver) is not Ref or receiver.id not in modules or call.out != receiver:
        return False
    return call.kind == "method" or (call.kind == "function" and {*call.operands()} == {receiver.id})


def traced_calls(program: Program) -> list[int]:
    """Indices of the calls that belong into a static graph: no setup, no host reads, no refused calls."""
    setup = set(setup_calls(program))
    return [
        index
        for index, call in enumerate(program.calls)
        if index not in setup and not call.raises and (call.out is None or refs(call.out))
    ]


def returned_tensors(replay: Replay) -> list[int]:
    """Numbers of the tensors that the body returned, each once."""
    by_id = replay.values.by_id
    tensor_type = replay.adapter.tensor_type
    return [id_ for id_ in dict.fromkeys(refs(replay.program.outputs)) if isinstance(by_id.get(id_), tensor_type)]


def leaf(replay: Replay, key: str) -> Any:
    """The leaf behind a gradient's key; while a graph is traced its inputs do not call themselves leaves."""
    id_, _, parameter = key.partition(".")
    if parameter:
        return replay.adapter.parameters(replay.values.modules[int(id_)])[parameter]
    return replay.values.inputs.get(int(id_), replay.values.by_id[int(id_)])
