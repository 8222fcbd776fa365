"""Regression memory: what diverged in a test is drawn again in its next run, so that a fix is confirmed by its case.

A local store, one small JSON file per test and target: `.autotest/memory/` in pytest's root folder, ignored by Git.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args

from autotest.cases.case import Origin
from autotest.cases.digest import STEERED, program_digest
from autotest.cases.drawer import LAYING, Drawer
from autotest.compare.divergence import Row
from autotest.judge.judgement import Verdict
from autotest.options import Inputs
from dual_object.program.program import Program

if TYPE_CHECKING:
    from reports import RecordWriter

VERSION = 3
#: Without digests; the cases that it holds are drawn all the same.
_OLDER = 2
FOLDER = Path(".autotest") / "memory"
#: So many draws are kept per fingerprint, ...
MOST_PER_ID = 3
#: ... and per test, of those drawn with the same inputs option: what a wild run has left spares others their place.
MOST = 20
_OLDER_FIELDS = {"seed": (int,), "inputs": (str,), "index": (int,), "id": (str,)}
_FIELDS = {**_OLDER_FIELDS, "digest": (str, NoneType)}
#: From calm to wild.
_MODES = get_args(Inputs)


@dataclass(frozen=True, slots=True)
class Draw:
    """A case that diverged: what it is drawn from, the id of the fingerprint that it showed, and the digest of its
    Program, None where an older version has not noted it.
    """

    seed: int
    inputs: Inputs
    index: int
    id: str
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is remembered of a test, and what was wrong with its file."""

    draws: tuple[Draw, ...] = ()
    problem: str | None = None

    def besides(self, seed: int, inputs: Inputs, n: int) -> dict[tuple[int, Inputs], list[int]]:
        """The indices to draw again, by seed and inputs mode, such as `{(0, "edge"): [3, 17]}`.

        Left out are those that a run of `n` cases from `seed` and `inputs` draws anyway, and those of wilder inputs
        than the run asks for.
        """
        by_origin: dict[tuple[int, Inputs], list[int]] = {}
        for draw in self.draws:
            anyway = (draw.seed, draw.inputs) == (seed, inputs) and draw.index < n
            if anyway or _MODES.index(draw.inputs) > _MODES.index(inputs):
                continue
            indices = by_origin.setdefault((draw.seed, draw.inputs), [])
            if draw.index not in indices:
                indices.append(draw.index)
        return by_origin


class Memory:
    """The store in one root folder."""

    def __init__(self, root: Path, target: str) -> None:
        self._folder = root / FOLDER
        self._target = target

    def path(self, test: str) -> Path:
        """The file of a test."""
        return self._folder / f"{hashlib.sha256(f'{self._target} {test}'.encode()).hexdigest()[:16]}.json"

    def recall(self, test: str) -> Recalled:
        """What is remembered of a test; a file that cannot be used is told of, and overwritten when there is cause."""
        path = self.path(test)
        try:
            data = json.loads(path.read_text())
        except FileNotFoundError:
            return Recalled()
        except (OSError, ValueError) as error:
            return Recalled(problem=f"{path} cannot be read as remembered cases ({error}); they are forgotten")
        version = data.get("version") if isinstance(data, dict) else None
        if version not in (VERSION, _OLDER):
            problem = f"{path} has version={version!r}, but should have {VERSION}; its cases are forgotten"
            return Recalled(problem=problem)
        draws = _draws(data, _FIELDS if version == VERSION else _OLDER_FIELDS)
        if draws is None:
            return Recalled(problem=f"{path} is damaged; its remembered cases are forgotten")
        return Recalled(draws)

    def keep(self, test: str, recalled: Recalled, draws: Sequence[Draw]) -> str | None:
        """Remember these draws of a test from now on; what went wrong, if anything."""
        if tuple(draws) == recalled.draws and recalled.problem is None:
            return None
        path = self.path(test)
        try:
            if not draws:
                path.unlink(missing_ok=True)
                return None
            self._folder.mkdir(parents=True, exist_ok=True)
            ignored = self._folder.parent / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n")
            rows = [asdict(draw) for draw in draws]
            record = {"version": VERSION, "test": test, "target": self._target, "draws": rows}
            # Whole or not at all: another process may read it.
            draft = path.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps(record, indent=1) + "\n")
            draft.replace(path)
        except OSError as error:
            return f"{path} cannot be written: {error.strerror}; --no-memory does without it"
        return None


def _draws(data: Mapping[str, Any], fields: Mapping[str, tuple[type, ...]]) -> tuple[Draw, ...] | None:
    rows = data.get("draws")
    if not isinstance(rows, list):
        return None
    draws: list[Draw] = []
    for row in rows:
        if not (isinstance(row, dict) and row.keys() == fields.keys()):
            return None
        if not all(type(value) in fields[name] for name, value in row.items()):
            return None
        if min(row["seed"], row["index"]) < 0 or row["inputs"] not in _MODES:
            return None
        draws.append(Draw(**row))
    return tuple(draws)


def bounded(draws: Iterable[Draw]) -> list[Draw]:
    """The first draws of each inputs option: at most three per fingerprint, and twenty."""
    alike: Counter[tuple[Inputs, str]] = Counter()
    held: Counter[Inputs] = Counter()
    kept: list[Draw] = []
    for draw in dict.fromkeys(draws):
        alike[draw.inputs, draw.id] += 1
        if alike[draw.inputs, draw.id] <= MOST_PER_ID and held[draw.inputs] < MOST:
            held[draw.inputs] += 1
            kept.append(draw)
    return kept


class Recollection:
    """The remembered cases of one test; without a memory there are none."""

    def __init__(self, memory: Memory | None, test: str, drawer: Drawer) -> None:
        self._memory = memory
        self._test = test
        self._drawer = drawer
        self._recalled = Recalled() if memory is None else memory.recall(test)
        self._expected = {self._key(draw): draw.digest for draw in self._recalled.draws if draw.digest is not None}
        #: The remembered cases that were drawn again and have come out as other Programs.
        self._other: set[str] = set()

    def besides(self, n: int) -> Iterator[tuple[Origin, list[int]]]:
        """Origins, and the indices to draw from each, that a run of n cases does not draw anyway."""
        seed, inputs = self._drawer.origin
        assert inputs != LAYING, "a run's own cases are drawn"
        for place, indices in self._recalled.besides(seed, inputs, n).items():
            yield Origin(*place), indices

    def _key(self, draw: Draw) -> str:
        return self._drawer.key(draw.index, Origin(draw.seed, draw.inputs))

    def met(self, key: str, program: Program) -> None:
        """Look whether a case that has ended, if it is a remembered one, is what it was."""
        if key in self._expected and self._expected[key] != program_digest(program):
            self._other.add(key)

    def update(
        self, ended: Mapping[str, Verdict], rows: Sequence[Row], writer: RecordWriter | None, nodeid: str
    ) -> None:
        """Remember what is red now, forget what is not any more, and record how many cases align again; what came out
        as another Program has confirmed nothing, and is forgotten as well.
        """
        if self._memory is None:
            return
        red: dict[str, list[Row]] = {}
        for row in rows:
            red.setdefault(row["case_key"], []).append(row)
        kept: list[Draw] = []
        aligned: dict[str, None] = {}
        lost: dict[str, None] = {}
        for draw in self._recalled.draws:
            key = self._key(draw)
            if key not in ended:  # its test ended before it came to that, or the run's inputs are calmer
                kept.append(draw)
            elif key in red:
                kept += [replace(draw, id=row["id"], digest=row["digest"]) for row in red.pop(key)]
            elif ended[key] == "aligned":
                (lost if key in self._other else aligned)[key] = None
        for key, found in red.items():
            index, (seed, inputs) = self._drawer.place(key)
            if inputs != LAYING:  # the next run has a laid-out case anyway
                kept += [Draw(seed, inputs, index, row["id"], row["digest"]) for row in found]
        problems = [self._recalled.problem, self._memory.keep(self._test, self._recalled, bounded(kept))]
        problems += [f"{key} aligns, but is another program than was remembered: {STEERED}" for key in lost]
        notes = [problem for problem in problems if problem is not None]
        if writer is not None and (aligned or notes):
            writer.remembered(nodeid, len(aligned), notes)
