"""A short script is run once before it is told of: what it prints must show the divergence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autotest.budget import Allowance
from autotest.compare.kinds import DEADLY, RAISES
from autotest.compare.tolerance import tolerance
from autotest.repro.lines.targets import RECIPES
from autotest.repro.running import EACH, Ended, run_python
from autotest.repro.script import DEADLINE

#: What is said once both frameworks are imported: they print of themselves while they are.
_READY = "ready"
#: How a launcher starts a script where the target is not importable without help.
_LAUNCH = """\
import runpy, sys
import torch
def import_target():
    {imports}
import_target()
print("\\n{ready}", flush=True)
runpy.run_path(sys.argv[1], run_name="__main__")
"""
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?:[-+][\d.einfa]+j|j)?", re.IGNORECASE)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
#: So many lines of an exception are told.
_MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class Told:
    """A short script as an issue has it: its text and what it printed; or, where it has none, the reason."""

    script: str = ""
    printed: str = ""
    reason: str = ""


def tell(path: Path, row: Mapping[str, Any], seconds: float = EACH, allowance: Allowance | None = None) -> Told:
    """Run the short script at `path`, once; what it printed, or why that does not show the divergence of `row`."""
    recipe = RECIPES[row["target"]]
    launch = _LAUNCH.format(imports="\n    ".join(recipe.imports), ready=_READY)
    limit = min(seconds, DEADLINE * 1.5) if row["kind"] == "timeout" else seconds
    ended = run_python(["-u", "-c", launch, str(path)], seconds=limit, allowance=allowance)
    before, ready, out = ended.out.partition(f"\n{_READY}\n")
    if not ready:
        return Told(reason=f"the frameworks could not be imported: {_last(ended.err or before)}")
    return told(path.read_text(encoding="utf-8"), row, replace(ended, out=out))


def told(script: str, row: Mapping[str, Any], ended: Ended) -> Told:
    """What is told of a short script that has ended so."""
    reason = _unseen(row, ended, RECIPES[row["target"]].module)
    if reason is not None:
        return Told(reason=reason)
    return Told(script, "\n".join([ended.out.rstrip("\n"), *_end(ended)]).strip("\n"))


def _unseen(row: Mapping[str, Any], ended: Ended, module: str) -> str | None:
    """Why what a script printed does not show the divergence, None where it does."""
    sides = _sides(ended.out, module)
    if "torch" not in sides:
        return f"PyTorch itself did not print a result in it: {_last(ended.err)}"
    if row["kind"] in DEADLY:
        died = ended.status is None if row["kind"] == "timeout" else ended.status is not None and ended.status < 0
        return None if died else "the target does not end its process in it"
    if ended.status is None:
        return "it did not end"
    if row["kind"] in RAISES:
        raised = _raised(ended.err)[0].partition(":")[0].rpartition(".")[2]
        due = raised == "AttributeError" if row["kind"] == "missing" else raised in row["message"]
        return None if ended.status == 1 and due else f"the target raises something else in it: {raised or 'nothing'}"
    if ended.status == 1 and row["phase"] == "eager_second":
        return None  # what cannot be differentiated again raises
    if ended.status or len(sides) < 2:
        return f"the target does not come to its end: {_last(ended.err)}"
    expected, *_, actual = sides.values()
    wide = row["fingerprint"].rpartition("/")[2].startswith(("float64", "complex128"))
    differ = expected != actual if row["kind"] == "sign" else apart(expected, actual, "float64" if wide else "float32")
    return None if differ else "it prints the same for both sides"


def _sides(out: str, module: str) -> dict[str, str]:
    """What was printed for each side, by its label; a side may have several lines."""
    sides: dict[str, list[str]] = {}
    label = ""
    for line in out.splitlines():
        for start in (f"{module} graph", module, "torch"):
            if line == start or line.startswith(f"{start} "):
                label, line = start, line[len(start) :]
                break
        if label:
            sides.setdefault(label, []).append(line.strip())
    return {label: "\n".join(lines).replace(f"{label.partition(' ')[0]}.", "") for label, lines in sides.items()}


def apart(expected: str, actual: str, dtype: str = "float32") -> bool:
    """Whether two printed results differ: in words, or in a number by more than the tolerance of a dtype."""
    if _NUMBER.sub("#", _spaced(expected)) != _NUMBER.sub("#", _spaced(actual)):
        return True
    rtol, atol, _ = tolerance(dtype, "cpu", None, None)
    left, right = ([complex(number) for number in _NUMBER.findall(_spaced(text))] for text in (expected, actual))
    whole = all(re.fullmatch(r"[-+]?\d+", number) for text in (expected, actual) for number in _NUMBER.findall(text))
    if whole:
        return left != right
    # Part by part: NumPy takes a complex infinity to be as near to NaN as to itself.
    parts = [[part for number in side for part in (number.real, number.imag)] for side in (left, right)]
    return not np.allclose(parts[1], parts[0], rtol, atol, equal_nan=True)


def _spaced(text: str) -> str:
    """One blank between words, none within brackets: NumPy pads numbers to columns."""
    return re.sub(r"\s*([\[\]])\s*", r"\1", " ".join(text.split()))


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def _raised(err: str) -> list[str]:
    """The exception that ended a script, without its traceback; one empty line where there was none."""
    lines = [_COLOUR.sub("", line) for line in err.rstrip("\n").splitlines()]
    start = max((number for number, line in enumerate(lines) if line.startswith("Traceback ")), default=len(lines))
    told = start + 1
    while told < len(lines) and lines[told].startswith("  "):
        told += 1
    return lines[told:] or [""]


def _end(ended: Ended) -> list[str]:
    """How a script ended, where not by itself."""
    if ended.status is None:
        return ["(does not end)"]
    if ended.status < 0:
        return [f"(ended by signal {-ended.status})"]
    return [] if ended.status == 0 else [line for line in _raised(ended.err) if line.strip()][:_MOST_LINES]
