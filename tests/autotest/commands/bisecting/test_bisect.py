"""A divergence of a toy target that has gone with one of its versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autotest import cli
from autotest.commands.bisecting import bisect as command
from autotest.commands.replaying.stored import Shown, shown
from autotest.exits import CANNOT_RUN, USAGE
from support.runs import Outcome, run_pytest
from support.toy_environment import toy_python

pytestmark = pytest.mark.slow

BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=1, auto_backward=False, check_graph=False)
def test_cos():
    return torch.cos(random_tensor(ndim=1, dim0=3))
"""


def version(folder: Path, number: str, *packages: str) -> str:
    """An interpreter with a version of the toy's package."""
    python = toy_python(folder, *packages)
    [places] = folder.glob("lib/python*/site-packages")
    (places / "toy_package.py").write_text(f"VERSION = {number!r}\n")
    return python


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """Of versions 1.0, 1.1, 2.0 and 2.1; 1.1 has no psutil."""
    made = []
    for number in ("1.0", "1.1", "2.0", "2.1"):
        packages = ("numpy",) if number == "1.1" else ("numpy", "psutil")
        made.append(version(tmp_path_factory.mktemp("python"), number, *packages))
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, pythons: Sequence[str]) -> Outcome:
    """A run on the first, which diverges."""
    given = ("--autotest-target-python", pythons[0], "--autotest-coverage", "none")
    return run_pytest(tmp_path_factory.mktemp("run"), {"test_cos.py": BODY}, *given, target="toy_target:Adapter")


@pytest.fixture
def bisect(run: Outcome, monkeypatch: pytest.MonkeyPatch):
    """The command on the divergence of that run: its exit status and what it prints."""
    [id_] = {row["id"] for record in run.records("end") for row in record["divergences"]}
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "support"))

    def called(*arguments: str, id_: str = id_) -> tuple[int, str]:
        report = str(run.folder / "autotest-report")
        result = CliRunner().invoke(cli.main, ["bisect", id_, "--report", report, *arguments])
        return result.exit_code, result.output

    return called


def lines(pythons: Sequence[str], **said: str) -> list[str]:
    """What is printed of each version, by `v` and its place."""
    width = max(map(len, pythons))
    return [f"{pythons[int(name[1:])]:<{width}}  {text}" for name, text in said.items()]


LACKS = (
    "cannot run: target 'toy_target:Adapter' died at import: exited with status 1; its last words: {python} has no "
    "psutil, but should: {python} -m pip install psutil"
)


def test_where_it_went(bisect, pythons: Sequence[str]) -> None:
    """The ends first, then the middle; a version that cannot run says why, and the place is told with it."""
    status, said = bisect("--pythons", ",".join(pythons))
    place = (
        f"changed between {pythons[0]} (stands) and {pythons[2]} (gone); in which is not known, since these cannot "
        f"run: {pythons[1]}"
    )
    lacks = LACKS.format(python=pythons[1])
    told = lines(pythons, v0="stands: toy 1.0", v3="gone: toy 2.1", v1=lacks, v2="gone: toy 2.0")
    assert (status, said.splitlines()) == (0, [*told, place])


def test_every_change(bisect, pythons: Sequence[str]) -> None:
    """All are asked, in their order."""
    order = [pythons[0], pythons[2], pythons[0]]
    status, said = bisect("--every", "--pythons", ",".join(order))
    told = lines(order, v0="stands: toy 1.0", v1="gone: toy 2.0", v2="stands: toy 1.0")
    there, back = (
        f"changed between {order[0]} (stands) and {order[1]} (gone)",
        f"changed between {order[1]} (gone) and {order[2]} (stands)",
    )
    assert (status, said.splitlines()) == (0, [*told, there, back])


def test_no_change(bisect, pythons: Sequence[str]) -> None:
    """The ends are the same: what lies between was not asked, and how to ask it is told."""
    status, said = bisect("--pythons", ",".join([pythons[2], pythons[0], pythons[3]]))
    assert (status, said.splitlines()[-1]) == (
        1,
        "no change: gone in all that ran; those between were not asked [--every]",
    )
    status, said = bisect("--pythons", ",".join([pythons[2], pythons[3]]))
    assert (status, said.splitlines()[-1]) == (1, "no change: gone in all that ran")


def test_another_divergence_in_its_place(bisect, pythons: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither the one that is looked for nor none, and is told by its fingerprint."""

    def otherwise(*asked: Any, python: str, **named: Any) -> Shown:
        now = shown(*asked, python=python, **named)
        if python == pythons[2]:
            return now
        other = {"phase": now.row["phase"], "fingerprint": "toy/eager_forward/shape/cos/float32"}
        return replace(now, rows=[other])

    monkeypatch.setattr(command, "shown", otherwise)
    status, said = bisect("--pythons", f"{pythons[0]},{pythons[2]}")
    words = "stands as something else"
    told = lines(pythons, v0=f"{words}: toy/eager_forward/shape/cos/float32", v2="gone: toy 2.0")
    assert (status, said.splitlines()) == (
        0,
        [*told, f"changed between {pythons[0]} ({words}) and {pythons[2]} (gone)"],
    )


def test_none_can_run(bisect, pythons: Sequence[str]) -> None:
    """So it is said, with the status of what cannot run."""
    status, said = bisect("--pythons", f"{pythons[1]},{pythons[1]}")
    assert (status, said.splitlines()[-1]) == (CANNOT_RUN, "none of these versions can run it")


def test_nothing_stored(bisect, pythons: Sequence[str]) -> None:
    """An id of nothing is said before anything runs."""
    status, said = bisect("--pythons", ",".join(pythons), id_="00000000")
    assert status == CANNOT_RUN
    assert said.startswith("cannot replay: ID='00000000' names no stored Program under ")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [],
            "neither of --versions and --pythons is given, but one of the two should say which versions, such as "
            "--versions oneflow==0.8.0,0.9.0",
        ),
        (["--versions", "toy"], "versions='toy', but should be such as oneflow==0.8.0,0.9.0 [--versions]"),
        (["--versions", "toy==1"], "versions='toy==1', but should be at least two, with commas [--versions]"),
        (["--pythons", "/no/python"], "pythons='/no/python', but should be paths of Python interpreters [--pythons]"),
        (
            ["--pythons", "python,python", "--with", "x"],
            "with='x', but the interpreters of --pythons should have it already [--with]",
        ),
    ],
)
def test_usage(bisect, arguments: Sequence[str], sentence: str) -> None:
    """What means nothing is one sentence."""
    assert bisect(*arguments) == (USAGE, f"{sentence}\n")
