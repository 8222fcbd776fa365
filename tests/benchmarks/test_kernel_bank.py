"""The bank of kernels is what its tables say, and each wrong one shows its fault."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.kernels.children import BROKEN, NO, YES
from benchmarks.kernels.entries import BANK, Entry, entries
from support.forks import forks, outer_environment

pytestmark = pytest.mark.slow

ALL = entries()
WRONG = [entry for entry in ALL if not entry.sound]
SOUND = [entry for entry in ALL if entry.sound]
ROOT = Path(__file__).parents[2]

#: What a judge should name, but for those that end their process: of these one is enough.
CATEGORIES = [
    *(
        "alias",
        "arguments",
        "caching",
        "calls",
        "cheating",
        "delegates",
        "dtype",
        "edge values",
        "errors",
        "gradient",
        "lazy",
    ),
    *("mode", "mutation", "nondeterminism", "numerics", "precision", "shape", "size", "stale", "state", "stride"),
]
FATAL = ["crash", "descriptors", "flood", "fork", "memory", "timeout"]
#: What a kernel may import besides the standard library.
FRAMEWORKS = {"numpy", "torch"}


def told(*arguments: str) -> str:
    """What an interpreter prints, of its own: a child is to be forked before there are threads."""
    run = forks().run(arguments, ROOT, outer_environment())
    assert run.stdout, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def witnessed() -> Mapping[str, str]:
    """What the witness of each wrong kernel has seen."""
    return dict(line.split(": ") for line in told("-m", "benchmarks.kernels.witnesses").splitlines())


def test_files_have_tables() -> None:
    """Each file has its table, and each table its file."""
    assert sorted(entry.path for entry in ALL) == sorted(BANK.glob("*.py"))


def test_counts() -> None:
    """There are wrong kernels of many ops in each category, and sound ones."""
    assert len(WRONG) >= 110
    assert len({entry.like for entry in WRONG}) >= 40
    assert len(SOUND) >= 45
    counts = Counter(entry.category for entry in WRONG)
    assert sorted(counts) == sorted(CATEGORIES + FATAL)
    assert {category: counts[category] for category in CATEGORIES if counts[category] < 4} == {}


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_table(entry: Entry) -> None:
    """A wrong kernel has a fault, which its witness shows; a sound one has none. A domain has dtypes of PyTorch."""
    assert [bool(entry.category), bool(entry.fault), bool(entry.witness)] == [not entry.sound] * 3
    assert set(entry.domain) <= {"dtypes"}
    assert callable(entry.op())


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_file(entry: Entry) -> None:
    """A file has one public function, of the op's name, docstrings as an author writes them, and imports little."""
    tree = ast.parse(entry.path.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert [function.name for function in functions] == [entry.like.rpartition(".")[2]]
    assert ast.get_docstring(tree)
    assert ast.get_docstring(functions[0])
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    outside = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert outside <= FRAMEWORKS


@pytest.mark.parametrize("entry", WRONG, ids=lambda entry: entry.name)
def test_fault_shows(entry: Entry, witnessed: Mapping[str, str]) -> None:
    """The witness of a wrong kernel sees its fault."""
    assert witnessed[entry.name] == "shown", entry.fault


def test_witness_of_nothing() -> None:
    """The witness of one kernel sees nothing of another that is sound, and one that cannot be read is told."""
    code = (
        "from dataclasses import replace\n"
        "from benchmarks.kernels.entries import entries\n"
        "from benchmarks.kernels.witnesses import alone\n"
        "sound = next(entry for entry in entries() if entry.sound and entry.like == 'torch.relu')\n"
        "seen = ['differs(x(3))', 'mutates(x(3))', 'aliases(x(3))', 'turns(3, x(3))', 'gradient(x(3), order=2)',\n"
        "        'unwritten(x(3))', 'unsteady(x(3))', 'keeps(x(3))', 'rewritten(x(3))', 'accepts(t([True]))',\n"
        "        'ends(x(3)) == \"died\"', 'reaches(\"relu\", given=(x(3),))', 'leaves(torch.get_rng_state, x(3))',\n"
        "        'after((x(3),), (x(3, seed=1),))', 'recycled(lambda n: (x(3, seed=n),))', 'no such name']\n"
        "print(*[alone(replace(sound, witness=one)) for one in seen])\n"
    )
    assert told("-c", code).split() == ["hidden"] * 15 + ["broken"]


def test_loaded_anew() -> None:
    """A kernel that is loaded twice is two functions, with what each keeps to itself."""
    entry = SOUND[0]
    assert entry.load() is not entry.load()
    assert replace(entry, name="missing").path == BANK / "missing.py"


def test_children() -> None:
    """A child's answer is told from its fault, its own exit, a signal, and from no end in time."""
    ways = ["True", "False", "1 / 0", "os._exit(3)", "os.kill(os.getpid(), 9)", "time.sleep(9)"]
    code = (
        "import os, time\n"
        "from benchmarks.kernels.children import ended\n"
        f"print([ended(lambda: eval(way), 1.0) for way in {ways!r}])\n"
    )
    assert told("-c", code) == f"{[YES, NO, BROKEN, 3, -9, None]}\n"


def test_peers() -> None:
    """The rules of the peers accept what is sound and what only has wrong gradients, and refuse wrong values."""
    subtle = next(entry for entry in WRONG if entry.category == "gradient" and entry.like.endswith(".relu"))
    plain = next(entry for entry in WRONG if entry.category == "shape" and entry.like.endswith(".layer_norm"))
    sound = next(entry for entry in SOUND if entry.like == "torch.abs")
    lines = told("-m", "benchmarks.kernels.peers", subtle.name, plain.name, sound.name).splitlines()
    both = "five draws: {0}, op samples: {0}"
    assert sorted(lines[:3]) == sorted(
        [
            f"{subtle.name}: gradient: {both.format('accepted')}",
            f"{plain.name}: shape: {both.format('refused')}",
            f"{sound.name}: sound: {both.format('accepted')}",
        ]
    )
    assert lines[3:] == [
        "five draws: 1 of 2 wrong kernels refused, 1 of 1 sound ones accepted",
        "op samples: 1 of 2 wrong kernels refused, 1 of 1 sound ones accepted",
    ]
