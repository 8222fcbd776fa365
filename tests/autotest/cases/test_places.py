"""Places are told of the user's own files alone."""

from __future__ import annotations

import functools
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import generators
from autotest.cases.places import defined_at, is_users, name_place, raised_at, running_at, users_lines

HERE = "tests/autotest/cases/test_places.py"


@pytest.mark.parametrize(
    ("file", "users"),
    [
        (__file__, True),
        ("/home/somebody/test_x.py", True),
        (str(Path(__file__).parents[3] / "suites" / "rows.py"), True),
        (generators.__file__, False),
        (json.__file__, False),
        (pytest.__file__, False),
        (warnings.__file__, False),
        ("<string>", False),
    ],
)
def test_users_files(file: str, users: bool) -> None:
    """Our packages, Python's own modules and what is installed are not the user's."""
    assert is_users(file) is users


def outer(inner: Any) -> Any:
    """Another function of the user's around `inner`."""
    return inner()


def through_another_module() -> Any:
    """An exception of another module's function."""
    return outer(lambda: json.loads("{"))


def test_innermost_line_of_the_user_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the lines that an exception came through, the innermost of the user's is its place, by its path from here."""
    line = through_another_module.__code__.co_firstlineno + 2
    with pytest.raises(json.JSONDecodeError) as caught:
        through_another_module()
    assert raised_at(caught.value) == f"{HERE}:{line}"
    lines = users_lines(caught.value.__traceback__).splitlines()
    assert lines[-4:-2] == [
        f'  File "{HERE}", line {outer.__code__.co_firstlineno + 2}, in outer',
        "    return inner()",
    ]
    assert lines[-1] == '    return outer(lambda: json.loads("{"))'
    monkeypatch.chdir("/")
    assert raised_at(caught.value) == f"{__file__.lstrip('/')}:{line}"


def replaced() -> Any:
    """An exception that stands for another, which came through this file."""
    try:
        through_another_module()
    except ValueError:
        error = KeyError("other")
        error.__context__ = sys.exc_info()[1]
        return error


def test_place_of_what_stands_for_another() -> None:
    """An exception that was raised elsewhere has the place of the one that it stands for, and tells it at its end."""
    error = replaced()
    place = f"{HERE}:{through_another_module.__code__.co_firstlineno + 2}"
    assert raised_at(error) == place
    sentence = ValueError("x=1, but should be 2")
    name_place(sentence, place)
    assert str(sentence) == f"x=1, but should be 2 [{place}]"
    name_place(sentence, None)
    assert str(sentence) == f"x=1, but should be 2 [{place}]"
    assert raised_at(ValueError()) is None


def test_running_line() -> None:
    """The innermost running line of the user's; none where all is somebody else's."""
    here = sys._getframe()
    assert running_at(here) == (__file__, here.f_lineno)
    assert running_at(None) is None


def test_place_of_a_function() -> None:
    """Where a function begins, behind its arguments; a callable that is no function has no place."""
    line = outer.__code__.co_firstlineno
    assert defined_at(functools.partial(functools.partial(outer, 1))) == f"{HERE}:{line}"
    assert defined_at(functools.wraps(outer)(lambda: None)) == f"{HERE}:{line}"
    assert defined_at(len) is None
