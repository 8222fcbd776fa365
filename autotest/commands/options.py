"""The rows of the table of options as click's options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from autotest.options.table import OPTIONS, WHOLE, Option

F = TypeVar("F", bound=Callable[..., Any])


def run_options(command: F) -> F:
    """Give a command every option of `autotest run`, in the order of the table."""
    for option in reversed([*OPTIONS.values()]):  # click lists first what is added last
        if option.run is not None:
            command = run_option(option.name)(command)
    return command


def run_option(name: str, **otherwise: Any) -> Callable[[F], F]:
    """One option of `autotest run`, for a command that shares it; `otherwise` is what click has otherwise there."""
    option = OPTIONS[name]
    assert option.run is not None, "an option of `autotest run`"
    settings = {
        "type": _click_type(option),
        "is_flag": option.kind.flag,
        "multiple": option.kind.often,
        "default": option.default,
        "show_default": isinstance(option.default, str),
        "metavar": option.run.metavar,
        "help": option.run.help,
    }
    return click.option(option.typed, **{**settings, **otherwise})


def _click_type(option: Option) -> click.ParamType[Any] | None:
    """How click reads the value. It hands on as text what pytest reads, except what `--help` can tell the choices or
    the range of.
    """
    if option.kind.choices:
        return click.Choice(option.kind.choices)
    return click.IntRange(min=1) if option.kind is WHOLE else None
