"""Merging: the runs of several shards become one run folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reports.errors import MergeError, RecordError
from reports.folders.repros import join_repros
from reports.folders.runs import load_status, plan_run, resolve_run, save_status
from reports.past.history import prune_runs
from reports.records.run import Damage, Run, read_run
from reports.tallies.summary import Summary

DIVERGED = 1
INTERRUPTED = 2
HARNESS_FAULT = 3
#: Exit statuses from best to worst: a shard that had nothing to run hides no red one.
STATUSES = (0, 5, DIVERGED, INTERRUPTED, HARNESS_FAULT)


@dataclass(frozen=True)
class Merged:
    """The joined run, the exit statuses that its shards ended with, and the shards that never ended."""

    folder: Path
    statuses: tuple[int, ...]
    unended: tuple[Path, ...]


@dataclass
class _Identity:
    """What two shards of one run share: target, seed, inputs and versions, each with the folder that said so."""

    facts: dict[tuple[str, str], tuple[object, Path]] = field(default_factory=dict)

    def agree(self, kind: str, name: str, value: object, folder: Path) -> None:
        """Take in one fact of a kind of record; raises MergeError where another shard says otherwise."""
        held, source = self.facts.setdefault((kind, name), (value, folder))
        if held != value:
            raise MergeError(
                f"{name}={value!r} in {folder}, but should be {held!r} as in {source} [merge]; "
                "shards can be merged only where target, seed, inputs and versions are the same"
            )


def merge_runs(folders: Sequence[Path], report: Path) -> Merged:
    """Copy the runs of `folders` (report folders or run folders) into one new run under `report`.

    Records and programs get the number of their shard into their names. Nothing is written where they do not belong
    together: MergeError for shards of another target, seed or version, and for a test that two of them ran. Raises
    RecordError where the new run cannot be written, and what `resolve_run` and `read_run` raise.
    """
    shards = [read_run(resolve_run(folder)) for folder in folders]
    identity = _Identity()
    owners: dict[str, Run] = {}
    for run in shards:
        for test in sorted(_tests(run, identity)):
            owner = owners.setdefault(test, run)
            if owner is not run:
                raise MergeError(
                    f"test={test!r} ran in {owner.folder} and in {run.folder}, but should be in one shard only "
                    "[merge]; give every run another --shard I/N of one N, and every DIR once"
                )
    by_shard = {run.folder: load_status(run.folder) for run in shards}
    seed, _ = identity.facts.get(("run", "seed"), (0, None))
    folder = plan_run(report, seed if isinstance(seed, int) else 0)
    try:
        folder.mkdir(parents=True)
        for number, run in enumerate(shards, 1):
            _copy(run, folder, number)
    except OSError as error:
        with suppress(OSError):
            shutil.rmtree(folder)
        raise RecordError(
            f"{folder} cannot be written: {error.strerror or error}; "
            "free the disk or choose another folder with --report"
        ) from error
    prune_runs(report)
    statuses = tuple(status for status in by_shard.values() if status is not None)
    return Merged(folder, statuses, tuple(shard for shard, status in by_shard.items() if status is None))


def join_status(merged: Merged, summary: Summary) -> int:
    """Return the exit status of a joined run, the worst of its shards', and keep it in its folder.

    A shard that never ended, or a record that cannot be read, is as bad as an interrupted run. Raises RecordError
    where the folder cannot be written.
    """
    statuses = [0, *merged.statuses]
    if merged.unended or not summary.complete:
        statuses.append(INTERRUPTED)
    if summary.divergences or summary.unexpected or summary.failed:
        statuses.append(DIVERGED)
    if summary.faults:
        statuses.append(HARNESS_FAULT)
    # A status of another program, such as 137, is none of ours: the shard was ended from outside.
    status = max((s if s in STATUSES else INTERRUPTED for s in statuses), key=STATUSES.index)
    save_status(merged.folder, status)
    return status


def _tests(run: Run, identity: _Identity) -> set[str]:
    """The tests of a shard; what its files say of the run must agree with the other shards."""
    tests: set[str] = set()
    for _, record in run.lines():
        if isinstance(record, Damage):
            continue
        kind = record["type"]
        if kind == "run":
            for name in ("target", "seed", "inputs"):
                identity.agree(kind, name, record.get(name), run.folder)
        if kind in ("run", "target"):
            for name, version in record["environment"].items():
                identity.agree(kind, name, version, run.folder)
        elif "::" in (record.get("test") or ""):  # a file that cannot be collected is told by each shard
            tests.add(record["test"])
    return tests


def _copy(run: Run, folder: Path, number: int) -> None:
    """Copy records and programs under names that hold the shard's number."""
    for path in run.files:
        shutil.copyfile(path, folder / path.name.replace("records-", f"records-{number}-", 1))
    for path in sorted(run.folder.glob("programs/**/*-*.*")):
        id_, _, rest = path.name.partition("-")
        copy = folder / path.relative_to(run.folder).with_name(f"{id_}-{number}-{rest}")
        os.makedirs(copy.parent, exist_ok=True)
        shutil.copyfile(path, copy)
    join_repros(run.folder, folder)
