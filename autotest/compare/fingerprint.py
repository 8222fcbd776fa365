"""A fingerprint: what makes two divergences the same, and which of two says no more than the other.

Its last part is made of facts: the dtype, what inputs and arguments need for the divergence to show, and how the op was
called, as in `float32,nonfinite,p=`. What stands for one another as a cause is one class, whatever the inputs have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

from autotest.compare.kinds import KINDS, in_graph

#: Classes of values, from the one farthest from the ordinary to the nearest, with what inputs have of them.
#:
#: nonfinite: NaN comes of infinities (inf - inf), and what spreads the one spreads the other.
#: extreme: ends of the range. A square of either leaves it, upwards or downwards.
#: far: beyond what ordinary numbers reach, and no end of the range: where exponentials overflow.
#: tie: values at which an op chooses: equal to each other or to where it bends. Two zeros are a tie, and zero a kink.
#:
#: Not one class: max() that loses a NaN and max() that shares its gradient among equal elements are two faults.
VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"nonfinite": ("nan", "inf"), "extreme": ("huge", "subnormal"), "far": ("far",), "tie": ("zero", "kink", "tie")}
)
#: What a kernel that takes memory to be packed, from its start, reads wrong. An `expanded` tensor lies so, too, but has
#: a cause of its own: its elements share memory, which an in-place op should refuse.
STRIDED = ("offset", "transposed", "channels_last", "strided")
#: A size is no class: what goes wrong on no element and on one without a dimension has nothing in common.
SIZES = ("empty", "0-dim")
_CLASS = {member: name for name, members in {**VALUES, "strided": STRIDED}.items() for member in members}
#: What is asked for where a result is wrong: numbers that lie close together beside their size, so that their variance
#: cancels; and what most inputs have, numbers below zero, and one dimension.
CLOSE, NEGATIVE, VECTOR = "close", "negative", "1-dim"
#: What is needed by a wrong result that does not come back in each run.
UNSTEADY = "unsteady"
#: What inputs may be needed for, in the order in which fingerprints tell it.
NEEDS = ("strided", "expanded", *VALUES, CLOSE, NEGATIVE, *SIZES, VECTOR, UNSTEADY)
#: What an entry of a ledger says -> what meets it, where that is more than the class itself. Ledgers have older names:
#: nobody had tried greater or lesser values in place of a NaN, and `special` was any several of them.
_MET: Mapping[str, frozenset[str]] = {
    "strided": frozenset({"strided", "expanded"}),
    "nan": frozenset({"nonfinite", "extreme"}),
    "inf": frozenset({"nonfinite", "extreme"}),
    "special": frozenset(VALUES),
}
#: Kinds that are one where values are beyond the ordinary, or another number each time: there a wrong number overflows,
#: or becomes NaN, as the other elements fall. `sign` is none of them: a zero of the other sign is no wrong number.
_NUMBERS = frozenset({"value", "nonfinite"})
#: What begins the fact that names the configuration of a static graph.
CONFIG = "config="
#: What begins the fact that says why PyTorch refuses the call.
REFUSAL = "refusal="


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A fingerprint in its parts.

    `needs` are the classes of what inputs must have, and the arguments (`p=`) that cannot be left out or be others;
    `said` is the same in the words that it was written in. `rest` is what is kept as it is: a buffer's name, `method`,
    `config=NAME`, `refusal=WORD`, `again`, and of a kind that tells how the op was called all keyword arguments.
    """

    target: str
    phase: str
    kind: str
    op: str
    dtype: str
    needs: frozenset[str]
    rest: tuple[str, ...]
    said: tuple[str, ...] = field(compare=False, default=())

    @classmethod
    def parse(cls, text: str) -> Fingerprint:
        """Read `target/phase/kind/op/facts`."""
        head, _, facts = text.rpartition("/")
        target, phase, kind, op = head.split("/", 3)
        dtype, *others = facts.split(",")
        of_form = kind not in KINDS or KINDS[kind].of_form
        said = tuple(
            fact for fact in others if fact in (*_CLASS, *NEEDS, "special") or (fact.endswith("=") and not of_form)
        )
        needs = frozenset(_CLASS.get(fact, fact) for fact in said)
        return cls(target, phase, kind, op, dtype, needs, tuple(fact for fact in others if fact not in said), said)

    @property
    def facts(self) -> str:
        """The last part, with classes for what inputs and arguments need."""
        needs = [name for name in (*NEEDS, "special") if name in self.needs]
        arguments = sorted(need for need in self.needs if need.endswith("="))
        return ",".join([self.dtype, *needs, *arguments, *self.rest])

    def having(self, present: Collection[str]) -> Fingerprint:
        """The same with all that may be needed, where nobody knows what is."""
        return replace(self, needs=self.needs | frozenset(present))

    @property
    def bare(self) -> bool:
        """Whether it needs nothing: it is about whatever is so with the op and the dtype."""
        return not self.needs

    def __str__(self) -> str:
        return "/".join([self.target, self.phase, self.kind, self.op, self.facts])

    def covers(self, other: Fingerprint, *, one_cause: bool = False) -> bool:
        """Whether `other` is the same, or needs what this one needs and more; op and dtype may be patterns.

        What was called otherwise is another one: each keyword argument may be the one that the target does not know.
        It is none where both are known to have `one_cause`, nor in a graph, for eager has taken the same call before:
        there it is one that was given more.
        A pattern, which has a `*` in its facts, may also match them as they are: `*` alone is about all of them.
        """
        return (
            (self.target, self.phase) == (other.target, other.phase)
            and self._same_kind(other)
            and _matches(other.op, self.op)
            and (self._needs_no_more(other, one_cause) or ("*" in self.facts and fnmatchcase(other.facts, self.facts)))
        )

    def is_shown_by(self, other: Fingerprint) -> bool:
        """Whether `other` is this one; ledgers have older ones that do not say why PyTorch refuses the call."""
        return self == self._asked_of(other)

    def _asked_of(self, other: Fingerprint) -> Fingerprint:
        """Another one in as much as this one says: where it does not say why PyTorch refuses the call, that is left out
        of the other, too.
        """
        if any(fact.startswith(REFUSAL) for fact in self.rest):
            return other
        return replace(other, rest=tuple(fact for fact in other.rest if not fact.startswith(REFUSAL)))

    def _needs_no_more(self, given: Fingerprint, one_cause: bool) -> bool:
        other = self._asked_of(given)
        met = all(_MET.get(fact, {_CLASS.get(fact, fact)}) & other.needs for fact in self.said)
        if one_cause or in_graph(other.phase):
            alike = self._formless == other._formless and (one_cause or self._keywords <= other._keywords)
        else:
            alike = self.rest == other.rest
        return met and alike and _matches(other.dtype, self.dtype)

    @property
    def _formless(self) -> tuple[str, ...]:
        """What is kept as it is, and does not tell how the op was called."""
        return tuple(fact for fact in self.rest if not (fact == "method" or fact.endswith("=")))

    @property
    def _keywords(self) -> frozenset[str]:
        return frozenset(fact for fact in self.rest if fact.endswith("="))

    def _same_kind(self, other: Fingerprint) -> bool:
        beyond = not {"nonfinite", "extreme", "far", UNSTEADY}.isdisjoint(other.needs)
        return self.kind == other.kind or (beyond and {self.kind, other.kind} == _NUMBERS)

    def near(self, other: Fingerprint) -> bool:
        """Whether `other` differs in nothing but the dtype and what it needs. Of kinds that tell how the op was
        called, the dtype is the same: a pattern in its place would be about each call. In a contract it is the test
        that stands there, and two tests have nothing in common.
        """
        return (
            (self.target, self.phase, self.op, self.rest) == (other.target, other.phase, other.op, other.rest)
            and self._same_kind(other)
            and (self.dtype == other.dtype or not (KINDS[self.kind].of_form or self.phase == "contract"))
        )

    def distance(self, other: Fingerprint) -> tuple[int, bool]:
        """How far one lies that is near: the fewer needs are not of both, the less has to go for both to be covered."""
        return len(self.needs ^ other.needs), self.dtype != other.dtype

    def joined(self, other: Fingerprint) -> Fingerprint:
        """The least that covers both of two that are near: `max/float32,tie` and `max/float64,strided,tie` are
        `max/*,tie`.
        """
        needs = self.needs & other.needs
        return replace(self, dtype=self.dtype if self.dtype == other.dtype else "*", needs=needs, said=tuple(needs))


def _matches(name: str, pattern: str) -> bool:
    """Whether a name is that, or what a pattern is about: the name of a contract has brackets, and is none."""
    return name == pattern or fnmatchcase(name, pattern)


def configuration_of(fingerprint: str) -> str:
    """The configuration that the graph was built under; empty where it was built under none. An argument that is called
    `config` has no value in a fingerprint.
    """
    facts = fingerprint.rpartition("/")[2].split(",")
    return next((fact.removeprefix(CONFIG) for fact in facts if fact.startswith(CONFIG)), "")


def classes(names: Collection[str]) -> frozenset[str]:
    """The classes of what inputs have: of `{"nan", "empty"}`, `{"nonfinite", "empty"}`."""
    return frozenset(_CLASS.get(name, name) for name in names)
