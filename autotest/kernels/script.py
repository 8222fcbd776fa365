"""The script of a finding: the op and the kernel, called with the same, side by side."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from autotest.compare.tolerance import tolerance
from autotest.kernels.findings import Finding
from autotest.repro.lines.source import Source
from autotest.repro.templating import template
from autotest.repro.wanted import Wanted

#: The arrays that are too long to read, beside the script.
ARRAYS = "inputs.npz"


def write_script(folder: Path, like: str, file: Path, function: str, finding: Finding) -> Path | None:
    """Write the script of a finding into a folder, which is made; None where no Program shows it."""
    program = finding.program
    if program is None:
        return None
    op = like.rpartition(".")[2]
    backward = bool(program.cotangents)
    source = Source(program, Wanted("value", op, "output", "", None, backward, False, False, frozenset()))
    inputs = source.input_lines(requires_grad=True)
    text = source.program_text().replace("def program(torch", "def program(op")
    text = re.sub(rf"\b{re.escape(like)}\(", "op(", text)
    backward_lines = source.backward() if backward else []
    names = [source.name(x.id) for x in program.inputs]
    allowed = tolerance(program.inputs[0].dtype if program.inputs else "float32", "cpu", None, None)
    script = template("kernel.py.j2").render(
        like=like,
        kernel=f"{file.name}:{function}",
        file=file.name,
        path=repr(str(file)),
        function=function,
        finding=finding.sentence,
        imports=sorted(source.imports),
        arrays=bool(source.file),
        strided=template("strided.py.j2").render() if source.strided else "",
        program=text,
        arguments=", ".join(names),
        inputs=inputs,
        backward=backward_lines,
        leaves=[source.name(x.id) for x in program.inputs if x.requires_grad and backward],
        given=[source.name(x.id) for x in program.inputs if not x.requires_grad],
        rtol=allowed.rtol,
        atol=allowed.atol,
    )
    folder.mkdir(parents=True, exist_ok=True)
    if source.file:
        np.savez(folder / ARRAYS, **source.file)
    path = folder / "repro.py"
    path.write_text(script, encoding="utf-8")
    return path


__all__ = ["ARRAYS", "write_script"]
