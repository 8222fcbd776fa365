"""The ledger: `known_divergences.toml`, what is known to diverge, why, and the Program that proves it.

One file stands beside the tests it is about; the nearest one above a test counts. A target may have a file of its own
beside it, `known_divergences.paddle.toml`. Each target has a list of entries:

    [[oneflow]]
    fingerprint = "oneflow/eager_backward/value/lgamma/float32"
    reason = "gradient is always zero"
    versions = "==0.9.0"
    device = "cpu"
    strict = "proof"
    tests = ["test_pointwise.py::test_unary[torch.lgamma]"]
    message = "..."
    program = '''...'''
    stored = '''{...}'''
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from autotest import toml
from autotest.compare.causes import cause
from autotest.compare.difference import Rules
from autotest.compare.fingerprint import Fingerprint, configuration_of
from autotest.compare.kinds import DEADLY, KINDS, PHASES
from autotest.errors import AutotestError
from autotest.options.ledger import file_names
from dual_object.errors import ProgramError
from dual_object.program.program import Program
from dual_object.program.values import Array
from dual_object.replay.adapter import TargetInfo

_REQUIRED = ("fingerprint", "reason", "versions", "tests", "message", "program", "stored")
_OPTIONAL = ("strict", "device", "elsewhere")
_STRICT = ("proof", "seen")


class LedgerError(AutotestError, ValueError):
    """A ledger, or an entry of it, is not what it should be."""


@dataclass(frozen=True)
class Entry:
    """One known divergence.

    `strict` is `proof` (the stored Program must still diverge) or `seen` (it is only counted: nondeterministic,
    machine-dependent). `tests` are the case-key names of the tests that showed it; `line` and `message` say it to
    people, and the latter tells the cause of an exception. In tests that have another ledger beside them, to which
    `--ledger` adds this one, the facts may be any that match `elsewhere`.
    """

    path: Path
    fingerprint: str
    reason: str
    versions: str
    tests: tuple[str, ...]
    message: str
    program: str
    stored: str
    strict: str = "proof"
    device: str = "cpu"
    elsewhere: str = ""

    @property
    def kind(self) -> str:
        """The kind of divergence, as in the fingerprint."""
        return self.fingerprint.split("/")[2]

    @property
    def general(self) -> bool:
        """Whether it is about every op, or all facts, that its pattern matches."""
        return "*" in self.fingerprint

    @property
    def of_training(self) -> bool:
        """Whether it is about an update, which a training shows after a step."""
        phase = self.parts.phase
        return phase in PHASES and PHASES[phase].step == "update"

    @cached_property
    def parts(self) -> Fingerprint:
        """Its fingerprint in its parts."""
        return Fingerprint.parse(self.fingerprint)

    @cached_property
    def _elsewhere(self) -> Fingerprint:
        return Fingerprint.parse("/".join([*self.fingerprint.split("/")[:4], self.elsewhere]))

    @cached_property
    def _cause(self) -> str:
        return cause(self.message)

    def covers(self, divergence: Fingerprint, said: str = "") -> bool:
        """Whether a divergence is what the entry is about, or needs more than that; where it is `said` to have the
        entry's cause, however the op is called.
        """
        return self.parts.covers(divergence, one_cause=bool(said) and self._cause == said)

    def covers_elsewhere(self, divergence: Fingerprint, said: str = "") -> bool:
        """The same for one that a test shows which the entry's ledger does not stand beside."""
        elsewhere = bool(self.elsewhere) and self._elsewhere.covers(divergence)
        return elsewhere or self.covers(divergence, said)

    def known_in(self, test: str | None) -> bool:
        """Whether a test (None: any) may show what the entry is about. What no single call shows, of the op `program`,
        has no cause by which another test's could be told to be the same; nor have numbers that an update leaves wrong,
        which depend on all arguments of its optimizer.
        """
        updated = self.of_training and not KINDS[self.parts.kind].of_form
        return test is None or self.general or not (updated or self.parts.op == "program") or test in self.tests

    def shown_by(self, fingerprint: str) -> bool:
        """Whether a divergence proves that what the entry is about is still there: one that needs more may be all that
        is left of it.
        """
        shown = Fingerprint.parse(fingerprint)
        return self.parts.covers(shown) if self.general else self.parts.is_shown_by(shown)

    @property
    def target(self) -> str:
        """The target that it is about, as it is named on the command line."""
        return self.fingerprint.split("/")[0]

    @property
    def graph(self) -> bool:
        """Whether it shows in the static graph."""
        return self.fingerprint.split("/")[1].startswith("graph")

    @property
    def configuration(self) -> str:
        """The configuration that its graph is built under; empty where it is built under none."""
        return configuration_of(self.fingerprint)

    @property
    def contract(self) -> bool:
        """Whether it is about a sentence of the target's documentation, not about a Program."""
        return self.fingerprint.split("/")[1] == "contract"

    @property
    def line(self) -> str:
        """The statement that diverges: the last of the stored Program that names the op (a module, where it is made),
        else the last; of a contract its test.
        """
        if self.contract:
            return self.tests[0].partition("::")[2]
        statements = [line.strip() for line in self.program.splitlines()[1:] if not line.strip().startswith("return")]
        called = f".{self.fingerprint.split('/')[3]}("
        return ([line for line in statements if called in line] or statements or [self.program.strip()])[-1]

    def applies(self, target: TargetInfo) -> bool:
        """Whether the target's version and devices are those the entry is about."""
        version = version_of(self.target, target.environment)
        return SpecifierSet(self.versions, prereleases=True).contains(version) and self.device in target.devices

    @cached_property
    def proof(self) -> tuple[Program, Rules]:
        """The stored Program and the rules of its test; raises LedgerError naming the entry where it cannot be read."""
        try:
            data = json.loads(self.stored)
            arrays = [_array(*item) for item in data["arrays"]]
            return Program.from_json(data["program"], arrays), Rules(**data["rules"])
        except (ValueError, KeyError, TypeError, ProgramError) as error:
            raise LedgerError(
                f"{self.path}: the stored Program of {self.fingerprint} cannot be read "
                f"({type(error).__name__}: {error}); "
                "remove the entry and accept it again"
            ) from error


def version_of(target: str, environment: Mapping[str, str]) -> str:
    """The version that the package of a target has in an environment; "0" where it tells none."""
    return environment.get(target.partition(":")[0].rpartition(".")[2], "0")


def others(path: Path, target: str) -> dict[str, int]:
    """How many entries a ledger that can be read has about each other target."""
    data = toml.loads(path.read_text(encoding="utf-8"))
    return {name: len(section) for name, section in data.items() if name != target and isinstance(section, list)}


def store(program: Program, rules: Mapping[str, Any]) -> str:
    """A Program as the text that an entry stores: JSON with its arrays as numbers, for people to read."""
    arrays: list[Array] = []
    data = program.to_json(arrays)
    numbers = [[array.dtype.name, list(array.shape), _numbers(array)] for array in arrays]
    return json.dumps({"program": data, "arrays": numbers, "rules": dict(rules)}, separators=(",", ":"))


def _numbers(array: Array) -> list[Any]:
    """The values in order; a complex one is its real and its imaginary part."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    numbers: list[Any] = flat.tolist()
    return numbers


def _array(dtype: str, shape: Sequence[int], numbers: Sequence[Any]) -> Array:
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return np.array(numbers, dtype=np.empty(0, kind).real.dtype).view(kind).reshape(shape)
    return np.array(numbers, dtype=kind).reshape(shape)


@dataclass(frozen=True)
class Ledger:
    """The entries of one file for one target, by fingerprint, and what is wrong with the file. The ledgers that were
    `added` to it count as well, but are proved elsewhere.
    """

    path: Path | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    added: tuple[Ledger, ...] = ()

    @cached_property
    def _by_op(self) -> Mapping[str, Sequence[Entry]]:
        """The entries about each op, and under `*` those about several."""
        found: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries.values():
            found["*" if "*" in entry.parts.op else entry.parts.op].append(entry)
        return dict(found)

    def _about(self, op: str) -> list[Entry]:
        """The entries that may cover a divergence of an op: those that need most first."""
        found = [entry for about in (op, "*") for entry in self._by_op.get(about, ())]
        return sorted(found, key=lambda entry: (entry.general, -len(entry.parts.needs)))

    @cached_property
    def deadly(self) -> Mapping[str, tuple[Entry, ...]]:
        """The entries of single ops that end the target eagerly, by the op."""
        found: dict[str, tuple[Entry, ...]] = {}
        for entry in self.entries.values():
            _, phase, kind, op, _ = entry.fingerprint.split("/")
            if kind in DEADLY and phase in ("eager_forward", "eager_backward") and not entry.general:
                found[op] = (*found.get(op, ()), entry)
        return found

    def find(
        self, fingerprint: str, test: str | None = None, message: str = "", present: Collection[str] = ()
    ) -> Entry | None:
        """The entry about a divergence: its own, else the one that needs most of what it needs and is no pattern, else
        a pattern that covers it, else one of those added; of a `test`, none that is about other tests alone. The
        `message` tells the cause of an exception. What is `present` may be needed, where nobody knows what is.
        """
        own = self.entries.get(fingerprint)
        if own is not None and own.known_in(test):
            return own
        said = cause(message)
        shown = Fingerprint.parse(fingerprint).having(present)
        about = (entry for entry in self._about(shown.op) if entry.covers(shown, said))
        own = next((entry for entry in about if entry.known_in(test)), None)
        if own is not None:
            return own
        added = (entry for ledger in self.added for entry in ledger._about(shown.op))
        elsewhere = (entry for entry in added if entry.covers_elsewhere(shown, said))
        return next((entry for entry in elsewhere if entry.known_in(test)), None)

    def nearest(self, fingerprint: str) -> Entry | None:
        """The entry that differs from a new divergence only in the dtype or in what it needs, and in the least of
        that.
        """
        parts = Fingerprint.parse(fingerprint)
        near = [entry for entry in self._by_op.get(parts.op, ()) if entry.parts.near(parts)]
        return min(near, key=lambda entry: entry.parts.distance(parts), default=None)

    def about(self, test: str) -> Iterator[Entry]:
        """The entries that a test is to prove."""
        return (entry for entry in self.entries.values() if test in entry.tests)


def read(path: Path, *targets: str) -> Ledger:
    """Read a ledger's entries for these targets; what cannot be used is named in `problems`, the rest stands."""
    try:
        data = toml.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        return Ledger(path, {}, (f"{path} cannot be read as a ledger: {error}; no divergence counts as known",))
    problems: list[str] = []
    entries: dict[str, Entry] = {}
    for target in targets:
        _read_section(path, target, data.get(target, []), entries, problems)
    for name in data.keys() - set(targets):
        problems += _misplaced(path, name, data[name], targets)
    return Ledger(path, entries, tuple(problems))


def _misplaced(path: Path, name: str, section: Any, targets: Sequence[str]) -> Iterator[str]:
    """What stands under a name that is not its target's: another's, or nobody's."""
    if not isinstance(section, list):
        yield f"{path}: {name} should be a list of entries, each under [[{name}]]"
        return
    for number, table in enumerate(section, 1):
        fingerprint = str(table.get("fingerprint", "")) if isinstance(table, dict) else ""
        target = fingerprint.partition("/")[0]
        if target in targets:
            yield f"{path}: entry {number} of {name} is about {target}, and should stand under [[{target}]]"
        elif target != name:
            has = f"has fingerprint={fingerprint!r}" if fingerprint else "has no fingerprint"
            yield (
                f"{path}: entry {number} of {name} {has}, "
                f"but should have {name}/phase/kind/op/facts as a report shows it, under the name of its target"
            )


def _read_section(path: Path, target: str, section: Any, entries: dict[str, Entry], problems: list[str]) -> None:
    """Read the entries about one target."""
    if not isinstance(section, list):
        problems.append(f"{path}: {target} should be a list of entries, each under [[{target}]]")
        return
    for number, table in enumerate(section, 1):
        where = f"{path}: entry {number} of {target}"
        try:
            entry = _entry(path, target, table, where)
        except LedgerError as error:
            problems.append(str(error))
            continue
        if entry.fingerprint in entries:
            problems.append(f"{where} has fingerprint={entry.fingerprint!r} a second time: remove one of both")
            continue
        entries[entry.fingerprint] = entry


def _entry(path: Path, target: str, table: Any, where: str) -> Entry:
    if not isinstance(table, dict):
        raise LedgerError(f"{where} should be a table")
    unknown = sorted(set(table) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        raise LedgerError(
            f"{where} has the unknown key {unknown[0]!r}, but should have only {', '.join((*_REQUIRED, *_OPTIONAL))}"
        )
    missing = [key for key in _REQUIRED if key not in table]
    if missing:
        raise LedgerError(f"{where} lacks the key {missing[0]!r}")
    for key, value in table.items():
        if key == "tests":
            if not isinstance(value, list) or not value or not all(isinstance(test, str) for test in value):
                raise LedgerError(f"{where} has tests={value!r}, but should have a list of test names")
        elif not isinstance(value, str) or not value.strip():
            raise LedgerError(f"{where} has {key}={value!r}, but should have a text that is not empty")
    parts = table["fingerprint"].split("/")
    if len(parts) != 5 or parts[0] != target or not all(parts):
        raise LedgerError(
            f"{where} has fingerprint={table['fingerprint']!r}, "
            f"but should have {target}/phase/kind/op/facts as a report shows it"
        )
    if any("*" in part for part in parts[:3]):
        raise LedgerError(
            f"{where} has fingerprint={table['fingerprint']!r}, but should have * in its op and its facts alone"
        )
    for name, part, known in (("phase", parts[1], PHASES), ("kind", parts[2], KINDS)):
        if part not in known:
            raise LedgerError(
                f"{where} has the {name} {part!r} in fingerprint={table['fingerprint']!r}, "
                f"but should have one of {', '.join(known)}"
            )
    if table.get("strict", "proof") not in _STRICT:
        raise LedgerError(f"{where} has strict={table['strict']!r}, but should have one of {', '.join(_STRICT)}")
    try:
        SpecifierSet(table["versions"])
    except InvalidSpecifier:
        raise LedgerError(
            f"{where} has versions={table['versions']!r}, but should have a version specifier such as '==0.9.0'"
        ) from None
    return Entry(path=path, **{**table, "tests": tuple(table["tests"])})


class Ledgers:
    """The ledgers of a run on some targets: for each test the nearest file above it, up to `root`, and those `added`
    for all tests.
    """

    def __init__(self, targets: Sequence[str], root: Path, added: Sequence[Path] = ()) -> None:
        self._targets = targets
        self._root = root.resolve()
        self._by_folder: dict[Path, Ledger] = {}
        self._added = added

    def nearest(self, test_file: Path) -> Ledger:
        """The ledger that is about tests in `test_file`; an empty one where no file is found."""
        folder = test_file.resolve().parent
        ledger = self._by_folder.get(folder)
        if ledger is None:
            path = find(folder, self._root, self._targets)
            own = Ledger() if path is None else self._read(path)
            ledger = replace(own, added=tuple(added for added in self._given if added.path != own.path))
            self._by_folder[folder] = ledger
        return ledger

    @cached_property
    def _given(self) -> tuple[Ledger, ...]:
        return tuple(read(path, *self._targets) for path in dict.fromkeys(self._added))

    def _read(self, path: Path) -> Ledger:
        for ledger in self._by_folder.values():
            if ledger.path == path:
                return ledger
        return read(path, *self._targets)

    def problems(self) -> list[str]:
        """What is wrong with the ledgers read so far, each once."""
        read_so_far = [*self._by_folder.values(), *(self._given if self._by_folder else ())]
        return list(dict.fromkeys(problem for ledger in read_so_far for problem in ledger.problems))


def find(folder: Path, root: Path, targets: Sequence[str]) -> Path | None:
    """The nearest ledger of these targets in `folder` or a folder above it, up to `root`."""
    names = file_names(targets)
    for place in (folder, *folder.parents):
        found = next((place / name for name in names if (place / name).exists()), None)
        if found is not None:
            return found
        if place == root:
            return None
    return None
