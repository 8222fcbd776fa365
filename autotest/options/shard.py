"""A shard: the tests of a run that are one machine's share."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `index` of `count`, counted from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that a person typed as `i/n`; raises ValueError for anything else."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.index <= shard.count:
            raise ValueError(text)
        return shard

    def __str__(self) -> str:
        """As it is typed."""
        return f"{self.index}/{self.count}"

    def holds(self, test: str | None) -> bool:
        """Whether a test belongs here, by the name that its cases have in their keys; None, a test without cases,
        belongs to shard 1.

        The SHA-256 of the name decides, so that other tests, added or moved, leave it where it is.
        """
        if test is None:
            return self.index == 1
        return int.from_bytes(hashlib.sha256(test.encode()).digest()[:8], "big") % self.count == self.index - 1
