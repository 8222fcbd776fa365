"""A run on several of PyTorch's executors, from the command line to the report, the ledger and the scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.runs import Outcome, run_autotest, run_pytest

pytestmark = pytest.mark.slow

FILE = """
from autotest import autotest, random_tensor, torch


@autotest(n=2, coverage="none", graph_backward="none")
def test_exp():
    return torch.exp(random_tensor(ndim=2))
"""
VALUE = "graph_forward/value/exp/float32"
TARGET = "torch:fx,torch:eager,torch:aot_eager"


def run(folder: Path, fault: str, *arguments: str, target: str = TARGET, file: str = FILE) -> Outcome:
    """A run with a fault planted in some stage."""
    env = {"AUTOTEST_FAULT": f"executor_faults:{fault}"} if fault else {}
    return run_pytest(folder, {"test_it.py": file}, *arguments, target=target, env=env)


def stages(outcome: Outcome) -> dict[str, str]:
    """The stages of each divergence in words, by its fingerprint."""
    return {
        row["fingerprint"]: ", ".join(f"{name.removeprefix('torch:')} {did}" for name, did in row["stages"].items())
        for row in outcome.summary["divergences"]
    }


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("doubled_aot_eager", {f"torch:aot_eager/{VALUE}": "fx right, eager right, aot_eager wrong"}),
        ("doubled_dynamo", {f"torch:eager/{VALUE}": "fx right, eager wrong, aot_eager wrong"}),
        ("doubled_eager", {f"torch:eager/{VALUE}": "fx right, eager wrong, aot_eager right"}),
        (
            "doubled_and_widened",
            {
                f"torch:eager/{VALUE}": "fx right, eager wrong, aot_eager wrong in another way",
                "torch:aot_eager/graph_forward/dtype/exp/float32": (
                    "fx right, eager wrong in another way, aot_eager wrong"
                ),
            },
        ),
        (
            "ends_eager",
            {"torch:eager/graph_forward/crash/exp/float32": "fx right, eager crashed, aot_eager right"},
        ),
    ],
)
def test_planted_fault_is_of_its_stage(tmp_path: Path, fault: str, found: dict[str, str]) -> None:
    """The stage that has the fault is named, whatever a later one shows; what two have alike is told once."""
    outcome = run(tmp_path, fault)
    assert outcome.status == 1, outcome.out
    assert stages(outcome) == found
    for words in found.values():
        assert f"stages: {words}" in outcome.out
    assert f"{TARGET}\n" in outcome.out.replace(" 2.14", "\n")


def test_divergence_of_a_stage(tmp_path: Path) -> None:
    """It is shrunk, blamed, replayed and remembered on its stage, whose script captures with that alone."""
    options = ("--autotest-shrink=5", "--autotest-blame-total=20")
    outcome = run(tmp_path, "doubled_aot_eager", *options)
    [row] = outcome.summary["divergences"]
    assert row["fingerprint"] == f"torch:aot_eager/{VALUE}"
    assert (row["target"], outcome.summary["target"]) == ("torch:aot_eager", TARGET)
    assert row["blame"]["verdict"] == "target"
    [shrunk] = outcome.records("shrunk")
    assert (shrunk["fingerprint"], shrunk["shrunk"]["elements"]) == (row["fingerprint"], 1)
    folder = next((tmp_path / "autotest-report" / "runs").glob("*")) / "repros" / row["id"]
    script, issue = (folder / "repro.py").read_text(), (folder / "issue.md").read_text()
    assert 'torch.compile(module, backend="aot_eager")' in script
    assert "\nStages of the pipeline: fx right, eager right, aot_eager wrong.\n" in script
    assert "\nWhich stage of the pipeline is wrong: fx right, eager right, aot_eager wrong.\n" in issue
    gone = run_autotest(tmp_path, "replay", row["id"])
    assert (gone.returncode, f"{row['id']} is gone" in gone.stdout) == (0, True), gone.stdout
    fault = {"AUTOTEST_FAULT": "executor_faults:doubled_aot_eager"}
    stands = run_autotest(tmp_path, "replay", row["id"], env=fault)
    assert (stands.returncode, f"{row['id']} stands" in stands.stdout) == (1, True), stands.stdout
    each = run_autotest(tmp_path, "replay", row["id"], "--target", "torch:eager,torch:aot_eager", env=fault)
    assert (each.returncode, f"{row['id']} stands: 1 divergence" in each.stdout) == (1, True), each.stdout
    none = run_autotest(tmp_path, "replay", row["id"], "--target", "torch:eager,torch:eager")
    assert none.returncode == 125
    assert "torch:eager is there twice [--target]" in none.stderr + none.stdout
    [remembered] = (tmp_path / ".autotest" / "memory").glob("*.json")
    assert json.loads(remembered.read_text())["target"] == TARGET
    again = run(tmp_path, "", *options)
    assert again.status == 0, again.out
    assert "2 remembered cases now align" in " ".join(again.out.split())


def test_ledger_of_a_stage_and_of_its_executor(tmp_path: Path) -> None:
    """What was accepted in a run of stages is known in a run of that executor, and the reverse; an entry of a later
    stage that shows what an earlier one does is not stale, one of a stage that shows it no more is, and one of an
    executor that did not run says nothing.
    """

    def accepted(target: str, fault: str) -> None:
        assert run(tmp_path, fault, target=target).status == 1
        done = run_autotest(tmp_path, "accept", "--where", "op=exp", "--reason", "why")
        assert done.returncode == 0, done.stderr

    accepted("torch:eager,torch:aot_eager", "doubled_and_widened")
    for target in ("torch:eager", "torch:aot_eager", TARGET):
        assert run(tmp_path, "doubled_and_widened", target=target).status == 0, target
    ledger = tmp_path / "known_divergences.toml"
    assert [line for line in ledger.read_text().splitlines() if line.startswith("[[")] == [
        '[["torch:aot_eager"]]',
        '[["torch:eager"]]',
    ]
    assert run(tmp_path, "", target="torch:fx,torch:make_fx").status == 0
    fault = {"AUTOTEST_FAULT": "executor_faults:doubled_eager"}
    check = ("ledger", "check", "known_divergences.toml", "--target", "torch:eager,torch:aot_eager")
    checked = run_autotest(tmp_path, *check, env=fault)
    assert checked.returncode == 1
    assert checked.stdout.count("is known to diverge, but no longer does") == 1, checked.stdout
    stale = run(tmp_path, "doubled_eager", target="torch:fx,torch:eager,torch:aot_eager")
    assert stale.status == 1
    assert f"torch:eager/{VALUE} is known" not in stale.out
    assert "torch:aot_eager/graph_forward/dtype/exp/float32 is known to diverge, but no longer does" in stale.out
    ledger.unlink()
    accepted("torch:aot_eager", "doubled_dynamo")
    accepted("torch:eager", "doubled_dynamo")
    both = run(tmp_path, "doubled_dynamo", target="torch:eager,torch:aot_eager")
    assert both.status == 0, both.out


def test_inductor_and_the_stages_before(tmp_path: Path) -> None:
    """What Inductor alone does otherwise is told as its own, and each stage's captures are counted."""
    file = FILE.replace("torch.exp(random_tensor(ndim=2))", "random_tensor(ndim=2) * 1").replace("n=2", "n=1")
    target = "torch:script,torch:eager,torch:aot_eager,torch:inductor"
    outcome = run(tmp_path, "", target=target, file=file)
    assert outcome.status == 1, outcome.out
    told = "script right, eager right, aot_eager right, inductor wrong"
    assert stages(outcome) == {"torch:inductor/graph_forward/alias/mul/float32,other=": told}
    assert {name: each["captured"] for name, each in outcome.summary["captures"].items()} == dict.fromkeys(
        target.split(","), 1
    )


def test_stage_in_this_process(tmp_path: Path) -> None:
    """A run that is not isolated has all stages in its own process."""
    outcome = run(tmp_path, "doubled_eager", "--autotest-isolate=never")
    assert outcome.status == 1, outcome.out
    assert stages(outcome) == {f"torch:eager/{VALUE}": "fx right, eager wrong, aot_eager right"}
