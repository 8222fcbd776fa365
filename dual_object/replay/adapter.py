"""The small Protocol between a Program and a framework; one adapter module per framework implements it.

How the framework differentiates is told beside, in `gradients.py`: by a tape, or by functions of whole Programs.

A new target is one module `dual_object/adapters/<name>.py` with a class `Adapter`, or any installed class named as
`package.module:Class` where a target is asked for.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

from dual_object.errors import MissingOp, TargetError
from dual_object.meant import did_you_mean
from dual_object.program.values import Array, Placement, Sbp, Tree
from dual_object.replay.asked.executors import asked_executor
from dual_object.replay.gradients import Tape, functional
from dual_object.replay.unfilled import unfilled_members

if TYPE_CHECKING:
    from dual_object.program.calls import Call
    from dual_object.program.program import Program
    from dual_object.replay.observation import Observation

BUILT_IN = MappingProxyType(
    {
        "jax": "dual_object.adapters.jax.adapter:Adapter",
        "oneflow": "dual_object.adapters.oneflow.graph:Adapter",
        "paddle": "dual_object.adapters.paddle.adapter:Adapter",
        "torch": "dual_object.adapters.torch.adapter:Adapter",
    }
)
#: What runs `torch:EXECUTOR`.
EXECUTED = "dual_object.adapters.torch.executed:Adapter"


#: What dtypes are called between harness and target.
DTYPES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
    "complex64",
    "complex128",
)

#: What a target may lack, of what is compared or asked for:
#:
#:     - `layout`: strides and storage offsets; `sharing`: which tensors lie in one memory;
#:     - `standing`: requires_grad, and which tensors are leaves;
#:     - `inputs`: what becomes of an input that the body writes to;
#:     - `modules`: neural network modules; `second`: second derivatives; `random`: random numbers that can be drawn;
#:     - `exceptions`: classes of exceptions that say what went wrong.
Aspect = Literal["layout", "sharing", "standing", "inputs", "modules", "second", "random", "exceptions"]
#: What may be done to a raw tensor or module: its values are written, or another flag or gradient is set.
Trait = Literal["values", "requires_grad", "grad", "training"]


class Configuration(NamedTuple):
    """One way in which a target can build a static graph otherwise, without changing what the graph computes.

    Attributes:
        name: how it is asked for; letters, digits, `_`, `.` and `-`.
        does: what it does, in a few words.
        dtype: the dtype that floating values may be computed in, such as `float16`: they are compared as closely as
            that allows; empty where every value is computed in its own.
        of_modules: whether it is set for each module of a graph: it says nothing of a graph without any.
    """

    name: str
    does: str
    dtype: str = ""
    of_modules: bool = False


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """What a target says of itself once it is imported.

    `capabilities` are what only some targets have: a case that needs one that is not among them is counted as skipped.
    `global_tensors` are tensors that lie on several ranks. With `compiled_graphs` a graph takes as long as all of its
    programs would take alone, and may take that long.

    `shares` names the target, or those of the stages that it lists, of whose graphs one of many programs costs little
    more than one of a few: those of several tests run in one.

    `configurations` are those that its static graphs may be built under. `lacks` are the aspects that the adapter
    says that it lacks, sorted: what is lacking is counted as not checked, and never as aligned.

    `translations` say what the target calls PyTorch's functions (`sum`) and methods (`Tensor.sum`) where that is not
    the same: in words, by PyTorch's path. `called` is the adapter's `name`, once it is started.
    """

    name: str
    environment: dict[str, str]
    devices: tuple[str, ...]
    dtypes: tuple[str, ...]
    capabilities: tuple[str, ...] = ()
    configurations: tuple[Configuration, ...] = ()
    lacks: tuple[str, ...] = ()
    translations: Mapping[str, str] = field(default_factory=dict)
    called: str = ""
    shares: tuple[str, ...] = ()

    def translation(self, call: Call) -> str:
        """What a call is on the target, in words; empty where it is the same."""
        if call.kind == "function":
            return self.translations.get(call.op, "")
        if call.kind in ("method", "get"):
            return self.translations.get(f"Tensor.{call.op}", "") or self.translations.get(call.op, "")
        return ""


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """Programs to run in one static graph.

    Attributes:
        programs: each is a graph of its own within the one that is compiled.
        gradients: per program, the leaf keys whose gradients to return; None runs forward only.
        again: per program, the values of its inputs at a second call of the same compiled graph, None where there is
            none. The second call follows the first and shows as its observation's `again`.
        configuration: the name of that which the graph is built under, one of the target's own; empty: of none.
    """

    programs: Sequence[Program]
    gradients: Sequence[Sequence[str]] | None
    again: Sequence[Sequence[Array] | None] | None = None
    configuration: str = ""


@dataclass(frozen=True, slots=True)
class GraphRefusal:
    """One program of a batch that the static graph refused: at which call (None: as a whole), why, and whether it
    was never tried.

    `uncaptured`: it was tried, and the target says by design that it makes no graph of such a program.
    """

    skipped: bool
    call: int | None
    classes: tuple[str, ...]
    message: str
    uncaptured: bool = False


@dataclass(frozen=True, slots=True)
class Surface:
    """What a target has and how much of it Programs have used; each sorted, and empty where the target cannot tell.

    `registry`: the op types registered in the target. `touched`: those that ran. `names`: the ops that reference and
    target both have, named as in a Program.
    """

    registry: tuple[str, ...]
    touched: tuple[str, ...]
    names: tuple[str, ...]


class Adapter(Protocol):
    """One framework. Arrays are NumPy; dtypes are neutral names such as `float32`; devices are spelled `cpu`,
    `cuda`, `cuda:1`.
    """

    name: str

    @property
    def tensor_type(self) -> type[Any]:
        """The class of tensors."""

    @property
    def module_type(self) -> type[Any]:
        """The class of neural network modules."""

    @property
    def lacks(self) -> Set[Aspect]:
        """The aspects that this framework does not have, or that cannot be told of it."""

    @property
    def touched(self) -> Set[str]:
        """The op types, named as in `registry()`, that Programs have run in this process; empty where the target
        cannot tell.
        """

    def info(self) -> TargetInfo:
        """Name, versions, devices and dtypes."""

    def registry(self) -> Sequence[str]:
        """The names of all op types that the target has registered; empty where it has no such registry."""

    def resolve(self, path: str) -> Any:
        """The public object at `path` below the framework's root; raises MissingOp."""

    def attribute(self, receiver: Any, name: str) -> Any:
        """`receiver.name`, where the receiver is a tensor, a module, or whatever else a call has given: a method, or a
        plain value. Raises AttributeError where there is none, UnmappedOp where the framework's table has no row for
        it.
        """

    def tensor(self, data: Array, dtype: str) -> tuple[Any, bool]:
        """A tensor of these values and strides that requires no gradient, and whether it shares memory with `data`.

        Without the aspect `layout` the strides may be lost; with it, a tensor has views by index (`tensor[3:]`,
        `tensor[:, :3]`, `tensor[:, 0]`) and `reshape` as NumPy's arrays have, to lay one at an offset.
        """

    def device(self, spec: str) -> Any:
        """What the framework's functions take as this device."""

    def encode(self, value: Any) -> Tree:
        """The neutral form of a framework's plain object (dtype, device, size ...); the value itself where it has
        none.
        """

    def describe(self, tensor: Any) -> tuple[str, tuple[int, ...], str, bool]:
        """dtype, shape, device and requires_grad of a tensor."""

    def place(self, tensor: Any) -> tuple[tuple[int, ...] | None, int, bool]:
        """Strides in elements (None: contiguous; 0 where a size is 1), storage offset in elements, whether it is a
        leaf.
        """

    def storage(self, tensor: Any) -> int | None:
        """Where the memory starts that a tensor lies in, the same for all its views; None where that cannot be told,
        or nothing is in it.
        """

    def read(self, tensors: Sequence[Any]) -> list[Array]:
        """The values of `tensors`, detached, on the host."""

    def load_state(self, module: Any, state: dict[str, Array]) -> None:
        """Set a module's parameters and buffers; raises KeyError where the names differ."""

    def parameters(self, module: Any) -> dict[str, Any]:
        """Parameters by name, those of submodules included."""

    def buffers(self, module: Any) -> dict[str, Any]:
        """Buffers by name, those of submodules included."""

    def saved(self, module: Any) -> list[str]:
        """The keys of a module's `state_dict()`."""

    def synchronize(self) -> None:
        """Wait until everything asked for has run, so that an asynchronous failure is blamed on its own case."""

    def graph(self, request: GraphRequest) -> list[Observation | GraphRefusal]:
        """Run all programs in ONE static graph. Raises GraphError when the graph as a whole cannot be compiled or
        run.
        """


@runtime_checkable
class Distributed(Protocol):
    """What an adapter has besides where its framework has global tensors: ranks, placements and sbp."""

    @property
    def rank(self) -> int:
        """This process's place among the ranks, from 0."""

    @property
    def world_size(self) -> int:
        """How many ranks there are."""

    def own(self, leaf: Placement | Sbp) -> Any:
        """The framework's object for a placement or sbp."""

    def spread(self, tensor: Any, placement: Placement, sbp: Sequence[Sbp]) -> Any:
        """A global leaf tensor from a local one that is the same on all ranks."""

    def gather(self, data: bytes) -> list[bytes]:
        """What every rank passes, in their order; all of them must call it."""

    def data_parallel(self, held: Sequence[Any]) -> Callable[[Any], Any]:
        """The framework's `DistributedDataParallel` of a model that holds these modules and parameters: a function
        that is given what the model has computed, and gives it back such that a backward from it averages gradients.
        """


def distributed(adapter: Adapter) -> Distributed | None:
    """The adapter as one of a framework with global tensors, None where it has none."""
    return adapter if isinstance(adapter, Distributed) else None


class GraphError(Exception):
    """A static graph failed as a whole; after `poisoned` the process must not build another one."""

    def __init__(self, classes: tuple[str, ...], message: str, *, poisoned: bool) -> None:
        super().__init__(message)
        self.classes = classes
        self.message = message
        self.poisoned = poisoned


class NotInferred(Exception):  # noqa: N818 - an outcome that is counted, not a fault
    """Shape inference does not go through a Program; the message is why, in one line."""


class Inferred(NamedTuple):
    """What shape inference says of a tensor; `strides` as an adapter's `place` gives them."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None


class Made(NamedTuple):
    """A call that the framework's own code has made: what it is called by, as a `Call` has it, what it was given, and
    what came of it, all as the framework's own objects.
    """

    kind: Literal["function", "method", "operator", "get"]
    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    raised: Exception | None


@dataclass(slots=True)
class Watched:
    """The calls that the framework's own code has made while it was watched, in order.

    `obstacle`: what it did first, in words such as `reads values to Python by Tensor.item`, that no such call tells;
    what came after that was not watched.
    """

    made: list[Made] = field(default_factory=list)
    obstacle: str | None = None


class Reference(Adapter, Tape, Protocol):
    """What the reference can do beyond a target: its randomness is seen and set, and it computes otherwise if asked."""

    @property
    def uninitialised(self) -> Set[str]:
        """Ops whose results hold whatever the memory held before."""

    def fields(self, value: Any) -> tuple[str, ...]:
        """The field names of a named tuple; empty for any other."""

    def seed(self, seed: int) -> None:
        """Start the random numbers anew."""

    def random_apart(self) -> AbstractContextManager[None]:
        """While it lasts, random numbers may be seeded and drawn: afterwards they go on from where they stood."""

    def lost_device(self) -> str:
        """Wait for what has been asked for. Why a device can be used no more, which `info` then no longer has; empty
        where none was lost.
        """

    def random_state(self) -> bytes:
        """Where the random numbers stand: other bytes once any have been drawn."""

    def memory(self, tensor: Any) -> int:
        """A number that tensors have in common that share memory; 0 for one without memory."""

    def parts(self, value: Any) -> Iterable[Any]:
        """The tensor itself; of a module itself and its parameters and buffers; of another value nothing."""

    def condition(self, value: Any) -> Mapping[Trait, Any]:
        """How one of the `parts` is, as far as that can be told without reading values: what is done to it shows as
        another value of a trait.
        """

    def overwrite(self, tensor: Any, change: Callable[[Array], Array]) -> None:
        """Change a tensor's values in place, behind autograd's back."""

    def use_one_thread(self) -> None:
        """Compute on one thread from now on: more cost more than they give on small tensors."""

    def default_dtype(self, name: str) -> AbstractContextManager[None]:
        """While it lasts, floating tensors and modules are made in this dtype unless told otherwise."""

    def seen_by_mode(self) -> AbstractContextManager[None]:
        """While it lasts, autograd takes those of its formulas that read no values and write nothing in place."""

    def watching(self) -> AbstractContextManager[Watched]:
        """While it lasts, the calls of public functions, methods and operators that give, or write to, a tensor are
        taken down; of those that call others the outermost.
        """

    def infer(self, program: Program) -> Mapping[int, Inferred]:
        """What the framework's own shape inference, which computes no values, says of every tensor of a Program, by
        number. The random numbers, warnings and modes of this process stay as they are. Raises NotInferred.
        """


def surface(adapter: Adapter, paths: Sequence[str]) -> Surface:
    """What `adapter` has; `paths` are the reference's ops, whose last parts are their names."""
    names = {path.rpartition(".")[2] for path in paths if _has(adapter, path)}
    return Surface(tuple(sorted(adapter.registry())), tuple(sorted(adapter.touched)), tuple(sorted(names)))


def _has(adapter: Adapter, path: str) -> bool:
    try:
        return callable(adapter.resolve(path))
    except MissingOp:
        return False


def set_default_dtype(adapter: Adapter, name: str) -> None:
    """Make floating tensors and layers in this dtype, from now on, unless they are told otherwise; raises TargetError
    where the target cannot.
    """
    try:
        adapter.resolve("set_default_dtype")(adapter.resolve(name))
    except (MissingOp, TypeError, NotImplementedError) as error:
        raise TargetError(f"target {adapter.name!r} cannot make {name} its default dtype: {error}") from error


def load(name: str) -> Adapter:
    """Import the framework behind `name` and give its adapter; raises TargetError in one sentence when that fails."""
    asked = asked_executor(name)
    module, _, attribute = (EXECUTED if asked else BUILT_IN.get(name, name)).partition(":")
    if not attribute:
        known = ", ".join(BUILT_IN)
        raise TargetError(
            f"target={name!r}, but should be one of {known}, torch:EXECUTOR, or package.module:Class"
            f"{did_you_mean(name, BUILT_IN)} [--target]"
        )
    try:
        made = getattr(importlib.import_module(module), attribute)
        if not callable(made):
            raise TargetError(
                f"target={name!r} is a {type(made).__name__}, but should be an adapter's class, package.module:Class "
                "[--target]"
            )
        if asked is None and _wants_arguments(made):
            raise TargetError(f"target={name!r} wants arguments, but an adapter's class should take none [--target]")
        adapter: Adapter = made(asked) if asked else made()
    except Exception as error:
        raise not_imported(name, error) from error
    unwritten = unfilled_members(adapter)
    if unwritten:
        told = "".join(f"\n  {member}: {what}" for member, what in unwritten.items())
        raise TargetError(
            f"target {name!r} is a skeleton: write these members, and take away the @unfilled above each "
            f"[docs/new-target.md]{told}"
        )
    lacking = missing_members(adapter)
    if lacking:
        raise TargetError(
            f"target {name!r} lacks {', '.join(lacking)}, but should have all members of an adapter [docs/targets.md]"
        )
    return adapter


def _wants_arguments(made: Callable[..., object]) -> bool:
    """Whether nothing can be called without arguments."""
    try:
        parameters = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):  # as of what is written in C, which is called
        return False
    return any(x.default is x.empty and x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD) for x in parameters)


def not_imported(name: str, error: Exception) -> TargetError:
    """What is said where the import of a target raises this: in one sentence."""
    if isinstance(error, TargetError):
        return error
    module = BUILT_IN.get(name, name).partition(":")[0]
    reason = " ".join(str(error).split())[:300]
    way = ""
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType) and error.obj.__name__ == module:
        way = ", but should be package.module:Class [--target]"
    if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
        way = f"; put the folder that holds {error.name} on the import path, as PYTHONPATH=. does for this one"
    return TargetError(f"target {name!r} cannot be imported: {type(error).__name__}: {reason}{way}")


def missing_members(adapter: object) -> list[str]:
    """The members of the Protocol that an adapter does not have, in the Protocol's order: of a tape, too, where it does
    not differentiate whole Programs.
    """
    protocols = (Adapter,) if functional(adapter) is not None else (Adapter, Tape)
    members = [name for protocol in protocols for name in {**protocol.__annotations__, **vars(protocol)}]
    return [name for name in members if not name.startswith("_") and not hasattr(adapter, name)]


def load_reference() -> Reference:
    """PyTorch, imported at the first call, which takes seconds. Raises TargetError."""
    return cast(Reference, load("torch"))
