"""Runs on PyTorch with kernels in the place of ops: what reaches a kernel, what is told of it, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from autotest.cases.store import ReplayError
from autotest.commands.replaying.pdb import step_through
from support.runs import Outcome, lay, run_autotest, run_pytest, run_python

pytestmark = pytest.mark.slow

FILES = {"test_a.py": "softmaxes.py", "kernels.py": "kernels_of_softmax.py"}


def run(folder: Path, *overrides: str) -> Outcome:
    """A run of the four tests with these overrides."""
    return run_pytest(folder, FILES, *(f"--autotest-override={override}" for override in overrides))


def test_a_sound_function(tmp_path: Path) -> None:
    """Everything is aligned; what no graph shows is counted with its reason, and the run's facts name the kernel."""
    outcome = run(tmp_path, "torch.softmax=kernels.py:sound")
    assert outcome.status == 0, outcome.out
    assert set(outcome.outcomes().values()) == {"passed"}
    graphs = [end["graph"]["forward"] for end in outcome.ends("test_function")]
    reason = "the kernel of a public function runs eagerly alone: nothing says what a trace of it is"
    assert set(graphs) == {reason}
    assert {end["graph"]["forward"] for end in outcome.ends("test_layer")} == {"verified"}
    [target] = outcome.records("target")
    assert target["environment"]["kernel for torch.softmax"] == f"{tmp_path.resolve()}/kernels.py:sound"
    assert target["lacks"] == ["layout"]


def test_a_wrong_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls by that very name show it, and no others."""
    outcome = run(tmp_path, "torch.softmax=kernels.py:wrong")
    assert outcome.status == 1
    assert outcome.rows("test_function") == {
        ("eager_forward", "value", "softmax"),
        ("eager_backward", "value", "softmax"),
    }
    for other in ("test_layer", "test_within", "test_other"):
        assert outcome.rows(other) == set()
    row = outcome.ends("test_function")[0]["divergences"][0]
    assert row["override"] == [["softmax", f"{tmp_path.resolve()}/kernels.py", "wrong", [], [], False]]
    assert row["fingerprint"] == "torch/eager_forward/value/softmax/float32"
    reason = "no script: kernels stand for ops of its target (--override), which run beside no reference"
    assert f"  repro: {reason}" in outcome.out.splitlines()
    again = run_autotest(tmp_path, "replay", row["id"])
    assert (again.returncode, again.stdout.partition("\n")[0].rpartition(":")[0]) == (1, f"{row['id']} stands")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(ReplayError) as caught:
        step_through(row["id"], tmp_path / "autotest-report", None)
    assert str(caught.value) == (
        "its kernels run in a process of their own, and --pdb stops in this process: replay it without --pdb"
    )


def test_misconduct(tmp_path: Path) -> None:
    """What no op may do is told in words, in each case."""
    outcome = run(tmp_path, "torch.softmax=kernels.py:changes_state")
    words = "state: it leaves the grad mode changed from True to False"
    assert outcome.messages("test_function") == {f"softmax: softmax ran a kernel that does what none may: {words}"}
    assert outcome.verdicts("test_function") == {"divergent": 3}
    assert outcome.rows("test_other") == set()


def test_a_sound_operator(tmp_path: Path) -> None:
    """Whatever reaches it is aligned, graphs too; it runs in one process, which is not that of the tests."""
    outcome = run(tmp_path, "aten::_softmax=kernels:told")
    assert outcome.status == 0, outcome.out
    graphs = {end["graph"]["forward"] for name in ("test_function", "test_layer") for end in outcome.ends(name)}
    assert graphs == {"verified"}
    processes = set((tmp_path / "processes").read_text().split())
    assert len(processes) == 1


def test_a_wrong_operator(tmp_path: Path) -> None:
    """It is seen in a function, in a layer and within another function, with its gradient, eagerly and in graphs."""
    outcome = run(tmp_path, "torch.ops.aten._softmax.default=kernels:wrong_operator")
    assert outcome.status == 1
    for name, op in (
        ("test_function", "softmax"),
        ("test_layer", "Softmax"),
        ("test_within", "softmin"),
    ):
        assert {("eager_forward", "value", op), ("eager_backward", "value", op)} <= outcome.rows(name)
    assert outcome.rows("test_other") == set()


def test_a_wrong_backward(tmp_path: Path) -> None:
    """The operator of a gradient is one as well: values are right, and gradients wrong."""
    outcome = run(tmp_path, "aten._softmax_backward_data=kernels:wrong_backward")
    assert outcome.rows("test_function") == {("eager_backward", "value", "softmax")}
    assert outcome.rows("test_layer") == {("eager_backward", "value", "Softmax")}


def test_an_operator_that_calls_itself(tmp_path: Path) -> None:
    """It does not run in circles: it is refused."""
    outcome = run(tmp_path, "aten._softmax=kernels:calls_itself")
    words = "delegates: it calls aten._softmax.default, the operator that it should be"
    assert outcome.messages("test_function") == {f"softmax: softmax ran a kernel that does what none may: {words}"}
    assert outcome.messages("test_layer") == {f"Softmax: Softmax ran a kernel that does what none may: {words}"}


def test_an_operator_that_draws(tmp_path: Path) -> None:
    """What draws random numbers may do so, and what writes to its input may do that."""
    body = (
        "from autotest import autotest, random_tensor, torch\n\n@autotest(n=2, coverage='none')\ndef test_dropout():\n"
        "    return torch.nn.functional.dropout(random_tensor(ndim=2, dim0=3, dim1=4))\n"
    )
    files = {**FILES, "test_a.py": body}
    outcome = run_pytest(tmp_path, files, "--autotest-override=aten.bernoulli_.float=kernels.py:flips")
    assert outcome.status == 0, outcome.out
    assert outcome.verdicts("test_dropout") == {"aligned": 2}


def test_a_file_of_kernels(tmp_path: Path) -> None:
    """Several at once, from the project's settings; outside of its domain PyTorch's own op stands."""
    kernels = (
        '[[kernel]]\nop = "torch.sin"\nimplementation = "kernels.py:wrong_sine"\ndomain = { dtypes = ["float64"] }\n'
        'known_gaps = ["no out="]\n'
        '[[kernel]]\nop = "aten._softmax"\nimplementation = "kernels.py:calls_itself"\ndelegates = true\n'
    )
    settings = "[pytest]\naddopts = --autotest-override=kernels.toml\n"
    files = {**FILES, "kernels.toml": kernels, "pytest.ini": settings}
    outcome = run_pytest(tmp_path, files)
    assert outcome.status == 0, outcome.out
    environment = outcome.summary["environment"]
    place = f"{tmp_path.resolve()}/kernels.py"
    assert environment["kernel for torch.sin"] == f"{place}:wrong_sine for float64; known gaps: no out="
    assert environment["kernel for aten._softmax.default"] == f"{place}:calls_itself"


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("torch.softmaxx=kernels.py:sound", "override='torch.softmaxx', but PyTorch has no such function [--override]"),
        ("torch.float32=kernels.py:sound", "override='torch.float32', but PyTorch has no such function [--override]"),
        ("aten._softmaxx=kernels.py:sound", "override='aten._softmaxx.default', but PyTorch has no operator "
         "aten._softmaxx [--override]"),
        ("aten.sin.Tensor=kernels.py:sound", "override='aten.sin.Tensor', but the overloads of aten.sin are default, "
         "out [--override]"),
        ("aten.softmax.int=kernels.py:sound", "override='aten.softmax.int', but PyTorch makes it of other operators, "
         "which have the gradient: override one of them, or the public function [--override]"),
        ("torch.softmax=kernels.py:nothing", "{folder}/kernels.py has no function nothing, but should"),
        ("torch.softmax=broken.py:f", "{folder}/broken.py cannot be imported: ZeroDivisionError: division by zero"),
    ],
)  # fmt: skip
def test_what_the_target_refuses(override: str, sentence: str, tmp_path: Path) -> None:
    """Names that only the target's process can know are refused there, in one sentence, before anything has run."""
    outcome = run_pytest(tmp_path, {**FILES, "broken.py": "1 / 0\n"}, f"--autotest-override={override}")
    assert outcome.status not in (0, 1)
    assert sentence.format(folder=tmp_path.resolve()) in " ".join(outcome.out.split())
    assert not [end for end in outcome.records() if end["verdict"] != "rejected"]


def test_kernels_in_the_process_of_the_tests(tmp_path: Path) -> None:
    """They never run beside the reference: neither where it is asked for, nor for a test that needs the target."""
    override = "--autotest-override=torch.softmax=kernels.py:told"
    outcome = run_pytest(tmp_path, FILES, override, "--autotest-isolate=never")
    assert outcome.status == 4
    assert outcome.out.splitlines()[0] == (
        "ERROR: isolate='never', but should be left out: kernels run in a process of their own [--override, --isolate]"
    )
    body = (
        "from autotest import autotest, random_tensor, torch\n\n@autotest(n=1)\ndef test_raw():\n"
        "    return torch.softmax(random_tensor(ndim=1).target, 0)\n"
    )
    outcome = run_pytest(tmp_path, {**FILES, "test_a.py": body}, override)
    sentence = (
        "kernels run in a process of their own, but the test uses the target's own objects, which are in this one "
        "[--override]"
    )
    assert sentence in " ".join(outcome.out.split())
    assert not (tmp_path / "processes").exists()


#: What a request for graphs gives of two Programs, one of which calls the kernel.
GRAPHS = """
import json, os, sys
os.environ["AUTOTEST_OVERRIDES"] = json.dumps([["sin", os.path.abspath("kernels.py"), "wrong_sine", [], [], False]])
from dual_object.adapters.torch.kernels.overriding import Adapter
from dual_object.replay.adapter import GraphRefusal, GraphRequest
from support.programs import one_call
programs = [one_call(op, backward=True) for op in ("cos", "sin", "relu")]
shown = Adapter().graph(GraphRequest(programs, [["0"]] * 3))
told = [one.message if isinstance(one, GraphRefusal) else [*one.gradients["0"].data.tolist()] for one in shown]
print(json.dumps(told))
"""


def test_graphs_beside_kernels(tmp_path: Path) -> None:
    """Of several Programs those that call no kernel have their graphs, each its own gradient."""
    lay(tmp_path, {"kernels.py": "kernels_of_softmax.py"})
    # The tests' own helpers are imported by the names that they have here.
    text = f"import sys\nsys.path[:0] = {[str(Path(__file__).parents[2])]!r}\n" + GRAPHS
    (tmp_path / "graphs.py").write_text(text)
    done = run_python(tmp_path / "graphs.py", forked=False)
    assert done.returncode == 0, done.stderr
    cosine, sine, relu = json.loads(done.stdout)
    assert cosine == pytest.approx([0.9974950, -0.0998334, -0.9092974])
    assert sine == "the kernel of a public function runs eagerly alone: nothing says what a trace of it is"
    assert relu == [0.0, 1.0, 1.0]


def test_ranks(tmp_path: Path) -> None:
    """Nor in ranks, which are processes of reference and target."""
    (tmp_path / "kernels.py").write_text("")
    done = run_autotest(tmp_path, "run", "--target", "torch", "--override", "torch.sin=kernels.py:sin", "--ranks", "2")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "Error: override='torch.sin=kernels.py:sin', but should be left out with --ranks: every rank runs the target "
        "in its own process, which is the reference's, too",
    )
