"""Why a framework refuses a call, in one word: whoever accepts a dimension that is not there may refuse a wrong dtype.

What the exception says is read for it. Its own words would tell more, and be others in the framework's next version.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

Refusal = Literal["arguments", "dims", "dtypes", "indices", "negative", "sizes", "values"]

#: The first that the words match says it. Names of dtypes have a capital letter: `double` and `long` are words.
_READ: tuple[tuple[Refusal, re.Pattern[str]], ...] = (
    ("indices", re.compile(r"(?i)\bind(?:ex|ices)\b.{0,40}\bout of|out of bounds|invalid max index")),
    ("dims", re.compile(r"(?i)dimension out of range|multiple times in the list of dims")),
    (
        "negative",
        re.compile(
            r"(?i)negative|non-positive|(?:greater|larger) (?:than )?(?:or equal to )?(?:zero|0)\b|must be positive"
        ),
    ),
    ("dtypes", re.compile(r"(?i)not implemented for|\b\w*types?\b|floating|integral|integer|bool|complex")),
    ("dtypes", re.compile(r"\b(?:BFloat16|Half|Float|Double|Byte|Char|Short|Int|Long)\b")),
    (
        "sizes",
        re.compile(
            r"(?i)\bsizes?\b|\bshapes?\b|broadcast|length|number of elements|exceeds|empty|no larger than|\bpad"
        ),
    ),
    ("dims", re.compile(r"(?i)\bdims?\b|\b\d-?d\b|dimension|\bscalars?\b")),
)


def refusal(classes: Collection[str], says: str) -> Refusal:
    """What a call is refused for, by the names of the exception's classes and its words: what is none of the others is
    `values`.

        >>> refusal(["IndexError"], "Dimension out of range (expected to be in range of [-2, 1], but got 2)")
        'dims'
    """
    if "TypeError" in classes:
        return "arguments"
    return next((word for word, words in _READ if words.search(says)), "values")


def refused_as(recorded: Collection[str], said: str, classes: Collection[str], says: str) -> bool:
    """Whether an exception refuses a call as the `recorded` one did, which `said` something: it has a class in common,
    and where both have words, they are for the same reason. With other inputs something else may be wrong.
    """
    alike = not (says and said) or refusal(classes, says) == refusal(recorded, said)
    return alike and not {*classes}.isdisjoint(recorded)


__all__ = ["Refusal", "refusal", "refused_as"]
