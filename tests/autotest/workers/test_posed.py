"""What a test poses, found by its file and name as another process does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotest.workers.posed import NotFoundError, posed

FILE = """
from autotest import hazard

def body(x):
    return x

def made():
    return hazard(list, other=tuple)(body)

test_made = made()
"""


def test_found_by_its_name(tmp_path: Path) -> None:
    """Whatever made it: the name at the top of the file counts."""
    (tmp_path / "test_found.py").write_text(FILE)
    body, first, other, state, changed = posed(str(tmp_path / "test_found.py"), "test_made", "hazard")
    assert (body("x"), first, other, state, changed) == ("x", list, tuple, {}, {})


def test_imports_what_lies_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file finds its helpers, whatever was on the path before."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beside_it.py").write_text("def body(x):\n    return x + 1\n")
    text = FILE.replace("def body(x):\n    return x\n", "from beside_it import body\n")
    (tmp_path / "test_beside.py").write_text(text)
    body, *_ = posed(str(tmp_path / "test_beside.py"), "test_made", "hazard")
    assert body(2) == 3


def test_not_found(tmp_path: Path) -> None:
    """A name that is none, or another thing's, and a file that cannot be imported, are told with the way out."""
    file = tmp_path / "test_lacking.py"
    file.write_text(FILE)
    for name in ("test_other", "body"):
        with pytest.raises(NotFoundError) as lacking:
            posed(str(file), name, "hazard")
        assert str(lacking.value) == (
            f"test_lacking.py has no @hazard that is called {name}, so that another process does not find it: "
            "define it at the top of the file, not inside of a function or a class"
        )
    broken = tmp_path / "test_broken.py"
    broken.write_text("from . import sibling\n")
    with pytest.raises(NotFoundError) as failed:
        posed(str(broken), "test_a", "hazard")
    assert str(failed.value) == (
        f"{broken} cannot be imported in the process of the hazards: "
        "ImportError: attempted relative import with no known parent package"
    )
