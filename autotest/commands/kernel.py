"""`autotest kernel KERNEL --like OP`: whether a function is an op."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from autotest.errors import AutotestError, UsageError
from autotest.kernels.between import INPUTS_CHANGED, RESULT_CHANGED
from autotest.kernels.claims import kernel_at, op_path
from autotest.kernels.findings import Verdict
from autotest.kernels.judge import Kernel
from autotest.kernels.modules import ModuleJudge
from autotest.kernels.pairs import Left, Pair, read_module, read_pairs
from autotest.kernels.questions import Asking
from autotest.kernels.running import judge_of
from autotest.kernels.script import write_script
from autotest.kernels.telling import times_data, times_text, verdict_data, verdict_text
from autotest.kernels.ways import CLAIMS
from autotest.repro.running import EACH, run_python
from dual_object.replay.adapter import Reference, load_reference

#: Seconds in which a script has imported PyTorch and the kernel.
_IMPORTS = 15.0


def judge_kernels(
    kernels: Sequence[str],
    likes: Sequence[str],
    asking: Asking,
    *,
    budget: float | None,
    delegates: bool,
    sandbox: bool,
    devices: tuple[str, ...],
    claims: tuple[str, ...],
    timed: bool,
    timeout: float | None,
    memory: int | None,
    output: Path,
    as_json: bool,
) -> tuple[int, str]:
    """Judge each kernel, as the op of `likes` at its place, or as the only one; the status, 0 where all are accepted, 1
    where not and 2 where one could not be judged, and what is said of them.

    Raises UsageError, and of a single kernel EnvironmentFault where it cannot be imported, or there is no sandbox.
    """
    if timed and devices != ("cpu",):
        raise UsageError(f"devices={','.join(devices)} comes with --time, which measures on the CPU alone [--devices]")
    if len(likes) not in (0, 1, len(kernels)):
        raise UsageError(
            f"like={', '.join(likes)} for {len(kernels)} kernels, but should be given once for all of them, or once "
            "for each [--like]"
        )
    reference = load_reference()
    told = _Told()

    def judge(name: str, pair: Pair, device: str) -> None:
        dtypes, gradients = asking.dtypes or pair.dtypes, asking.gradients and pair.gradients
        judge = judge_of(replace(asking, path=pair.path, dtypes=dtypes, gradients=gradients), timeout, memory)
        every = tuple(claim for claim in CLAIMS if claim in pair.kernel.claims + claims)
        kernel = replace(pair.kernel, sandbox=sandbox, device=device, claims=every)
        started = time.monotonic()
        verdict = judge.judge(kernel, budget)
        seconds = time.monotonic() - started
        measured = judge.times(kernel) if timed else []
        scripts = _scripts(output / f"{kernel.file.stem}.{kernel.function}", kernel, verdict, timeout)
        notes = [*filter(None, [pair.how]), *(f"known gap: {gap}" for gap in pair.gaps)]
        called = name if device == "cpu" else f"{name} on {device}"
        row = verdict_data(called, verdict, scripts, seconds, notes)
        text = verdict_text(called, verdict, scripts, seconds, notes) + times_text(verdict.like, measured)
        told.add(row | ({"times": times_data(measured)} if timed else {}), text)

    def judge_all(text: str, like: str | None) -> None:
        if Path(text).suffix == ".py":
            given = {"--like": like, "--dtypes": asking.dtypes, "--shapes": asking.shapes, "--sandbox": sandbox}
            given |= {"--devices": devices != ("cpu",)}
            given |= {"--no-grad": not asking.gradients, "--delegates": delegates, "--time": timed}
            _refuse_for_problems(text, given | {f"--{claim}": True for claim in claims})
            told.add(*_module(reference, text, timeout, memory, budget))
            return
        pairs, left = _pairs(reference, text, like, delegates)
        told.leave(*((str(one.path), one.why) for one in left))
        for (name, pair), device in product(pairs, devices):
            with told.unless_refused(name, alone=len(kernels) == len(pairs) == 1):
                judge(name, pair, device)

    each = likes if len(likes) > 1 else [next(iter(likes), None)] * len(kernels)
    for text, like in zip(kernels, each, strict=True):
        with told.unless_refused(text, alone=len(kernels) == 1):
            judge_all(text, like)
    return told.status, json.dumps(told.rows, indent=1) + "\n" if as_json else "\n".join(told.texts)


class _Told:
    """What is said of all kernels, as data and in words, and whether there is one that could not be judged."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self._failed = False

    @property
    def status(self) -> int:
        """0 where all are accepted, 1 where not, 2 where one could not be judged."""
        return 2 if self._failed else int(not all(row.get("accepted", True) for row in self.rows))

    def add(self, row: dict[str, Any], text: str) -> None:
        """A verdict."""
        self.rows.append(row)
        self.texts.append(text)

    def leave(self, *left: tuple[str, str]) -> None:
        """What is not judged, and why."""
        self.rows += [{"kernel": name, "not_judged": why} for name, why in left]
        self.texts += ["".join(f"{name}: not judged: {why}\n" for name, why in left)] if left else []

    @contextmanager
    def unless_refused(self, name: str, *, alone: bool) -> Iterator[None]:
        """What cannot be judged costs the others no verdict; an error of what is alone is the command's own."""
        try:
            yield
        except AutotestError as error:
            if alone:
                raise
            self.leave((name, str(error)))
            self._failed = True


def _refuse_for_problems(text: str, claims: Mapping[str, object]) -> None:
    """Raise UsageError for what is claimed of a function alone: a problem says itself what its module is."""
    given = next((name for name, value in claims.items() if value), None)
    if given is not None:
        raise UsageError(f"{given} comes with the problem {text}, but is for functions: leave it out [{given}]")


def _pairs(
    reference: Reference, text: str, like: str | None, delegates: bool
) -> tuple[list[tuple[str, Pair]], list[Left]]:
    """What is judged, by what it is called: one function, or those of a folder or table; and what of these is not."""
    place = Path(text)
    if not place.is_dir() and place.suffix != ".toml":
        kernel = kernel_at(text, delegates=delegates)
        return [(text, Pair(op_path(reference, like, kernel), kernel))], []
    if like is not None:
        raise UsageError(f"--like={like} comes with {text}, whose kernels are named after their ops [--like]")
    pairs, left = read_pairs(place)
    return [(f"{pair.kernel.file}:{pair.kernel.function}", pair) for pair in pairs], left


def _module(
    reference: Reference, text: str, timeout: float | None, memory: int | None, budget: float | None
) -> tuple[dict[str, Any], str]:
    """A problem's module, as data and in words."""
    pair = read_module(Path(text))
    started = time.monotonic()
    judged = ModuleJudge(reference, pair.problem, timeout=timeout, memory=memory).judge(pair, budget)
    seconds = time.monotonic() - started
    name = f"{pair.file.name}:{pair.name}"
    row = verdict_data(name, judged.verdict, {}, seconds, judged.words)
    return row, verdict_text(name, judged.verdict, {}, seconds, judged.words)


def _scripts(folder: Path, kernel: Kernel, verdict: Verdict, timeout: float | None) -> dict[str, str]:
    """The scripts that show findings, by category; each has been run. They call plainly, and on the CPU. That of a
    kernel that does not end shows it by not ending either: it is given as long as a question was, and its imports.
    """
    found: dict[str, str] = {}
    for finding in verdict.findings:
        between = finding.cell.detail in (RESULT_CHANGED, INPUTS_CHANGED)  # there PyTorch itself may refuse
        if between or finding.cell.role in CLAIMS or kernel.device != "cpu":
            continue
        place = folder / finding.category.replace(" ", "-")
        script = write_script(place, verdict.like, kernel.file.resolve(), kernel.function, finding)
        hangs = finding.category == "timeout"
        seconds = min(EACH, (timeout or EACH) + _IMPORTS) if hangs else EACH
        shown = (1, None) if hangs else (1,)
        if script is not None and run_python([str(script)], seconds=seconds).status in shown:
            found[finding.category] = str(script)
    return found


__all__ = ["judge_kernels"]
