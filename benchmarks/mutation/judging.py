"""Who is killed: the rule, the table per category, and what makes the bench red."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.mutation.fault import CATEGORIES, Fault, MisfitError
from benchmarks.running import Outcome, Red, RunError

#: The least share of planted faults that a run must notice.
BAR = 0.95


def waves(faults: Sequence[Fault]) -> list[tuple[Fault, ...]]:
    """Faults in as few sets as possible, none with two faults of one op, so that a red test names its one culprit.

    A training calls many ops besides its optimizer, such as the mean of its loss: faults of the category training are
    in sets without others.
    """
    packed: list[tuple[bool, dict[str, Fault]]] = []
    for fault in faults:
        trains = fault.category == "training"
        free = next((wave for kind, wave in packed if kind == trains and fault.op not in wave), None)
        if free is None:
            packed.append((trains, free := {}))
        free[fault.op] = fault
    return [tuple(wave.values()) for _, wave in packed]


def killers(fault: Fault, clean: Outcome, faulty: Outcome) -> tuple[Red, ...]:
    """The divergences that kill a fault: in its op's own test, blamed on its op, and unknown without the fault.

    Raises RunError where the bench, not the fault, is wrong.
    """
    before = {red.fingerprint for red in clean.reds if red.test == fault.test}
    misfit = next((red for red in faulty.reds if f"{MisfitError.__name__}: {fault.id} " in red.message), None)
    if misfit is not None:
        raise RunError(misfit.message)
    return tuple(
        red for red in faulty.reds if red.test == fault.test and red.op == fault.op and red.fingerprint not in before
    )


@dataclass(frozen=True)
class Verdict:
    """A fault and the divergences that kill it; without one it survives. `astray` is what its test showed instead."""

    fault: Fault
    killers: tuple[Red, ...]
    astray: tuple[Red, ...] = ()

    @property
    def killer(self) -> Red | None:
        """The first of them."""
        return self.killers[0] if self.killers else None


def verdict(fault: Fault, clean: Outcome, faulty: Outcome) -> Verdict:
    """What becomes of a fault."""
    kills = killers(fault, clean, faulty)
    before = {red.fingerprint for red in clean.reds}
    others = tuple(red for red in faulty.reds if red.test == fault.test and red.fingerprint not in before)
    return Verdict(fault, kills, () if kills else others)


def share(verdicts: Sequence[Verdict]) -> float:
    """The share of faults that are killed; 1 where there is none."""
    return sum(result.killer is not None for result in verdicts) / len(verdicts) if verdicts else 1.0


def complaints(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What makes the bench red, in sentences."""
    for result in verdicts:
        if result.killer is None and result.fault.reason is None:
            yield f"{result.fault.id} survives without a reason: let the harness notice it, or give its row a reason"
        if result.killer is not None and result.fault.reason is not None:
            yield f"{result.fault.id} has a reason, but is killed by {result.killer.fingerprint}: remove the reason"
    if share(verdicts) < BAR:
        yield f"killed={share(verdicts):.1%}, but should be at least {BAR:.0%} of the planted faults"


def counts(verdicts: Iterable[Verdict]) -> Mapping[str, tuple[int, int]]:
    """By category, in their order: how many faults are killed, and how many were planted."""
    totals = dict.fromkeys(CATEGORIES, (0, 0))
    for result in verdicts:
        killed, planted = totals[result.fault.category]
        totals[result.fault.category] = killed + (result.killer is not None), planted + 1
    return {category: pair for category, pair in totals.items() if pair[1]}


def table(verdicts: Sequence[Verdict], *, markdown: bool) -> Iterator[str]:
    """Killed and planted by category, in columns or as a table in Markdown."""
    rows = [("category", "killed", "planted")]
    rows += [(category, str(killed), str(planted)) for category, (killed, planted) in counts(verdicts).items()]
    killed = sum(result.killer is not None for result in verdicts)
    rows.append(("all", f"{killed} ({share(verdicts):.1%})", str(len(verdicts))))
    for number, (category, dead, planted) in enumerate(rows):
        if markdown:
            yield f"| {category} | {dead} | {planted} |"
            if not number:
                yield "|---|---:|---:|"
        else:
            yield f"{category:<18}{dead:>12}{planted:>9}"


def survivors(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Each survivor in a line, with its reason, and what was seen in its place."""
    for result in verdicts:
        if result.killer is None:
            fault = result.fault
            instead = f" [seen: {', '.join(red.fingerprint for red in result.astray)}]" if result.astray else ""
            yield f"{fault.id} ({fault.category}; {fault.op} {fault.wrong}): {fault.reason or 'NO REASON'}{instead}"
