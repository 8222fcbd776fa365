"""A corpus: distinct calls with how often each was made, a line of text each.

140  F.linear(x[32, 64](low=-3.1, high=2.9), y[10, 64](low=-0.13, high=0.13), z[10](low=-0.12, high=0.13))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from autotest.errors import UsageError

_RANGE = re.compile(r"low=([^,()]+), high=([^,()]+)")
_LINE = re.compile(r"\s*(\d+)\s+(\S.*)")


class Corpus:
    """Calls by how they are written; two that differ in the range of their values alone are one, over both ranges."""

    def __init__(self) -> None:
        #: By the expression without its ranges how often, and those.
        self._calls: dict[str, tuple[int, list[tuple[str, str]]]] = {}

    def add(self, expression: str, count: int) -> None:
        """So many calls more."""
        ranges = _RANGE.findall(expression)
        key = _RANGE.sub("low=, high=", expression)
        before, known = self._calls.get(key, (0, ranges))
        wider = [(min(a, c, key=float), max(b, d, key=float)) for (a, b), (c, d) in zip(ranges, known, strict=True)]
        self._calls[key] = before + count, wider

    def calls(self) -> Mapping[str, int]:
        """Each with its count, the most frequent first."""
        whole = {_whole(key, ranges): count for key, (count, ranges) in self._calls.items()}
        return dict(sorted(whole.items(), key=lambda item: (-item[1], item[0])))

    @property
    def text(self) -> str:
        """A line for each."""
        return "".join(f"{count:>8}  {expression}\n" for expression, count in self.calls().items())


def _whole(key: str, ranges: Iterable[tuple[str, str]]) -> str:
    """An expression with its ranges again."""
    each = iter(ranges)
    return re.sub("low=, high=", lambda _: "low={}, high={}".format(*next(each)), key)


def read(paths: Iterable[Path]) -> Corpus:
    """What several files have together. Raises UsageError for one that cannot be read, and for a line that is none."""
    corpus = Corpus()
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error.reason
            raise UsageError(f"{path} cannot be read: {why}") from None
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = _LINE.fullmatch(line)
            if found is None:
                raise UsageError(f"{path}:{number}: {line!r}, but should be a count and an expression")
            corpus.add(found[2].rstrip(), int(found[1]))
    return corpus


__all__ = ["Corpus", "read"]
