"""Each fault of a kernel is found, and named; what has none is accepted."""

from __future__ import annotations

import time
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import numpy as np
import pytest
import torch

from autotest.compare.difference import Difference
from autotest.errors import EnvironmentFault
from autotest.kernels import judging
from autotest.kernels.between import INPUTS_CHANGED, RESULT_CHANGED
from autotest.kernels.findings import CATEGORIES, DIMENSIONS
from autotest.kernels.judge import Kernel, KernelJudge
from autotest.kernels.judging import Judging
from autotest.kernels.questions import TWICE, Asking
from autotest.kernels.telling import verdict_text
from autotest.kernels.weighing import precision
from autotest.kernels.weighing.answers import among_greater, of_zeros
from autotest.oracle.undecidable import UNSTABLE, Doubt
from dual_object.errors import TargetError
from dual_object.replay.adapter import load_reference
from dual_object.replay.observation import Seen
from dual_object.replay.replay import QuietReplay

pytestmark = pytest.mark.slow

RELUS = Path(__file__).parents[2] / "support" / "kernels" / "relus.py"
SIBLINGS = RELUS.with_name("siblings.py")
BY_CPP = RELUS.with_name("by_cpp.py")
BY_TRITON = RELUS.with_name("by_triton.py")
ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

#: A kernel that reads beyond a tensor where it is given more than a few numbers.
BEYOND = """
import torch

def relu(input):
    if input.numel() > 6:
        input = input + torch.zeros(4, device=input.device)[torch.full((1,), 1000, device=input.device)]
    return torch.clamp(input, min=0)
"""
#: By the function its category, and the whole message.
FAULTS = {
    "doubled": ("numerics", None),
    "of_nan": ("edge values", None),
    "writes": ("mutation", None),
    "same": ("alias", None),
    "by_shape": ("caching", None),
    "worn": ("calls", None),
    "deterministic": ("state", "it leaves the deterministic algorithms changed from False to True"),
    "patches": ("state", "it replaces torch.allclose"),
    "delegates": ("delegates", "it calls relu, the op that it should be"),
    "below": ("delegates", "it calls relu, the op that it should be"),
    "peeks": ("cheating", "it looks at who calls it"),
    "searches": ("cheating", "it searches the objects of the process"),
    "late": ("lazy", "its result is a _Late, which may compute when it is looked at"),
    "packed": ("stride", None),
    "odd_sizes": ("size", None),
    "halved": ("precision", None),
    "slightly_off": ("precision", None),
    "detached": ("gradient", None),
    "of_noise": ("nondeterminism", None),
    "ends": ("crash", "it was killed by SIGKILL"),
    "loops": ("timeout", "it did not answer within 4 s and was killed"),
    "opens": ("descriptors", None),
    "chatters": ("flood", "it writes 1.8 MB in one call"),
    "half_at_zero": ("gradient", None),
    "dense_rows": ("stride", None),
    "channels_innermost": ("stride", None),
    "steep": ("size", None),
    "less_exact_later": ("calls", None),
    "valueless": ("lazy", "its result lies on the device meta, which holds no values"),
    "greedy": ("memory", "CUDA out of memory"),
    "asks_for_modules": ("cheating", "it looks at which modules are loaded"),
    "asks_for_a_file": ("cheating", "it looks for a file: /no-such-scale"),
    "inference": (
        "gradient",
        "only while no gradients are recorded: t0 differs in 2 of 5 elements: [0] is 7.2419887, but should be "
        "4.8279924 (rtol=0.0001, atol=1e-05)",
    ),
}
#: Of other ops: by the function the op, the category, and the whole message.
OF_OTHER_OPS = {
    "not_in_place": ("nn.functional.leaky_relu", "mode", "input x kept its values, but should be changed"),
    "without_alpha": ("nn.functional.celu", "arguments", None),
    "without_beta_2": ("nn.functional.softplus", "arguments", None),
    "not_scaled": (
        "nn.functional.dropout",
        "mode",
        "what it keeps at random is 1 times what it was given, but should be 2 times",
    ),
    "of_nothing_small": ("mul", "edge values", None),
    "squares_that_overflow": ("hypot", "numerics", None),
    "broadcasts": (
        "baddbmm",
        "errors",
        "baddbmm accepted what the reference refuses with RuntimeError: Expected size for first two dimensions of "
        "batch2 tensor to be: [5, 5] but got: [1, 5].",
    ),
    "of_the_first_block": ("nn.functional.softmin", "size", None),
    "all_but_the_last": ("cumprod", "caching", None),
    "by_a_short_series": ("atan", "numerics", None),
    "of_nothing": ("where", "numerics", None),
    "of_the_weight_alone": ("nn.functional.prelu", "gradient", None),
    "deterministic_when_refused": (
        "nn.functional.prelu",
        "state",
        "it leaves the deterministic algorithms changed from False to True",
    ),
    "writes_to_gradients": ("sin", "gradient", None),
    "reads_gradients_as_rows": ("sin", "gradient", None),
    "reads_gradients_flat": ("cos", "gradient", None),
    "weighs_what_is_ignored": (
        "baddbmm",
        "arguments",
        "t0 differs in 250 of 250 elements: [0, 0, 0] is nan, but should be 113.93664",
    ),
    "by_version": ("tanh", "caching", None),
    "infinite_differences": ("sub", "edge values", None),
    "keeps_its_result": ("exp", "gradient", None),
    "keeps_its_input": ("square", "gradient", None),
    "is_right_once": ("square", "gradient", None),
    "dense_without_gradient": ("square", "stride", None),
    "ones_of_the_same": ("div", "edge values", None),
    "pops": ("stack", "mutation", "it changes a list or a dictionary that it was given"),
    "by_the_block_before": ("cumprod", "size", None),
    "one_minus_erf": ("erfc", "numerics", None),
    "the_same_dimension_twice": (
        "flip",
        "errors",
        "flip accepted what the reference refuses with RuntimeError: dim 0 appears multiple times in the list of dims",
    ),
    "rows_by_address": ("nn.functional.celu", "caching", None),
    "hole_at_six": (
        "nn.functional.relu6",
        "edge values",
        "t0 differs in 1 of 16 elements: [1, 1, 0] is 0.0, but should be 6.0 (rtol=0.0001, atol=1e-05)",
    ),
}
#: Lawful, though PyTorch's own answers are others: by the function the op.
LAWFUL = {
    "sound_product": "prod",
    "sound_difference": "nn.functional.tanhshrink",
    "sound_norm": "nn.functional.layer_norm",
    "sound_bounds": "clamp",
    "sound_scaled": "addmm",
    "sound_gelu": "nn.functional.gelu",
    "sound_order": "argsort",
    "sound_moments": "var_mean",
    "sound_cross": "linalg.cross",
    "sound_median": "quantile",
    "sound_choice": "take_along_dim",
    "sound_divergence": "nn.functional.kl_div",
    "sound_transform": "fft.fft",
    "sound_grid": "meshgrid",
    "sound_power": "exp",
    "sound_lerp": "lerp",
}


#: Hangs in every call; or when a process has called it often.
HANGING = """
import time
import torch
calls = 0

def always(input):
    time.sleep(60)

def worn(input):
    global calls
    calls += 1
    if calls > {calls}:
        time.sleep(60)
    return torch.where(input > 0, input, torch.where(input.isnan(), input, torch.zeros_like(input)))
"""


@pytest.fixture(scope="module")
def judge():
    """Of `torch.relu`, in float32."""
    return KernelJudge(load_reference(), Asking("relu", ("float32",)), timeout=4.0)


@pytest.mark.parametrize("function", ["sound", "by_numpy", "of_its_own_file"])
def test_accepts_what_has_no_fault(judge, function):
    """Every question is asked and answered, and each score is full."""
    verdict = judge.judge(Kernel(RELUS, function))
    assert verdict.findings == ()
    assert verdict.accepted
    assert set(verdict.score.values()) == {1.0}
    assert sum(asked for asked, _ in verdict.cells.values()) == len(judge.questions)
    assert all(asked == right for asked, right in verdict.cells.values())


#: By the category what shows it besides ordinary inputs; each question is asked three times.
SHOWN_BY = {
    "edge values": {"edges"},
    "stride": {"layout"},
    "size": {"size"},
    "gradient": {"backward", "second", "layout", "modes", "edges"},
    "caching": {"again"},
    "alias": {"again"},
    "mode": {"modes"},
    "arguments": {"arguments"},
    "errors": {"errors"},
    "mutation": {"arguments"},
    "numerics": {"magnitude", "edges", "dtype", "size"},
    "state": {"errors"},
    "crash": {"shape"},
    "timeout": {"shape"},
}


def narrowed(judge, category):
    """A judge that asks what shows a category; all that it has where that takes many calls."""
    if category in ("calls", "nondeterminism", "flood", "precision"):
        return judge
    less = copy(judge)
    roles = {"plain", *SHOWN_BY.get(category, ())}
    less.questions = [question for question in judge.questions if question.cell.role in roles]
    return less


@pytest.mark.parametrize("function", FAULTS)
def test_refuses_a_fault_by_its_name(judge, function):
    """The fault's category is among the findings, and lowers a score."""
    category, message = FAULTS[function]
    verdict = narrowed(judge, category).judge(Kernel(RELUS, function))
    found = {finding.category: finding.message for finding in verdict.findings}
    assert category in found
    assert message is None or found[category] == message
    assert not verdict.accepted
    assert min(verdict.score.values()) < 1.0


@pytest.mark.usefixtures("real_interpreter")  # memory is poisoned for a process when it starts
def test_refuses_memory_that_it_has_not_written(judge):
    """An element is what the memory held before."""
    verdict = narrowed(judge, "stale").judge(Kernel(RELUS, "unwritten"))
    assert "stale" in {finding.category for finding in verdict.findings}
    assert not verdict.accepted


def test_what_is_exact_is_worked_out_once(judge, monkeypatch):
    """For all kernels of an op: it makes most of what a verdict costs."""
    assert judge.judge(Kernel(RELUS, "sound")).accepted

    def again(*args, **kwargs):
        raise AssertionError("PyTorch was asked again")

    monkeypatch.setattr(precision, "Reruns", again)
    assert judge.judge(Kernel(RELUS, "by_numpy")).accepted


def test_the_gradient_of_the_other_side_is_lawful(judge):
    """Of a kink; it is counted as undecided."""
    verdict = judge.judge(Kernel(RELUS, "of_the_other_side"))
    assert verdict.findings == ()
    assert verdict.undecided > 0


@pytest.mark.parametrize("function", OF_OTHER_OPS)
def test_refuses_faults_of_other_ops(function):
    """By what was asked beyond PyTorch's samples."""
    path, category, message = OF_OTHER_OPS[function]
    judge = narrowed(KernelJudge(load_reference(), Asking(path, ("float32", "float64"))), category)
    found = {finding.category: finding.message for finding in judge.judge(Kernel(SIBLINGS, function)).findings}
    assert category in found
    assert message is None or found[category] == message


@pytest.mark.parametrize("function", LAWFUL)
def test_accepts_lawful_numerics_of_other_ops(function):
    """Overflow in another order, PyTorch's own loss of digits, other gradients at ties."""
    judge = KernelJudge(load_reference(), Asking(LAWFUL[function], ("float32", "float64")))
    assert judge.judge(Kernel(SIBLINGS, function)).findings == ()


def test_factors_are_unique_but_for_signs():
    """Both may be negated, as LAPACK does it; one alone may not, for their product is the matrix."""
    judge = KernelJudge(load_reference(), Asking("linalg.qr", ("float32", "complex64"), gradients=False))
    assert judge.judge(Kernel(SIBLINGS, "both_negated")).findings == ()
    assert "numerics" in {finding.category for finding in judge.judge(Kernel(SIBLINGS, "one_negated")).findings}


@pytest.mark.parametrize(
    ("function", "op", "wrong"),
    [("keeps_its_result", "exp", 2), ("keeps_its_input", "square", 2), ("sound_power", "exp", 0)],
)
def test_what_is_written_to_before_the_backward(function, op, wrong):
    """A gradient of numbers that are there no more is wrong; that there is none is not."""
    judge = KernelJudge(load_reference(), Asking(op, ("float32",)))
    verdict = judge.judge(Kernel(SIBLINGS, function))
    asked, right = verdict.cells["backward"]
    assert asked - right == wrong
    assert {one.cell.detail for one in judge.questions} >= {RESULT_CHANGED, INPUTS_CHANGED, TWICE}


@pytest.mark.parametrize("op", ["exp", "mul"])
def test_programs_without_clones_run(op):
    """PyTorch refuses the backward of `exp`, which saves its result; `x * 1` is an operator of the name `mul`."""
    judge = KernelJudge(load_reference(), Asking(op, ("float32",)))
    asked = [one for one in judge.questions if one.cell.detail in (RESULT_CHANGED, INPUTS_CHANGED)]
    runs = [QuietReplay(load_reference(), one.program, side="reference").run() for one in asked]
    assert runs
    assert not any(run.ended for run in runs)
    refused = {one.cell.detail for one, run in zip(asked, runs, strict=True) if run.backward_failure is not None}
    assert refused == ({RESULT_CHANGED} if op == "exp" else {INPUTS_CHANGED})


def test_where_pytorch_gives_another_each_time_nothing_is_held(judge, monkeypatch):
    """It reads beyond its memory there, and what else it gives is as little worth."""
    doubt = Doubt("relu", "eager_forward", UNSTABLE)
    monkeypatch.setattr(judging, "undecided", lambda reference, found, rewritten: (found, (doubt,)))
    verdict = judge.judge(Kernel(RELUS, "of_nan"))
    assert verdict.findings == ()
    assert verdict.undecided > 0


def _alone(kind, expected, actual):
    """A difference of a gradient, of which one side may be without."""
    sides = [x if x is None else Seen("float32", x.shape, "cpu", False, x) for x in (expected, actual)]
    return Difference("eager_backward", kind, "", "", part="gradient", expected=sides[0], actual=sides[1])


def test_gradients_of_nothing_are_as_good_as_none():
    """Zeros where there should be none, and none where one without elements should be."""
    zeros, ones, nothing = np.zeros(2, np.float32), np.ones(2, np.float32), np.ones(0, np.float32)
    assert of_zeros(_alone("grad_extra", None, zeros))
    assert of_zeros(_alone("grad_missing", nothing, None))
    assert not of_zeros(_alone("grad_extra", None, ones))
    assert not of_zeros(_alone("grad_missing", zeros, None))
    assert not of_zeros(_alone("value", zeros, zeros))


def test_a_transform_of_great_numbers_may_lose_the_small_ones():
    """Complex ones, too, by the rounding of the greatest."""
    expected = np.array([4.5e16 + 1e16j, 0], np.complex64)
    assert among_greater(_alone("value", expected, expected - np.complex64(1e10j)))
    assert not among_greater(_alone("value", expected, expected - np.complex64(1e12j)))


def test_long_sums_of_half_precision():
    """Added up in float16, numbers near one come to 2048 and no further."""
    judge = KernelJudge(load_reference(), Asking("sum", ("float16",), gradients=False))
    [finding] = judge.judge(Kernel(SIBLINGS, "adds_in_half")).findings
    assert finding.category in ("size", "dtype")


def test_what_is_conjugated_when_it_is_read():
    """The memory of such a tensor holds other numbers."""
    judge = KernelJudge(load_reference(), Asking("angle", ("complex64",), gradients=False))
    [finding] = judge.judge(Kernel(SIBLINGS, "of_what_lies_there")).findings
    assert (finding.category, str(finding.cell)) == ("stride", "layout conjugated complex64")


def test_a_file_without_the_function_is_no_verdict(judge):
    """It is said in a sentence, with the one that was meant."""
    for name, end in ("nosuch", ""), ("soundd", "; did you mean sound?"):
        with pytest.raises(EnvironmentFault) as caught:
            judge.judge(Kernel(RELUS, name))
        assert str(caught.value) == f"{RELUS} has no function {name}, but should{end}"


def test_what_there_is_no_time_for_is_told(judge):
    """Without time the first questions are asked, and the others counted."""
    verdict = judge.judge(Kernel(RELUS, "sound"), budget=0.0)
    left = len(judge.questions) - sum(asked for asked, _ in verdict.cells.values())
    assert dict(verdict.unasked) == {"the time was up [--budget]": left}
    assert left > 0


@pytest.mark.parametrize(("function", "ends"), [("always", 3), ("worn", 0)])
def test_what_ends_again_and_again_is_not_asked_for_ever(tmp_path, function, ends):
    """After three hangs nothing is asked any more, and it is told so; what hangs when all was asked once is, too."""
    judge = KernelJudge(load_reference(), Asking("relu", ("float32",)), timeout=1.0)
    (tmp_path / "hanging.py").write_text(HANGING.format(calls=2 * len(judge.questions)))
    begun = time.monotonic()
    verdict = judge.judge(Kernel(tmp_path / "hanging.py", function))
    assert time.monotonic() - begun < 40.0
    sentences = [finding.sentence for finding in verdict.findings]
    assert sentences == ["timeout: it did not answer within 1 s and was killed"]
    asked = sum(number for number, _ in verdict.cells.values())
    left = len(judge.questions) - asked
    assert dict(verdict.unasked) == ({"its process had ended 3 times": left} if ends else {})
    assert asked == (ends or len(judge.questions))
    told = f"\n  {left} questions were not asked: its process had ended 3 times\n"
    assert (told in verdict_text("k", verdict, {}, 1.0)) == bool(ends)


def test_kernel_that_hangs_at_import(tmp_path, monkeypatch):
    """It is told by its file, and with what gives it longer: the time of a question, where that is more."""
    file = tmp_path / "hangs.py"
    file.write_text("import time\n\ntime.sleep(600)\n\n\ndef relu(x):\n    return x\n")
    monkeypatch.setattr("autotest.kernels.judge.START_TIMEOUT", 3.0)
    judge = KernelJudge(load_reference(), Asking("relu", ("float32",)), timeout=4.0)
    with pytest.raises(EnvironmentFault) as caught:
        judge.judge(Kernel(file, "relu"))
    assert str(caught.value) == (
        f"{file}: target 'kernel' died at import: did not start in 4 s; its last words: none "
        "[--case-timeout gives it longer]"
    )


def test_a_domain_of_shapes():
    """A kernel for 48 columns is asked about those alone, and held to everything there."""
    judge = KernelJudge(load_reference(), Asking("relu", ("float32",), shapes=((None, 48),)), timeout=4.0)
    assert {question.program.inputs[0].data.shape[1:] for question in judge.questions} == {(48,)}
    verdict = judge.judge(Kernel(RELUS, "of_48_columns"))
    assert (verdict.findings, dict(verdict.gaps)) == ((), {})
    assert verdict.cells["plain"][0] > 0
    assert not judge.judge(Kernel(RELUS, "doubled")).accepted


def test_a_domain_that_nothing_is_of():
    """It is said in a sentence."""
    with pytest.raises(TargetError) as refused:
        KernelJudge(load_reference(), Asking("relu", ("float32",), shapes=((None, 1 << 20),)))
    assert str(refused.value) == (
        "shapes=n,1048576, but no sample of torch.relu is of such a shape, or can be brought to it with at most 262144 "
        "elements [--shapes]"
    )


def test_what_is_written_to_is_not_expanded():
    """Of a running mean whose elements lie in one place, PyTorch's own answer is no promise; others are expanded."""
    asked = KernelJudge(load_reference(), Asking("nn.functional.batch_norm", ("float32",))).questions
    expanded = [one for one in asked if one.cell.detail == "expanded"]
    assert expanded
    assert not any(one.expected.inputs for one in expanded)
    assert any(one.expected.inputs for one in asked)


def test_an_op_of_no_samples():
    """Where PyTorch takes none of those that it has, there is no verdict."""
    with pytest.raises(TargetError) as refused:
        KernelJudge(load_reference(), Asking("svd_lowrank", ("float32",)))
    assert str(refused.value) == (
        "PyTorch takes none of its own samples of torch.svd_lowrank, so there is nothing that a kernel could be held "
        "against [--like]"
    )


@ON_A_GPU
@pytest.mark.parametrize("function", ["doubled", "of_nan", "packed", "odd_sizes", "slightly_off", "of_noise", "steep"])
def test_on_a_gpu(judge, function):
    """It is refused for what it is refused for on the CPU."""
    verdict = judge.judge(Kernel(RELUS, function, device="cuda"))
    assert FAULTS[function][0] in {finding.category for finding in verdict.findings}


@ON_A_GPU
def test_sound_on_a_gpu(judge):
    """It is accepted."""
    assert judge.judge(Kernel(RELUS, "sound", device="cuda")).findings == ()


@ON_A_GPU
def test_what_takes_the_gpu_away(judge, tmp_path):
    """An index beyond a tensor ends its process."""
    (tmp_path / "k.py").write_text(BEYOND)
    verdict = judge.judge(Kernel(tmp_path / "k.py", "relu", device="cuda"))
    assert [finding.category for finding in verdict.findings] == ["crash"]
    assert "device-side assert triggered" in verdict.findings[0].message


class Answering:
    """A process that answers each question in turn with what it is given; `again`: from the second time on."""

    def __init__(self, answers, again=None):
        self._rounds = iter((answers, (again or answers)[::-1], again or answers))

    def submit(self, programs, enough):
        """All answers at once."""
        pending = Future()
        pending.set_result(next(self._rounds))
        return pending


def _elsewhere(answer):
    return replace(answer, outputs={key: replace(seen, device="elsewhere") for key, seen in answer.outputs.items()})


def _in_another_order(answer):
    """Its results with another last digit."""
    moved = {key: replace(seen, data=np.nextafter(seen.data, np.float32(9))) for key, seen in answer.outputs.items()}
    return replace(answer, outputs=moved)


def _categories(path, answers, again=None, device="cuda"):
    judge = KernelJudge(load_reference(), Asking(path, ("float32",), gradients=False))
    asked = [one for one in judge.questions if one.cell.role == "plain" and not one.expected.ended]
    expected = [one.expected for one in asked]
    process = Answering([*map(answers, expected)], again and [*map(again, expected)])
    judging = Judging(load_reference(), asked, process, path, None, device=device)
    judging.ask()
    return {finding.sentence for finding in judging.verdict().findings}


def test_a_result_that_lies_elsewhere():
    """It may be right there."""
    assert _categories("relu", _elsewhere) == {"device: t0 lies elsewhere than what it was given"}
    assert _categories("relu", lambda answer: answer) == set()


def test_sums_in_another_order():
    """On a GPU PyTorch's own `cumsum` has other bits each time; its `exp` has not, nor has anything on the CPU."""
    told = {"nondeterminism: other calls between change what it gives"}
    for path, device, expected in (("cumsum", "cuda", set()), ("exp", "cuda", told), ("cumsum", "cpu", told)):
        same, moved = (lambda answer: answer), _in_another_order
        assert {one for one in _categories(path, same, moved, device) if "nondet" in one} == expected


def test_who_compiles_has_time(judge, tmp_path):
    """A question to a file that compiles may take two minutes: a call may be the one that compiles."""
    (tmp_path / "c.py").write_text("from torch.utils import cpp_extension\n\n\ndef relu(input):\n    return input\n")
    (tmp_path / "t.py").write_text("# by triton\n\n\ndef relu(input):\n    return input\n")
    (tmp_path / "p.py").write_text("def relu(input):\n    return input\n")
    deadlines = []
    for name in ("c.py", "t.py", "p.py"):
        supervisor = judge.launch(Kernel(tmp_path / name, "relu"))
        deadlines.append(supervisor.timeout)
        supervisor.close()
    assert deadlines == [120.0, 120.0, 4.0]


@pytest.mark.skipif(not (which("g++") and which("ninja")), reason="C++ is compiled by g++ and ninja")
def test_kernels_in_cpp(judge, tmp_path, monkeypatch):
    """They are compiled in the first call, which is no misconduct; a sound one is accepted, another not."""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    assert judge.judge(Kernel(BY_CPP, "sound")).findings == ()
    verdict = judge.judge(Kernel(BY_CPP, "leaky"))
    categories = {finding.category for finding in verdict.findings}
    assert "numerics" in categories
    assert not {"state", "cheating", "fork", "descriptors", "flood"} & categories


@pytest.mark.usefixtures("real_interpreter")  # whether Triton interprets is decided when it is imported
@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=ON_A_GPU)])
def test_kernels_in_triton(monkeypatch, device):
    """On a GPU, and interpreted where none is, which takes its time; a sound one is accepted, another not."""
    if device == "cpu":
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    judge = KernelJudge(load_reference(), Asking("relu", ("float32",), gradients=False, shapes=((None, 8),)))
    sound, leaky = (judge.judge(Kernel(BY_TRITON, name, device=device), budget=1.0) for name in ("sound", "leaky"))
    assert sound.findings == ()
    categories = {finding.category for finding in leaky.findings}
    assert "numerics" in categories
    assert not {"state", "cheating", "fork", "descriptors", "flood"} & categories


def test_every_category_lowers_a_score():
    """No finding is without a dimension."""
    assert set().union(*(dimension.categories for dimension in DIMENSIONS.values())) == CATEGORIES.keys()
