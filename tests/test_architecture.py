"""docs/architecture.md names what there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text()


def test_every_path_exists() -> None:
    """What stands in backticks and looks like a path is one, from the root or as a room of `autotest/`."""
    paths = [name for name in re.findall(r"`([\w./]+)`", TEXT) if "/" in name or name.endswith(".py")]
    assert len(paths) > 30
    assert [path for path in paths if not ((ROOT / path).exists() or (ROOT / "autotest" / path).exists())] == []


def test_every_room_is_told_of() -> None:
    """Each package of `autotest/` has its row, and each module that the row names is there."""
    rows = dict(re.findall(r"^\| `([\w]+)/` \| (.*) \|$", TEXT, re.MULTILINE))
    rooms = {path.parent.name for path in (ROOT / "autotest").glob("*/__init__.py")}
    assert rows.keys() == rooms
    named = {room: set(re.findall(r"`(\w+)`", words)) for room, words in rows.items()}
    modules = {room: {path.stem for path in (ROOT / "autotest" / room).rglob("*")} for room in rooms}
    assert {room: names - modules[room] for room, names in named.items() if names - modules[room]} == {}


def test_every_room_of_reports_is_told_of() -> None:
    """Each package of `reports/` has its row, alone or beside others of its floor."""
    told = set(re.findall(r"`reports/(\w+)/`", TEXT))
    assert told == {path.parent.name for path in (ROOT / "reports").glob("*/__init__.py")}
