"""The tests of a campaign, as pytest is started on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from autotest.campaign.config import SHARED, Config
from autotest.commands.run import pytest_arguments
from autotest.commands.suites import HOME, suite_arguments

#: Where test files lie that a campaign writes, in its folder.
TESTS = "tests"
#: A slot prints dots, and what it could not collect; what has diverged is in the records.
_QUIET = ("-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-n", "0", "--rootdir")
#: Random chains of calls.
_PROGRAMS = """from autotest import autotest, random_program


@autotest(n=20)
def test_random_program():
    return random_program()
"""


def _programs(config: Config) -> str:
    return _PROGRAMS


#: Of each source that is a test file, its text.
_WRITTEN: Mapping[str, Callable[[Config], str]] = {"programs": _programs}


def slot_arguments(config: Config) -> list[str]:
    """What pytest is started with in a slot, once the test files of the sources are written.

    What diverged in another run is not drawn again: the rounds of a campaign follow from its seed. Raises OSError where
    a file cannot be written, click.UsageError where the suites are not installed.
    """
    paths = [*config.tests]
    settings: list[str] = []
    if "suites" in config.sources:
        suites, *settings = suite_arguments(())
        paths.append(suites)
    elif not config.tests:
        settings = ["-c", str(HOME / "pytest-suites.ini")]
    folder = config.folder / TESTS
    for name, text in _WRITTEN.items():
        if name in config.sources:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"test_{name}.py"
            path.write_text(text(config), encoding="utf-8")
            paths.append(str(path))
    shared = {name: config.given[name] for name in SHARED if name in config.given}
    options = pytest_arguments(
        {name: tuple(given) if isinstance(given, list) else given for name, given in shared.items()}
        | {"seed": str(config.seed), "report": str(config.folder), "no_memory": True}
    )
    return [*paths, *settings, *_QUIET, os.getcwd(), *options]


__all__ = ["TESTS", "slot_arguments"]
