"""What PyTorch's executors make of the hazards of the suites, as the table of docs/executors.md.

    $ python -m benchmarks.hazards

It takes a minute, most of it Inductor's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from autotest.api.hazard import verdict_of
from autotest.workers.supervisor import Supervisor

HERE = Path(__file__).parent
HAZARDS = HERE.parent / "suites" / "compile" / "test_hazards.py"
PAGE = HERE.parent / "docs" / "executors.md"
#: How long one of them may take.
SECONDS = 120.0
#: The columns of the table: each as in `--target torch:EXECUTOR`.
EXECUTORS = ("fx", "make_fx", "trace", "script", "export", "eager", "aot_eager", "inductor", "eager,fullgraph")


def hazards() -> Mapping[str, str]:
    """The tests of the suite, by what they are about: `branch on values`."""
    names = re.findall(r"^def (test_\w+)", HAZARDS.read_text(), re.MULTILINE)
    return {name.removeprefix("test_").replace("_", " "): name for name in names}


def column(executor: str, tests: Mapping[str, str]) -> dict[str, str]:
    """What one executor makes of each hazard."""
    with closing(Supervisor(f"torch:{executor}", SECONDS)) as target:
        return {about: verdict_of(target, HAZARDS, test, target.target).outcome for about, test in tests.items()}


def table(columns: Mapping[str, Mapping[str, str]], names: Iterable[str]) -> Iterator[str]:
    """The lines of the table, in Markdown; what is silently wrong stands out."""
    yield "| hazard | " + " | ".join(f"`{executor}`" for executor in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in names:
        cells = (outcomes[name] for outcomes in columns.values())
        yield f"| {name} | " + " | ".join("**wrong**" if cell == "wrong" else cell for cell in cells) + " |"


def written() -> dict[str, dict[str, str]]:
    """The columns of the table that the page has."""
    text = PAGE.read_text()
    lines = text[text.index("| hazard |") :].partition("\n\n")[0].splitlines()
    head, _, *rows = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in lines]
    return {executor: {row[0]: row[place] for row in rows} for place, executor in enumerate(head) if place}


def main() -> None:
    """Print the table."""
    tests = hazards()
    for line in table({executor: column(executor, tests) for executor in EXECUTORS}, tests):
        print(line)


if __name__ == "__main__":
    main()
