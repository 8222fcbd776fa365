"""The ledger: what is read, what is refused, what is proved, what `autotest accept` writes."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from autotest.cli import main
from autotest.compare.difference import Difference
from autotest.compare.divergence import Divergence
from autotest.errors import UsageError
from autotest.ledger.accept import AcceptError, _ledger_for, _summary, _whole, accept
from autotest.ledger.check import orphans, stale_entries
from autotest.ledger.document import document
from autotest.ledger.draft import Draft
from autotest.ledger.entries import Entry, Ledger, LedgerError, Ledgers, read, store
from autotest.options import OPTIONS
from autotest.options.ledger import SUITES
from dual_object.program.calls import Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from dual_object.replay.adapter import TargetInfo
from reports import latest_run
from support.programs import one_call
from support.runs import run_autotest, run_pytest

FINGERPRINT = "torch/eager_forward/value/relu/float32"
SHORT = FINGERPRINT.rpartition("/")[0]
RULES = {"rtol": None, "atol": None, "check_allclose": True, "check_dtype": True}
BODY = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, check_graph=False)
def test_relu():
    return torch.relu(random_tensor(ndim=1, dim0=3))

@autotest(n=2, check_graph=False)
def test_tanh():
    return torch.tanh(random_tensor(ndim=1, dim0=3))
"""
FAULT = """
import torch

def relu(adapter):
    plain = torch.relu
    torch.relu = lambda x: plain(x) + 1
"""
FIRST_TIME = """
import torch

def norm(adapter):
    right, met = torch.norm, set()

    def wrong(x, *given, **more):
        key = str(x.tolist())
        first = key not in met
        met.add(key)
        return right(x, *given, **more) + first

    torch.norm = wrong
"""


def entry(**changed: str) -> str:
    """One entry as text."""
    program = one_call(backward=True)
    keys = {
        "fingerprint": FINGERPRINT,
        "reason": "planted",
        "versions": ">=2",
        "tests": ["test_a.py::test_relu"],
        "message": "relu: t0 differs",
        "program": str(program),
        "stored": store(program, RULES),
        **changed,
    }
    return "[[torch]]\n" + "".join(
        f"{key} = {value if isinstance(value, list) else chr(39) * 3 + str(value) + chr(39) * 3}\n"
        for key, value in keys.items()
        if value is not None
    )


def problems(tmp_path: Path, text: str) -> list[str]:
    """What is wrong with a ledger, without its path."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(text)
    return [problem.replace(str(path), "LEDGER") for problem in read(path, "torch").problems]


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("def program(torch, x):\n    t0 = torch.relu(x)\n    t1 = t0 + 1\n    return t1\n", "t0 = torch.relu(x)"),
        ("def program(torch, x):\n    t0 = x + 1\n    t1 = t0 * 2\n    return t1\n", "t1 = t0 * 2"),
        ("no program is stored: the test runs inline\n", "no program is stored: the test runs inline"),
    ],
)
def test_line_of_an_entry(tmp_path, program, line):
    """The line that calls the op stands for a Program, wherever it is in it."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(program=program))
    assert read(path, "torch").entries[FINGERPRINT].line == line


def test_entry_is_read(tmp_path):
    """An entry gives its kind, its diverging line and its Program with the very values."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry())
    found = read(path, "torch").entries[FINGERPRINT]
    program, rules = found.proof
    assert (found.kind, found.graph, found.line, found.strict) == ("value", False, "t0 = torch.relu(x)", "proof")
    assert str(program) == str(one_call(backward=True))
    assert program.inputs[0].data.tobytes() == one_call(backward=True).inputs[0].data.tobytes()
    assert rules.check_dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_stored_values_are_exact(dtype, tmp_path):
    """Every dtype's values come back bit for bit, NaN, infinities and the negative zero included."""
    values = [0.1, -0.0, float("nan"), float("inf")] if dtype.startswith(("float", "complex")) else [1, 0, 1]
    program = Program([Input(0, "x", np.array(values, dtype=dtype), dtype)], [], Ref(0))
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(stored=store(program, RULES)))
    found, _ = read(path, "torch").entries[FINGERPRINT].proof
    assert found.inputs[0].data.tobytes() == program.inputs[0].data.tobytes()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"reson": "x"},
            "LEDGER: entry 1 of torch has the unknown key 'reson', but should have only fingerprint, reason, versions, "
            "tests, message, program, stored, strict, device, elsewhere",
        ),
        ({"reason": None}, "LEDGER: entry 1 of torch lacks the key 'reason'"),
        ({"reason": " "}, "LEDGER: entry 1 of torch has reason=' ', but should have a text that is not empty"),
        (
            {"fingerprint": "relu"},
            "LEDGER: entry 1 of torch has fingerprint='relu', "
            "but should have torch/phase/kind/op/facts as a report shows it",
        ),
        (
            {"fingerprint": "torch/*/value/relu/float32"},
            "LEDGER: entry 1 of torch has fingerprint='torch/*/value/relu/float32', "
            "but should have * in its op and its facts alone",
        ),
        (
            {"fingerprint": "torch/eager_forwards/value/relu/float32"},
            "LEDGER: entry 1 of torch has the phase 'eager_forwards' in "
            "fingerprint='torch/eager_forwards/value/relu/float32', but should have one of eager_forward, "
            "eager_backward, eager_second, eager_update, global_forward, global_backward, graph_forward, "
            "graph_backward, graph_update, graph_state, contract",
        ),
        (
            {"fingerprint": "torch/eager_forward/vaule/relu/float32"},
            "LEDGER: entry 1 of torch has the kind 'vaule' in fingerprint='torch/eager_forward/vaule/relu/float32', "
            "but should have one of crash, timeout, out_of_memory, value, nonfinite, sign, random, shape, dtype, "
            "structure, grad_missing, grad_extra, mutation, alias, requires_grad, exception, accepts_invalid, "
            "exception_class, mode, broken, batch_only, layout, device, missing, unmapped, unsupported",
        ),
        (
            {"strict": "never"},
            "LEDGER: entry 1 of torch has strict='never', but should have one of proof, seen",
        ),
        (
            {"versions": "newest"},
            "LEDGER: entry 1 of torch has versions='newest', but should have a version specifier such as '==0.9.0'",
        ),
    ],
)
def test_bad_entry(changed, sentence, tmp_path):
    """What is wrong with an entry is one sentence; the other entries stand."""
    other = entry(fingerprint="torch/eager_forward/value/tanh/float32")
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(**changed) + other)
    found = read(path, "torch")
    assert [problem.replace(str(path), "LEDGER") for problem in found.problems] == [sentence]
    assert list(found.entries) == ["torch/eager_forward/value/tanh/float32"]


def test_duplicate_entry(tmp_path):
    """The second entry of a fingerprint is refused, the first stands."""
    assert problems(tmp_path, entry() + entry()) == [
        f"LEDGER: entry 2 of torch has fingerprint={FINGERPRINT!r} a second time: remove one of both"
    ]


def test_tables_of_other_names(tmp_path):
    """A table of another target is none of this run's, unless it is about it; one that is no list is told as such, and
    so is a name that is not the target's of its entries.
    """
    other = entry().replace("[[torch]]", "[[tohrc]]")
    assert problems(tmp_path, other + other.replace(FINGERPRINT, "paddle/eager_forward/value/relu/float32")) == [
        "LEDGER: entry 1 of tohrc is about torch, and should stand under [[torch]]",
        "LEDGER: entry 2 of tohrc has fingerprint='paddle/eager_forward/value/relu/float32', but should have "
        "tohrc/phase/kind/op/facts as a report shows it, under the name of its target",
    ]
    assert problems(tmp_path, entry().replace("torch", "paddle")) == []
    assert problems(tmp_path, "[[divergence]]\nfoo = 1\n") == [
        "LEDGER: entry 1 of divergence has no fingerprint, but should have "
        "divergence/phase/kind/op/facts as a report shows it, under the name of its target"
    ]
    assert problems(tmp_path, "[paddle]\nreason = 'r'\n") == [
        "LEDGER: paddle should be a list of entries, each under [[paddle]]"
    ]
    assert problems(tmp_path, entry().replace("[[torch]]", "[torch]")) == [
        "LEDGER: torch should be a list of entries, each under [[torch]]"
    ]


def test_folder_called_as_a_ledger(tmp_path):
    """It is found, and told to be none."""
    (tmp_path / "known_divergences.toml").mkdir()
    ledgers = Ledgers(("torch",), tmp_path)
    ledgers.nearest(tmp_path / "test_a.py")
    assert ledgers.problems() == [
        f"{tmp_path}/known_divergences.toml cannot be read as a ledger: [Errno 21] Is a directory: "
        f"'{tmp_path}/known_divergences.toml'; no divergence counts as known"
    ]


def test_no_toml(tmp_path):
    """A file that is no TOML makes nothing known, and says so."""
    [problem] = problems(tmp_path, "[[torch]\n")
    assert problem.startswith("LEDGER cannot be read as a ledger: ")
    assert problem.endswith("; no divergence counts as known")


def test_damaged_program(tmp_path):
    """A stored Program that cannot be read names its entry and the repair."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(stored="{}"))
    with pytest.raises(LedgerError) as caught:
        _ = read(path, "torch").entries[FINGERPRINT].proof
    assert str(caught.value) == (
        f"{path}: the stored Program of {FINGERPRINT} cannot be read (KeyError: 'arrays'); "
        "remove the entry and accept it again"
    )


@pytest.mark.parametrize(
    ("versions", "device", "applies"),
    [("==0.9.0", "cpu", True), ("==0.9.1", "cpu", False), ("<1", "cuda", False)],
)
def test_entry_applies(versions, device, applies):
    """An entry is about certain versions and a device of the target."""
    found = Entry(Path(), "oneflow/a/b/c/d", "r", versions, (), "m", "p", "s", device=device)
    assert found.applies(TargetInfo("oneflow", {"oneflow": "0.9.0+cu112"}, ("cpu",), ())) is applies


def no_target(name):
    """What runs the Programs of a target, where nothing runs."""


def test_nearest_ledger(tmp_path):
    """The nearest file above a test counts, up to the root."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "known_divergences.toml").write_text(entry())
    (tmp_path / "a" / "known_divergences.toml").write_text("")
    ledgers = Ledgers(["torch"], tmp_path)
    assert ledgers.nearest(tmp_path / "a" / "b" / "test_x.py").path == tmp_path / "a" / "known_divergences.toml"
    assert list(ledgers.nearest(tmp_path / "test_x.py").entries) == [FINGERPRINT]
    assert Ledgers(["torch"], tmp_path / "a" / "b").nearest(tmp_path / "a" / "b" / "test_x.py").path is None


def test_a_targets_own_ledger(tmp_path):
    """A file that is named after one target is all that is known of it there; it is no other's, and no further away."""
    own = tmp_path / "known_divergences.torch.toml"
    own.write_text(entry())
    (tmp_path / "known_divergences.toml").write_text("")
    (tmp_path / "a").mkdir()

    def nearest(*targets):
        return Ledgers(targets, tmp_path).nearest(tmp_path / "a" / "test_x.py")

    assert nearest("torch").path == own
    assert list(nearest("torch").entries) == [FINGERPRINT]
    assert nearest("oneflow").path == nearest("torch", "oneflow").path == tmp_path / "known_divergences.toml"
    (tmp_path / "a" / "known_divergences.toml").write_text("")
    assert nearest("torch").path == tmp_path / "a" / "known_divergences.toml"


@pytest.mark.parametrize(
    ("fingerprint", "elsewhere", "covered"),
    [
        (FINGERPRINT, "", True),
        ("torch/eager_forward/value/relu/float64", "", False),
        ("torch/eager_forward/value/relu/float64", "*", True),
        ("torch/eager_forward/value/relu/float64,empty", "*,empty", True),
        ("torch/eager_forward/value/relu/float64", "*,empty", False),
        ("torch/eager_forward/nonfinite/relu/float32", "*", False),
        ("torch/graph_forward/value/relu/float32", "*", False),
        ("torch/eager_forward/value/relu6/float32", "*", False),
        ("oneflow/eager_forward/value/relu/float32", "*", False),
    ],
)
def test_entry_elsewhere(tmp_path, fingerprint, elsewhere, covered):
    """In tests that its ledger was added to an entry covers the facts that it says; never another phase, kind or op."""
    mine, added = tmp_path / "mine" / "known_divergences.toml", tmp_path / "suites" / "known_divergences.toml"
    for path, text in ((mine, ""), (added, entry(elsewhere=elsewhere or None))):
        path.parent.mkdir()
        path.write_text(text)
    ledgers = Ledgers(["torch"], tmp_path, [added])
    assert (ledgers.nearest(mine.parent / "test_x.py").find(fingerprint) is not None) is covered
    exact = ledgers.nearest(added.parent / "test_x.py")
    assert (exact.find(fingerprint) is not None) is (fingerprint == FINGERPRINT)
    assert exact.added == ()


def ledger_of(tmp_path, *fingerprints):
    """A ledger with these entries, whose reasons are their facts."""
    path = tmp_path / "known_divergences.toml"
    path.write_text("".join(entry(fingerprint=text, reason=text.rpartition("/")[2]) for text in fingerprints))
    return read(path, "torch")


def test_entry_of_a_class(tmp_path):
    """An entry covers what needs no less; of several the one that needs most speaks, and a pattern last."""
    short = "torch/eager_forward/value/relu"
    facts = ("*,tie", "float32", "float32,kink", "float64,inf", "float64,special")
    ledger = ledger_of(tmp_path, *(f"{short}/{fact}" for fact in facts))
    assert ledger.problems == ()
    asked = [
        "float32,kink",
        "float32,tie",
        "float32,strided,tie",
        "float32,nonfinite",
        "float64,tie",
        "float64,extreme",
    ]
    reasons = [ledger.find(f"{short}/{fact}").reason for fact in asked]
    assert reasons == ["float32,kink", "float32,kink", "float32,kink", "float32", "float64,special", "float64,inf"]
    assert ledger.find(f"{short}/float64") is None


def test_nearest_entry(tmp_path):
    """Beside a new divergence is named what differs in the least of needs and dtype, and in nothing else."""
    short = "torch/eager_forward/value/relu"
    ledger = ledger_of(tmp_path, f"{short}/float32,strided,tie", f"{short}/float32,tie", f"{short}/float64,nan")
    found = {fact: ledger.nearest(f"{short}/{fact}").reason for fact in ("float16,tie", "float32", "float32,nonfinite")}
    assert found == {"float16,tie": "float32,tie", "float32": "float32,tie", "float32,nonfinite": "float64,nan"}
    assert ledger.nearest("torch/eager_forward/value/tanh/float32") is None
    assert ledger.nearest("torch/eager_backward/value/relu/float32") is None


@pytest.mark.parametrize(("seen", "ran"), [("float32", 0), ("float32,tie", 1)])
def test_proof_by_what_needs_more(seen, ran, tmp_path, monkeypatch):
    """What needs more than an entry is covered by it, but may be all that is left of it: its own Program is asked."""
    [known] = ledger_of(tmp_path, FINGERPRINT).entries.values()
    asked = []

    def trial(*given, graph, whole, configuration, needs):
        asked.append(given)
        return [Divergence(Difference("eager_forward", "value", "t0", "differs", 0), one_call(backward=True), 0)]

    monkeypatch.setattr("autotest.ledger.check.trial", trial)
    info = TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ("float32",))
    assert stale_entries(None, no_target, lambda: info, [known], [f"torch/eager_forward/value/relu/{seen}"]) == []
    assert len(asked) == ran


@pytest.mark.parametrize(
    ("fingerprint", "deadly", "needs"),
    [
        ("torch/graph_forward/exception/relu/float32,empty", True, ("empty",)),
        ("torch/graph_forward/value/relu/float32,empty", True, None),
        ("torch/eager_forward/exception/relu/float32,empty", True, None),
        ("torch/eager_forward/exception/relu/float32,empty", False, ("empty",)),
    ],
)
def test_what_an_entry_needs_is_believed(fingerprint, deadly, needs, tmp_path, monkeypatch):
    """At the end of a test; where the whole ledger is proved it is found out again, but for what a graph raises: each
    experiment may cost a process.
    """
    given = []
    monkeypatch.setattr("autotest.ledger.check.trial", lambda *asked, needs, **options: given.append(needs) or [])
    info = TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ("float32",))
    stale_entries(None, no_target, lambda: info, ledger_of(tmp_path, fingerprint).entries.values(), deadly=deadly)
    assert {*given} == {needs}


def test_added_ledger(tmp_path):
    """It counts where no other ledger is, proves nothing there, and what is wrong with it is told."""
    added = tmp_path / "given.toml"
    added.write_text(entry() + entry(reason=None))
    ledgers = Ledgers(["torch"], tmp_path, [added, added])
    assert ledgers.problems() == []
    ledger = ledgers.nearest(tmp_path / "test_a.py")
    found = ledger.find(FINGERPRINT)
    assert found is not None
    assert found.path == added
    assert (list(ledger.about("test_a.py::test_relu")), len(ledger.added)) == ([], 1)
    assert ledgers.problems() == [f"{added}: entry 2 of torch lacks the key 'reason'"]


def test_given_ledgers(tmp_path):
    """`--ledger` takes files and the name of those that the suites have; what is neither is refused."""
    path = tmp_path / "given.toml"
    path.touch()
    root = Path(__file__).parents[3] / "suites"
    option = OPTIONS["ledger"]
    assert option.read([str(path), "suites"]) == (
        path,
        root / "known_divergences.toml",
        *sorted(root.glob("known_divergences.*.toml")),
        root / "global" / "known_divergences.toml",
    )
    assert option.read(None) == ()
    with pytest.raises(UsageError) as caught:
        option.read(["oneflow.toml"])
    assert str(caught.value) == (
        "ledger='oneflow.toml', but should be an existing file of known divergences, or 'suites': those of the suites "
        "[--autotest-ledger]"
    )
    for content, said in (
        (b"[[torch]\n", "Expected ']]' at the end of an array declaration (at line 1, column 8)"),
        (b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ):
        path.write_bytes(content)
        with pytest.raises(UsageError) as caught:
            option.read([str(path)])
        assert str(caught.value) == f"ledger={str(path)!r} cannot be read as a ledger: {said} [--ledger]"


@pytest.mark.parametrize(
    ("target", "page", "ledger"),
    [
        ("oneflow", "oneflow-0.9.0.md", "known_divergences.toml"),
        ("torch:*", "torch-2.14.1.md", "known_divergences.toml"),
        ("paddle", "paddle-3.3.1.md", "known_divergences.paddle.toml"),
        ("jax", "jax-0.12.0.1.md", "known_divergences.jax.toml"),
    ],
)
def test_page_of_the_suites_is_that_of_their_ledger(target, page, ledger, monkeypatch):
    """The page of known divergences is what the command writes, with the words of every kind and phase."""
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)
    assert document(Path("suites", ledger), target) == (root / "docs" / page).read_text()


@pytest.mark.parametrize(("target", "ledger"), [("oneflow", ""), ("paddle", "paddle."), ("jax", "jax.")])
def test_readme_counts_the_entries_of_the_suites_ledgers(target, ledger):
    """Its table of targets has the number of entries of each."""
    [row] = re.findall(rf"^\| `{target}` \|.*$", (SUITES.parent / "README.md").read_text(), re.MULTILINE)
    entries = read(SUITES / f"known_divergences.{ledger}toml", target).entries
    assert row.rpartition(" | ")[2] == f"{len(entries):,} |"


def test_document(tmp_path):
    """The page names every entry once, with its line, and shows text as it is."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(message="relu: [0] is <1>"))
    assert document(path, "torch") == (
        "# torch >=2: known divergences from PyTorch\n\n"
        f"Written by `autotest ledger document {path}`; 1 divergences of 1 ops.\n\n"
        "| kind | divergences |\n|---|---|\n| value | 1 |\n\n## relu\n\n"
        "- **value**, eager, float32: `t0 = torch.relu(x)` relu: \\[0\\] is \\<1\\>\n"
    )
    other = entry(message="relu: wrong").replace("torch/", "torch:fx/").replace("[[torch]]", '[["torch:fx"]]')
    path.write_text(path.read_text() + "\n" + other)
    assert document(path, "torch:*") == (
        "# torch:* >=2: known divergences from PyTorch\n\n"
        f"Written by `autotest ledger document {path} --target 'torch:*'`; 1 divergences of 1 ops.\n\n"
        "| kind | divergences |\n|---|---|\n| value | 1 |\n\n## relu\n\n"
        "- **value**, torch:fx, eager, float32: `t0 = torch.relu(x)` relu: wrong\n"
    )


def accept_all(folder, files, env, target="torch"):
    """Run BODY beside the files, and accept the one divergence that it shows."""
    env = {**env, "PYTHONPATH": str(folder)}
    assert run_pytest(folder, {"test_a.py": BODY, **files}, target=target, env=env).status == 1
    done = run_autotest(folder, "accept", "--where", "kind=value op=re*", "--reason", "planted", env=env)
    assert (done.returncode, done.stdout) == (0, "1 accepted into known_divergences.toml\n")
    return folder, env


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """A folder whose only divergence, a planted fault, has been accepted."""
    return accept_all(tmp_path_factory.mktemp("ledger"), {"planted.py": FAULT}, {"AUTOTEST_FAULT": "planted:relu"})


def test_known_divergence_is_green(accepted):
    """A known divergence is counted as known and fails nothing; it needs no proof when its test shows it."""
    folder, env = accepted
    green = run_pytest(folder, {}, env=env)
    assert green.status == 0
    assert (green.summary["divergent"], green.summary["divergences"]) == (2, [])
    assert [row["fingerprint"] for row in green.summary["known"]] == [FINGERPRINT]


def test_known_elsewhere_is_green(accepted, tmp_path):
    """A ledger that a run is given counts for tests that lie elsewhere, and asks no proof of them."""
    folder, env = accepted
    (tmp_path / "planted.py").write_text(FAULT)
    given = ("--autotest-ledger", str(folder / "known_divergences.toml"))
    env = {**env, "PYTHONPATH": str(tmp_path)}
    green = run_pytest(tmp_path, {"test_b.py": BODY}, *given, target="torch", env=env)
    assert green.status == 0, green.out
    assert [row["fingerprint"] for row in green.summary["known"]] == [FINGERPRINT]


def test_gone_divergence_is_red(accepted):
    """A known divergence that is gone fails its own test, and the sentence names the entry to remove."""
    folder, _ = accepted
    red = run_pytest(folder, {})
    assert red.status == 1
    assert red.outcomes() == {"test_relu": "failed", "test_tanh": "passed"}
    assert (
        f"{FINGERPRINT} is known to diverge, but no longer does: "
        f"remove its entry from {folder / 'known_divergences.toml'}"
    ) in red.out


def test_ledger_check(accepted):
    """`autotest ledger check` replays every entry: 0 while all diverge, 1 when one is gone."""
    folder, env = accepted
    command = ("ledger", "check", "--target", "torch", "known_divergences.toml")
    answers = [run_autotest(folder, *command, env=extra) for extra in (env, {})]
    assert [answer.returncode for answer in answers] == [0, 1]
    assert answers[0].stdout == "1 entry replayed, 0 no longer diverge\n"
    assert answers[1].stdout == (
        f"{FINGERPRINT} is known to diverge, but no longer does: remove its entry from known_divergences.toml\n"
        "1 entry replayed, 1 no longer diverges\n"
    )


@pytest.mark.parametrize(
    ("shown", "runs", "stale"),
    [
        ([["value"]], 1, []),
        ([["crash"], [], ["value"]], 3, []),
        (
            [["crash"], ["crash"], [], ["crash"], ["crash"]],  # what is another one is run again, to be told as it is
            5,
            [
                f"{FINGERPRINT} is known to diverge, but no longer does: remove its entry from {{path}} "
                "(its Program now shows torch/eager_forward/crash/relu/float32)"
            ],
        ),
    ],
)
def test_proof_of_what_fails_by_chance(shown, runs, stale, tmp_path, monkeypatch):
    """An entry is gone only where none of several runs shows it."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry())
    ran = []

    def trial(*asked, graph, whole, configuration, needs):
        ran.append(asked)
        program = one_call(backward=True)
        return [
            Divergence(Difference("eager_forward", kind, "t0", "differs", 0), program, 0)
            for kind in shown[len(ran) - 1]
        ]

    monkeypatch.setattr("autotest.ledger.check.trial", trial)
    entries = read(path, "torch").entries.values()
    info = TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ("float32",))
    assert stale_entries(None, no_target, lambda: info, entries) == [sentence.format(path=path) for sentence in stale]
    assert len(ran) == runs


def test_orphan(tmp_path):
    """An entry whose test is in no file beside the ledger is named; one that is in a file of that name is not."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry())
    entries = list(read(path, "torch").entries.values())
    assert orphans(path, entries) == [
        f"{path}: {FINGERPRINT} matches nothing, for no file here holds its test test_a.py::test_relu: remove the entry"
    ]
    (tmp_path / "deeper").mkdir()
    file = tmp_path / "deeper" / "test_a.py"
    file.write_text("def test_relu_again(): ...\n")
    assert orphans(path, entries) == [
        f"{path}: {FINGERPRINT} matches nothing, for test_a.py has no test_relu: remove the entry"
    ]
    file.write_text("class TestA:\n    def test_relu(self): ...\n")
    assert orphans(path, entries) == []
    path.write_text(entry().replace("::test_relu", "::TestA::test_relu[case]"))
    assert orphans(path, read(path, "torch").entries.values()) == []


TARGET = """
import torch
from dual_object.adapters.torch import adapter as base

class Adapter(base.Adapter):
    name = "mine"

    def resolve(self, path):
        if path == "relu" and {wrong}:
            return lambda x: torch.relu(x) + 1
        return super().resolve(path)
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A folder with a target of its own, whose only divergence has been accepted."""
    files = {"mine.py": TARGET.format(wrong=True)}
    return accept_all(tmp_path_factory.mktemp("mine"), files, {}, target="mine:Adapter")


def test_entries_of_a_target_outside_the_tree(mine):
    """What is known of such a target is green while it stands, red when it is gone, and checked."""
    folder, env = mine
    command = ("ledger", "check", "--target", "mine:Adapter", "known_divergences.toml")
    found = []
    for wrong in (True, False):
        run = run_pytest(folder, {"mine.py": TARGET.format(wrong=wrong)}, target="mine:Adapter", env=env)
        done = run_autotest(folder, *command, env=env)
        found.append((run.status, done.returncode, done.stdout.splitlines()[-1]))
    assert found == [
        (0, 0, "1 entry replayed, 0 no longer diverge"),
        (1, 1, "1 entry replayed, 1 no longer diverges"),
    ]


def test_ledger_check_of_another_target(mine):
    """Nothing is checked of a ledger that is about other targets alone, and that is told."""
    folder, env = mine
    done = run_autotest(folder, "ledger", "check", "--target", "torch", "known_divergences.toml", env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "known_divergences.toml has no entry of torch, but 1 of mine: name one of these [--target]\n"
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_damaged_ledger(workers, tmp_path):
    """A ledger with a bad entry: the run goes on, the sentence is shown, and the exit status is 2, also where a test is
    red, of which the entry may have told.
    """
    red = f"{BODY}\ndef test_red():\n    raise ValueError\n"
    for name, body in ("green", BODY), ("red", red):
        files = {"test_a.py": body, "known_divergences.toml": entry(strict="never")}
        done = run_pytest(tmp_path / name, files, "-n", workers)
        assert done.status == 2
        assert done.counts()["aligned"] == 4
        path = tmp_path / name / "known_divergences.toml"
        sentence = f"{path}: entry 1 of torch has strict='never', but should have one of proof, seen"
        assert done.out.count(sentence) == 1
        assert "\nFAILED: 1 of 3 tests failed without a divergence" in done.out
        assert done.summary["errors"]["the ledger"].startswith(sentence)


def test_wider_entry(accepted, tmp_path):
    """`accept` offers the entry that would cover what was there and what is new; `--wider` makes it, and no other."""
    folder, _ = accepted
    run = latest_run(folder / "autotest-report")
    fingerprints = {
        "a": f"{SHORT}/float64,tie",
        "b": f"{SHORT}/float16,strided,tie",
        "c": f"{SHORT.replace('forward', 'backward')}/float32",
    }
    named = {"target": "torch", "op": "relu", "phase": "p", "kind": "value", "level": "wrong", "message": "m"}
    rows = [
        {**named, "id": letter * 8, "fingerprint": text, "test": f"test_{letter}.py::test_it"}
        for letter, text in fingerprints.items()
    ]
    report = tmp_path / "report" / "runs" / run.name
    shutil.copytree(run, report)
    told = json.loads((run / "summary.json").read_text())
    (report / "summary.json").write_text(json.dumps({**told, "divergences": rows}))
    path = tmp_path / "known_divergences.toml"
    other = f"{SHORT.replace('relu', 'exp')}/bool"
    before = entry(fingerprint=f"{SHORT}/float32,kink") + entry(fingerprint=other)
    path.write_text(before)
    plain = accept(["aaaaaaaa"], None, "seen", tmp_path / "report", path, "seen")
    assert plain.offers == (
        f"{SHORT}/float64,tie differs from {SHORT}/float32,kink in the dtype or in what it needs alone: "
        f"--wider makes that one {SHORT}/*,tie, which covers both",
    )
    assert [*read(path, "torch").entries] == [f"{SHORT}/float32,kink", other, f"{SHORT}/float64,tie"]
    path.write_text(before)
    wide = accept(["aaaaaaaa", "bbbbbbbb", "cccccccc"], None, "rounded", tmp_path / "report", path, wider=True)
    assert wide.written == (f"{SHORT}/*,tie", f"{SHORT}/*,tie")
    assert wide.refused == (
        f"torch/eager_backward/value/relu/float32 differs from no entry of {path} in the dtype or in what it needs "
        "alone: accept it as an entry of its own [--wider]",
    )
    [made, left] = read(path, "torch").entries.values()
    assert left.fingerprint == other
    assert (made.fingerprint, made.reason) == (f"{SHORT}/*,tie", "rounded")
    assert made.tests == ("test_a.py::test_it", "test_a.py::test_relu", "test_b.py::test_it")


@pytest.mark.parametrize(
    ("ids", "where", "reason", "sentence"),
    [
        ((), "op=relu", " ", "reason='', but should say why this is accepted [--reason]"),
        (
            (),
            "colour=red",
            "r",
            "where='colour=red', but should be field=pattern with a field of "
            "id, fingerprint, target, test, op, phase, kind, level",
        ),
        ((), "op=nosuch", "r", "where='op=nosuch' matches no new divergence of RUN"),
        ((), None, "r", "no ID is given, but should be: those of new divergences of RUN, or --where"),
    ],
)
def test_accept_refuses(ids, where, reason, sentence, accepted):
    """What cannot be accepted is one sentence, and nothing is written."""
    folder, _ = accepted
    before = (folder / "known_divergences.toml").read_text()
    with pytest.raises(AcceptError) as caught:
        accept(ids, where, reason, folder / "autotest-report", None)
    run = latest_run(folder / "autotest-report")
    assert str(caught.value).replace(str(run), "RUN") == sentence
    assert (folder / "known_divergences.toml").read_text() == before


def reported(folder, test, path):
    """A report in `folder` of one divergence of a test, whose run had its root in `path`."""
    row = {"id": "0a1b2c3d", "fingerprint": FINGERPRINT, "target": "torch", "test": test, "message": "wrong"}
    run = folder / "autotest-report" / "runs" / "20260101-000000-0-1"
    run.mkdir(parents=True)
    summary = {"divergences": [row], "environment": {"torch": "2.14.1"}, "devices": ["cpu"], "path": path}
    (run / "summary.json").write_text(json.dumps(summary))
    return folder / "autotest-report"


@pytest.mark.parametrize(("typed_in", "path"), [("tests", "{}"), (".", "/nowhere/here"), (".", None)])
def test_ledger_lies_where_the_run_looks(tmp_path, monkeypatch, typed_in, path):
    """A test's name begins in pytest's root folder, also where that is above the folder of the command; the report of
    another machine is about the tests here.
    """
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "tests" / "deep" / "test_a.py").touch()
    report = reported(tmp_path, "tests/deep/test_a.py::test_relu", path and path.format(tmp_path))
    monkeypatch.chdir(tmp_path / typed_in)
    done = accept(["0a1b2c3d"], None, "planted", report, None, "seen")
    assert done.paths == (tmp_path / "tests" / "known_divergences.toml",)
    assert [*read(done.paths[0], "torch").entries] == [FINGERPRINT]
    command = ["accept", "0a1b", "--report", str(report), "--strict", "seen", "--reason", "r"]
    again = CliRunner().invoke(main, command)
    assert again.output == f"{FINGERPRINT}: known_divergences.toml has it already\n0 accepted\n"
    done.paths[0].unlink()
    result = CliRunner().invoke(main, command)
    shown = Path("tests", "known_divergences.toml").relative_to(typed_in)
    assert (result.exit_code, result.output) == (again.exit_code, f"1 accepted into {shown}\n")


def test_accept_from_an_older_run(tmp_path, monkeypatch):
    """An id that the latest run has not is looked for in the others, newest first; what a pattern matches is not."""
    report = reported(tmp_path, "test_a.py::test_relu", str(tmp_path))
    [old] = report.glob("runs/*")
    for day, finished in ((2, True), (3, False), (4, True)):
        run = report / "runs" / f"2026010{day}-000000-0-1"
        run.mkdir()
        if finished:
            (run / "summary.json").write_text((old / "summary.json").read_text().replace("0a1b2c3d", "99999999"))
    monkeypatch.chdir(tmp_path)
    done = accept(["0a1b"], None, "planted", report, None, "seen")
    assert (done.written, done.offers) == ((FINGERPRINT,), (f"0a1b: of the older run {old.name}",))
    newest = max(report.glob("runs/*"))
    for ids, others in ((["0a1b", "99999999"], "has all of these IDs"), (["12345678"], "has it")):
        with pytest.raises(AcceptError) as caught:
            accept(ids, None, "planted", report, None, "seen")
        said = f"ID={ids[0]!r} names no new divergence of {newest}, which has 99999999; no older run {others}"
        assert str(caught.value) == said
    with pytest.raises(AcceptError, match="matches no new divergence"):
        accept([], "id=0a1b2c3d", "planted", report, None, "seen")


@pytest.mark.parametrize(
    ("needs", "given", "strict"),
    [("", None, "proof"), (",unsteady", None, "seen"), (",unsteady", "proof", "proof"), ("", "seen", "seen")],
)
def test_what_comes_by_chance_is_only_seen(accepted, tmp_path, needs, given, strict):
    """Its stored Program would fail to diverge now and then; who asks for a proof has one."""
    folder, _ = accepted
    report = tmp_path / "autotest-report"
    first = min((folder / "autotest-report" / "runs").iterdir())
    shutil.copytree(first, report / "runs" / first.name)
    path = report / "runs" / first.name / "summary.json"
    summary = json.loads(path.read_text())
    row = summary["divergences"][0]
    row["fingerprint"] += needs
    path.write_text(json.dumps(summary))
    own = tmp_path / "known_divergences.toml"
    accept([row["id"]], None, "planted", report, own, given)
    [made] = read(own, "torch").entries.values()
    assert (made.fingerprint, made.strict) == (row["fingerprint"], strict)


def test_ledger_of_the_suites_is_not_written(tmp_path, monkeypatch):
    """What a run with --suites has found goes into a ledger of one's own, not into the one that was installed; in a
    checkout that is the project's own.
    """
    test = os.path.relpath(SUITES / "test_unary.py", tmp_path)
    report = reported(tmp_path, f"{test}::test_op[torch.relu]", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = (SUITES / "known_divergences.toml").read_bytes()
    with pytest.raises(AcceptError) as caught:
        accept(["0a1b2c3d"], None, "planted", report, None, "seen")
    assert str(caught.value) == (
        f"{test}::test_op[torch.relu] belongs to the suites in {SUITES}, whose ledger comes with op-autotest: name a "
        "ledger of your own, and give it to your runs: autotest accept ... --ledger known_divergences.toml, then "
        "autotest run --suites --ledger known_divergences.toml"
    )
    assert (SUITES / "known_divergences.toml").read_bytes() == before
    own = tmp_path / "known_divergences.toml"
    assert accept(["0a1b2c3d"], None, "planted", report, own, "seen").paths == (own,)
    entries = read(own, "torch").entries
    assert ([*entries], orphans(own, entries.values())) == ([FINGERPRINT], [])
    assert _ledger_for("suites/test_unary.py::test_op", SUITES.parent, "oneflow") == SUITES / "known_divergences.toml"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("0a1b", "ID='0a1b', but should name one of 0a1b2c3d, 0a1b9999"),
        ("0a1", "ID='0a1' names no new divergence of RUN, which has 0a1b2c3d, 0a1b9999"),
        ("0a1b2c3d4", "ID='0a1b2c3d4' names no new divergence of RUN, which has 0a1b2c3d, 0a1b9999"),
    ],
)
def test_accept_by_first_digits(tmp_path, monkeypatch, given, sentence):
    """An id may be shortened to four digits or more, which no other id has."""
    report = reported(tmp_path, "test_a.py::test_relu", str(tmp_path))
    [path] = report.glob("runs/*/summary.json")
    summary = json.loads(path.read_text())
    [row] = summary["divergences"]
    summary["divergences"].append({**row, "id": "0a1b9999", "fingerprint": f"{FINGERPRINT},nan"})
    path.write_text(json.dumps(summary))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AcceptError) as caught:
        accept([given], None, "planted", report, None, "seen")
    assert str(caught.value).replace(str(path.parent), "RUN") == sentence
    assert accept(["0a1b9"], None, "planted", report, None, "seen").written == (f"{FINGERPRINT},nan",)


def test_summary_that_cannot_be_read(tmp_path):
    """Of one that is not there a run is missing; one that is damaged is written anew from the records."""
    with pytest.raises(AcceptError) as lacking:
        _summary(tmp_path)
    assert str(lacking.value).endswith("): finish a run first")
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(AcceptError) as damaged:
        _summary(tmp_path)
    assert str(damaged.value) == (
        f"{tmp_path}/summary.json is damaged (Expecting property name enclosed in double quotes: line 1 column 2 (char "
        f"1)), but `autotest report {tmp_path}` writes it anew"
    )


@pytest.mark.parametrize(
    ("known", "has"), [((), "none"), ("abcde", "a, b, c, d, e"), ("abcdefg", "a, b, c, d, e and 2 more")]
)
def test_an_id_that_is_not_there(known, has):
    """What may be accepted is listed, the first five of many."""
    with pytest.raises(AcceptError) as caught:
        _whole("12345678", [*known], Path("RUN"))
    assert str(caught.value) == f"ID='12345678' names no new divergence of RUN, which has {has}"


def test_wider_entry_that_would_need_nothing(tmp_path):
    """What covers both would excuse whatever the op shows: it is neither offered nor made, unless it is there."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint=f"{SHORT}/float32,p="))
    new, info = f"{SHORT}/float32,dim=", TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ())
    with pytest.raises(AcceptError) as error:
        Draft(path, info).widen(new, ["test_b.py::test_other"], "both")
    assert str(error.value) == (
        f"{new} needs nothing that {SHORT}/float32,p= needs: what covers both would excuse whatever is wrong with the "
        "op; accept it as an entry of its own [--wider]"
    )
    draft = Draft(path, info)
    draft.add({"fingerprint": new, "tests": ["test_b.py::test_other"]})
    assert (draft.written, draft.offers) == ([new], [])
    path.write_text(entry(fingerprint=f"{SHORT}/float32"))
    draft = Draft(path, info)
    draft.widen(f"{SHORT}/float64,dim=", ["test_b.py::test_other"], "both")
    assert draft.written == [f"{SHORT}/*"]


def test_entry_about_an_argument(tmp_path):
    """A corner excuses that corner, with whatever else, in any test; the op without it is new."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint=f"{SHORT}/float32,p="))
    ledger = read(path, "torch")
    [corner] = ledger.entries.values()
    for facts in ("float32,p=", "float32,strided,dim=,p="):
        assert ledger.find(f"{SHORT}/{facts}", "test_b.py::test_other") is corner
    assert ledger.find(f"{SHORT}/float32", corner.tests[0]) is None
    assert ledger.find(f"{SHORT}/float32,strided,dim=", corner.tests[0]) is None


@pytest.mark.parametrize(
    ("present", "known"),
    [(("dim=", "p=", "strided"), True), (("p=",), False), (("dim=", "strided"), False), ((), False)],
)
def test_entry_about_what_may_be_needed(present, known, tmp_path):
    """What does not come back in each run is known where all is there that an entry needs, for that may be its cause;
    what does come back needs what it needs.
    """
    [corner] = (ledger := ledger_of(tmp_path, f"{SHORT}/float32,strided,p=")).entries.values()
    added = Ledger(added=(ledger,))
    for asked in (ledger, added):
        for kind in ("value", "nonfinite"):
            shown = f"torch/eager_forward/{kind}/relu/float32,unsteady"
            assert asked.find(shown, "test_b.py::test_other", present=present) is (corner if known else None)
        for other in ("value/relu/float64", "value/tanh/float32", "layout/relu/float32"):
            shown = f"torch/eager_forward/{other},unsteady"
            assert asked.find(shown, "test_b.py::test_other", present=present) is None


@pytest.mark.parametrize(("body", "status"), [("torch.norm(x, p=1)", 0), ("torch.norm(x)", 1)])
def test_entry_about_an_argument_holds_what_is_wrong_by_chance(body, status, tmp_path):
    """A call with the argument that an entry needs is known, though it is wrong the first time alone; one without it is
    new.
    """
    files = {
        "planted.py": FIRST_TIME,
        "test_a.py": f"from autotest import autotest, random_tensor, torch\n\n\n@autotest(n=2, check_graph=False)\n"
        f"def test_norm():\n    x = random_tensor(ndim=2)\n    return {body}\n",
        "known_divergences.toml": entry(fingerprint="torch/eager_forward/value/norm/float32,p=", strict="seen"),
    }
    env = {"AUTOTEST_FAULT": "planted:norm", "PYTHONPATH": str(tmp_path)}
    done = run_pytest(tmp_path, files, target="torch", env=env)
    assert done.status == status, done.out
    known, new = (done.summary[name] for name in ("known", "divergences"))
    assert [row["fingerprint"] for row in known + new] == ["torch/eager_forward/value/norm/float32,unsteady"]
    assert len(known) == (status == 0)


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("relu: relu raised RuntimeError: dim is 7, but there are 2", True),
        ("relu: relu raised RuntimeError: there is no dim 7", False),
        ("relu: relu raised TypeError: relu() got an unexpected keyword argument 'dim'", False),
        ("", False),
    ],
)
def test_entry_about_a_cause(message, known, tmp_path):
    """What the target says tells the cause, however the op is called: another keyword may be one that it lacks."""
    path = tmp_path / "known_divergences.toml"
    short = "torch/eager_forward/exception/relu/float32"
    path.write_text(entry(fingerprint=short, message="relu: relu raised RuntimeError: dim is 3, but there are 1"))
    ledger = read(path, "torch")
    added = Ledger(added=(ledger,))
    for asked in (ledger, added):
        assert (asked.find(f"{short},dim=,method", "test_b.py::test_other", message) is not None) is known
        assert asked.find(f"{short},method".replace("32", "64"), "test_b.py::test_other", message) is None


def test_entry_gets_further_tests(tmp_path):
    """What is known in some tests, and accepted in another, is one entry about all of them."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint="torch/eager_forward/value/program/float32"))
    draft = Draft(path, TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ()))
    [first] = read(path, "torch").entries["torch/eager_forward/value/program/float32"].tests
    draft.add({"fingerprint": "torch/eager_forward/value/program/float32", "tests": ["test_b.py::test_other"]})
    draft.save()
    [entry_of_both] = read(path, "torch").entries.values()
    assert entry_of_both.tests == tuple(sorted([first, "test_b.py::test_other"]))


@pytest.mark.parametrize("whole", ["torch/eager_forward/value/program/float32", "torch/eager_update/value/SGD/float32"])
def test_entry_about_a_program(tmp_path, whole):
    """What no single call shows is known in the tests of its entry alone: elsewhere it may be anything, and so may what
    an update leaves wrong.
    """
    op = "torch/eager_forward/value/relu/float32"
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint=whole) + entry(fingerprint=op))
    ledger = read(path, "torch")
    [test] = ledger.entries[whole].tests
    assert ledger.find(whole, test) is ledger.find(whole) is ledger.entries[whole]
    assert ledger.find(f"{whole},tie", test) is ledger.entries[whole]
    assert ledger.find(whole, "test_b.py::test_other") is None
    assert ledger.find(op, "test_b.py::test_other") is ledger.entries[op]
    added = Ledger(added=(ledger,))
    assert added.find(whole, "test_b.py::test_other") is None
    assert added.find(whole, test) is ledger.entries[whole]


def test_general_entry(tmp_path):
    """A star stands for any op or facts, of the same phase and kind; an entry of the divergence's own goes before."""
    general, own = "torch/eager_forward/layout/*/*,strided", "torch/eager_forward/layout/relu/float32,strided"
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint=general, reason="everywhere") + entry(fingerprint=own, reason="here"))
    ledger = read(path, "torch")
    assert ledger.problems == ()

    def reason(fingerprint):
        found = ledger.find(fingerprint)
        return None if found is None else found.reason

    assert reason(own) == "here"
    assert reason("torch/eager_forward/layout/exp/float64,strided") == "everywhere"
    for other in ("layout/exp/float64", "value/exp/float64,strided"):
        assert reason(f"torch/eager_forward/{other}") is None
    assert reason("torch/eager_backward/layout/exp/float64,strided") is None


@pytest.mark.parametrize(
    ("facts", "known"), [("float32,unsteady", True), ("int64,strided,unsteady", True), ("float32", False)]
)
def test_general_entry_of_chance(facts, known, tmp_path):
    """What ends the target by chance is known of each op, in each test; what ends it each time is not."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint="torch/graph_forward/crash/*/*,unsteady"))
    ledger = read(path, "torch")
    for op in ("flip", "program"):
        assert (ledger.find(f"torch/graph_forward/crash/{op}/{facts}", "test_other.py::test_it") is not None) == known


def test_page_of_a_broken_ledger(tmp_path):
    """An entry that cannot be used is no page's: the ledger is mended first."""
    path = tmp_path / "known_divergences.toml"
    path.write_text(entry(fingerprint="torch/eager_backward/*/relu/float32"))
    ended = CliRunner().invoke(main, ["ledger", "document", str(path), "--target", "torch"])
    assert ended.exit_code == 2
    assert ended.output == (
        f"{path}: entry 1 of torch has fingerprint='torch/eager_backward/*/relu/float32', "
        "but should have * in its op and its facts alone\n"
    )


def test_a_kill_leaves_the_ledger_that_was_there(tmp_path, monkeypatch):
    """The file is whole at any moment, also behind a link; what is new stands beside it until then."""
    path, link = tmp_path / "known_divergences.toml", tmp_path / "link.toml"
    path.write_text(entry(fingerprint=f"{SHORT}/float32"))
    link.symlink_to(path)
    draft = Draft(link, TargetInfo("torch", {"torch": "2.14.1"}, ("cpu",), ()))
    draft.add({"fingerprint": f"{SHORT}/float64", "tests": ["test_b.py::test_other"]})
    before, seen = path.read_text(), []
    real = os.replace

    def replacing(source, aim):
        seen.append(path.read_text())
        real(source, aim)

    monkeypatch.setattr(os, "replace", replacing)
    draft.save()
    assert seen == [before]
    assert f"{SHORT}/float64" in path.read_text()
    assert link.is_symlink()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["known_divergences.toml", "link.toml"]
