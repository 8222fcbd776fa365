"""The shape of a record: which fields each type has, and what each field may hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from reports.records.kinds import CAPTURES

Record = dict[str, Any]
Check = Callable[[Any], bool]

VERSION = 2
#: The verdicts of a case in which the target ended.
ENDS = ("crashed", "timed_out", "out_of_memory")
VERDICTS = ("aligned", "divergent", "undecidable", "rejected", "skipped", *ENDS)
#: Worst first. `wrong` and `refuses` are new and make a run red; `stricter` is what the checks of the framework's own
#: test harness would not have seen; `known` is explained by a ledger of known divergences; `counted` is an op that the
#: target lacks, which its test only counts.
LEVELS = ("wrong", "refuses", "stricter", "counted", "known")
RED_LEVELS = ("wrong", "refuses")
#: Which side of a divergence is wrong.
BLAMES = ("target", "reference", "ill_conditioned", "nondeterministic", "undecided", "not judged")
#: What is told of the element that shows it best.
BLAME_FIELDS = {"index", "reference", "target", "exact", "reference_ulp", "target_ulp"}

#: How many levels a cell of an argument space has, and how many counts.
CELL_LEVELS, CELL_COUNTS = 4, 6
#: How many parts an element of a sample has.
SAMPLED = 5
LAID_OUT_FIELDS = {"cases", "refused", "pairs", "covered"}
#: What records of earlier versions have not.
LAID_OUT_LATER = {"spared"}

#: Where eager PyTorch and its shape inference disagree: the op and what of it, the case, the value, what each says.
DISAGREEMENT_TEXTS = ("op", "aspect", "key", "value", "eager", "meta", "program")


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
        if fault is None and row["evidence"] is not None:
            fault = _fault(row["evidence"], EVIDENCE_FIELDS)
            fault = None if fault is None else f"evidence.{fault}"
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


def _is_texts_or_none(value: Any) -> bool:
    return value is None or _is_texts(value)


def _is_named_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(part, str) for part in value.values())


def _is_graph(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and isinstance(value.get("forward"), str)
        and isinstance(value.get("backward"), str)
        and value.get("capture", "captured") in CAPTURES
        and _is_captures(value.get("captures", {}))
        and _is_named_texts(value.get("configurations", {}))
        and isinstance(value.get("lowered", ""), str)
    )


def _is_captures(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_texts(capture) and len(capture) == 2 and capture[0] in CAPTURES for capture in value.values()
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str) and value in VERDICTS


def _is_doubts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(_is_texts(doubt) and len(doubt) == 3 for doubt in value))


def _is_object_or_none(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_worst(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(part, dict) and part.keys() >= WORST_FIELDS and isinstance(part["index"], list) for part in value
    )


def _is_fact(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and all(_is_text_or_none(part) for part in value)


def _is_facts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_fact(row) for row in value)


def _is_heat(value: Any) -> bool:
    if value is None:
        return True
    if not (isinstance(value, dict) and _is_text(value.get("note")) and isinstance(value.get("shape"), list)):
        return False
    rows, columns, cells = value.get("rows"), value.get("columns"), value.get("cells")
    return (
        isinstance(cells, list) and len(cells) == rows and all(isinstance(r, list) and len(r) == columns for r in cells)
    )


def _is_loss(value: Any) -> bool:
    # A training may well end beyond the bound of other numbers.
    return value is None or (type(value) is float and math.isfinite(value)) or value in NOT_FINITE


def _is_whole_tensor(value: Any) -> bool:
    """Whether sides have texts, or none, where there is told of 0 or 1 whether they differ."""
    if value is None:
        return True
    if not (isinstance(value, dict) and isinstance(value.get("shape"), list)):
        return False
    wrong: Any = value.get("wrong")
    if not (_is_grid(wrong) and all(x in (0, 1) for row in wrong for x in row)):
        return False
    sides = [side for side in map(value.get, SIDES) if side is not None]
    widths = [len(row) for row in wrong]
    return all(_is_grid(side) and all(map(_is_texts, side)) and [*map(len, side)] == widths for side in sides)


def _is_grid(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) for row in value)


def _is_losses(value: Any) -> bool:
    """Whether each side has none or as many losses as the others, and the step that parts is one of theirs."""
    if value is None:
        return True
    if not (isinstance(value, dict) and _is_texts(value.get("words"))):
        return False
    curves = [curve for curve in map(value.get, SIDES) if curve is not None]
    if not all(isinstance(curve, list) and all(map(_is_loss, curve)) for curve in curves):
        return False
    parting = value.get("parting")
    steps = {len(curve) for curve in curves}
    return len(steps) < 2 and (parting is None or _is_parting(parting, max(steps, default=0)))


def _is_parting(value: Any, steps: int) -> bool:
    if not (isinstance(value, dict) and _is_text(value.get("words")) and _is_whole(value.get("step"))):
        return False
    return bool(1 <= value["step"] <= steps)


def _is_histogram(value: Any) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(
            isinstance(bin_, list) and len(bin_) == 2 and _is_text(bin_[0]) and _is_whole(bin_[1]) for bin_ in value
        )
    )


def _is_value(value: Any) -> bool:
    return type(value) in (int, float) or value in NOT_FINITE


def _is_sample(value: Any) -> bool:
    """Whether elements are told, each by its input, both sides, what is allowed and the distance in ULP."""
    if value is None:
        return True
    if not (isinstance(value, dict) and _is_text(value.get("along")) and _is_whole(value.get("of"))):
        return False
    elements = value.get("elements")
    return isinstance(elements, list) and all(
        isinstance(element, list)
        and len(element) == SAMPLED
        and all(map(_is_value, element[:3]))
        and all(part is None or _is_value(part) for part in element[3:])
        for element in elements
    )


def _is_call_graph(value: Any) -> bool:
    """Whether nodes are told, each of four texts, and edges between two of them, each with two texts."""
    if value is None:
        return True
    nodes, edges = (value.get("nodes"), value.get("edges")) if isinstance(value, dict) else (None, None)
    if not (isinstance(nodes, list) and isinstance(edges, list)):
        return False
    return all(
        _is_texts(node) and len(node) == 4 and node[0] in NODE_KINDS and node[3] in NODE_MARKS for node in nodes
    ) and all(
        isinstance(edge, list)
        and len(edge) == 4
        and all(type(end) is int and 0 <= end < len(nodes) for end in edge[:2])
        and _is_texts(edge[2:])
        for edge in edges
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{8}", value) is not None


def _is_level(value: Any) -> bool:
    return isinstance(value, str) and value in LEVELS


def _is_error(value: Any) -> bool:
    # Up to the numbers of float64: their distance in ULP.
    return type(value) in (int, float) and 0 <= value < 1e20


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_number(part) for part in value)


_ERROR = (_is_error, "a number of at least 0")


def _is_shrunk(value: Any) -> bool:
    """Whether a program is told with its size, or why there is none."""
    if not (isinstance(value, dict) and _is_texts(value.get("values")) and _is_whole(value.get("runs"))):
        return False
    if not (_is_number(value.get("seconds")) and _is_whole_or_none(value.get("blamed_line"))):
        return False
    if value.get("program") is None:
        return _is_text(value.get("note"))
    sized = _is_whole(value.get("calls")) and _is_whole(value.get("elements"))
    texts = _is_text_or_none(value.get("note")) and _is_text_or_none(value.get("check"))
    return sized and texts and _is_text(value["program"])


def _is_blame(value: Any) -> bool:
    """Whether a verdict is told with its reason and, where numbers decide, with the worst of them."""
    if not (isinstance(value, dict) and value.get("verdict") in BLAMES and _is_text(value.get("reason"))):
        return False
    worst = value.get("worst")
    return worst is None or (isinstance(worst, dict) and worst.keys() >= BLAME_FIELDS)


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and len(value) == CELL_COUNTS and all(_is_whole(count) for count in value)


def _is_groups(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(group, dict)
        and _is_texts(group.get("ops"))
        and isinstance(group.get("cells"), dict)
        and all(len(cell.split(" ")) == CELL_LEVELS and _is_counts(counts) for cell, counts in group["cells"].items())
        for group in value
    )


def _is_laid_out(value: Any) -> bool:
    known = isinstance(value, dict) and value.keys() - LAID_OUT_LATER == LAID_OUT_FIELDS
    return known and all(map(_is_whole, value.values()))


def _is_counted(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_whole, value.values()))


def _is_disagreements(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict)
        and all(_is_text(row.get(name)) for name in DISAGREEMENT_TEXTS)
        and _is_texts(row.get("inputs"))
        for row in value
    )


_TEXT = (_is_text, "a string")
_TEXT_OR_NONE = (_is_text_or_none, "a string or null")
_WHOLE = (_is_whole, "an integer")
_NUMBER = (_is_number, "a finite number")
_NAMED_TEXTS = (_is_named_texts, "an object of strings")
_TEXTS = (_is_texts, "a list of strings")
_TIME_OR_NONE = (_is_number_or_none, "a finite number or absent")

FIELDS: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "run": {
        "version": _WHOLE,
        "worker": _TEXT,
        "seed": _WHOLE,
        "inputs": _TEXT_OR_NONE,
        "target": _TEXT,
        "time": _NUMBER,
        "environment": _NAMED_TEXTS,
        "command": _TEXT,
        "commit": _TEXT_OR_NONE,
        "path": _TEXT_OR_NONE,
        "selection": (_is_text_or_none, "a string, null or absent"),
    },
    "target": {
        "environment": _NAMED_TEXTS,
        "devices": _TEXTS,
        "lacks": (lambda value: value is None or _is_texts(value), "a list of strings, or absent"),
        "time": _TIME_OR_NONE,
    },
    "surface": {"registry": _TEXTS, "touched": _TEXTS, "names": _TEXTS, "time": _TIME_OR_NONE},
    "start": {"test": _TEXT, "key": _TEXT, "index": _WHOLE, "time": _NUMBER},
    "ahead": {"key": _TEXT_OR_NONE, "time": _NUMBER},
    "end": {
        "key": _TEXT,
        "test": _TEXT,
        "verdict": (_is_verdict, f"one of {', '.join(VERDICTS)}"),
        "reason": _TEXT_OR_NONE,
        "ops": _TEXTS,
        "dtypes": _TEXTS,
        "graph": (
            _is_graph,
            f"null or an object with the strings forward and backward, and capture: absent or {', '.join(CAPTURES)}; "
            "captures: absent or a list of one of these and a reason for each executor; "
            "configurations: absent or a string for each; lowered: absent or a string",
        ),
        "seconds": _NUMBER,
        "divergences": (_is_list, "a list"),
        "undecidable": (_is_doubts, "a list of op, phase and reason, or absent"),
        "time": _TIME_OR_NONE,
    },
    "left_out": {"test": _TEXT, "key": _TEXT, "reason": _TEXT, "time": _TIME_OR_NONE},
    "reached": {
        "test": _TEXT,
        "laid_out": (_is_laid_out, f"an object of the integers {', '.join(sorted(LAID_OUT_FIELDS))}"),
        "groups": (_is_groups, "a list of objects with ops and cells: four levels, and six integers for each"),
        "time": _TIME_OR_NONE,
    },
    "inferred": {
        "test": _TEXT,
        "asked": _WHOLE,
        "refused": (_is_counted, "an object of integers"),
        "disagreements": (
            _is_disagreements,
            f"a list of objects with inputs, and with the strings {', '.join(DISAGREEMENT_TEXTS)}",
        ),
        "time": _TIME_OR_NONE,
    },
    "test": {
        "test": _TEXT,
        "seconds": _NUMBER,
        "outcome": (lambda value: value in ("passed", "failed", "skipped"), "one of passed, failed, skipped"),
        "line": (_is_whole_or_none, "an integer or null"),
        **dict.fromkeys(("error", "trace", "process"), (_is_text_or_none, "a string or absent")),
        "time": _TIME_OR_NONE,
    },
    "stop": {"test": _TEXT, "message": _TEXT, "time": _TIME_OR_NONE},
    "tolerance": {
        **dict.fromkeys(("test", "op", "dtype", "device", "phase", "key"), _TEXT),
        **dict.fromkeys(("share", "ulp"), _ERROR),
        **dict.fromkeys(("reference", "target"), (lambda value: value is None or _is_error(value), "a number or null")),
        "table": (_is_pair, "a pair of numbers"),
        "own": (lambda value: value is None or _is_pair(value), "a pair of numbers or null"),
        "because": _TEXT_OR_NONE,
        "time": _TIME_OR_NONE,
    },
    "shrunk": {
        "test": _TEXT,
        "fingerprint": _TEXT,
        "shrunk": (_is_shrunk, "an object with a program and its size, or with a note why there is none"),
        "time": _TIME_OR_NONE,
    },
    "blame": {
        "test": _TEXT,
        "fingerprint": _TEXT,
        "blame": (_is_blame, f"an object with a reason, and a verdict that is one of {', '.join(BLAMES)}"),
        "time": _TIME_OR_NONE,
    },
    "remembered": {"test": _TEXT, "aligned": _WHOLE, "problems": _TEXTS, "time": _TIME_OR_NONE},
    "fault": {"test": _TEXT_OR_NONE, "message": _TEXT, "trace": _TEXT_OR_NONE, "time": _TIME_OR_NONE},
}

ROW_TEXTS = (
    "id",
    "fingerprint",
    "target",
    "test",
    "op",
    "phase",
    "kind",
    "case_key",
    "message",
    "replay",
)
ROW_FIELDS: Mapping[str, tuple[Check, str]] = {
    **dict.fromkeys(ROW_TEXTS, _TEXT),
    # It names files: nothing in it may lead out of their folder.
    "id": (_is_id, "eight hexadecimal digits"),
    "level": (_is_level, f"one of {', '.join(LEVELS)}"),
    "reason": _TEXT_OR_NONE,
    "evidence": (_is_object_or_none, "an object or null"),
    "stages": (lambda value: value is None or _is_named_texts(value), "an object of strings, or absent"),
    "cause": (_is_text_or_none, "a string or absent"),
    "present": (_is_texts_or_none, "a list of strings or absent"),
}

#: The sides whose losses are told, and the words for those that JSON has no number for.
SIDES = ("reference", "eager", "graph")
NOT_FINITE = ("nan", "inf", "-inf")
#: What a node of a Program's graph is, and what is wrong of it.
NODE_KINDS, NODE_MARKS = ("input", "call", "returned"), ("", "wrong", "tainted")
WORST_FIELDS = {"index", "reference", "eager", "graph", "absolute", "relative", "ulp"}
EVIDENCE_FIELDS: Mapping[str, tuple[Check, str]] = {
    "program": _TEXT_OR_NONE,
    "inputs": (_is_texts_or_none, "a list of strings or absent"),
    "blamed_line": (_is_whole_or_none, "an integer or null"),
    "last_words": _TEXT_OR_NONE,
    "facts": (_is_facts, "a list of rows of four strings or nulls"),
    "words": _TEXTS,
    "worst": (_is_worst, f"a list of objects with {', '.join(sorted(WORST_FIELDS))}"),
    "heat": (_is_heat, "null or an object whose cells have its rows and columns"),
    "whole": (
        _is_whole_tensor,
        f"absent, null or an object with shape, with {', '.join(SIDES)}: null or rows of strings, and with wrong: "
        "rows of 0 and 1",
    ),
    "histogram": (_is_histogram, "null or a list of pairs of a string and an integer"),
    "sample": (
        _is_sample,
        "absent, null or an object with along, of, and elements: a list of input, expected, actual, allowed and ulp "
        "each",
    ),
    "graph": (
        _is_call_graph,
        f"absent, null or an object with nodes: a list of kind ({', '.join(NODE_KINDS)}), label, line and mark "
        "(wrong, tainted or empty) each, and edges: a list of the places of two nodes, a name and a type each",
    ),
    "losses": (
        _is_losses,
        f"absent, null or an object with words, with {', '.join(SIDES)}: null or a number, a word or null for "
        "each step, and with parting: null or a step among them and words",
    ),
}
