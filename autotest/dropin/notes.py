"""What OneFlow's harness notes of a running body, read off the case's recording."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dual_object.program.calls import Call, op_name
from dual_object.program.printing import show
from dual_object.record.annotations import draw
from dual_object.record.dual import DualObject
from dual_object.record.recording import Recording, current_recording
from generators import Generator, Nothing

GREEN, YELLOW, PLAIN = "\033[32m", "\033[1;33m", "\033[0m"


def recorded() -> Recording | None:
    """The recording of the case that runs."""
    return current_recording.get(None)


def get_args(
    callable_: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[list[Any], dict[str, Any], list[Any], dict[str, Any]]:
    """The arguments of a call as each side takes them: PyTorch's, positional and by name, then OneFlow's.

    Generators draw their values; what is drawn as nothing is left out.
    """
    name = getattr(callable_, "__name__", type(callable_).__name__)
    drawn: list[Any] = []
    for position, arg in enumerate(args):
        if isinstance(arg, Generator):
            arg = draw(arg, callable_, name, position, args, kwargs)
        drawn.append(arg)
    named: dict[str, Any] = {}
    for key, arg in kwargs.items():
        named[key] = draw(arg, callable_, name, key, args, kwargs) if isinstance(arg, Generator) else arg
    kept = [arg for arg in drawn if not isinstance(arg, Nothing)]
    kept_named = {key: arg for key, arg in named.items() if not isinstance(arg, Nothing)}
    return (
        [_side(arg, "pytorch") for arg in kept],
        {key: _side(arg, "pytorch") for key, arg in kept_named.items()},
        [_side(arg, "target") for arg in kept],
        {key: _side(arg, "target") for key, arg in kept_named.items()},
    )


def _side(value: Any, side: str) -> Any:
    if isinstance(value, DualObject):
        return getattr(value, side)
    if isinstance(value, (tuple, list)):
        return tuple(_side(item.value() if isinstance(item, Generator) else item, side) for item in value)
    return value


def to_string(*args: Any, **kwargs: Any) -> str:
    """The arguments of a call in words, tensors by their shape."""
    return ", ".join([*map(_word, args), *(f"{key}={_word(value)}" for key, value in kwargs.items())])


def _word(value: Any) -> str:
    if isinstance(value, DualObject):
        shape = getattr(value.pytorch, "shape", None)
        return type(value.pytorch).__name__ if shape is None else f"Tensor({list(shape)})"
    return str(value)


def get_tensor_shape(tensor: Any) -> list[int]:
    """The sizes of a tensor."""
    return list(tensor.shape)


def calls() -> list[Call]:
    """The calls of the running case so far."""
    recording = recorded()
    return [] if recording is None else list(recording.program.op_calls())


def method_names() -> list[str]:
    """Their names."""
    return [op_name(call) for call in calls()]


def positional() -> list[list[str]]:
    """Their positional arguments, in words."""
    return [[show(arg) for arg in call.args] for call in calls()]


def keywords() -> list[dict[str, str]]:
    """Their arguments by name, in words."""
    return [{key: show(arg) for key, arg in call.kwargs.items()} for call in calls()]


def input_tensors() -> list[Any]:
    """PyTorch's tensors that the running case has drawn."""
    recording = recorded()
    return [] if recording is None else [recording.values.by_id[x.id] for x in recording.program.inputs]


def made_tensors() -> list[Any]:
    """PyTorch's tensors that calls of the running case made of no other tensor."""
    recording = recorded()
    if recording is None:
        return []
    made = [id_ for call in calls() if not call.operands() for id_ in call.results()]
    values = [recording.values.by_id[id_] for id_ in made]
    return [value for value in values if isinstance(value, recording.reference.tensor_type)]


def called_ids() -> list[int]:
    """The `id()` of each of PyTorch's tensors that a call of the running case gave."""
    recording = recorded()
    return [] if recording is None else [id(recording.values.by_id[id_]) for call in calls() for id_ in call.results()]


def parameters() -> dict[str, Any]:
    """PyTorch's parameters of the modules that the running case has made, by name."""
    recording = recorded()
    if recording is None:
        return {}
    named = [recording.reference.parameters(module) for module in recording.values.modules.values()]
    return {name: parameter for of_module in named for name, parameter in of_module.items()}


def last_receiver() -> Any:
    """PyTorch's object whose method was called last."""
    recording = recorded()
    met = [call.operands()[0] for call in calls() if call.kind == "method" and call.operands()]
    return recording.values.by_id[met[-1]] if recording is not None and met else None


def duals() -> list[DualObject]:
    """The dual tensors of the running case so far, all of which are compared when it ends."""
    recording = recorded()
    return [] if recording is None else recording.duals(recording.reference.tensor_type)


def modules() -> list[DualObject]:
    """The dual modules of the running case so far."""
    recording = recorded()
    return [] if recording is None else recording.duals(recording.reference.module_type)


def count() -> int:
    """How many values the running case has so far."""
    recording = recorded()
    return 0 if recording is None else len(recording.values.by_id)


def note_print_args(x: Any, end: bool = True) -> None:
    """Print an argument, followed by a comma unless it is the last (`end=False`)."""
    sys.stdout.write(f"{GREEN}{x}{', ' if end else ''}{PLAIN}")


def note_print_kwargs(x: Any, y: Any, end: bool = True) -> None:
    """Print an argument with its name, followed by a comma unless it is the last (`end=False`)."""
    note_print_args(f"{x}={y}", end)


def print_note_fake_program(detail: bool = False) -> None:
    """Print the program of the running case; with `detail` its input tensors and parameters, too."""
    recording = recorded()
    if recording is None:
        return
    sys.stdout.write(f"{GREEN}{recording.program}{PLAIN}\n")
    if detail:
        for tensor in input_tensors():
            sys.stdout.write(f"{GREEN}Shape{get_tensor_shape(tensor)}\n{tensor}{PLAIN}\n")
        for name, parameter in parameters().items():
            sys.stdout.write(f"{GREEN}{name}: {parameter}{PLAIN}\n")


def clear_note_fake_program() -> None:
    """Do nothing: what is noted is the running case's own program, which every case begins anew."""


def get_fake_program_more_detail(oneflow: Any, mode: str, func: str, args: Any = None, kwargs: Any = None) -> None:
    """Print the program of the running case under a title."""
    sys.stdout.write(f"{YELLOW}============= {mode}: {func} of {oneflow} ============={PLAIN}\n")
    for given in (args, kwargs):
        if given is not None:
            sys.stdout.write(f"{YELLOW}{given}{PLAIN}\n")
    print_note_fake_program()
