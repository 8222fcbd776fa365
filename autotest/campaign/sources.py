"""The tests of a campaign, as pytest is started on them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from autotest.campaign.config import SHARED, Config
from autotest.commands.run import pytest_arguments
from autotest.commands.suites import HOME, suite_arguments
from autotest.commands.tracing.corpus import read
from autotest.expressions import parse, test_file

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
#: The calls that come with op-autotest: of small models, and of what training scripts do around them.
CALLS = Path(__file__).with_name("calls.txt")
_MUTATIONS = """from autotest import autotest, mutated
"""
_MUTATION = """

@autotest(n=20)
def test_{op}():
    return mutated(
{calls}
    )
"""


def _programs(config: Config) -> str:
    return _PROGRAMS


def _calls(config: Config) -> str:
    """A test for each call."""
    return test_file([parse(call) for call in _corpus(config)], None)


def _mutations(config: Config) -> str:
    """A test for each op, of all its calls."""
    by_op: dict[str, list[str]] = defaultdict(list)
    for call in _corpus(config):
        by_op[re.sub(r"\W", "_", parse(call).op)].append(call)
    tests = [
        _MUTATION.format(op=op, calls="\n".join(f"        {call!r}," for call in calls))
        for op, calls in sorted(by_op.items())
    ]
    return _MUTATIONS + "".join(tests)


def _corpus(config: Config) -> list[str]:
    """All calls, those that are made most often first. Raises UsageError for a file of another kind."""
    return [*read([CALLS, *map(Path, config.calls)]).calls()]


#: Of each source that is a test file, its text.
_WRITTEN: Mapping[str, Callable[[Config], str]] = {
    "programs": _programs,
    "calls": _calls,
    "mutations": _mutations,
}


def slot_arguments(config: Config) -> list[str]:
    """What pytest is started with in a slot, once the test files of the sources are written.

    What diverged in another run is not drawn again: the rounds of a campaign follow from its seed. Raises OSError where
    a file cannot be written, UsageError for a file of calls that is none, click.UsageError where the suites are not
    installed.
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
