"""Every kind of fault, planted in the target, turns its test red, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from support.runs import Outcome

pytestmark = pytest.mark.slow

EAGER, BACK, SECOND = "eager_forward", "eager_backward", "eager_second"
GRAPH, GRAPH_BACK, STATE = "graph_forward", "graph_backward", "graph_state"

# Per test: how its cases end, and phase, kind and blamed op of what its rows must be.
WRONG = {
    "test_value": ({"divergent": 3}, {(EAGER, "value", "sin")}),
    "test_nonfinite": ({"divergent": 3}, {(EAGER, "nonfinite", "cos")}),
    "test_sign": ({"divergent": 3}, {(EAGER, "sign", "log")}),
    "test_shape": ({"divergent": 3}, {(EAGER, "shape", "tan")}),
    "test_dtype": ({"divergent": 3}, {(EAGER, "dtype", "atan")}),
    "test_device": ({"divergent": 3}, {(EAGER, "device", "asin")}),
    "test_mutation": ({"divergent": 3}, {(EAGER, "mutation", "acos")}),
    "test_mutation_left_out": ({"divergent": 3}, {(EAGER, "mutation", "mul_"), (EAGER, "structure", "mul_")}),
    "test_grad_missing": ({"divergent": 3}, {(BACK, "grad_missing", "sinh"), (EAGER, "requires_grad", "sinh")}),
    "test_grad_wrong": ({"divergent": 3}, {(BACK, "value", "cosh")}),
    "test_grad_extra": ({"divergent": 3}, {(BACK, "grad_extra", "view_as"), (EAGER, "alias", "view_as")}),
    "test_backward_raises": ({"divergent": 3}, {(BACK, "exception", "atanh")}),
    "test_layout": ({"divergent": 3}, {(EAGER, "layout", "ceil")}),
    "test_leaf": ({"divergent": 3}, {(EAGER, "requires_grad", "abs")}),
    "test_sign_of_zero": ({"divergent": 3}, {(EAGER, "sign", "round")}),
    "test_copy_for_a_view": ({"divergent": 3}, {(EAGER, "alias", "movedim")}),
    "test_view_for_a_copy": ({"divergent": 3}, {(EAGER, "alias", "clone")}),
    "test_identity": ({"divergent": 3}, {(EAGER, "structure", "sub_")}),
    "test_named_tuple": ({"divergent": 3}, {(EAGER, "structure", "sort")}),
    "test_list_for_a_tuple": ({"divergent": 3}, {(EAGER, "structure", "unbind")}),
    "test_tensor_for_a_number": ({"divergent": 3}, {(EAGER, "structure", "item")}),
    "test_parameter_mutation": ({"divergent": 3}, {(EAGER, "mutation", "linear")}),
    "test_state_dict": (
        {"divergent": 3},
        {(EAGER, "structure", "LayerNorm"), (EAGER, "requires_grad", "LayerNorm"), (BACK, "grad_missing", "LayerNorm")},
    ),
    "test_state_without_a_key": ({"divergent": 3}, {(EAGER, "structure", "BatchNorm3d")}),
    "test_state_saved_under_another_key": ({"divergent": 3}, {(EAGER, "structure", "GroupNorm")}),
    "test_state_not_saved": ({"divergent": 3}, {(EAGER, "structure", "InstanceNorm1d")}),
    "test_mutation_of_what_is_not_returned": ({"divergent": 1, "aligned": 2}, {(EAGER, "mutation", "deg2rad")}),
    "test_second_wrong": ({"divergent": 3}, {(SECOND, "value", "erf")}),
    "test_second_wrong_in_a_chain": ({"divergent": 3}, {(SECOND, "value", "erf")}),
    "test_second_missing": ({"divergent": 3}, {(SECOND, "grad_missing", "rsqrt")}),
    "test_second_raises": ({"divergent": 3}, {(SECOND, "exception", "tanh")}),
    "test_second_unsupported": ({"divergent": 3}, {(SECOND, "unsupported", "reciprocal")}),
    "test_structure_of_a_list": ({"divergent": 3}, {(EAGER, "structure", "chunk")}),
    "test_structure_of_a_tensor": ({"divergent": 3}, {(EAGER, "structure", "asinh")}),
    "test_host_read": ({"divergent": 3}, {(EAGER, "shape", "numel")}),
    "test_state": ({"divergent": 3}, {(EAGER, "value", "BatchNorm1d")}),
    "test_mode": ({"divergent": 3}, {(EAGER, "mode", "lgamma")}),
    "test_mode_of_a_backward": ({"divergent": 3}, {(BACK, "mode", "digamma")}),
    "test_exception": ({"divergent": 3}, {(EAGER, "exception", "acosh")}),
    "test_accepts_invalid": ({"divergent": 3}, {(EAGER, "accepts_invalid", "mv")}),
    "test_accepts_invalid_draw": ({"aligned": 4}, {(EAGER, "accepts_invalid", "mm")}),
    "test_exception_class": ({"divergent": 3}, {(EAGER, "exception_class", "dot")}),
    "test_exception_class_draw": ({"aligned": 9}, {(EAGER, "exception_class", "outer")}),
    "test_missing": ({"divergent": 3}, {(EAGER, "missing", "erfc")}),
    "test_unsupported": ({"divergent": 3}, {(EAGER, "unsupported", "erfinv")}),
    "test_graph_value": ({"divergent": 3}, {(GRAPH, "value", "sqrt")}),
    "test_graph_dtype": ({"divergent": 3}, {(GRAPH, "dtype", "expm1")}),
    "test_graph_gradient": ({"divergent": 3}, {(GRAPH_BACK, "value", "exp")}),
    "test_graph_state": ({"divergent": 3}, {(STATE, "value", "BatchNorm2d")}),
    "test_graph_identity": ({"divergent": 3}, {(GRAPH, "structure", "div_")}),
    "test_graph_exception": ({"divergent": 3}, {(GRAPH, "exception", "log1p")}),
    "test_batch_only_value": ({"divergent": 3}, {(GRAPH, "batch_only", "program")}),
    "test_batch_only_failure": ({"divergent": 1, "aligned": 2}, {(GRAPH, "batch_only", "program")}),
    "test_poisoned_graph": ({"divergent": 1, "aligned": 2}, {(GRAPH, "exception", "log10")}),
    "test_blame_in_a_chain": ({"divergent": 4}, {(EAGER, "value", "sigmoid"), (BACK, "value", "sigmoid")}),
    "test_two_faults": (
        {"divergent": 4},
        {(EAGER, "value", "sigmoid"), (BACK, "value", "sigmoid"), (EAGER, "value", "hypot")},
    ),
}
# What the graph adds where eager itself is wrong in backward: it is compared with eager, which is the wrong one.
ECHOES = {"test_grad_missing", "test_backward_raises"}

MESSAGES = {
    "test_sign": "log: t1 differs in 7 of 7 elements: [0, 0] is inf, but should be -inf",
    "test_dtype": "atan: t0 has dtype float64, but should have float32",
    "test_device": "asin: t0 has device cuda:1, but should have cpu",
    "test_mutation": "acos: input x was changed, but should keep its values",
    "test_mutation_left_out": "mul_: input x kept its values, but should be changed",
    "test_layout": "ceil: t0 has strides (1, 2), but should have (3, 1)",
    "test_leaf": "abs: t0 is a leaf, but should not be",
    "test_copy_for_a_view": "movedim: t0 shares no memory with x, but should",
    "test_view_for_a_copy": "clone: t0 shares memory with x, but should not",
    "test_identity": "sub_: sub_ returned another tensor than x, but should return x itself",
    "test_named_tuple": (
        "sort: sort returned a tuple of 2 without values, indices, but should return a named tuple of values, indices"
    ),
    "test_list_for_a_tuple": "unbind: unbind returned a list of 3, but should return a tuple of 3",
    "test_tensor_for_a_number": "item: item returned a Tensor, but should return a float",
    "test_parameter_mutation": "linear: parameter m0.weight was changed, but should keep its values",
    "test_state_dict": "LayerNorm: LayerNorm has a parameter or buffer extra, but should not",
    "test_state_without_a_key": (
        "BatchNorm3d: nn.BatchNorm3d has no parameter or buffer num_batches_tracked, but should"
    ),
    "test_state_saved_under_another_key": "GroupNorm: GroupNorm has no key bias in its state_dict, but should",
    "test_state_not_saved": "InstanceNorm1d: InstanceNorm1d has no key running_mean in its state_dict, but should",
    "test_mutation_of_what_is_not_returned": "deg2rad: input t0 was changed, but should keep its values",
    "test_grad_missing": "sinh: gradient of x is missing, but should be a float32 tensor",
    "test_grad_extra": "view_as: gradient of y is a float32 tensor, but there should be none",
    "test_backward_raises": "atanh: backward raised RuntimeError: planted in backward",
    "test_second_missing": (
        "rsqrt: gradient of x has requires_grad False, but should have True: it cannot be differentiated again"
    ),
    "test_second_raises": "tanh: differentiating twice raised RuntimeError: planted in the second backward",
    "test_second_unsupported": (
        "reciprocal: differentiating twice raised RuntimeError: The gradient function for op planted_grad is not found."
    ),
    "test_structure_of_a_list": "chunk: chunk returned 1 values, but should return 2",
    "test_structure_of_a_tensor": "asinh: asinh returned a tuple of 2, but should return one object",
    "test_mode": ("lgamma: lgamma left get_default_dtype() at torch.float64, but should leave it at torch.float32"),
    "test_mode_of_a_backward": (
        "digamma: backward left get_default_dtype() at torch.float64, but should leave it at torch.float32"
    ),
    "test_exception": "acosh: acosh raised RuntimeError: planted",
    "test_accepts_invalid": "mv: mv accepted what the reference refuses with RuntimeError: size mismatch, got "
    "input (2), mat (2x3), vec (4)",
    "test_accepts_invalid_draw": "mm: mm accepted what the reference refuses with RuntimeError: mat1 and mat2 shapes "
    "cannot be multiplied (3x3 and 2x3)",
    "test_exception_class": "dot: dot raised KeyError: 'planted'; but should raise RuntimeError",
    "test_exception_class_draw": "outer: outer raised KeyError: 'planted'; but should raise RuntimeError",
    "test_missing": "erfc: erfc raised MissingOp: torch has no 'erfc'",
    "test_unsupported": "erfinv: erfinv raised NotImplementedError: no kernel for erfinv",
    "test_graph_dtype": "expm1: t0 has dtype float64, but should have float32",
    "test_graph_identity": "div_: div_ returned another tensor than t0, but should return t0 itself",
    "test_graph_exception": "log1p: log1p raised RuntimeError: planted while the graph is built",
    "test_batch_only_failure": (
        "program: its graph raised RuntimeError: planted for more than one; alone in its graph it does not"
    ),
    "test_poisoned_graph": "log10: log10 raised RuntimeError: building plan got error",
}

# Per test: how its cases end, phase, kind and op, and the message.
DEADLY = {
    "test_abort": (
        "crashed",
        3,
        EAGER,
        "crash",
        "sin",
        "sin: the target killed by SIGABRT: op.cpp:3] Check failed: (2 == 3) sizes differ",
    ),
    "test_segfault": ("crashed", 3, EAGER, "crash", "cos", "cos: the target killed by SIGSEGV"),
    "test_hang": (
        "timed_out",
        3,
        EAGER,
        "timeout",
        "tan",
        "tan: the target did not answer within 8 s and was killed",
    ),
    "test_abort_later": ("crashed", 3, EAGER, "crash", "cosh", "cosh: the target killed by SIGABRT"),
    "test_graph_abort": ("crashed", 0, GRAPH, "crash", "exp", "exp: the target killed by SIGABRT"),
    "test_graph_hang": (
        "timed_out",
        0,
        GRAPH,
        "timeout",
        "log1p",
        "log1p: the target did not answer within 8 s and was killed",
    ),
    "test_hungry": ("out_of_memory", 3, EAGER, "out_of_memory", "erf", "erf: the target held HELD"),
    "test_graph_hungry": ("out_of_memory", 0, GRAPH, "out_of_memory", "expm1", "expm1: the target held HELD"),
}
#: What was held when somebody looked differs from run to run.
HELD = re.compile(r"held 1\.\d+ GiB of memory, more than its limit of 1 GiB, and was killed \[--memory-limit\]")

SharedRun = Callable[..., Outcome]


@pytest.fixture
def sound(shared_run: SharedRun) -> Outcome:
    """The bodies of `wrong.py` and `deadly.py` against a sound target."""
    return shared_run("sound", {"test_wrong.py": "wrong.py", "test_deadly.py": "deadly.py"}, "-q")


@pytest.fixture
def wrong(shared_run: SharedRun) -> Outcome:
    """The bodies of `wrong.py` against a target with one fault of each kind."""
    return shared_run("wrong", {"test_wrong.py": "wrong.py"}, "-q", env={"AUTOTEST_FAULT": "faults:wrong"})


@pytest.fixture
def deadly(shared_run: SharedRun) -> Outcome:
    """The bodies of `deadly.py` against a target that dies and hangs."""
    return shared_run(
        "deadly",
        {"test_deadly.py": "deadly.py"},
        "-q",
        "--autotest-case-timeout",
        "8",  # longer than a busy machine takes to give a gigabyte away
        "--autotest-memory-limit",
        "1g",
        env={"AUTOTEST_FAULT": "faults:deadly"},
    )


def test_sound_target_is_green(sound: Outcome) -> None:
    """Without a fault every body is green and the exit status is 0."""
    assert sound.status == 0, sound.out
    assert sound.outcomes() == dict.fromkeys([*WRONG, *DEADLY, "test_untouched"], "passed")
    assert sound.summary["divergences"] == []
    assert sound.summary["graph"]["skipped"] == {}


def test_wrong_target_exits_with_1(wrong: Outcome) -> None:
    """A run with divergences exits with 1, and red are exactly the tests whose op is at fault."""
    assert wrong.status == 1, wrong.out
    assert wrong.outcomes() == {**dict.fromkeys(WRONG, "failed"), "test_untouched": "passed"}


@pytest.mark.parametrize("test", WRONG)
def test_fault_is_seen(wrong: Outcome, test: str) -> None:
    """A planted fault gives the verdict, phase, kind and blamed op that it should, and no other."""
    verdicts, rows = WRONG[test]
    counted = wrong.verdicts(test)
    counted.pop("rejected", None)
    assert counted == verdicts
    found = wrong.rows(test)
    if test in ECHOES:
        found = {row for row in found if row[0].startswith("eager")}
    assert found == rows


@pytest.mark.parametrize("test", MESSAGES)
def test_fault_is_worded(wrong: Outcome, test: str) -> None:
    """The message of a planted fault says what is and what should be."""
    assert MESSAGES[test] in wrong.messages(test)


def test_refused_draw_keeps_its_verdict(wrong: Outcome) -> None:
    """A draw that the reference refuses stays rejected where the target accepts it; its row turns the test red."""
    ends = [end for end in wrong.ends("test_accepts_invalid_draw") if end["divergences"]]
    assert ends
    assert {end["verdict"] for end in ends} == {"rejected"}


def test_refusing_is_told_apart_from_wrong(wrong: Outcome) -> None:
    """Only `missing` and `unsupported` have the level `refuses`."""
    levels = {(row["kind"], row["level"]) for row in wrong.summary["divergences"]}
    assert {kind for kind, level in levels if level == "refuses"} == {"missing", "unsupported"}
    assert {level for _, level in levels} == {"refuses", "wrong"}


def test_buffer_is_in_the_fingerprint(wrong: Outcome) -> None:
    """What is known of one buffer of a module says nothing of the others."""
    found = {row["fingerprint"] for row in wrong.summary["divergences"] if row["test"].endswith("::test_graph_state")}
    assert found == {"torch/graph_state/value/BatchNorm2d/float32,running_mean"}


def test_blamed_line_is_the_diverging_call(wrong: Outcome) -> None:
    """The marked line of the printed program is the call of the wrong op."""
    rows = [row for end in wrong.ends("test_blame_in_a_chain") for row in end["divergences"]]
    shown = [row["evidence"] for row in rows if row["evidence"] is not None]
    assert shown
    assert {found["program"].splitlines()[found["blamed_line"] - 1] for found in shown} == {
        "    t2 = torch.sigmoid(t1)"
    }


def test_evidence_of_the_first_cases(wrong: Outcome) -> None:
    """The first three cases of a test that show a fingerprint keep their evidence, later ones keep their row."""
    kept: dict[tuple[str, str], list[bool]] = {}
    for end in wrong.records():
        for row in end["divergences"]:
            kept.setdefault((row["test"], row["fingerprint"]), []).append(row["evidence"] is not None)
    assert max(map(len, kept.values())) > 3
    for told in kept.values():
        assert told == [True] * min(3, len(told)) + [False] * (len(told) - 3)


def test_red_test_shows_its_program(wrong: Outcome) -> None:
    """The terminal shows a red test's divergence and program, and no traceback through the harness."""
    expected = "\n".join(
        [
            "  erfc: erfc raised MissingOp: torch has no 'erfc'",
            "",
            "    def program(torch, x):",
            "  >     t0 = torch.erfc(x)",
            "        return t0",
        ]
    )
    assert expected in wrong.out
    assert "Traceback" not in wrong.out
    assert "autotest/run/runner.py" not in wrong.out


def test_programs_of_divergent_cases_are_kept(wrong: Outcome) -> None:
    """At most three Programs of a fingerprint lie in the run's folder, under its id."""
    [row] = [
        row for row in wrong.summary["divergences"] if row["fingerprint"] == "torch/eager_forward/value/sin/float32"
    ]
    kept = sorted(path.name for path in wrong.folder.glob("autotest-report/runs/*/programs/*.json"))
    assert [name for name in kept if name.startswith(row["id"])] == [f"{row['id']}-main-{i}.json" for i in (1, 2, 3)]
    assert row["replay"] == f"autotest replay {row['id']}"
    assert row["count"] == 3


def test_deadly_target_exits_with_1(deadly: Outcome) -> None:
    """A target that dies and hangs ends the run with 1, and the tests that it leaves alone are green."""
    assert deadly.status == 1, deadly.out
    assert deadly.outcomes() == {**dict.fromkeys(DEADLY, "failed"), "test_untouched": "passed"}
    assert deadly.counts()["crashed"] == 4
    assert deadly.counts()["timed_out"] == 2
    assert deadly.summary["out_of_memory"] == 2
    assert re.search(r"^  new +8 +all crashed$", deadly.out, re.MULTILINE)


@pytest.mark.parametrize("test", DEADLY)
def test_death_costs_one_case(deadly: Outcome, test: str) -> None:
    """A death is blamed on its case and call with signal and last words; every other case of the test stands."""
    verdict, others, phase, kind, op, message = DEADLY[test]
    assert deadly.verdicts(test) == {verdict: 1, **({"aligned": others} if others else {})}
    assert deadly.rows(test) == {(phase, kind, op)}
    assert {HELD.sub("held HELD", told) for told in deadly.messages(test)} == {message}
