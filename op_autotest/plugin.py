"""What pytest loads: the plugin, or where `autotest` is somebody else's, what says so."""

from __future__ import annotations

import importlib
from collections.abc import Generator, Sequence
from typing import Any

import pytest

from op_autotest.names import displaced


class Displaced:
    """Takes the plugin's place. The session goes on, since its tests need not be ours; what was meant for the plugin
    fails with `sentence`.
    """

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, args: Sequence[str]) -> None:
        """Refuse our options, which nobody has added."""
        if any(argument.startswith("--autotest-") for argument in args):
            raise pytest.UsageError(self.sentence)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Say why a test file cannot import our names."""
        report = yield
        call = getattr(report, "call", None)
        error = None if call is None or call.excinfo is None else call.excinfo.value
        while error is not None and not isinstance(error, ImportError):
            error = error.__cause__
        if error is not None and (error.name or "").partition(".")[0] == "autotest":
            report.longrepr = f"{error}\n{self.sentence}"
        return report


def choose() -> Any:
    """The plugin that pytest gets."""
    sentence = displaced("autotest")
    return importlib.import_module("autotest.plugin") if sentence is None else Displaced(sentence)


plugin = choose()
