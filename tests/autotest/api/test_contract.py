"""`@contract` in a test file: what it comes to, what is recorded of it, and what a ledger knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autotest import UsageError, contract
from support.runs import run_autotest, run_pytest

pytestmark = pytest.mark.slow

FILE = """
import os
import time

import pytest

from autotest import contract


@contract("two ones are two", of="sum", target="torch")
def test_kept(torch):
    assert torch.ones(2).sum() == 2


@contract("two ones are three", of="sum", target="torch")
def test_broken(torch):
    total = torch.ones(2).sum().item()
    assert total == 3


@contract("a layer has a colour", of="nn.Linear", target="torch")
def test_unsupported(torch):
    torch.nn.Linear(2, 3, colour="red")


@contract("there was a storage of bits", of="BitStorage", target="torch", gone=True)
def test_gone(torch):
    torch.BitStorage()


@contract("there was a sum", of="sum", target="torch", gone=True)
def test_offered(torch):
    torch.sum(torch.ones(2))


@contract("it goes on", of="sum", target="torch", alone=True)
def test_crash(torch):
    os.abort()


@contract("it ends", of="sum", target="torch", alone=True)
def test_hang(torch):
    time.sleep(60)


@contract("there is a second device", of="device", target="torch")
def test_skipped(torch):
    pytest.skip("there is none")


@contract("so many ones are one", of="sum", target="torch")
@pytest.mark.parametrize("count", [1, 2])
def test_each(torch, count):
    assert torch.ones(count).sum().item() == 1


@pytest.mark.xfail(reason="upstream issue 1")
@contract("two ones are four", of="sum", target="torch")
def test_excused(torch):
    assert torch.ones(2).sum().item() == 4


@contract("a graph has a name", of="nn.Graph.name", target="oneflow")
def test_of_another(flow):
    raise AssertionError("not for this target")
"""

OUTCOMES = {
    "test_kept": "passed",
    "test_broken": "failed",
    "test_unsupported": "failed",
    "test_gone": "failed",
    "test_offered": "failed",
    "test_crash": "failed",
    "test_hang": "failed",
    "test_skipped": "skipped",
    "test_each[1]": "passed",
    "test_each[2]": "failed",
    "test_excused": "skipped",
    "test_of_another": "skipped",
}
#: What each that is not kept is called, and says.
SHOWN = {
    "test_broken": (
        "torch/contract/broken/sum/broken",
        "sum: two ones are three, says the documentation, but assert 2.0 == 3",
    ),
    "test_unsupported": (
        "torch/contract/unsupported/nn.Linear/unsupported",
        "nn.Linear: a layer has a colour, says the documentation, but it is not supported: "
        "TypeError: Linear.__init__() got an unexpected keyword argument 'colour'",
    ),
    "test_gone": (
        "torch/contract/unsupported/BitStorage/gone",
        "BitStorage: there was a storage of bits, says the documentation, but it is not supported: "
        "AttributeError: module 'torch' has no attribute 'BitStorage'",
    ),
    "test_offered": (
        "torch/contract/broken/sum/offered",
        "sum: there was a sum, says the documentation, but it is there, though the test says that it is gone",
    ),
    "test_crash": (
        "torch/contract/crash/sum/crash",
        "sum: it goes on, says the documentation, but the target killed by SIGABRT",
    ),
    "test_hang": (
        "torch/contract/timeout/sum/hang",
        "sum: it ends, says the documentation, but the target did not answer within 5 s and was killed",
    ),
    "test_each[2]": (
        "torch/contract/broken/sum/each[2]",
        "sum: so many ones are one, says the documentation, but assert 2.0 == 1",
    ),
    "test_excused": (
        "torch/contract/broken/sum/excused",
        "sum: two ones are four, says the documentation, but assert 2.0 == 4",
    ),
}


def test_outcomes(tmp_path: Path) -> None:
    """Each outcome is a divergence of its own kind, with its sentence, and ends its own test alone."""
    run = run_pytest(tmp_path, {"test_x.py": FILE}, "-rxs", "--autotest-case-timeout", "5")
    assert run.outcomes() == OUTCOMES, run.out
    rows = {end["test"].partition("::")[2]: row for end in run.records() for row in end["divergences"]}
    assert {
        test: (row["fingerprint"], re.sub(r"(?<=TypeError: ).*__init__", "Linear.__init__", row["message"]))
        for test, row in rows.items()
    } == SHOWN
    assert {test for test, row in rows.items() if row["level"] == "refuses"} == {"test_unsupported", "test_gone"}
    assert rows["test_excused"]["level"] == "known"
    verdicts = {end["test"].partition("::")[2]: end["verdict"] for end in run.records()}
    assert verdicts == {
        **dict.fromkeys(("test_kept", "test_each[1]"), "aligned"),
        **dict.fromkeys(SHOWN, "divergent"),
        "test_crash": "crashed",
        "test_hang": "timed_out",
        "test_skipped": "skipped",
    }
    assert "it is about the documentation of oneflow, and the target is torch" in run.out
    told = run.out[run.out.index("torch/contract/broken/sum/broken") :]
    assert told.startswith(
        "torch/contract/broken/sum/broken  1 case\n"
        "  sum: two ones are three, says the documentation, but assert 2.0 == 3\n"
        "\n"
        '    @contract("two ones are three", of="sum", target="torch")\n'
        "    def test_broken(torch):\n"
        "        total = torch.ones(2).sum().item()\n"
        "  >     assert total == 3\n"
        "\n"
        "  autotest run test_x.py::test_broken\n"
    )
    assert "repro: no script: its test is a function of the framework, and runs as it is" in run.out


LEFT_BEHIND = """
import os
import sys

from autotest import contract


@contract("it holds", of="sum", target="torch")
def test_first(torch):
    sys.poisoned = True


@contract("it holds", of="sum", target="torch")
def test_second(torch):
    if hasattr(sys, "poisoned"):
        os.abort()


@contract("it holds", of="sum", target="torch", alone=True)
def test_third(torch):
    sys.poisoned = True


@contract("it holds", of="sum", target="torch")
def test_fourth(torch):
    assert not hasattr(sys, "poisoned")


def test_here():
    assert not hasattr(sys, "poisoned")
"""


def test_what_is_left_behind(tmp_path: Path) -> None:
    """A test that dies of what one before it has left is asked again by itself; one that is alone leaves nothing to the
    next one, and nothing of all that is in pytest's own process.
    """
    run = run_pytest(tmp_path, {"test_x.py": LEFT_BEHIND}, "-rp")
    assert set(run.outcomes().values()) == {"passed"}, run.out
    assert "PASSED test_x.py::test_here" in run.out


def test_inline(tmp_path: Path) -> None:
    """With `--isolate never` the function runs in pytest's own process, where a debugger is."""
    text = FILE.partition('@contract("it goes on"')[0].replace(
        "torch.ones(2).sum() == 2", "os.getpid() == int(os.environ['HERE'])"
    )
    here = "import os\n\nos.environ['HERE'] = str(os.getpid())\n"
    run = run_pytest(tmp_path, {"test_x.py": here + text}, "--autotest-isolate", "never")
    names = ("test_kept", "test_broken", "test_unsupported", "test_gone", "test_offered")
    assert run.outcomes() == {name: OUTCOMES[name] for name in names}, run.out


def test_what_it_refuses(tmp_path: Path) -> None:
    """Sentences that say nothing, subjects that are no names, parameters that cannot be sent, and tests that another
    process does not find.
    """
    with pytest.raises(UsageError) as caught:
        contract(" ", of="sum", target="torch")
    assert str(caught.value) == "sentence=' ', but should say what is documented [@contract(...)]"
    with pytest.raises(UsageError) as caught:
        contract("it holds", of="the sum", target="torch")
    assert str(caught.value) == "of='the sum', but should be what it is about, such as 'nn.Graph.name' [@contract(...)]"
    with pytest.raises(UsageError) as caught:
        contract("it holds", of="sum", target="")
    assert str(caught.value) == "target='', but should be the name of a target [@contract(...)]"
    text = """
import pytest

from autotest import contract


@contract("it holds", of="sum", target="torch")
@pytest.mark.parametrize("value", [(1, 2)])
def test_tuple(torch, value):
    pass


def made():
    @contract("it holds", of="sum", target="torch")
    def test_inside(torch):
        pass

    return test_inside


class TestHere:
    test_inside = staticmethod(made())
"""
    run = run_pytest(tmp_path, {"test_x.py": text})
    errors = {test.rpartition("::")[2]: error for test, error in run.summary["errors"].items()}
    assert errors == {
        "test_tuple[value0]": (
            "autotest.UsageError: value=(1, 2), but should be plain, for another process gets it [@contract(...)]"
        ),
        "test_inside": (
            "autotest.UsageError: test_x.py has no @contract that is called test_inside, so that another process does "
            "not find it: define it at the top of the file, not inside of a function or a class"
        ),
    }


def test_ledger(tmp_path: Path) -> None:
    """What is accepted is known from then on; `ledger check` asks again, a page tells it, and what holds again is red,
    in its test and in the check.
    """
    text = FILE.partition('@contract("there was a sum"')[0]
    run_pytest(tmp_path, {"test_x.py": text})
    accepted = run_autotest(tmp_path, "accept", "--where", "phase=contract", "--reason", "the documentation is older")
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    run = run_pytest(tmp_path, {"test_x.py": text})
    assert set(run.outcomes().values()) == {"passed"}, run.out
    assert "; nothing new, 3 ops are known to diverge" in " ".join(run.out.split())
    checked = run_autotest(tmp_path, "ledger", "check", "known_divergences.toml", "--target", "torch")
    assert (checked.returncode, checked.stdout) == (0, "3 entries replayed, 0 no longer diverge\n")
    page = run_autotest(tmp_path, "ledger", "document", "known_divergences.toml", "--target", "torch").stdout
    assert "## Its own documentation\n\n| about | documented | kind | what happens | why it is known |\n" in page
    assert "| `sum` | two ones are three | broken | assert 2.0 == 3 | the documentation is older |\n" in page
    mended = text.replace("== 3", "== 2")
    run = run_pytest(tmp_path, {"test_x.py": mended})
    stale = (
        "torch/contract/broken/sum/broken is known to diverge, but no longer does: "
        f"remove its entry from {tmp_path / 'known_divergences.toml'}"
    )
    assert run.outcomes()["test_broken"] == "failed"
    assert stale in run.out
    checked = run_autotest(tmp_path, "ledger", "check", "known_divergences.toml", "--target", "torch")
    assert checked.returncode == 1
    assert "torch/contract/broken/sum/broken is known to diverge, but no longer does" in checked.stdout
