"""A ledger that is being written: entries added, or made wider, with what people wrote in it kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from autotest.cases.case import case_test_name
from autotest.compare.fingerprint import Fingerprint
from autotest.errors import AutotestError
from autotest.ledger.entries import Entry, Ledger, LedgerError, read
from dual_object.replay.adapter import TargetInfo


class AcceptError(AutotestError, ValueError):
    """A divergence cannot be accepted."""


class Draft:
    """A ledger's file, to be written about a target as it is now; raises LedgerError where it cannot be read.

    `written` are the fingerprints that it has got, `offers` a sentence for each that it had, and for each that could be
    told by a wider entry.
    """

    def __init__(self, path: Path, info: TargetInfo) -> None:
        try:
            self._document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        except (OSError, ValueError) as error:
            raise LedgerError(f"{path} cannot be read as a ledger: {error}") from None
        self.path = path
        self.written: list[str] = []
        self.offers: list[str] = []
        ledger = read(path, info.name) if path.exists() else Ledger(path)
        # One of another version would not make anything known, however wide it is.
        apply = {name: entry for name, entry in ledger.entries.items() if entry.applies(info)}
        self._ledger = replace(ledger, entries=apply)
        section = self._document.get(info.name)
        if section is None:
            section = tomlkit.aot()
            self._document.append(info.name, section)
        assert isinstance(section, AoT)
        self._section = section

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append an entry; where there is one of its fingerprint, its tests show that one, too."""
        fingerprint = entry["fingerprint"]
        same = next((table for table in self._section if table["fingerprint"] == fingerprint), None)
        if same is not None and {*entry["tests"]} <= {*same["tests"]}:
            self.offers.append(f"{fingerprint}: {self.path.name} has it already")
            return
        self.written.append(fingerprint)
        if same is not None:
            same["tests"] = sorted({*same["tests"], *entry["tests"]})
            return
        near = self._ledger.nearest(fingerprint)
        if near is not None:
            self._offer(near, fingerprint)
        self._section.append(_table(entry))

    def _offer(self, near: Entry, fingerprint: str) -> None:
        joined = near.parts.joined(Fingerprint.parse(fingerprint))
        if near.parts.bare or not joined.bare:
            self.offers.append(
                f"{fingerprint} differs from {near.fingerprint} in the dtype or in what it needs alone: "
                f"--wider makes that one {joined}, which covers both"
            )

    def widen(self, fingerprint: str, tests: Sequence[str], reason: str) -> None:
        """Make the nearest entry cover a divergence that `tests` showed; raises AcceptError where none is near."""
        widened = self._ledger.find(fingerprint)  # by one that was accepted before it
        near = widened or self._ledger.nearest(fingerprint)
        if near is None:
            raise AcceptError(
                f"{fingerprint} differs from no entry of {self.path} in the dtype or in what it needs alone: "
                "accept it as an entry of its own [--wider]"
            )
        parts = near.parts if widened else near.parts.joined(Fingerprint.parse(fingerprint))
        if parts.bare and not near.parts.bare:
            raise AcceptError(
                f"{fingerprint} needs nothing that {near.fingerprint} needs: what covers both would excuse whatever is "
                "wrong with the op; accept it as an entry of its own [--wider]"
            )
        shown = sorted({*near.tests, *map(case_test_name, tests)})
        wide = replace(near, fingerprint=str(parts), reason=reason.strip(), tests=tuple(shown))
        table = next(table for table in self._section if table["fingerprint"] == near.fingerprint)
        table.update({"fingerprint": wide.fingerprint, "reason": wide.reason, "tests": shown})
        self._keep(near, wide)
        self.written.append(wide.fingerprint)

    def _keep(self, old: Entry, new: Entry) -> None:
        """Have the new entry in place of the old one, for the next divergence to be widened to."""
        others = {name: entry for name, entry in self._ledger.entries.items() if entry is not old}
        self._ledger = replace(self._ledger, entries={**others, new.fingerprint: new})

    def save(self) -> None:
        """Write the file: whoever is killed meanwhile leaves the one that was there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        whole = self.path.resolve()
        beside = whole.with_name(f"{whole.name}.new")
        beside.write_text(tomlkit.dumps(self._document), encoding="utf-8")
        os.replace(beside, whole)


def _table(entry: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in entry.items():
        if key == "program":
            table.add(key, tomlkit.string(value, multiline=True))
        elif key == "stored":
            table.add(key, tomlkit.string(value, literal="'" not in value))
        else:
            table.add(key, value)
    table.add(tomlkit.nl())
    return table
