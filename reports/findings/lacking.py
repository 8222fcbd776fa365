"""What a target lacks, in words: aspects that nobody looked at, and names that its table does not have."""

from __future__ import annotations

from collections.abc import Sequence

from reports.words.quantities import counted

#: The aspects as `dual_object.replay.adapter` names them; a test holds both equal.
ASPECTS = {
    "layout": "no strides",
    "sharing": "no shared memory",
    "standing": "no requires_grad",
    "inputs": "no written inputs",
    "modules": "no states of modules",  # the functions that modules call are checked
    "second": "no second derivatives",
    "random": "no random numbers",
    "exceptions": "no classes of exceptions",
}


def not_checked(lacks: Sequence[str]) -> str:
    """What of every case was not checked, since the target has no such thing; empty where all was."""
    return ", ".join(words for aspect in lacks if (words := ASPECTS.get(aspect, f"no {aspect}")))


def lacked(missing: int, unmapped: int, unsupported: int) -> list[str]:
    """So many ops that the target lacks, that its table has no row for, and that it says it does not support in some
    call, as far as there are such.
    """
    told = [
        (missing, "that the target lacks"),
        (unmapped, "that the target's table has no row for"),
        (unsupported, "that the target does not support in each call"),
    ]
    return [f"{counted(count, 'op')} {words}" for count, words in told if count]


__all__ = ["ASPECTS", "lacked", "not_checked"]
