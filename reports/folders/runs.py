"""Report folders: where runs lie, and which is the latest."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from reports.errors import FolderError, PartError, RecordError, unwritable

RUN_NAME = re.compile(r"(\d{8}-\d{6})-(\d+)(?:-(\d+))?")
#: A run's name, or as much of it as has the day.
_NAMED = re.compile(r"\d{8}(?:-[\d-]*)?")
STATUS_NAME = "exit-status"


def plan_run(report_dir: Path, seed: int, now: datetime | None = None, process: int | None = None) -> Path:
    """Return `runs/<YYYYmmdd-HHMMSS>-<seed>-<process>`, named in UTC so that names sort by time; nothing is created.

    The folder appears with its first record: a session that turns out to have nothing to tell leaves no trace. The
    process id tells apart runs that start in one second. Raises PartError for a negative seed.
    """
    if type(seed) is not int or seed < 0:
        raise PartError(f"seed={seed!r}, but should be an integer of at least 0 [plan_run]; see --seed")
    stamp = (now or datetime.now(timezone.utc)).astimezone(timezone.utc).strftime("%Y%m%d-%H%M%S")
    return report_dir / "runs" / f"{stamp}-{seed}-{os.getpid() if process is None else process}"


def runs(report_dir: Path) -> list[Path]:
    """Return the run folders of a report folder, oldest first; links and other names are not runs. Of runs that began
    in one second the one that wrote a record last comes last: the system gives process ids in no order.
    """
    parent = report_dir / "runs"
    if not parent.is_dir():
        return []
    folders = [path for path in parent.iterdir() if RUN_NAME.fullmatch(path.name) and not path.is_symlink()]
    return sorted((path for path in folders if path.is_dir()), key=_order)


def latest_run(report_dir: Path) -> Path:
    """Return the newest run folder; raises FolderError where there is none."""
    folders = runs(report_dir)
    if not folders:
        raise FolderError(
            f"there is no run in {str(report_dir / 'runs')!r}: "
            "run the tests first, or name the folder that was given with --report, or a run in it"
        )
    return folders[-1]


def resolve_run(folder: Path, within: Path | None = None) -> Path:
    """Return the run meant by a user's folder: itself where it is a run folder, else its latest run.

    The name of a run by itself, or its first digits, means the run in `within`, a report folder. Raises FolderError
    where it is neither, or where several names begin so.
    """
    if within is not None and _NAMED.fullmatch(str(folder)) and not folder.exists():
        named = [run for run in runs(within) if run.name.startswith(folder.name)]
        if len(named) > 1:
            raise FolderError(f"run={folder.name!r}, but should name one of {', '.join(run.name for run in named)}")
        folder = named[0] if named else folder
    if not folder.is_dir():
        raise FolderError(
            f"there is no report folder {str(folder)!r} in {Path.cwd()}: "
            "run the tests first, or name the folder that was given with --report, or a run in it"
        )
    is_run = any(folder.glob("records-*.jsonl")) or bool(RUN_NAME.fullmatch(folder.resolve().name))
    return folder if is_run else latest_run(folder)


def save_status(run_folder: Path, status: int) -> None:
    """Keep the exit status with which a run ended; a folder without one is of a run that never ended.

    Raises RecordError where it cannot be written.
    """
    replace_text(run_folder / STATUS_NAME, f"{status}\n")


def load_status(run_folder: Path) -> int | None:
    """Return the exit status of a run, None for one that never ended. Raises RecordError for what is no status."""
    path = run_folder / STATUS_NAME
    try:
        return int(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} cannot be read as an exit status: {error}; run the tests again") from error


def replace_text(path: Path, text: str) -> None:
    """Write a file at once, so that no reader sees half of it. Raises RecordError where it cannot be written."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        # The first error is the one to tell; a draft may not even be there.
        with suppress(OSError):
            draft.unlink()
        raise unwritable(path, error) from error


def started(run: Path) -> datetime:
    """Return when a run began, by its folder's name."""
    stamp = _order(run)[0]
    return datetime.strptime(stamp, "%Y%m%d-%H%M%S").replace(tzinfo=timezone.utc)


def _order(run: Path) -> tuple[str, int, int]:
    match = RUN_NAME.fullmatch(run.name)
    assert match is not None, "only names of runs are ordered"
    written = 0
    with suppress(OSError):  # somebody else may be taking the folder away
        written = max((path.stat().st_mtime_ns for path in run.glob("records-*.jsonl")), default=0)
    return match[1], written, int(match[3] or 1)
