"""The errors of reports: one root class, so that a caller can catch them all at once."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ReportError(Exception):
    """A report could not be written or read; the message says which file, why, and what to do."""


class RecordError(ReportError, OSError):
    """A record file could not be written or read; `errno` is the operating system's."""


def unwritable(path: Path, error: OSError) -> RecordError:
    """Return the error of a file that cannot be written."""
    way = "free the disk or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    refusal = RecordError(f"{path} cannot be written: {error.strerror}; {way}choose another folder with --report")
    refusal.errno = error.errno
    return refusal


class FolderError(ReportError, FileNotFoundError):
    """A folder given as a report or a run is not one."""


class VersionError(ReportError, ValueError):
    """A record file was written in another version of the format."""


class MergeError(ReportError, ValueError):
    """Runs given as the shards of one run do not belong together."""


class PlainError(ReportError, TypeError):
    """A value handed to a record is not plain data (None, bool, int, finite float, str, list, dict)."""


class ScriptError(ReportError, ValueError):
    """The modules of a page's script do not fit together; the message names the module and the line or name."""


class PartError(ReportError, ValueError):
    """A seed, a worker name or a number of runs to keep is not one that folders can have."""
