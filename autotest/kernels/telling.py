"""A verdict in words, and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from autotest.kernels.findings import CATEGORIES, Finding, Verdict
from autotest.kernels.timing import ROUNDS, Times
from dual_object.program.inputs import input_lines

#: So many gaps are told.
MOST_GAPS = 5
#: What each role of a question is called.
ROLES = {
    "plain": "ordinary inputs",
    "arguments": "arguments",
    "shape": "shapes (size 0 and 1, ranks)",
    "size": "sizes",
    "layout": "layouts",
    "edges": "values at the edges",
    "magnitude": "small and great values",
    "dtype": "dtypes",
    "again": "calls in a row",
    "modes": "without gradients",
    "backward": "gradients asked for otherwise",
    "second": "second derivatives",
    "errors": "what the op refuses",
    "vmap": "under torch.func.vmap",
    "compile": "under torch.compile",
    "threads": "on several threads at once",
}


def verdict_text(
    kernel: str, verdict: Verdict, scripts: Mapping[str, str], seconds: float, notes: Sequence[str] = ()
) -> str:
    """A verdict for people: `scripts` are the files that show a finding, by its category; `notes` are told besides."""
    asked = sum(number for number, _ in verdict.cells.values())
    head = "accepted" if verdict.accepted else "refused"
    lines = [f"{kernel} as {verdict.like}: {head}, {asked} questions, {seconds:.1f} s"]
    lines += [f"  {note}" for note in notes]
    for finding in verdict.findings:
        lines += ["", *_finding_lines(finding, scripts.get(finding.category))]
    lines += ["", "asked, and answered as PyTorch does:"]
    for role, (number, right) in verdict.cells.items():
        mark = "" if right == number else f"   {number - right} not"
        lines.append(f"  {ROLES[role]:<30} {number:>4}{mark}")
    if verdict.undecided:
        lines.append(f"  {verdict.undecided} answers differ where PyTorch itself does not define one")
    lines += [f"  {count} questions were not asked: {why}" for why, count in verdict.unasked.items()]
    if verdict.gaps:
        lines += ["", "not taken, so not checked:"]
        lines += [f"  {words} ({count} calls)" for words, count in [*verdict.gaps.items()][:MOST_GAPS]]
        if len(verdict.gaps) > MOST_GAPS:
            lines.append(f"  and {len(verdict.gaps) - MOST_GAPS} more")
    return "\n".join(lines) + "\n"


def _finding_lines(finding: Finding, script: str | None) -> Sequence[str]:
    times = f" ({finding.count} questions)" if finding.count > 1 else ""
    lines = [f"  {finding.category}: {CATEGORIES[finding.category]}{times}", f"    {finding.message}"]
    if finding.program is not None:
        lines += [f"    asked for {finding.cell}:"]
        lines += [f"      {line}" for line in input_lines(finding.program)]
        lines += [f"      {line}" for line in str(finding.program).splitlines()]
    if script is not None:
        lines.append(f"    shown by: python {script}")
    return lines


def verdict_data(
    kernel: str, verdict: Verdict, scripts: Mapping[str, str], seconds: float, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """The same for machines."""
    return {
        "kernel": kernel,
        "like": verdict.like,
        "accepted": verdict.accepted,
        "seconds": round(seconds, 3),
        "score": dict(verdict.score),
        "findings": [
            {
                "category": finding.category,
                "message": finding.message,
                "asked": str(finding.cell),
                "count": finding.count,
                "program": None if finding.program is None else str(finding.program),
                "script": scripts.get(finding.category),
            }
            for finding in verdict.findings
        ],
        "cells": {role: {"asked": number, "right": right} for role, (number, right) in verdict.cells.items()},
        "gaps": dict(verdict.gaps),
        "undecided": verdict.undecided,
        "unasked": dict(verdict.unasked),
        "notes": list(notes),
    }


def times_text(like: str, measured: Sequence[Times] | str) -> str:
    """What was timed, for people; nothing where nothing was."""
    if isinstance(measured, str):
        return f"\n{measured}\n"
    if not measured:
        return ""
    called = {"kernel": "the kernel", "op": like, "compiled": "compiled"}
    heads = "".join(f"{name:>26}" for name in called.values())
    lines = ["", f"milliseconds, {ROUNDS} times on one thread with the same inputs: median (quartiles)"]
    lines.append(f"  {'tensors':<20}{'cache':<6}{heads}")
    for one in measured:
        shapes = " ".join("x".join(map(str, shape)) or "()" for shape in one.shapes)
        for cache in ("cold", "warm"):
            cells = "".join(f"{_cell(one, who, cache):>26}" for who in called)
            lines.append(f"  {shapes:<20}{cache:<6}{cells}")
        if one.wrong:
            lines.append(f"    its results were wrong in {one.wrong} of {one.calls} timed calls: its times say nothing")
        if one.uncompiled:
            lines.append(f"    not compiled: {one.uncompiled}")
    return "\n".join(lines) + "\n"


def _cell(one: Times, who: str, cache: str) -> str:
    if who not in one.milliseconds:
        return "-"
    middle, low, high = one.milliseconds[who][cache]
    return f"{middle:.3f} ({low:.3f} {high:.3f})"


def times_data(measured: Sequence[Times] | str) -> list[dict[str, Any]] | str:
    """The same for machines; a sentence where nothing was timed."""
    return measured if isinstance(measured, str) else [asdict(one) for one in measured]


__all__ = ["times_data", "times_text", "verdict_data", "verdict_text"]
