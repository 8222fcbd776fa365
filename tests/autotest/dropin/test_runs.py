"""Files written for OneFlow's own AutoTest harness, run unmodified by the real pytest."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.runs import BODIES, Outcome, run_pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="OneFlow is not installed"),
]

SharedRun = Callable[..., Outcome]
FILES = {path.name: f"dropin/{path.name}" for path in sorted((BODIES / "dropin").glob("test_*.py"))}
OPTIONS = ("--autotest-drop-in", "-q", "-rA", "-W", "ignore::DeprecationWarning")
ENVIRONMENT = {"ONEFLOW_PROFILE_RUN_NUM": "3"}
#: What OneFlow 0.9.0 refuses in a graph or in a backward, and OneFlow's harness does not ask of it.
UNSEEN = {
    ("method", "graph_forward/exception/bincount/int64,method"),
    ("select", "graph_forward/unsupported/select/float32"),
    ("repeat_interleave", "graph_forward/exception/repeat_interleave/float32"),
    ("linspace", "graph_forward/exception/linspace/float32,0-dim"),
    ("flatten", "eager_backward/exception/Flatten/float32,0-dim"),
}
#: What the files themselves want to fail or cannot run here; everything else passes.
FAILED = {"TestDualObjects::test_own_checker_differs"}
SKIPPED = {
    "gpu_device() needs a GPU, and there is none here",
    "pin_memory=True needs a GPU, and there is none here",
}


@pytest.fixture
def whole(shared_run: SharedRun) -> Outcome:
    """The whole folder in one command, on two processes."""
    return shared_run("dropin", FILES, *OPTIONS, "-n", "2", target="oneflow", env=ENVIRONMENT)


@pytest.fixture
def opened(shared_run: SharedRun) -> Outcome:
    """The files that need both sides in one process, in one process."""
    files = {name: FILES[name] for name in ("test_raw.py", "test_matmul.py", "test_profile.py")}
    return shared_run("dropin-opened", files, *OPTIONS, "-n", "0", target="oneflow", env=ENVIRONMENT)


def told(outcome: Outcome, word: str) -> set[str]:
    """The tests that pytest names after this word, without their files."""
    return {found.split("::", 1)[1] for found in re.findall(rf"^{word} (\S+)", outcome.out, re.MULTILINE)}


def written(files: dict[str, str]) -> set[str]:
    """The tests that the files define, by class and name."""
    found = set()
    for body in files.values():
        for part in re.split(r"^class ", (BODIES / body).read_text(), flags=re.MULTILINE)[1:]:
            name = part[: part.index("(")]
            found |= {f"{name}::{test}" for test in re.findall(r"^    def (test_\w+)", part, re.MULTILINE)}
    return found


def test_every_file_runs(whole: Outcome) -> None:
    """Each test passes, but for those that should fail and those that need a GPU, which say so."""
    assert told(whole, "FAILED") == FAILED, whole.out
    skipped = {"TestGenerators::test_no_gpu", "TestGenerators::test_no_pinned_memory"}
    assert told(whole, "PASSED") == written(FILES) - FAILED - skipped
    assert all(f": {reason}" in whole.out for reason in SKIPPED)
    assert len(FILES) >= 11


def test_nothing_is_red(whole: Outcome) -> None:
    """OneFlow 0.9.0 does what these files ask for; what only our checks see is counted beside."""
    summary = whole.summary
    assert summary["divergences"] == []
    assert {(row["op"], row["kind"]) for row in summary["stricter"]} >= {("BatchNorm2d", "value")}
    unseen = [row for row in summary["stricter"] if "test_unseen_graphs.py" in row["test"]]
    assert {(row["test"].rpartition("::test_")[2], row["fingerprint"].partition("/")[2]) for row in unseen} >= UNSEEN
    assert re.search(r"^  stricter +\d+ +seen by these checks only, not red$", whole.out, re.MULTILINE)


def test_cases_of_helpers_belong_to_their_test(whole: Outcome) -> None:
    """An @autotest helper that a test calls twice is recorded under the test, each call with keys of its own."""
    keys = {end["key"] for end in whole.ends("test_matmul_with_shapes")}
    test = "test_matmul.py::TestMatmulModule::test_matmul_with_shapes"
    assert keys == {f"{test}~{call}#{case}" for call in (0, 1) for case in (0, 1)}
    assert whole.outcomes()["test_matmul_with_shapes"] == "passed"


def test_workers_and_one_process_draw_the_same(whole: Outcome, opened: Outcome) -> None:
    """Keys, verdicts and ops do not depend on the processes."""
    tests = {record["test"] for record in opened.records("test")}

    def cases(outcome: Outcome) -> dict[str, tuple[str, list[str], list[str]]]:
        ends = [end for end in outcome.records() if end["test"] in tests]
        return {end["key"]: (end["verdict"], end["ops"], end["dtypes"]) for end in ends}

    assert tests
    assert cases(opened) == cases(whole)


def test_opened_cases_say_so(opened: Outcome) -> None:
    """What touches a raw side runs in this process, without a graph, with that reason; the rest has its graph."""
    skipped = opened.summary["graph"]["skipped"]
    assert skipped == {
        "opened: the body uses a raw target object": 4,
        "opened: GetDualObject('m') holds a raw target object": 2,
        "opened: GetDualObject('y') holds a raw target object": 2,
    }
    assert {end["graph"]["forward"] for end in opened.ends("test_flow_matmul_with_random_data")} == {"verified"}


def test_plain_tests_leave_no_record(opened: Outcome) -> None:
    """A test of such a file that calls no @autotest runs, and is none of ours."""
    names = {record["test"].rpartition("::")[2] for record in opened.records("test")}
    assert {"test_outside_of_autotest", "test_plain_oneflow"} & names == set()
    assert {"TestRaw::test_outside_of_autotest", "TestRaw::test_plain_oneflow"} <= told(opened, "PASSED")


@pytest.mark.parametrize("which", ["whole", "opened"])
def test_profiles_are_told(which: str, request: pytest.FixtureRequest) -> None:
    """What was profiled stands in a section of its own, from xdist's workers, too."""
    out = request.getfixturevalue(which).out
    assert "autotest profile" in out
    assert "Tensor.masked_fill(Tensor([10, 10]), Tensor([10, 10]), 1.5): 10x10\n" in out
    assert re.search(r"^  OneFlow   cpu            1       3 +\d+\.\d +\d+\.\d$", out, re.MULTILINE)
    assert re.search(r"^  PyTorch   cpu            1       3 +\d+\.\d +\d+\.\d$", out, re.MULTILINE)


def test_own_checker_says_what_differs(whole: Outcome) -> None:
    """A checker that the file registered decides of its own types, in one sentence."""
    assert re.search(
        r"^the target gives <test_vocabulary.FlowColor object at 0x\w+>, but should give the like of "
        r"<test_vocabulary.Color object at 0x\w+>, says the checker that the test file registered$",
        whole.out,
        re.MULTILINE,
    )


IMPORTS = """
import unittest

import oneflow.test_utils.automated_test_util as util
from oneflow.test_utils.automated_test_util import autotest, random_tensor, torch
from shared import shape

class TestImports(unittest.TestCase):
    def test_whose(test_case):
        test_case.assertEqual(autotest.__module__, "HOME")

    @autotest(n=1, check_graph=False)
    def test_body(test_case):
        return torch.relu(random_tensor(**shape()))
"""
SHARED = (
    "from oneflow.test_utils.automated_test_util.generators import random\n\ndef shape():\n    return {'ndim': 2}\n"
)
CONFTEST = "from oneflow.test_utils.automated_test_util import random_tensor\n"


def test_conftest_and_packages_import_it(tmp_path: Path) -> None:
    """A conftest.py, a helper module and `import ... as` get the drop-in, too, on xdist's workers as well."""
    files = {
        "conftest.py": CONFTEST,
        "deep/conftest.py": CONFTEST,
        "deep/shared.py": SHARED,
        "deep/test_imports.py": IMPORTS.replace("HOME", "autotest.dropin.decorator"),
    }
    outcome = run_pytest(tmp_path, files, *OPTIONS, "-n", "1", target="oneflow")
    assert told(outcome, "PASSED") == {"TestImports::test_whose", "TestImports::test_body"}, outcome.out


def test_without_the_option_the_harness_is_oneflows(tmp_path: Path) -> None:
    """A file that imports OneFlow's own harness runs on that one, and nothing of ours is written."""
    (tmp_path / "shared.py").write_text(SHARED)
    preload = "from dual_object.adapters.oneflow.eager import import_oneflow\n\nimport_oneflow()\n"
    home = "oneflow.test_utils.automated_test_util.torch_flow_dual_object"
    files = {"conftest.py": preload, "test_imports.py": IMPORTS.replace("HOME", home)}
    warnings = ("-W", "ignore", "-rA", "-q")
    outcome = run_pytest(tmp_path, files, *warnings, target=None, env={"ONEFLOW_TEST_CPU_ONLY": "1"})
    assert told(outcome, "PASSED") == {"TestImports::test_whose", "TestImports::test_body"}, outcome.out
    assert not (tmp_path / "autotest-report").exists()


SINGLES = """
import random as r

import numpy as np
from oneflow.test_utils.automated_test_util import *

@autotest(n=1)
def test_no_gradient(test_case=None):
    return torch.argmax(random_tensor(ndim=1))

@autotest(n=1)
def test_big(test_case=None):
    return random_tensor(ndim=2, dim0=512, dim1=512) * 2

@autotest(n=2)
def test_plain(test_case=None):
    return torch.relu(random_tensor(ndim=1))

@autotest(n=1, include_complex=True, brand_new=3)
def test_unknown_argument(test_case=None):
    pass

@autotest(n=3)
def test_global_generators(test_case=None):
    return random_tensor(ndim=1, dim0=3) * float(np.random.rand()) + r.random()

def test_lacking_name():
    torch_flow_dual_object.brand_new

@autotest(n=2)
def test_refusals(test_case=None):
    x = random_tensor(ndim=2, dim0=2, dim1=3)
    for kind in (torch_flow_dual_object.PyTorchDoesNotSupportError, RuntimeError):
        try:
            torch.mm(x, x)
        except kind as error:
            assert str(error).startswith("PyTorch error: mat1 and mat2")
    return x
"""
SETTINGS = {"ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB": "1", "ONEFLOW_TEST_VERBOSE": "1"}


@pytest.fixture
def singles(shared_run: SharedRun) -> Outcome:
    """One body per fact, with every setting."""
    return shared_run("dropin-singles", {"test_one.py": SINGLES}, *OPTIONS, "-W", "default", env=SETTINGS)


def _line_before(test: str) -> int:
    """The line of the decorator of a test of `SINGLES`."""
    return SINGLES.partition(f"def {test}(")[0].count("\n")


def test_result_without_a_gradient(singles: Outcome) -> None:
    """`auto_backward=True` needs a result with a gradient, as in OneFlow's harness."""
    assert "test_no_gradient" in re.findall(r"^FAILED test_one.py::(\w+)", singles.out, re.MULTILINE)
    assert (
        "test_one.py::test_no_gradient returned a tensor without a gradient, but should return one that has it: "
        f"return another, or pass auto_backward=False to @autotest [test_one.py:{_line_before('test_no_gradient')}]\n"
    ) in singles.out


def test_big_tensors_are_refused(singles: Outcome) -> None:
    """ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB bounds every tensor of a body."""
    assert (
        "test_one.py::test_big made a tensor of 1 MB, but should make none of 1 MB or more: "
        f"set ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB to allow it [test_one.py:{_line_before('test_big')}]\n"
    ) in singles.out


def test_verbose_prints_programs(singles: Outcome, shared_run: SharedRun) -> None:
    """ONEFLOW_TEST_VERBOSE prints the program of every case, and nothing is printed without it."""
    printed = "test_one.py::test_plain\ndef program(torch, x):\n    t0 = torch.relu(x)\n    return t0\n"
    assert singles.out.count(printed) == 2
    quiet = shared_run("dropin-quiet", {"test_one.py": SINGLES}, *OPTIONS, "-W", "default", "-k", "plain or big")
    assert quiet.status == 0, quiet.out
    assert "def program" not in quiet.out


def test_unknown_names_and_arguments(singles: Outcome) -> None:
    """A name that the drop-in lacks is named in a sentence; an argument that it does not know is warned of."""
    assert (
        "oneflow.test_utils.automated_test_util.torch_flow_dual_object.brand_new is not part of the drop-in for "
        "OneFlow's harness: run this file without --drop-in, or use what docs/migrating.md names instead"
    ) in singles.out
    assert "UserWarning: brand_new=3 is unknown here and changes nothing [@autotest(...)]" in singles.out
    assert "include_complex=True is unknown" not in singles.out


def test_global_generators_follow_the_case(singles: Outcome) -> None:
    """NumPy's and Python's own generators start from the case: three cases, six numbers, the same when run again."""
    factors = re.findall(r"^    t0 = x \* (\S+)$", singles.out, re.MULTILINE)
    terms = re.findall(r"^    t1 = t0 \+ (\S+)$", singles.out, re.MULTILINE)
    assert factors == ["0.06432367432235753", "0.8261610786609358", "0.007666783566180335"]
    assert terms == ["0.051008689042220445", "0.27302265346998655", "0.7014344529798601"]


def test_refusals_are_of_both_classes(singles: Outcome) -> None:
    """PyTorch's exception is caught as OneFlow's harness names it, and as PyTorch does."""
    assert singles.verdicts("test_refusals") == {"aligned": 2}


def test_summary_is_written(whole: Outcome) -> None:
    """summary.json holds the stricter rows with their level."""
    text = (whole.folder / "autotest-report" / "summary.json").read_text()
    assert {row["level"] for row in json.loads(text)["stricter"]} == {"stricter"}
