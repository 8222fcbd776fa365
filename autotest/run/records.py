"""The record file of one process of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotest.options import RunOptions
    from reports import RecordWriter


def open_records(folder: Path, worker: str, environment: Mapping[str, str], options: RunOptions) -> RecordWriter:
    """Open the records of `worker` in a run's folder, which begin with what the run is asked for. Raises RecordError
    where they cannot be written.
    """
    from reports import RecordWriter

    return RecordWriter(
        folder,
        worker,
        seed=options.seed,
        inputs=options.inputs,
        target=options.target,
        environment=dict(environment),
        command=options.command,
        commit=options.commit,
        selection=options.selection,
        path=None if options.root is None else str(options.root),
    )
