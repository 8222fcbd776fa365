"""Inference: what PyTorch's own shape inference says of a run's cases, and where PyTorch computes something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from reports.records.shape import Record
from reports.words.quantities import counted

#: What the disagreements stand under: neither side is the target.
HEADING = "The reference: meta and eager disagree"


@dataclass(frozen=True)
class Disagreement:
    """An op of which eager PyTorch and its shape inference do not give the same, with its first case.

    Attributes:
        aspect: what differs: dtype, shape or strides.
        tests: those that show it.
        key: the first test's first case.
        value: the name of what differs in that case's program.
        eager, meta: what each says.
        inputs: a line for each of the program's inputs.
    """

    op: str
    aspect: str
    tests: tuple[str, ...]
    key: str
    value: str
    eager: str
    meta: str
    inputs: tuple[str, ...]
    program: str

    @property
    def title(self) -> str:
        """Such as `BatchNorm3d strides (1 test)`."""
        return f"{self.op} {self.aspect} ({counted(len(self.tests), 'test')})"

    @property
    def words(self) -> str:
        """Such as `t0: eager (12, 4, 2, 1), meta (12, 1, 6, 3)`."""
        return f"{self.value}: eager {self.eager}, meta {self.meta}"

    @property
    def lines(self) -> list[str]:
        """The example: what each says, the program with its inputs, and the case."""
        return [self.words, *self.program.splitlines(), *self.inputs, self.key]


@dataclass(frozen=True)
class Inference:
    """How often it was asked, why it did not answer at other times, and where it disagrees.

    `asked` and `refused` are in cases, of which each test asks about one of those that are alike.
    """

    asked: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def told(self) -> bool:
        """Whether a run has any of it."""
        return bool(self.asked or self.refused)

    @property
    def words(self) -> str:
        """How many cases it was asked about: `213 cases asked, 3 refused`."""
        refused = sum(self.refused.values())
        return f"{counted(self.asked, 'case')} asked" + (f", {refused:,} refused" if refused else "")

    def to_json(self) -> dict[str, object]:
        """Return the fields as plain data."""
        return {
            "asked": self.asked,
            "refused": dict(self.refused),
            "disagreements": [asdict(row) for row in self.disagreements],
        }


class InferenceTally:
    """Counts records into an Inference; memory grows with the ops and with the reasons."""

    def __init__(self) -> None:
        self._asked = 0
        self._refused: Counter[str] = Counter()
        self._tests: dict[tuple[str, str], dict[str, Record]] = {}

    def take(self, record: Record) -> None:
        """Count one test."""
        self._asked += record["asked"]
        self._refused.update(record["refused"])
        for row in record["disagreements"]:
            self._tests.setdefault((row["op"], row["aspect"]), {}).setdefault(record["test"], row)

    def inference(self) -> Inference:
        """What was counted: the example is that of the alphabetically first test, whatever the workers."""
        found = []
        for (op, aspect), rows in sorted(self._tests.items()):
            tests = tuple(sorted(rows))
            row = rows[tests[0]]
            texts = {name: row[name] for name in ("key", "value", "eager", "meta", "program")}
            found.append(Disagreement(op, aspect, tests, inputs=tuple(row["inputs"]), **texts))
        refused = dict(sorted(self._refused.items(), key=lambda item: (-item[1], item[0])))
        return Inference(self._asked, refused, tuple(found))
