"""What a test asks of the harness (`TestOptions`) and what a run is asked for (`RunOptions`); both frozen."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from autotest.compare.difference import Rules
from autotest.compare.tolerance import check_pair
from autotest.errors import UsageError

GradOrder = Literal[1, 2]
GraphBackward = Literal["share", "all", "none"]
Isolate = Literal["auto", "always", "never"]
Missing = Literal["fail", "count"]
Inputs = Literal["plain", "standard", "edge"]


@dataclass(frozen=True, slots=True)
class TestOptions:
    """The arguments of `@autotest`. Raises UsageError, naming the argument, for what cannot mean anything."""

    __test__ = False  # pytest: no test class

    n: int = 20
    auto_backward: bool = True
    rtol: float | None = None
    atol: float | None = None
    check_graph: bool = True
    check_allclose: bool = True
    check_dtype: bool = True
    check_layout: bool = True
    check_grad_use_random_data: bool = True
    graph_backward: GraphBackward = "share"
    missing: Missing = "fail"
    inputs: Inputs | None = None
    grad_order: GradOrder = 1
    because: str | None = None

    def __post_init__(self) -> None:
        """Check every argument."""
        where = "@autotest(...)"
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise UsageError(f"n={self.n!r}, but should be a whole number of cases, at least 1 [{where}]")
        for name in (
            "auto_backward",
            "check_graph",
            "check_allclose",
            "check_dtype",
            "check_layout",
            "check_grad_use_random_data",
        ):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise UsageError(f"{name}={value!r}, but should be True or False [{where}]")
        for name, choices in (("graph_backward", get_args(GraphBackward)), ("missing", get_args(Missing))):
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise UsageError(f"{name}={getattr(self, name)!r}, but should be one of {known} [{where}]")
        if self.inputs is not None and self.inputs not in get_args(Inputs):
            known = ", ".join(map(repr, get_args(Inputs)))
            raise UsageError(f"inputs={self.inputs!r}, but should be one of {known}, or None [{where}]")
        if isinstance(self.grad_order, bool) or self.grad_order not in get_args(GradOrder):
            raise UsageError(f"grad_order={self.grad_order!r}, but should be 1 or 2 [{where}]")
        if self.grad_order == 2 and not self.auto_backward:
            raise UsageError(
                f"grad_order=2, but should be 1 with auto_backward=False, which takes no derivative at all [{where}]"
            )
        check_pair(self.rtol, self.atol, where)
        if self.because is not None and (not isinstance(self.because, str) or not self.because or self.rtol is None):
            raise UsageError(
                f"because={self.because!r}, but should say which case needs the test's own rtol and atol: "
                f"pass all three, with a case of `autotest tolerances` [{where}]"
            )

    @property
    def own_tolerance(self) -> tuple[float, float] | None:
        """The rtol and atol that the test's author chose for it, None where it has the dtype's."""
        return None if self.rtol is None or self.atol is None else (self.rtol, self.atol)

    @property
    def rules(self) -> Rules:
        """What is compared, and how closely."""
        return Rules(self.rtol, self.atol, self.check_allclose, self.check_dtype, self.check_layout)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is asked for, on the command line or by pytest's options.

    `cases` overrides every test's n; `case_timeout` is in seconds, None without a deadline. `folder` is the run's
    folder in `report`; `root` is where the search for ledgers ends. `command` is what started the run and `commit` the
    checkout's, both for people. `shard` is the share of the tests that is run, None all of them. `drop_in`: test files
    that import OneFlow's own harness get this one; `strict`: what only our checks see is red in those, too.
    `inputs`: how wild tensors are that a test draws, where it does not say so itself. `survey`: every test's errors are
    recorded. `shrink` is the seconds that making one divergence minimal may take, 0 for not at all, `shrink_total` the
    seconds for all of this process. `blame_total` is the seconds of this process for finding out which side is wrong, 0
    for not at all. `memory`: what diverged before is drawn again.
    `repro_total` is how many seconds the repros of a run may take to be verified, all together; 0 verifies none.
    `case`: the key of the one case that is run.
    """

    target: str = "oneflow"
    seed: int = 0
    cases: int | None = None
    case_timeout: float | None = 60.0
    isolate: Isolate = "auto"
    report: Path = Path("autotest-report")
    folder: Path | None = None
    root: Path | None = None
    worker: str = "main"
    command: str = ""
    commit: str | None = None
    shard: Shard | None = None
    drop_in: bool = False
    strict: bool = False
    inputs: Inputs = "standard"
    survey: bool = False
    shrink: float = 10.0
    shrink_total: float = 120.0
    blame_total: float = 60.0
    memory: bool = True
    repro_total: float = 120.0
    case: str | None = None

    def validate(self) -> None:
        """Refuse a target whose name cannot be one; raises UsageError."""
        from dual_object.replay.adapter import BUILT_IN

        if self.target not in BUILT_IN and ":" not in self.target:
            raise UsageError(
                f"target={self.target!r}, but should be one of {', '.join(BUILT_IN)}, "
                "or package.module:Class [--autotest-target]"
            )


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
