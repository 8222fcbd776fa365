"""The census for programs and as the page that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from autotest.census.census import Census, Op
from autotest.compare.kinds import REFUSALS
from reports.exports.markdown import code
from reports.tallies.argument_space import AXES
from reports.tallies.census import STATUSES
from reports.words.quantities import counted, share

#: The phases that the page has a column for, with its heading.
PHASES = {
    "eager_forward": "forward",
    "eager_backward": "gradient",
    "graph_forward": "graph",
    "graph_backward": "its gradient",
}
_MEANING = """
| status | what it says |
|---|---|
| aligned | every case that was compared shows what PyTorch shows, in every phase, but for what the target says that it does not support |
| wrong | at least one case shows something else, or the ledger knows one: `3/103` are the wrong cases of the forward |
| refused | the target has it, and says of all that was asked that it does not support it |
| lacking | the target has no such op |
| unknown | nothing was compared: no test calls it, or it is random, or PyTorch itself leaves its values open |
""".strip()  # noqa: E501 - a row of a table is a line
#: By the greatest share of cases in a phase.
_OFTEN = {0.01: "at most 1 % of their cases", 0.1: "1 % to 10 %", 0.5: "10 % to 50 %", 1.0: "more than half of them"}
_NEVER = "none of these cases, but in the ledger"
_TABLES = {"ops": "ops of OpInfo", "layers": "layers of PyTorch's table of modules"}


def census_json(census: Census) -> dict[str, object]:
    """All of it as plain data; of each op every cell with its counts, as coverage.json has them."""
    return {
        "target": census.target,
        "versions": dict(census.versions),
        "tests": census.tests,
        "cases": census.cases,
        "counts": {
            "all": census.counts(census.ops),
            **{table: census.counts(census.of(table)) for table in _TABLES},
            "mapped": census.counts(census.mapped),
        },
        "ops": [_op_json(op) for op in census.ops],
        "mapped": [_op_json(op) for op in census.mapped],
        "registry": dict(census.registry),
        "names": dict(census.names),
    }


def _op_json(op: Op) -> dict[str, object]:
    return {
        "table": op.table,
        "name": op.name,
        "status": op.status,
        "decided": op.decided,
        "phases": {phase: dict(counts) for phase, counts in op.found.outcomes.items()},
        "kinds": dict(op.found.kinds),
        "tests": dict(op.sources),
        "calls": op.calls,
        "known": [*op.known],
        "space": op.found.space.to_json(),
    }


def census_page(census: Census, command: str) -> str:
    """Markdown: one number, a table of statuses, and a row for each op; `command` is what wrote it."""
    return "\n".join(_page(census, command)) + "\n"


def _page(census: Census, command: str) -> Iterator[str]:
    version = census.versions[census.target]
    counts = census.counts(census.ops)
    yield f"# {census.target} {version}: census of PyTorch's ops"
    yield ""
    yield (
        f"Written by `{command}`, from {counted(census.cases, 'case')} of {counted(census.tests, 'test')} and the "
        f"ledger, against torch {census.versions['torch']}."
    )
    yield ""
    if census.ops:
        whole = len(census.ops)
        rest = ", ".join(f"{share(counts[status], whole)} {status}" for status in STATUSES if status != "aligned")
        yield f"**{share(counts['aligned'], whole)} of PyTorch's surface is aligned**; {rest}."
        yield ""
    yield f"| | all | {' | '.join(STATUSES)} |"
    yield f"|---|{'--:|' * (1 + len(STATUSES))}"
    for table, words in _TABLES.items():
        yield _counts(words, census, census.of(table))
    if census.mapped:
        yield _counts(f"rows of {census.target}'s own table", census, census.mapped)
    yield ""
    yield _MEANING
    yield ""
    yield from _kinds(census)
    for table, words in _TABLES.items():
        yield from _table(words[0].upper() + words[1:], census.of(table))
    if census.mapped:
        yield from _table(f"{census.target}'s own table", census.mapped)
    yield from _names("Op types that the target has registered", "ran", census.registry)
    yield from _names("Names that both sides have", "were called by a case", census.names)


def _counts(words: str, census: Census, ops: Sequence[Op]) -> str:
    counts = census.counts(ops)
    return f"| {words} | {len(ops):,} | {' | '.join(f'{counts[status]:,}' for status in STATUSES)} |"


def _kinds(census: Census) -> Iterator[str]:
    """How often the wrong ones are wrong, and of how many each kind is shown or known."""
    wrong = [op for op in census.ops if op.status == "wrong"]
    if not wrong:
        return
    often = Counter(map(_often, wrong))
    yield "| the wrong ones are wrong in | ops |"
    yield "|---|--:|"
    yield from (f"| {words} | {often[words]:,} |" for words in (*_OFTEN.values(), _NEVER))
    yield ""
    held: Counter[str] = Counter(kind for op in wrong for kind in _wrong(op))
    yield "| and show | ops |"
    yield "|---|--:|"
    yield from (f"| {kind} | {count:,} |" for kind, count in sorted(held.items(), key=lambda item: (-item[1], item[0])))
    yield ""


def _often(op: Op) -> str:
    """In which share of its cases it is wrong, in the phase where that is most."""
    counts = [(held["wrong"], sum(held.values())) for held in op.found.outcomes.values()]
    most = max((wrong / whole for wrong, whole in counts if whole), default=0.0)
    return next((words for bound, words in _OFTEN.items() if 0 < most <= bound), _NEVER)


def _wrong(op: Op) -> set[str]:
    return ({*op.found.kinds} | {fingerprint.split("/")[2] for fingerprint in op.known}) - REFUSALS


def _table(words: str, ops: Sequence[Op]) -> Iterator[str]:
    yield f"## {words}"
    yield ""
    yield f"| op | status | {' | '.join(PHASES.values())} | cases | tensors had | tested by | known |"
    yield f"|---|---|{'---|' * len(PHASES)}--:|---|---|---|"
    yield from map(_row, ops)
    yield ""


def _row(op: Op) -> str:
    phases = [op.found.statuses.get(phase, "") for phase in PHASES]
    forward: Mapping[str, int] = op.found.outcomes.get("eager_forward", {})
    tested = [f"{source} {count}" for source, count in sorted(op.sources.items())]
    tested += [f"{counted(op.calls, 'shipped call')}"] if op.calls else []
    known = f"{len(op.known)}: {', '.join(sorted({text.split('/')[2] for text in op.known}))}" if op.known else ""
    wrong = f"{forward['wrong']:,}/" if forward.get("wrong") else ""
    cells = [op.status, *phases, f"{wrong}{sum(forward.values()):,}", _space(op), ", ".join(tested), known]
    return f"| {code(op.name)} | {' | '.join(cells)} |"


def _space(op: Op) -> str:
    """How many levels of each axis its tensors had: `9 dtypes, 5 ranks, 4 layouts, 6 values`."""
    space = op.found.space
    if not space.cells:
        return ""
    reached = {axis: sum(state == "reached" for state in space.levels(axis).values()) for axis in AXES}
    return ", ".join(counted(count, axis.removesuffix("s")) for axis, count in reached.items())


def _names(words: str, did: str, names: Mapping[str, bool]) -> Iterator[str]:
    if not names:
        return
    never = [name for name, held in names.items() if not held]
    yield f"## {words}"
    yield ""
    others = f" The others: {', '.join(map(code, never))}." if never else ""
    yield f"{len(names) - len(never):,} of {len(names):,} {did}.{others}"
    yield ""
