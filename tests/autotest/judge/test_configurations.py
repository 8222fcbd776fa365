"""Faults that a static graph has under one of its configurations alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from support.runs import SUPPORT, Outcome, run_autotest, run_pytest

pytestmark = pytest.mark.slow

FILES = {"test_configurations.py": "configurations.py"}
NAMES = ["sound", "half", "sin_rounds", "sin_wrong", "sin_again", "cos_raises", "tan_fails", "exp_aborts"]
#: What a case without modules comes to under the one that is of modules.
OF_MODULES = {"modules_wrong": "nothing"}
PLACE = "configured:Adapter/graph_forward"
# Per test: the fingerprints of its rows.
WRONG = {
    "test_sin": {
        f"{PLACE}/value/sin/float32,config=sin_rounds",
        f"{PLACE}/value/sin/float32,config=sin_wrong",
        f"{PLACE}/value/sin/float32,config=sin_again,again",
    },
    # In half precision only what is float32 may be computed.
    "test_double": {f"{PLACE}/value/sin/float64,config=half"},
    "test_cos": {f"{PLACE}/exception/cos/float32,config=cos_raises"},
    "test_tan": {f"{PLACE}/exception/tan/float32,config=tan_fails"},
    "test_exp": {f"{PLACE}/crash/exp/float32,config=exp_aborts"},
    "test_module": {f"{PLACE}/value/Tanh/float32,config=modules_wrong"},
    # The buffer that no graph counts up hides no other.
    "test_statistics": {
        "configured:Adapter/graph_state/value/BatchNorm1d/float32,num_batches_tracked",
        "configured:Adapter/graph_state/value/BatchNorm1d/float32,running_mean,config=modules_wrong",
        f"{PLACE}/value/BatchNorm1d/float32,config=modules_wrong",
    },
}
# The whole message of each that has no numbers in it.
MESSAGES = {
    "test_cos": "cos: under cos_raises, cos raised RuntimeError: planted",
    "test_tan": "tan: under tan_fails, tan raised RuntimeError: planted",
    "test_exp": "exp: under exp_aborts, the target killed by SIGABRT",
}
SharedRun = Callable[..., Outcome]


@pytest.fixture
def faulty(shared_run: SharedRun) -> Outcome:
    """The bodies of `configurations.py` against a target whose configurations have faults."""
    return shared_run("configurations-faulty", FILES, "-q", target="configured:Adapter")


@pytest.fixture
def without(shared_run: SharedRun) -> Outcome:
    """The same against a target without configurations."""
    return shared_run("configurations-none", FILES, "-q", target="torch")


@pytest.mark.parametrize("test", WRONG)
def test_fault_is_seen_under_its_configuration_alone(faulty: Outcome, test: str) -> None:
    """Each fault is red in every case, and its fingerprint has the configuration."""
    for end in faulty.ends(test):
        assert {row["fingerprint"] for row in end["divergences"]} == WRONG[test]


@pytest.mark.parametrize("test", MESSAGES)
def test_messages(faulty: Outcome, test: str) -> None:
    """A message begins with the configuration."""
    assert faulty.messages(test) == {MESSAGES[test]}


@pytest.mark.parametrize(
    ("configuration", "call"),
    [("sin_rounds", ""), ("sin_wrong", ""), ("sin_again", "at the second call of the same graph, ")],
)
def test_message_of_a_value(faulty: Outcome, configuration: str, call: str) -> None:
    """One of numbers says how they differ, and at which call of the graph."""
    number = r"-?\d+\.\d+(e-\d+)?"
    words = (
        rf"sin: under {configuration}, {call}t0 differs in \d+ of \d+ elements: \[\d, \d\] is {number}, "
        rf"but should be {number} \(rtol=0.0001, atol=1e-05\)"
    )
    told = [message for message in faulty.messages("test_sin") if f"under {configuration}," in message]
    assert len(told) == 3
    assert all(re.fullmatch(words, message) for message in told)


def test_call_of_a_chain_is_blamed(faulty: Outcome) -> None:
    """Of several calls the one is blamed whose own graph shows it under the configuration."""
    under = {row["fingerprint"] for end in faulty.ends("test_sin_in_a_chain") for row in end["divergences"]}
    assert f"{PLACE}/value/sin/float32,config=sin_wrong" in under
    assert all("config=sin_" in fingerprint for fingerprint in under)


def test_what_the_plain_graph_shows_is_not_told_again(faulty: Outcome) -> None:
    """A fault that plain graphs have, too, is one divergence, without a configuration."""
    for end in faulty.ends("test_log"):
        assert [row["fingerprint"] for row in end["divergences"]] == [f"{PLACE}/value/log/float32"]
        assert end["graph"]["configurations"] == dict.fromkeys(NAMES, "verified") | OF_MODULES


def test_what_the_plain_graph_shows_is_looked_into_once(faulty: Outcome) -> None:
    """Under a configuration that shows the very same, nothing is asked but one graph of all cases."""
    asked = Counter((faulty.folder / "graphs").read_text().splitlines())
    assert asked["plain: log"] > 2
    again = {name for name in NAMES if asked[f"{name}: log"] > 1}
    assert again == {"half"}  # there the numbers are others


def test_verdicts_and_outcomes(faulty: Outcome) -> None:
    """An abort costs its case alone; what is right, or has no graphs, is green."""
    assert faulty.verdicts("test_exp") == Counter(crashed=3)
    assert faulty.verdicts("test_cos") == Counter(divergent=3)
    green = {test for test, outcome in faulty.outcomes().items() if outcome == "passed"}
    assert green == {"test_some", "test_none", "test_without_graphs"}


def test_records_say_what_was_verified_under_which(faulty: Outcome) -> None:
    """Each case says what became of its graph under each configuration that its test asks for."""
    [told] = {tuple(end["graph"]["configurations"].items()) for end in faulty.ends("test_cos")}
    graphs = {name: "the target's graph refused it" if name == "cos_raises" else "verified" for name in NAMES}
    assert dict(told) == graphs | OF_MODULES
    assert [end["graph"]["configurations"] for end in faulty.ends("test_some")] == [
        {"sound": "verified", "half": "verified"}
    ] * 3
    for test in ("test_none", "test_without_graphs"):
        assert all("configurations" not in end["graph"] for end in faulty.ends(test))


def test_summary_counts_cases_by_configuration(faulty: Outcome) -> None:
    """summary.json and the terminal have the counts and the reasons."""
    told = faulty.summary["configurations"]
    assert told["exp_aborts"] == {"verified": 15, "cases": 18}
    assert told["skipped"] == {
        "cos_raises: the target's graph refused it": 3,
        "exp_aborts: the graph ended in a crash": 3,
        "tan_fails: the target's graph refused it": 3,
    }
    [line] = [line for line in faulty.out.splitlines() if line.startswith("configurations")]
    assert line == "configurations   94.3 %  24 of 24 cases under sound, half, 18 of 18 cases under"


def test_unknown_configuration_of_a_test_is_refused(faulty: Outcome) -> None:
    """A test that asks for one that the target has not fails, and is told which there are."""
    [error] = [record["error"] for record in faulty.records("test") if record["test"].endswith("test_unknown")]
    assert error == (
        "autotest.UsageError: graph_configs='fused', but should be all, or configurations of configured's graphs, "
        f"which are {', '.join([*NAMES, *OF_MODULES])} [--graph-configs or @autotest(graph_configs=...)]"
    )


def test_target_without_configurations_verifies_none(without: Outcome) -> None:
    """All tests are green, and what was asked for is told as not offered."""
    assert set(without.outcomes().values()) == {"passed"}
    assert [end["graph"]["configurations"] for end in without.ends("test_sin")] == [{"all": "torch offers none"}] * 3
    assert [end["graph"]["configurations"] for end in without.ends("test_some")] == [
        {"sound": "torch offers none", "half": "torch offers none"}
    ] * 3
    [line] = [line for line in without.out.splitlines() if line.startswith("configurations")]
    assert line.split()[1:3] == ["0.0", "%"]


def test_run_asks_for_configurations(shared_run: SharedRun) -> None:
    """`--autotest-graph-configs` counts in all tests, instead of their own."""
    asked = ["--autotest-graph-configs", "sound,half", "--autotest-graph-configs", "sin_wrong"]
    run = shared_run("configurations-run", FILES, "-q", "-k", "none or some", *asked, target="configured:Adapter")
    for test in ("test_none", "test_some"):
        assert [*run.ends(test)[0]["graph"]["configurations"]] == ["sound", "half", "sin_wrong"]
        assert run.outcomes()[test] == "failed"


def test_inline(shared_run: SharedRun) -> None:
    """In pytest's own process it is the same."""
    inline = ["--autotest-isolate", "never"]
    run = shared_run(
        "configurations-inline", FILES, "-q", "-k", "sin and not chain", *inline, target="configured:Adapter"
    )
    assert {row["fingerprint"] for end in run.ends("test_sin") for row in end["divergences"]} == WRONG["test_sin"]


@pytest.mark.parametrize("isolate", ["auto", "never"])
def test_run_that_asks_for_an_unknown_one_stops(shared_run: SharedRun, isolate: str) -> None:
    """The first test ends the run, and is told which configurations there are."""
    asked = ["--autotest-graph-configs", "sound,fused", "--autotest-isolate", isolate]
    run = shared_run(f"configurations-unknown-{isolate}", FILES, "-q", *asked, target="configured:Adapter")
    assert run.status == 2
    [stop] = run.records("stop")
    assert stop["message"] == (
        "graph_configs='fused', but should be all, or configurations of configured's graphs, which are "
        f"{', '.join([*NAMES, *OF_MODULES])} [--graph-configs or @autotest(graph_configs=...)]"
    )


def test_run_that_asks_for_one_where_there_is_none(shared_run: SharedRun) -> None:
    """A target without any verifies none that a test asks for; the run that names one is told."""
    asked = ["--autotest-graph-configs", "sound"]
    run = shared_run("configurations-unknown-torch", FILES, "-q", *asked, target="torch")
    assert run.status == 2
    [stop] = run.records("stop")
    assert stop["message"] == (
        "graph_configs='sound', but torch's graphs have no configurations: leave it out, or choose another target "
        "[--graph-configs]"
    )


BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, graph_configs=("sound", "cos_raises"))
def test_chain():
    return torch.cos(random_tensor(ndim=2) * 2) + 1
"""
KNOWN = "mine:Adapter/graph_forward/exception/cos/float32,config=cos_raises"


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that target as `mine:Adapter`, whose only divergence has been shrunk, blamed and accepted."""
    folder = tmp_path_factory.mktemp("configurations")
    files = {"test_mine.py": BODY, "mine.py": (SUPPORT / "configured.py").read_text()}
    looking = ("--autotest-shrink=5", "--autotest-blame-total=5", "--autotest-no-memory")
    red = run_pytest(folder, files, *looking, target="mine:Adapter", env={"PYTHONPATH": str(folder)})
    assert [row["fingerprint"] for row in red.summary["divergences"]] == [KNOWN], red.out
    return folder


def autotest(folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and output of `autotest ARGUMENTS`."""
    done = run_autotest(folder, *arguments, env={"PYTHONPATH": str(folder)})
    return done.returncode, done.stdout + done.stderr


def test_later_looks_are_under_the_configuration(mine: Path) -> None:
    """The minimal Program shows it, and so does a replay; a ledger knows it, and is told when it is gone."""
    [shrunk] = Outcome(1, "", mine).records("shrunk")
    assert shrunk["shrunk"]["program"] == "def program(torch, t0):\n    t1 = torch.cos(t0)\n    return t1"
    [blame] = Outcome(1, "", mine).records("blame")
    assert blame["blame"]["verdict"] == "target"
    [row] = Outcome(1, "", mine).summary["divergences"]
    status, said = autotest(mine, "replay", row["id"])
    assert (status, said.partition("\n")[0]) == (1, f"{row['id']} stands: 1 divergence in 1 of 1 case")
    assert "cos: under cos_raises, cos raised RuntimeError: planted" in said

    assert autotest(mine, "accept", "--where", "kind=exception", "--reason", "planted")[0] == 0
    check = ("ledger", "check", "--target", "mine:Adapter", "known_divergences.toml")
    assert autotest(mine, *check) == (0, "1 entry replayed, 0 no longer diverge\n")
    env = {"PYTHONPATH": str(mine)}
    green = run_pytest(mine, {}, target="mine:Adapter", env=env)
    assert (green.status, [known["fingerprint"] for known in green.summary["known"]]) == (0, [KNOWN])

    gone = (mine / "mine.py").read_text()
    for text in (
        gone.replace('elif name == "cos_raises"', 'elif name == "-"'),
        gone.replace("cos_raises", "tanh_raises"),
    ):
        (mine / "mine.py").write_text(text)
        assert autotest(mine, *check) == (
            1,
            f"{KNOWN} is known to diverge, but no longer does: remove its entry from known_divergences.toml\n"
            "1 entry replayed, 1 no longer diverges\n",
        )
