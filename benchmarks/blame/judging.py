"""What became of each verdict: right or wrong, by class, and what makes the bench red."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: The least share of each class that must be right; of a few, one may be wrong.
BAR = 0.9
#: What a run says in place of a verdict where PyTorch itself does not define the answer.
UNDECIDABLE = "undecidable"
#: The classes, and the verdicts that are right for each. A case that is undecidable is no divergence at all.
RIGHT = {
    "target": ("target",),
    "reference": ("reference",),
    "ill_conditioned": ("ill_conditioned", UNDECIDABLE),
    "nondeterministic": ("nondeterministic",),
    "known of OneFlow": ("target",),
}


@dataclass(frozen=True)
class Answer:
    """One verdict of a class: what was planted, where it showed, what was said and why."""

    group: str
    planted: str
    where: str
    said: str
    reason: str = ""

    @property
    def right(self) -> bool:
        """Whether what was said is true."""
        return self.said in RIGHT[self.group]


def share(answers: Sequence[Answer]) -> float:
    """The share that is right; 0 where there is none."""
    return sum(answer.right for answer in answers) / len(answers) if answers else 0.0


def table(answers: Sequence[Answer], *, markdown: bool) -> Iterator[str]:
    """A row per class, in columns or as a table in Markdown."""
    rows = [("class", "right", "of", "share")]
    for group in dict.fromkeys(answer.group for answer in answers):
        own = [answer for answer in answers if answer.group == group]
        rows.append((group, str(sum(answer.right for answer in own)), str(len(own)), f"{share(own):.1%}"))
    for number, (group, right, count, percent) in enumerate(rows):
        if markdown:
            yield f"| {group} | {right} | {count} | {percent} |"
            if not number:
                yield "|---|---:|---:|---:|"
        else:
            yield f"{group:<18}{right:>8}{count:>6}{percent:>9}"


def wrong(answers: Sequence[Answer]) -> Iterator[str]:
    """Each verdict that is not right, in a line."""
    for answer in answers:
        if not answer.right:
            yield f"{answer.group}: {answer.planted} [{answer.where}] {answer.said}: {answer.reason}"


def complaints(answers: Sequence[Answer], groups: Sequence[str]) -> Iterator[str]:
    """What makes the bench red, in sentences."""
    for group in groups:
        own = [answer for answer in answers if answer.group == group]
        if not own or (share(own) < BAR and sum(not answer.right for answer in own) > 1):
            yield f"{group}: right={share(own):.1%} of {len(own)}, but should be at least {BAR:.0%}"
