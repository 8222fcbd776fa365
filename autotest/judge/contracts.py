"""The judgement on a contract: what a target makes of a sentence of its documentation, as a divergence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autotest.compare.divergence import Identity
from autotest.judge.judgement import Verdict
from autotest.workers.contracts import Answer, Outcome
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor

#: The verdict on the case by what the target makes of its sentence.
VERDICTS: Mapping[Outcome, Verdict] = MappingProxyType(
    {
        "kept": "aligned",
        "broken": "divergent",
        "unsupported": "divergent",
        "skipped": "skipped",
        "crash": "crashed",
        "timeout": "timed_out",
        "out_of_memory": "out_of_memory",
    }
)

#: What parts a sentence from what happens instead.
DOCUMENTED = ", says the documentation, but "


@dataclass(frozen=True, slots=True)
class Question:
    """What a test asks the target: where its function is found, and what it is about.

    Attributes:
        name, test: the test's name, and the same with what tells its parameters apart, as pytest writes it.
        arguments: those parameters.
        sentence, of, alone: as the contract has them.
    """

    file: Path
    name: str
    test: str
    sentence: str
    of: str
    alone: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def ask(self, target: Supervisor) -> Answer:
        """What the target makes of it, in a process that others have left whole. Raises UsageError."""
        if self.alone:
            target.close()
        answer = self._asked(target)
        # Whatever a question before has left behind may have ended the process, or let it hang: asked first, it counts.
        if answer.outcome in ("crash", "timeout") and not self.alone:
            answer = self._asked(target)
        if self.alone:
            target.close()
        return answer

    def _asked(self, target: Supervisor) -> Answer:
        given = target.contract(str(self.file), self.name, self.arguments)
        return Answer(given.cause, given.sentence()) if isinstance(given, Death) else given

    def identity(self, target: str, answer: Answer) -> Identity:
        """What the divergence is called: `oneflow/contract/broken/nn.Graph.name/name_is_its_own`."""
        facts = re.sub(r"[^\w.\-\[\]]", "_", self.test.removeprefix("test_"))
        return target, "contract", answer.outcome, self.of, facts

    def message(self, answer: Answer) -> str:
        """What is documented, and what happened instead."""
        lead = {"broken": "", "unsupported": "it is not supported: "}.get(answer.outcome, "the target ")
        return f"{self.of}: {self.sentence}{DOCUMENTED}{lead}{answer.detail}"


__all__ = ["VERDICTS", "Question"]
