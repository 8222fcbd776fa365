"""What a campaign is asked for: the keys of its file, and the options of `autotest campaign` of the same names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from autotest import toml
from autotest.errors import UsageError
from autotest.options.table import OPTIONS, WHOLE, Kind, Option

#: Where tests come from: `suites`, those that come with op-autotest; `programs`, random chains of calls; `calls`, those
#: that programs were seen to make; `mutations`, the same calls otherwise.
Source = Literal["suites", "programs", "calls", "mutations"]
SOURCES: tuple[str, ...] = get_args(Source)
Steering = Literal["finds", "cells", "uniform"]
_UNITS = {"h": 3600, "m": 60, "s": 1}


def _duration(text: str) -> float:
    """Seconds of `8h`, `1h30m`, `45s` or `90`."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if parts is None or not text:
        raise ValueError(text)
    return float(sum(int(count or 0) * _UNITS[unit] for count, unit in zip(parts.groups(), "hms", strict=True)))


def _positive(text: str) -> float:
    seconds = _duration(text)
    if not seconds:
        raise ValueError(text)
    return seconds


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _of(choices: tuple[str, ...]) -> Any:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return parse


def _processes(text: str) -> str:
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise ValueError(text)
    return text


def _address(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


def _existing(text: str) -> str:
    if not Path(text.partition("::")[0]).exists():
        raise ValueError(text)
    return text


def _each(kind: Kind) -> Kind:
    return Kind(lambda text: (kind.parse(text),), kind.should, kind.choices, often=True)


_TIME = Kind(_positive, "a time such as 8h, 30m, 1h30m or 90 (seconds), of more than 0")
_KINDS: Mapping[str, Kind] = {
    "time": _TIME,
    "cases": WHOLE,
    "folder": Kind(Path),
    "processes": Kind(_processes, "a whole number of at least 1, or 'auto'"),
    "ray": Kind(_address, "the address of a Ray cluster, or 'local' for one that is started here"),
    "sources": _each(Kind(_of(SOURCES), f"one of {', '.join(SOURCES)}", SOURCES)),
    "tests": _each(Kind(_existing, "a file or folder of tests that is there, or a node id of such a file")),
    "calls": _each(Kind(_existing, "a file that autotest trace has written")),
    "steering": Kind(_of(get_args(Steering)), f"one of {', '.join(get_args(Steering))}", get_args(Steering)),
    "look": Kind(_share, "a share of the time, from 0 to 1"),
}
#: Of `autotest run`, with the same meaning.
SHARED = ("target", "target_python", "seed", "inputs", "eager", "ledger", "case_timeout", "memory_limit")
_OPTIONS: Mapping[str, Option] = {
    **{name: Option(name, kind, None, None, None) for name, kind in _KINDS.items()},
    **{name: OPTIONS[name] for name in SHARED},
}


@dataclass(frozen=True, slots=True)
class Config:
    """What a campaign is asked for.

    Attributes:
        time: seconds, of all its sittings together; None: no bound. `cases`: how many are drawn; None: no bound.
        folder: its report folder, which is all that it is.
        ray: the address of a Ray cluster whose actors run the rounds; None: processes of this machine do.
        sources, tests: where its tests come from: sources by name, and tests of one's own.
        calls: files of calls, besides those that come with op-autotest.
        steering: `finds`: tests of which the like has found something are run more often; `cells`: and those that
            reach cells that no test has; `uniform`: all as often.
        look: the share of the time for shrinking, attributing and scripts.
        given: the texts by which each key was given, for what starts it again.
    """

    target: str = "oneflow"
    target_python: str | None = None
    seed: int = 0
    inputs: str = "standard"
    eager: bool = False
    ledger: tuple[Path, ...] = ()
    case_timeout: float | None = 60.0
    memory_limit: int | None = None
    time: float | None = None
    cases: int | None = None
    folder: Path = Path("autotest-campaign")
    processes: str = "auto"
    ray: str | None = None
    sources: tuple[str, ...] = SOURCES
    tests: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    steering: str = "finds"
    look: float = 0.2
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the cases, however it was given, as JSON has it: another value of one is another campaign."""
        names = ("target", "seed", "inputs", "eager", "sources", "tests", "calls", "steering")
        values = {name: getattr(self, name) for name in names}
        return {name: [*value] if isinstance(value, tuple) else value for name, value in values.items()}


def read_config(path: Path | None, options: Mapping[str, Any]) -> Config:
    """What the file of a campaign and the options typed besides ask for, of which the latter go first.

    Raises UsageError, naming the key and its file or option, for what means nothing.
    """
    given = {} if path is None else _file(path)
    typed = {name: value for name, value in options.items() if value not in (None, (), False)}
    values = {name: _value(name, value, f"{path}: {name}") for name, value in given.items()}
    values |= {name: _value(name, value, f"--{name.replace('_', '-')}") for name, value in typed.items()}
    config = Config(**values, given={**given, **typed})
    if config.time is None and config.cases is None:
        raise UsageError("a campaign has no end, but should have one: give --time 8h or --cases 100000, or both")
    if not (config.sources or config.tests):
        raise UsageError("sources=[] leaves nothing to run, but should name some, or tests should [--sources, --tests]")
    return config


def _file(path: Path) -> dict[str, Any]:
    """The keys of a campaign's file."""
    try:
        data = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # TOML's own errors, and text that is no UTF-8
        instead = f"; a campaign draws from test files by --tests {path}" if path.suffix == ".py" else ""
        raise UsageError(f"{path} is no TOML: {error}{instead}") from None
    for name in data:
        if name not in _OPTIONS:
            raise UsageError(f"{path}: {name} is no key, but should be one of {', '.join(_OPTIONS)}")
    return data


def _value(name: str, given: Any, knob: str) -> Any:
    option = _OPTIONS[name]
    if option.kind.often:
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
            raise UsageError(f"{name}={given!r}, but should be a list of texts [{knob}]")
        return option.read(given, knob)
    if option.kind.flag:
        if not isinstance(given, bool):
            raise UsageError(f"{name}={given!r}, but should be true or false [{knob}]")
        return given
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise UsageError(f"{name}={given!r}, but should be a text or a number [{knob}]")
    return option.read(str(given), knob)


__all__ = ["SHARED", "SOURCES", "Config", "read_config"]
