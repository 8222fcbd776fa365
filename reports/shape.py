"""The shape of a record: which fields each type has, and what each field may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Record = dict[str, Any]
Check = Callable[[Any], bool]

VERSION = 1
VERDICTS = ("aligned", "divergent", "rejected", "skipped", "crashed", "timed_out")


def fault_of(record: object) -> str | None:
    """Return why `record`, decoded from JSON, is not a record, or None where it is one."""
    if not isinstance(record, dict):
        return f"record={_brief(record)}, but should be an object"
    kind = record.get("type")
    fields = FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        return f"type={_brief(kind)}, but should be one of {', '.join(FIELDS)}"
    return _fault(record, fields) or (_fault_of_rows(record["divergences"]) if kind == "end" else None)


def _fault(record: Mapping[str, Any], fields: Mapping[str, tuple[Check, str]]) -> str | None:
    for name, (check, expected) in fields.items():
        if not check(record.get(name)):
            return f"{name}={_brief(record.get(name))}, but should be {expected}"
    return None


def _fault_of_rows(rows: list[object]) -> str | None:
    for position, row in enumerate(rows):
        if not isinstance(row, dict):
            return f"divergences[{position}]={_brief(row)}, but should be an object"
        fault = _fault(row, ROW_FIELDS)
        if fault is not None:
            return f"divergences[{position}].{fault}"
    return None


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_whole_or_none(value: Any) -> bool:
    return value is None or type(value) is int


def _is_number(value: Any) -> bool:
    # The bound also refuses 1e999, which JSON reads as infinity, and integers too long for a float.
    return type(value) in (int, float) and -1e15 < value < 1e15


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _is_named_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(part, str) for part in value.values())


def _is_graph(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict) and isinstance(value.get("forward"), str) and isinstance(value.get("backward"), str)
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str) and value in VERDICTS


def _is_worst(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(part, dict) for part in value))


_TEXT = (_is_text, "a string")
_TEXT_OR_NONE = (_is_text_or_none, "a string or null")
_WHOLE = (_is_whole, "an integer")
_NUMBER = (_is_number, "a finite number")
_NAMED_TEXTS = (_is_named_texts, "an object of strings")
_TIME_OR_NONE = (_is_number_or_none, "a finite number or absent")

FIELDS: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "run": {
        "version": _WHOLE,
        "worker": _TEXT,
        "seed": _WHOLE,
        "target": _TEXT,
        "time": _NUMBER,
        "environment": _NAMED_TEXTS,
        "command": _TEXT,
    },
    "target": {"environment": _NAMED_TEXTS, "time": _TIME_OR_NONE},
    "start": {"test": _TEXT, "key": _TEXT, "index": _WHOLE, "time": _NUMBER},
    "end": {
        "key": _TEXT,
        "test": _TEXT,
        "verdict": (_is_verdict, f"one of {', '.join(VERDICTS)}"),
        "reason": _TEXT_OR_NONE,
        "ops": (_is_texts, "a list of strings"),
        "graph": (_is_graph, "null or an object with the strings forward and backward"),
        "seconds": _NUMBER,
        "divergences": (_is_list, "a list"),
        "time": _TIME_OR_NONE,
    },
    "test": {
        "test": _TEXT,
        "seconds": _NUMBER,
        "outcome": (lambda value: value in ("passed", "failed", "skipped"), "one of passed, failed, skipped"),
        "time": _TIME_OR_NONE,
    },
    "fault": {"test": _TEXT_OR_NONE, "message": _TEXT, "time": _TIME_OR_NONE},
}

ROW_TEXTS = (
    "id",
    "fingerprint",
    "target",
    "test",
    "op",
    "phase",
    "kind",
    "level",
    "case_key",
    "message",
    "replay",
)
ROW_FIELDS: Mapping[str, tuple[Check, str]] = {
    **dict.fromkeys(ROW_TEXTS, _TEXT),
    "program": _TEXT_OR_NONE,
    "worst": (_is_worst, "a list of objects or null"),
    "blamed_line": (_is_whole_or_none, "an integer or null"),
}
