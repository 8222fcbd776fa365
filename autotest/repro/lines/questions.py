"""Questions: what a script asks of a run besides the values of its tensors, each answered by a plain Python value; and
looks, what it sees of a training after a part of a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autotest.compare.metadata import ENTRY
from autotest.repro.lines.arrays import literal
from dual_object.program.calls import Call, op_name
from dual_object.program.program import Program
from dual_object.program.values import Named, Ref, refs

#: The helper functions that answers may call, by name.
HELPERS: Mapping[str, str] = {
    "storage": '''def storage(tensor):
    """The address at which the memory of a tensor begins."""
    array = tensor.detach().numpy()
    return array.__array_interface__["data"][0] - tensor.storage_offset() * array.itemsize''',
    "follows": '''def follows(gradient, x, cotangent, result):
    """Whether a gradient scales each element as the result does."""
    factors = (np.float64(gradient.numpy()) * x.detach().numpy(), np.float64(cotangent) * result.detach().numpy())
    return bool(np.isclose(*factors, rtol=1e-3, atol=1e-6, equal_nan=True).all())''',
    "held": '''def held(module):
    """What a module holds: dtype, shape and requires_grad of each parameter and buffer, and the keys of its state."""
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    facts = {
        name: (str(tensor.dtype).rpartition(".")[2], tuple(tensor.shape), tensor.requires_grad)
        for name, tensor in tensors.items()
    }
    return facts, sorted(module.state_dict())''',
}
#: The looks at a training, as functions of a script.
LOOKS: Mapping[str, str] = {
    "trained": '''def trained(optimizer):
    """The parameters that an optimizer updates."""
    groups = optimizer.param_groups
    return [leaf for group in groups for leaf in (group["params"] if isinstance(group, dict) else group.parameters)]''',
    "gradients": '''def gradients(optimizer):
    """Copies of the gradients of an optimizer's parameters."""
    return [None if leaf.grad is None else leaf.grad.detach().clone() for leaf in trained(optimizer)]''',
    "parameters": '''def parameters(optimizer):
    """Copies of an optimizer's parameters."""
    return [leaf.detach().clone() for leaf in trained(optimizer)]''',
    "states": '''def states(optimizer):
    """Copies of what an optimizer keeps for each parameter, by names in order."""
    held = optimizer.state if hasattr(optimizer, "state") else optimizer._state
    kept = [{} if leaf.grad is None else dict(held[leaf]) for leaf in trained(optimizer)]
    return [[state[name].detach().clone() for name in sorted(state) if name != "step"] for state in kept]''',
    "rates": '''def rates(optimizer):
    """The learning rates of an optimizer's groups."""
    return [float(group["lr"]) for group in optimizer.param_groups]''',
}
#: Kinds in which modules may differ by what they hold.
STATE_KINDS = frozenset({"structure", *ENTRY})


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words and the expression of its answer."""

    words: str
    answer: str
    helper: str = ""


def of_memory(program: Program, names: Mapping[int, str], paths: Mapping[int, str]) -> Iterator[Question]:
    """Which memory each returned tensor shares; `names` and `paths` say how values are called, and where returned ones
    lie.
    """
    outputs = list(paths)
    for position, id_ in enumerate(outputs):
        inputs = [x.id for x in program.inputs if x.id != id_]
        for other in [*inputs, *outputs[:position]]:
            if other in inputs and other in outputs[:position]:
                continue
            words = f"whether {names[id_]} shares memory with {names[other]}"
            yield Question(words, f"storage({paths[id_]}) == storage({paths.get(other, names[other])})", "storage")


def of_factor(program: Program, names: Mapping[int, str], paths: Mapping[int, str]) -> Iterator[Question]:
    """Whether the first input's gradient has the factors that a random call gave the values, as dropout multiplies both
    by the same mask.
    """
    [(id_, cotangent)] = program.cotangents.items()
    x = names[program.inputs[0].id]
    answer = f"follows({x}.grad, {x}, {literal(cotangent)}, {paths[id_]})"
    yield Question(f"whether the gradient of {x} follows {names[id_]}", answer, "follows")


def of_result(call: Call, result: str, names: Mapping[int, str]) -> Iterator[Question]:
    """What kind of object a call returned, and whether one of its own operands; `result` is how it is called."""
    op, out = op_name(call), call.out
    if type(out) is Ref:
        for id_ in dict.fromkeys(arg.id for arg in call.args if type(arg) is Ref):
            yield Question(f"whether {op} returns {names[id_]} itself", f"{result} is {names[id_]}")
    elif type(out) is Named:
        fields = [f'hasattr({result}, "{name}")' for name in out.fields]
        yield Question(f"whether {op} returns a tuple with names", " and ".join(fields))
    elif isinstance(out, (tuple, list)) and refs(out):
        other = "tuple" if isinstance(out, list) else "list"
        yield Question(f"whether {op} returns a {other}", f"isinstance({result}, {other})")


def of_state(modules: Mapping[str, Call], op: str) -> Iterator[Question]:
    """What the modules of class `op` hold; `modules` are constructions by name."""
    for name, call in modules.items():
        if op_name(call) == op:
            yield Question(f"what {name} holds", f"held({name})", "held")


def functions(program: Program, questions: Iterable[Question]) -> list[str]:
    """The functions that a program's looks and the answers to questions call."""
    looks = {call.op for call in program.calls if call.kind == "training"}
    looking = [text for name, text in LOOKS.items() if name in looks or (name == "trained" and looks)]
    asking = dict.fromkeys(question.helper for question in questions)
    return [*looking, *(HELPERS[name] for name in asking if name)]


__all__ = ["STATE_KINDS", "Question", "functions", "of_factor", "of_memory", "of_result", "of_state"]
