"""What a run is asked for, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autotest.options.overrides import Override
from autotest.options.shard import Shard

Inputs = Literal["plain", "standard", "edge"]
#: What a test's laid-out cases cover: nothing, each corner, each pair of arguments too, each pair of corners.
Coverage = Literal["none", "each", "arguments", "pairs"]
Isolate = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run is asked for: a field for each row of the table, which says what it means, and where the run is."""

    target: str = "oneflow"
    #: The interpreter that runs the target. None: what the environment or the project says, else this one.
    target_python: str | None = None
    override: tuple[Override, ...] = ()
    cases: int | None = None
    #: So many cases at most of a test that lays cases out. None: as many as it asks for.
    drawn: int | None = None
    seed: int = 0
    inputs: Inputs = "standard"
    #: None: what each test asks for.
    coverage: Coverage | None = None
    #: An absolute path, once pytest has said what it is relative to.
    report: Path = Path("autotest-report")
    #: In seconds; None: no deadline.
    case_timeout: float | None = 60.0
    #: In bytes, of each target worker; 0: no limit. None: the share that a run's only worker has of the machine's.
    memory_limit: int | None = None
    isolate: Isolate = "auto"
    #: Of static graphs, by name, or `all`; empty: what each test asks for.
    graph_configs: tuple[str, ...] = ()
    #: Whether no case runs in the target's static graph.
    eager: bool = False
    #: Whether layers are tested once more as the functions that they call.
    lower_layers: bool = False
    shrink: float = 10.0
    #: The totals are this process's share of the run's seconds.
    shrink_total: float = 120.0
    blame_total: float = 60.0
    memory: bool = True
    ledger: tuple[Path, ...] = ()
    shard: Shard | None = None
    case: str | None = None
    repro_total: float = 120.0
    drop_in: bool = False
    strict: bool = False
    survey: bool = False
    #: The target that is held to the tests which every target must pass.
    conformance: str | None = None

    #: The run's own folder in `report`.
    folder: Path | None = None
    #: Where the search for ledgers ends.
    root: Path | None = None
    worker: str = "main"
    #: The number of the first draw of each test: a campaign that comes to it again goes on where it was.
    first: int = 0
    #: Which of each test's laid-out cases run, from one number up to another; so many fewer are drawn. None: all, and n
    #: are drawn.
    laid_out: tuple[int, int] | None = None
    #: Ids of fingerprints that have had their closer look, in a campaign's earlier rounds.
    settled: frozenset[str] = frozenset()
    #: Keys of cases that are not drawn, for PyTorch itself ends the process at them, and how it does.
    avoided: Mapping[str, str] = field(default_factory=dict)
    #: What started the run and what was checked out then, both for people.
    command: str = ""
    #: What chose its tests, such as `suites -k matmul`.
    selection: str | None = None
    commit: str | None = None
    #: How many columns the text of a red test has; None: as many as this process's terminal.
    width: int | None = None

    @property
    def remembered(self) -> str:
        """The target as far as what diverges on it is remembered: with kernels it is another one."""
        return " ".join((self.target, *sorted(override.text for override in self.override)))
