"""Shards: which share of the tests a run takes, the same on every machine."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from autotest.errors import UsageError


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `index` of `count`, counted from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        """As it is typed."""
        return f"{self.index}/{self.count}"

    def holds(self, test: str | None) -> bool:
        """Whether the test whose cases have this name in their keys belongs here; None, a test without cases, belongs
        to shard 1.

        The name alone decides, by its SHA-256: neither the order nor the presence of other tests moves a test.
        """
        if test is None:
            return self.index == 1
        return int.from_bytes(hashlib.sha256(test.encode()).digest()[:8], "big") % self.count == self.index - 1


def parse_shard(text: str) -> Shard:
    """The shard that a person typed as `i/n`; raises UsageError."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    shard = Shard(int(match[1]), int(match[2])) if match else Shard(0, 0)
    if not 1 <= shard.index <= shard.count:
        raise UsageError(f"shard={text!r}, but should be i/n with i from 1 to n, such as 1/2 [--autotest-shard]")
    return shard
