"""The text of such a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from autotest.compare.difference import Rules
from autotest.compare.kinds import DEADLY, RAISES
from autotest.compare.tolerance import tolerance
from autotest.repro.templating import template
from autotest.repro.translated.speech import Speech, rows
from autotest.repro.translated.translation import returned, translated
from autotest.repro.unscripted import Unscripted
from autotest.repro.wanted import Wanted
from dual_object.program.printing import Line, lines, names
from dual_object.program.program import Program
from dual_object.program.values import Array, Ref
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Observation, Seen
from dual_object.replay.replay import Replay

#: A program with more numbers than that is not written out.
MOST_ELEMENTS = 2000
#: What layers of every framework hold under the same names.
_HELD = frozenset({"weight", "bias"})
#: What a script does not compare.
_UNSEEN = frozenset({"alias", "device", "layout", "mutation", "random", "requires_grad", "structure", "batch_only"})


def translated_script(
    head: Mapping[str, Any],
    row: Mapping[str, Any],
    program: Program,
    rules: Rules,
    want: Wanted,
    speech: Speech,
    deadline: int,
) -> str:
    """The text for a divergence of a target whose table says what its calls are there; `head` is what every script
    says of its divergence. Raises Unscripted.
    """
    if want.graph:
        raise Unscripted(f"a script builds no static graph of {row['target']}")
    if row["kind"] in _UNSEEN or want.second or want.part not in (None, "output", "gradient"):
        raise Unscripted(f"a script does not ask {row['target']} for what differs")
    if want.part == "gradient" and "." in want.key:
        raise Unscripted("a script does not read gradients of what a layer holds")
    if want.backward and not speech.backward:
        raise Unscripted(f"a script does not differentiate in {row['target']}")
    states = [array for call in program.calls for array in call.state.values()]
    if sum(array.size for array in (*(x.data for x in program.inputs), *states)) > MOST_ELEMENTS:
        raise Unscripted(f"its inputs have more than {MOST_ELEMENTS} elements")
    outputs = returned(program)
    told = replace(translated(program, rows(row["target"])), outputs=tuple(map(Ref, outputs)))
    spelled = names(program)
    header, *printed = lines(told, _array)
    body = [text for line in printed for text in _with_state(line, told, spelled, speech)]
    run = _inputs(program, spelled, speech)
    arguments = ", ".join(["", *(spelled[x.id] for x in program.inputs)])
    shown = [spelled[id_] for id_ in outputs]
    given = f"{', '.join(shown)}{',' * (len(shown) == 1)} = " if shown else ""
    run.append(f"{given}program({speech.root}{arguments})")
    results = [(name, name) for name in shown]
    if want.backward:
        run.append(_backward(program, spelled, speech))
        leaves = [spelled[x.id] for x in program.inputs if x.requires_grad]
        results = [(f"gradient of {name}", speech.gradient.format(leaf=name)) for name in leaves]
    expected = [] if row["kind"] in RAISES | DEADLY else _expected(program, want, spelled, rules)
    kept = {name for name, *_ in expected}
    return template("translated.py.j2").render(
        **head,
        root=speech.root,
        original=[line.text for line in lines(program)],
        names=header.text[header.text.index("torch") + len("torch") : header.text.rindex(")")],
        body=body,
        imports=speech.imports,
        run=run,
        results=[(name, value) for name, value in results if name in kept],
        read=lambda value: speech.read.format(value=value),
        expected=expected,
        deadly=row["kind"] in DEADLY,
        deadline=deadline,
    )


def _with_state(line: Line, told: Program, spelled: Mapping[int, str], speech: Speech) -> Iterator[str]:
    """A line in the target's words, and after it those that set what a layer made by it holds. Raises Unscripted."""
    yield line.text.replace("torch.", f"{speech.root}.")
    call = None if line.call is None else told.calls[line.call]
    if call is None or call.kind != "module" or type(call.out) is not Ref:
        return
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    for name, array in call.state.items():
        if not speech.state or name not in _HELD:
            raise Unscripted(f"a script does not set {name} of {speech.root}'s {call.op}")
        yield indent + speech.state.format(layer=spelled[call.out.id], name=name, array=_array(array))


def _inputs(program: Program, spelled: Mapping[int, str], speech: Speech) -> list[str]:
    """The statements that make the inputs; strides are lost."""
    return [
        f"{spelled[x.id]} = "
        f"{(speech.leaf if x.requires_grad else speech.tensor).format(array=_array(x.data), dtype=x.dtype)}"
        for x in program.inputs
    ]


def _backward(program: Program, spelled: Mapping[int, str], speech: Speech) -> str:
    starts = [
        speech.tensor.format(array=_array(array), dtype=array.dtype.name) for array in program.cotangents.values()
    ]
    outputs = ", ".join(spelled[id_] for id_ in program.cotangents)
    return speech.backward.format(outputs=outputs, starts=", ".join(starts))


def _expected(
    program: Program, want: Wanted, spelled: Mapping[int, str], rules: Rules
) -> list[tuple[str, str, str, float, float]]:
    """What the reference gives of what is shown: name, dtype, values as an expression, rtol and atol."""
    seen: Observation = Replay(load_reference(), program, side="reference").run()
    found: dict[str, Seen] = {}
    if want.backward:
        for x in program.inputs:
            gradient = seen.gradients.get(str(x.id))
            if gradient is not None:
                found[f"gradient of {spelled[x.id]}"] = gradient
    else:
        found = {spelled[id_]: output for id_, output in seen.outputs.items() if id_ in spelled}
    if not found:
        raise Unscripted("PyTorch gives no tensor that a script could compare")
    expected = []
    for name, tensor in found.items():
        rtol, atol, _ = tolerance(tensor.dtype, "cpu", rules.rtol, rules.atol)
        expected.append((name, tensor.dtype, _array(tensor.data), rtol, atol))
    return expected


def _array(data: Array) -> str:
    """An array as an expression."""
    values = repr(data.tolist())
    text = f'np.array({values}, "{data.dtype.name}")'
    return text if 0 not in data.shape else f'np.zeros({data.shape}, "{data.dtype.name}")'


__all__ = ["MOST_ELEMENTS", "translated_script"]
