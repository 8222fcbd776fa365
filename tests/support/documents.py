"""The blocks of code in a Markdown file: files, commands, and what these print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: What no two runs print alike: seconds, versions, the name of a run's folder, the shrinker's steps, where files lie.
_PASSING = (
    (r"\b\d{8}-\d{6}-\d+-\d+", "RUN"),
    (r"\(\d+ runs, \d+\.\d s\)", "(RUNS)"),
    (r"\b\d+\.\d+ s\b", "TIME"),
    (r"\b\d+\.\d+\.\d+(\+\w+)?", "VERSION"),
    (r"(?<=[ (])/\S*/(?=[\w.-]+)", ""),
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line on which it begins."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that its first line names, `# test_first.py`; None where it names none."""
        named = re.match(r"# (\S+\.py)\n", self.text)
        return named[1] if named else None

    @property
    def commands(self) -> list[str]:
        """What is typed in it, without what is said of it."""
        lines = [line.removeprefix("$ ") for line in self.text.splitlines() if line.startswith("$ ")]
        return [line.partition("  #")[0].strip().removeprefix(".venv/bin/") for line in lines]

    @property
    def printed(self) -> list[str]:
        """What is printed in it."""
        return [line for line in self.text.splitlines() if not line.startswith("$ ")]


def blocks(path: Path, *languages: str) -> list[Block]:
    """The blocks of a file, in order; those of these languages alone, where any are given."""
    text = path.read_text()
    found = [Block(held[1], held[2], text.count("\n", 0, held.start()) + 1) for held in _BLOCK.finditer(text)]
    return [block for block in found if not languages or block.language in languages]


def lasting(line: str) -> str:
    """A line without what no two runs print alike, and without how wide it is."""
    for pattern, name in _PASSING:
        line = re.sub(pattern, name, line)
    return re.sub(r"\s{2,}|_{5,}|={5,}", " ", line).strip()


def unsaid(expected: Sequence[str], printed: str) -> list[str]:
    """The expected lines that were not printed, in this order; a line of `...` stands for any lines."""
    found = iter([lasting(line) for line in printed.splitlines()])
    return [line for line in expected if line.strip() not in ("", "...") and lasting(line) not in found]


def table(path: str, line: str) -> list[list[str]]:
    """The cells of the first table whose rows come below a line of a Markdown file, row by row."""
    below = (ROOT / path).read_text().partition(f"\n{line}\n")[2]
    lines = re.search(r"\|[-:|]+\|\n((?:\|.*\|\n)+)", below)
    assert lines is not None, line
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1].splitlines()]
