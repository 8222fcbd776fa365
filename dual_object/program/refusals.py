"""Why a framework refuses a call, in one word: whoever accepts a dimension that is not there may refuse a wrong dtype.

What the exception says is read for it. Its own words would tell more, and be others in the framework's next version.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from dual_object.program.calls import Call

Refusal = Literal["arguments", "dims", "dtypes", "indices", "negative", "sizes", "values"]

#: The first that the words match says it.
_WORDS: tuple[tuple[Refusal, str], ...] = (
    ("indices", r"\bind(?:ex|ices)\b.{0,40}\bout of|out of bounds|invalid max index"),
    ("dims", r"dimension out of range|multiple times in the list of dims"),
    ("negative", r"negative|non-positive|(?:greater|larger) (?:than )?(?:or equal to )?(?:zero|0)\b|must be positive"),
    ("dtypes", r"not implemented for|\b\w*types?\b|floating|integral|integer|bool|complex"),
    ("dtypes", r"\b(?:BFloat16|Half|Float|Double|Byte|Char|Short|Int|Long)\b"),
    ("sizes", r"\bsizes?\b|\bshapes?\b|broadcast|length|number of elements|exceeds|empty|no larger than|\bpad"),
    ("dims", r"\bdims?\b|\b\d-?d\b|dimension|\bscalars?\b"),
)
_READ = tuple(
    # Names of dtypes are written with a capital letter; `double` and `long` are words.
    (refusal, re.compile(words, 0 if "BFloat16" in words else re.IGNORECASE))
    for refusal, words in _WORDS
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


def refused_as(call: Call, classes: Collection[str], says: str) -> bool:
    """Whether an exception refuses a call as it was recorded: it has a class in common, and where its words are given,
    they are for the same reason. With other inputs the reference may find something else wrong.
    """
    alike = not (says and call.refusal) or refusal(classes, says) == refusal(call.raises, call.refusal)
    return alike and not {*classes}.isdisjoint(call.raises)


__all__ = ["Refusal", "refusal", "refused_as"]
