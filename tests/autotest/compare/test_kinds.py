"""The one table of kinds and phases, and what else names them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from autotest.compare.kinds import DEADLY, KINDS, NUMBERS, PHASES, RAISES, REFUSALS, Phase, in_graph
from autotest.ledger.entries import read
from dual_object.replay.observation import FailureKind
from reports.records import kinds as copy

ROOT = Path(__file__).parents[3]
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text()


def test_phases() -> None:
    """Each phase is named by its mode and step, that in which no Program runs by its mode alone, and has words of its
    own.
    """
    assert tuple(PHASES) == get_args(Phase)
    *of_programs, contract = PHASES.values()
    assert [f"{row.mode}_{row.step}" for row in of_programs] + [contract.mode] == list(PHASES)
    assert len({row.words for row in PHASES.values()}) == len({row.short for row in PHASES.values()}) == len(PHASES)


def test_kinds() -> None:
    """Each kind has words of its own; what raises or kills has ended."""
    assert len({row.words for row in KINDS.values()}) == len(KINDS)
    assert {"crash", "timeout", "out_of_memory"} == DEADLY
    assert {"exception", "missing", "unmapped", "unsupported"} == RAISES
    assert {"missing", "unmapped", "unsupported"} == REFUSALS
    assert KINDS.keys() > NUMBERS
    assert set(get_args(FailureKind)) < KINDS.keys()
    of_form = {"structure", "exception", "accepts_invalid", "exception_class", "unsupported"}
    assert {row.name for row in KINDS.values() if row.of_form} == of_form


def test_tables_cannot_be_changed() -> None:
    """Nobody adds a kind at run time."""
    with pytest.raises(TypeError):
        KINDS["other"] = KINDS["value"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("phase", "graph"), [("graph_state", True), ("global_forward", False), ("graph_*", False), ("other", False)]
)
def test_in_graph(phase: str, graph: bool) -> None:
    """The phases of the static graph are told from the others; of what is no phase, nothing."""
    assert in_graph(phase) is graph


def test_reports_have_the_same() -> None:
    """The copy that reports keep is the table, in its order."""
    assert tuple(PHASES) == copy.PHASES
    assert (*copy.KINDS, *copy.REFUSALS) == tuple(KINDS)
    assert set(copy.DEADLY) == DEADLY
    assert set(copy.REFUSALS) == REFUSALS
    assert {name for name, row in KINDS.items() if row.ends} == copy.ENDING


def test_documented_phases() -> None:
    """The list of phases for people is the table."""
    [listed] = re.findall(r"^Phases: (.*?);", COMMAND_LINE, re.MULTILINE | re.DOTALL)
    assert re.findall(r"`(\w+)`", listed) == list(PHASES)


def test_documented_kinds() -> None:
    """The table of kinds for people has each kind once."""
    table = COMMAND_LINE.partition("| kind | meaning |")[2].partition("\n\n")[0]
    first_column = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert sorted(re.findall(r"`(\w+)`", " ".join(first_column))) == sorted(KINDS)


def test_ledger_of_the_suites() -> None:
    """What is known to diverge is of these kinds, in these phases."""
    parts = [
        entry.fingerprint.split("/")
        for entry in read(ROOT / "suites/known_divergences.toml", "oneflow").entries.values()
    ]
    assert {phase for _, phase, *_ in parts} <= PHASES.keys()
    assert {kind for _, _, kind, *_ in parts} <= KINDS.keys()
