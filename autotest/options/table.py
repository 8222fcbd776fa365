"""The one table of what a run can be asked for.

Expanded from it are the options of `autotest run` and those that other commands share with it, pytest's
`--autotest-...`, and from what was given to pytest the fields of `RunOptions`.
"""

from __future__ import annotations

import operator
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

from autotest.errors import UsageError
from autotest.options.ledger import SHIPPED, given_ledger
from autotest.options.overrides import SHOULD, given_overrides
from autotest.options.run import Coverage, Inputs, Isolate
from autotest.options.shard import Shard
from autotest.options.targets import interpreter, named_targets


@dataclass(frozen=True, slots=True)
class Kind:
    """What may be given: `parse` makes of it what it means, or raises ValueError where it is not what it `should` be.

    `choices` are all the texts there are, where these can be listed; where they cannot, `names` gives some of them, one
    of which may have been meant. A `flag` is given or not, and has no text. What may be given `often` means a tuple.
    """

    parse: Callable[[Any], Any]
    should: str = ""
    choices: tuple[str, ...] = ()
    names: Callable[[], Iterable[str]] = tuple
    flag: bool = False
    often: bool = False


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(text)
    return int(text)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def _deadline(text: str) -> float | None:
    return _seconds(text) or None


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", text.strip().upper())
    if found is None:
        raise ValueError(text)
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2] or " "))


def _seed(text: str) -> int:
    if text == "random":
        return secrets.randbelow(1 << 31)
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _folder(text: str) -> Path:
    path = Path(text)
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not text or not there.is_dir():  # without a name it would be the current one
        raise ValueError(text)
    return path


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not all(names):
        raise ValueError(text)
    return names


def _targets() -> list[str]:
    from dual_object.replay.adapter import BUILT_IN

    return [*BUILT_IN, *named_targets(Path.cwd())]


def _target(text: str) -> str:
    from dual_object.errors import TargetError
    from dual_object.replay.asked.executors import asked_executor, versions_of
    from dual_object.replay.stages import stages

    try:
        for name in stages(text):
            asked = asked_executor(name)
            if asked is not None:
                versions_of(asked)
    except TargetError as error:
        raise UsageError(str(error)) from None
    if ":" not in text and text not in _targets():
        raise ValueError(text)
    return text


def _interpreter(text: str) -> str:
    return interpreter(text, "--target-python")


def _one_of(choices: tuple[str, ...]) -> Kind:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return Kind(parse, f"one of {', '.join(choices)}", choices)


TEXT = Kind(str)
TARGET = Kind(
    _target,
    "one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, or a name in pyproject.toml",
    names=_targets,
)
PYTHON = Kind(_interpreter)
FOLDER = Kind(_folder, "the path of a folder")
WHOLE = Kind(_whole, "a whole number of at least 1")
SECONDS = Kind(_seconds, "a number of seconds of at least 0")
DEADLINE = Kind(_deadline, SECONDS.should)
BYTES = Kind(_bytes, "a size such as 4G or 512M, or 0 for no limit")
SEED = Kind(_seed, "a whole number of at least 0, or 'random'")
SHARD = Kind(Shard.parse, "i/n with i from 1 to n, such as 1/2")
INPUTS = _one_of(get_args(Inputs))
COVERAGE = _one_of(get_args(Coverage))
ISOLATE = _one_of(get_args(Isolate))
LEDGER = Kind(given_ledger, f"an existing file of known divergences, or {SHIPPED!r}: those of the suites", often=True)
OVERRIDES = Kind(given_overrides, SHOULD, often=True)
CONFIGS = Kind(_names, "all, or the names of configurations of the target's graphs", often=True)
FLAG = Kind(bool, flag=True)
#: A flag that switches its field off.
UNLESS = Kind(operator.not_, flag=True)


class Face(NamedTuple):
    """How an option is described in one place: its help, and what stands for its value (`metavar`; None: what click
    shows for its kind).
    """

    help: str
    metavar: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table.

    Attributes:
        name: in Python, `case_timeout`.
        kind: what may be given; `default`: what counts where nothing is.
        run, pytest: how `autotest run` and pytest describe it; None where it cannot be given.
        field: the field of `RunOptions` that it fills, where that is not its name.
    """

    name: str
    kind: Kind
    default: str | bool | None
    run: Face | None
    pytest: Face | None
    field: str = ""

    @property
    def typed(self) -> str:
        """As `autotest` takes it: `-n`, `--case-timeout`."""
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name.replace('_', '-')}"

    @property
    def typed_for_pytest(self) -> str:
        """As pytest takes it: `--autotest-case-timeout`."""
        return f"--autotest-{self.name.replace('_', '-')}"

    def read(self, given: Any, knob: str | None = None) -> Any:
        """What a given value means: "60" for `case_timeout` is 60.0, and None, for nothing given, is None.

        Raises UsageError, naming `knob` (by default pytest's option), for a value that means nothing.
        """
        if self.kind.often:
            return tuple(part for text in given or () for part in self._parsed(text, knob))
        return None if given is None else self._parsed(given, knob)

    def _parsed(self, given: Any, knob: str | None) -> Any:
        try:
            return self.kind.parse(given)
        except UsageError:  # it says all itself
            raise
        except ValueError:
            from dual_object.meant import did_you_mean

            near = did_you_mean(str(given), self.kind.choices or self.kind.names())
            raise UsageError(
                f"{self.name}={given!r}, but should be {self.kind.should}{near} [{knob or self.typed_for_pytest}]"
            ) from None


_ROWS = (
    Option(
        "target",
        TARGET,
        "oneflow",
        run=Face(
            "Target framework: jax, oneflow, paddle, torch, torch:EXECUTOR, or package.module:Class; "
            "torch:EXECUTOR,torch:EXECUTOR: which of them introduces a difference."
        ),
        pytest=Face(
            "target framework: jax, oneflow, paddle, torch, torch:EXECUTOR, or package.module:Class; "
            "torch:EXECUTOR,torch:EXECUTOR: which of them introduces a difference (default: %(default)s)",
            "NAME",
        ),
    ),
    Option(
        "target_python",
        PYTHON,
        None,
        run=Face("The interpreter that runs the target, with packages of its own.", "PATH"),
        pytest=Face(
            "the interpreter that runs the target, with packages of its own: CPython 3.10 or newer with NumPy, psutil "
            "and the target",
            "PATH",
        ),
    ),
    Option(
        "override",
        OVERRIDES,
        None,
        run=Face(
            "With --target torch: a function that stands for an op in the target's process; a public one "
            "(torch.softmax=mykernels.py:softmax), or an operator below it (aten._softmax.default=...).",
            "OP=KERNEL|FILE",
        ),
        pytest=Face(
            "with the target torch: a function that stands for an op in the target's process, such as "
            "torch.softmax=mykernels.py:softmax or aten._softmax.default=package.module:softmax; may be given often; "
            "a file such as kernels.toml names several",
            "OP=KERNEL|FILE",
        ),
    ),
    Option(
        "n",
        TEXT,
        "auto",
        run=Face("Processes; auto: what cores and free memory carry.", "N|auto"),
        pytest=None,
    ),
    Option(
        "cases",
        WHOLE,
        None,
        run=Face("Cases per test, instead of each test's own n."),
        pytest=Face("cases per test, instead of each test's own n", "N"),
    ),
    Option(
        "drawn",
        WHOLE,
        None,
        run=Face("Of a test that lays cases out, at most so many drawn cases besides."),
        pytest=Face("of a test that lays cases out, at most so many drawn cases besides", "N"),
    ),
    Option(
        "seed",
        SEED,
        "0",
        run=Face("Seed of all draws; random explores.", "S|random"),
        pytest=Face("seed of all draws, or 'random' to explore (default: %(default)s)", "S"),
    ),
    Option(
        "inputs",
        INPUTS,
        "standard",
        run=Face("How wild drawn tensors are: values, layouts, sizes, gradients."),
        pytest=Face(
            "plain: uniform values; standard: a share of special values, layouts and sizes; edge: more of them, and "
            "NaN and infinities whatever the range (default: %(default)s)",
            "MODE",
        ),
    ),
    Option(
        "coverage",
        COVERAGE,
        None,
        run=Face("What the cases that are laid out before the drawn ones cover; default: what each test asks for."),
        pytest=Face(
            "what the cases that are laid out before the drawn ones cover: none: there are none; each: each corner of "
            "values, layouts, sizes, dtypes and arguments; arguments: each two of the arguments, too; pairs: each two "
            "of all of them (default: what each test asks for)",
            "WHAT",
        ),
    ),
    Option(
        "report",
        FOLDER,
        "autotest-report",
        run=Face("Folder for records and summary.json.", "DIR"),
        pytest=Face("folder for records and summary.json (default: %(default)s)", "DIR"),
    ),
    Option(
        "case_timeout",
        DEADLINE,
        "60",
        run=Face("A case for which the target takes longer is ended as timed out; 0: no deadline.", "SECONDS"),
        pytest=Face(
            "a case for which the target takes longer is timed out (default: %(default)s; 0: no deadline)", "SECONDS"
        ),
    ),
    Option(
        "memory_limit",
        BYTES,
        None,
        run=Face(
            "Memory that each target worker may hold, such as 4G; 0: no limit. Default: the workers share half of the "
            "machine's.",
            "SIZE",
        ),
        pytest=Face(
            "memory that each target worker may hold, such as 4G; 0: no limit; without it the workers share half of "
            "the machine's",
            "SIZE",
        ),
    ),
    Option(
        "isolate",
        ISOLATE,
        "auto",
        run=Face("Whether the target runs in its own process."),
        pytest=Face(
            "always: target in its own process; never: in pytest's; "
            "auto: its own unless a body touches raw target objects (default: %(default)s)",
            "MODE",
        ),
    ),
    Option(
        "graph_configs",
        CONFIGS,
        None,
        run=Face(
            "Build each case's static graph again under these configurations of the target, too: names with commas, "
            "or all. Default: what each test asks for.",
            "NAMES",
        ),
        pytest=Face(
            "build each case's static graph again under these configurations of the target, too: names with commas, "
            "or all (default: what each test asks for)",
            "NAMES",
        ),
    ),
    Option(
        "eager",
        FLAG,
        False,
        run=Face("Judge what the target does eagerly alone: no static graph is built."),
        pytest=Face("judge what the target does eagerly alone: no static graph is built"),
    ),
    Option(
        "lower_layers",
        FLAG,
        False,
        run=Face("Run each layer once more as the functions that it calls, and name the one within it that diverges."),
        pytest=Face("run each layer once more as the functions that it calls, and name the one that diverges"),
    ),
    Option(
        "shrink",
        SECONDS,
        "10",
        run=Face("Make each new divergence minimal in at most so many seconds; 0: do not.", "SECONDS"),
        pytest=Face(
            "make each new divergence minimal in at most so many seconds (default: %(default)s; 0: do not)", "SECONDS"
        ),
    ),
    Option(
        "shrink_total",
        SECONDS,
        "120",
        run=Face("Seconds for all divergences of the run, shared evenly among its processes.", "SECONDS"),
        pytest=Face(
            "seconds for all divergences of the run, shared evenly among xdist's workers (default: %(default)s)",
            "SECONDS",
        ),
    ),
    Option(
        "blame_total",
        SECONDS,
        "60",
        run=Face(
            "Seconds for finding out which side of each divergence is wrong, shared as above; 0: do not.", "SECONDS"
        ),
        pytest=Face(
            "seconds for finding out which side of each divergence is wrong, shared likewise "
            "(default: %(default)s; 0: do not)",
            "SECONDS",
        ),
    ),
    Option(
        "no_memory",
        UNLESS,
        False,
        run=Face("Neither draw again what diverged in earlier runs nor remember it."),
        pytest=Face("do not draw again what diverged in earlier runs, and do not remember what diverges now"),
        field="memory",
    ),
    Option(
        "ledger",
        LEDGER,
        None,
        run=Face("What this file knows to diverge is known in all tests; suites: what the suites know.", "FILE|suites"),
        pytest=Face(
            "a ledger that counts in all tests, beside the nearest one of each; may be given often; "
            "suites: those that the suites come with",
            "FILE|suites",
        ),
    ),
    Option(
        "shard",
        SHARD,
        None,
        run=Face("Share I of N of the tests, chosen by name; `autotest merge` joins them.", "I/N"),
        pytest=Face("run share I of N of the @autotest tests, chosen by name; other tests belong to share 1", "I/N"),
    ),
    Option(
        "ranks",
        WHOLE,
        None,
        run=Face("Run as N ranks, for global tensors.", "N"),
        pytest=None,
    ),
    Option(
        "suites",
        FLAG,
        False,
        run=Face("Run the suites that come with op-autotest; PATHS are files and folders of theirs."),
        pytest=None,
    ),
    Option(
        "case",
        TEXT,
        None,
        run=None,
        pytest=Face("run one case only: test_x.py::test_y#3", "KEY"),
    ),
    Option(
        "repro_total",
        SECONDS,
        "120",
        run=Face("Time to run the scripts that repeat divergences, worst first; 0: none is run.", "SECONDS"),
        pytest=Face(
            "time to run the scripts that repeat a run's divergences, worst first "
            "(default: %(default)s; 0: none is run)",
            "SECONDS",
        ),
    ),
    Option(
        "drop_in",
        FLAG,
        False,
        run=Face("Run files that import OneFlow's own AutoTest harness on this one."),
        pytest=Face("files that import OneFlow's own AutoTest harness run on this one, unmodified"),
    ),
    Option(
        "strict",
        FLAG,
        False,
        run=Face("With --drop-in: what that harness would not have failed is red, too."),
        pytest=Face("with --autotest-drop-in: what OneFlow's own harness would not have failed is red, too"),
    ),
    Option(
        "survey",
        FLAG,
        False,
        run=None,
        pytest=Face("record the largest errors by op, dtype, device and phase, for `autotest tolerances`"),
    ),
    Option(
        "conformance",
        TARGET,
        None,
        run=None,
        pytest=Face("run the tests that every target must pass on this one, alone unless tests are named", "NAME"),
    ),
)

#: By name, in the order in which `autotest run --help` and `pytest --help` list them.
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ROWS}
