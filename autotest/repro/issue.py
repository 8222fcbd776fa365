"""`issue.md`: a divergence in plain words for the developers of the target, who know nothing of this harness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotest.compare.difference import Rules
from autotest.compare.kinds import KINDS, PHASES, Kind, PhaseRow
from autotest.compare.tolerance import tolerance
from autotest.repro.script import versions
from autotest.repro.short.trial import Told
from autotest.repro.templating import template
from dual_object.replay.asked.executors import EXECUTORS, asked_executor
from reports.text.evidence import stages_words
from reports.words.quantities import counted

#: So many of the worst elements are told.
MOST_WORST = 5


@dataclass(frozen=True, slots=True)
class Extent:
    """How widely a divergence shows in its run: cases, tests, all phases of its op and kind, the command."""

    cases: int
    tests: int
    phases: Sequence[str]
    command: str


@dataclass(frozen=True, slots=True)
class Issue:
    """What the issue of a divergence is made of.

    Attributes:
        row: as the records have it; `evidence` what they have of it besides.
        program: what the script runs; `script` its text, `file` that of its arrays, if it has one.
    """

    row: Mapping[str, Any]
    program: str
    rules: Rules
    evidence: Mapping[str, Any]
    extent: Extent
    environment: Mapping[str, str]
    script: str
    file: str

    def text(self, short: Told) -> str:
        """The issue, which begins with a short script if that has been seen to show the divergence."""
        row, evidence = self.row, self.evidence
        target = row["target"]
        where = ", ".join(_words(PHASES, phase) for phase in self.extent.phases)
        command = self.extent.command
        asked = asked_executor(target)
        executor = EXECUTORS[asked.name] if asked else None
        needs = ["PyTorch", *executor.packages, "NumPy"] if executor else ["the two frameworks", "NumPy"]
        facts = [
            ("versions", versions(target, self.environment)),
            ("shows in", where),
            ("compared", _compared(self.rules)),
            ("seen in", f"{counted(self.extent.cases, 'case')} of {counted(self.extent.tests, 'test')}"),
            ("found by", f"`{_cell(command)}`" if command else ""),
            ("fingerprint", f"`{row['fingerprint']}`"),
        ]
        return template("issue.md.j2").render(
            title=f"`{row['op']}`: {_words(KINDS, row['kind'])} ({_words(PHASES, row['phase'])})",
            summary=row["message"],
            short=short,
            facts=[(name, value) for name, value in facts if value],
            program=self.program,
            target=target,
            expected=_expected(evidence.get("blame"), "eager PyTorch" if executor else "PyTorch"),
            needs=f"{', '.join(needs[:-1])} and {needs[-1]}",
            leaves=executor.leaves if executor else (),
            blame=_blame(evidence.get("blame")),
            stages=stages_words(row.get("stages") or {}),
            words=evidence.get("words") or (),
            worst=[_worst(element) for element in (evidence.get("worst") or ())[:MOST_WORST]],
            last_words=evidence.get("last_words"),
            script=self.script.rstrip("\n"),
            lines=counted(self.script.count("\n"), "line"),
            file=self.file,
        )


def _words(table: Mapping[str, Kind] | Mapping[str, PhaseRow], name: str) -> str:
    return table[name].words if name in table else name  # another version may have told of it


def _blame(blame: Mapping[str, Any] | None) -> str:
    """Which side is wrong, in a sentence; empty where nobody has found out."""
    return "" if blame is None or blame["verdict"] == "not judged" else f"{blame['verdict']}, {blame['reason']}"


def _expected(blame: Mapping[str, Any] | None, reference: str) -> str:
    """What the target should give: not what the reference does where that was found to be the wrong side."""
    wrong = blame is not None and blame["verdict"] == "reference"
    return (
        f"not what {reference} does, which looks wrong itself here (see below)" if wrong else f"what {reference} does"
    )


def _compared(rules: Rules) -> str:
    parts = ["shape", *(["dtype"] if rules.check_dtype else []), "device"]
    if not rules.check_allclose:
        return f"{', '.join(parts)}; no values"
    rtol, atol, _ = tolerance("float32", "cpu", rules.rtol, rules.atol)
    of = "" if rules.rtol is not None else " for float32, by dtype"
    return f"{', '.join(parts)}, values (rtol={rtol:g}, atol={atol:g}{of}; integers exactly)"


def _worst(element: Mapping[str, Any]) -> list[str]:
    actual = element["eager"] if element["graph"] is None else element["graph"]
    index = f"[{', '.join(map(str, element['index']))}]"
    return [index, *(_number(value) for value in (element["reference"], actual)), *_distances(element)]


def _distances(element: Mapping[str, Any]) -> list[str]:
    return [_number(element[name], 3) for name in ("absolute", "relative", "ulp")]


def _number(value: object, digits: int = 9) -> str:
    return "-" if value is None else format(value, f".{digits}g") if isinstance(value, float) else str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")
