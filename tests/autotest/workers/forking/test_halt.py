"""Something is done before the first call of a function of a module that is still to be imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.workers.forking.halt import halted

MODULE = "halted_example"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write a module with a function that says what it was given."""
    (tmp_path / f"{MODULE}.py").write_text("def given(*args, **kwargs):\n    return args, kwargs\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop(MODULE, None)


def test_once_before_the_first_call() -> None:
    """The call is then made as it was asked for, and so are those after it."""
    done: list[str] = []
    with halted(f"{MODULE}:given", lambda: done.append("done")):
        found = importlib.import_module(MODULE)
        assert done == []
        assert found.given(1, a=2) == ((1,), {"a": 2})
        assert done == ["done"]
        assert found.given(3) == ((3,), {})
    assert done == ["done"]
    assert found.__file__.endswith(f"{MODULE}.py")


def test_only_within() -> None:
    """Afterwards modules are imported as they are."""
    done: list[str] = []
    with halted(f"{MODULE}:given", lambda: done.append("done")):
        pass
    importlib.import_module(MODULE).given()
    assert done == []


@pytest.mark.parametrize("place", [f"{MODULE}:other", "elsewhere:given"])
def test_what_is_not_there(place: str) -> None:
    """A module without the function, and one that nobody imports, are left as they are."""
    done: list[str] = []
    with halted(place, lambda: done.append("done")):
        found = importlib.import_module(MODULE)
        assert found.given() == ((), {})
        assert not hasattr(found, "other")
    assert done == []
