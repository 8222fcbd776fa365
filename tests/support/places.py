"""The place that a sentence ends in: a line of the test file that it is about."""

from __future__ import annotations

import linecache
import re
from pathlib import Path


def told(error: BaseException, file: str, code: str = "") -> str:
    """The sentence of an error without its place, which must be a line of `file` that holds `code`."""
    found = re.fullmatch(r"(.*) \[([^\[\]]+):(\d+)\]", str(error), re.DOTALL)
    assert found is not None, f"no place in {error}"
    text, place, line = found.groups()
    assert Path(place).resolve() == Path(file).resolve()
    assert code in linecache.getline(file, int(line))
    return text
