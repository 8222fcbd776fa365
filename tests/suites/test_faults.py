"""Every family of the suites turns red where the target's op is wrong, and nowhere else."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.family_faults import FAULTS
from support.forks import forks
from support.runs import environment

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "suites"
FAMILIES = sorted(path.stem.removeprefix("test_") for path in SUITES.glob("test_*.py"))


def _module(family: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SUITES)
    return importlib.import_module(f"test_{family}")


def _rows(family: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    return getattr(_module(family, monkeypatch), "ROWS", ())


def _tests(family: str, op: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The node ids of all forms of an op in a family; of the one test that `op` names where it names a test."""
    file = f"suites/test_{family}.py"
    if op.startswith("test_"):
        return {f"{file}::{op}"}
    calls = [[*row.calls()] for row in _rows(family, monkeypatch) if row.name == op and row.graph]
    return {
        f"{file}::test_{'form' if position else 'op'}[{call.id}]"
        for forms in calls
        for position, call in enumerate(forms if hasattr(_module(family, monkeypatch), "test_form") else forms[:1])
    }


def _outcomes(folder: Path, tests: set[str], fault: str = "plant", target: str = "torch") -> dict[str, str]:
    """How each of these tests ends against the faulty target."""
    asked = ["--autotest-target", target, "--autotest-cases", "3", "--autotest-report", str(folder)]
    asked += ["--autotest-shrink", "0", "--autotest-blame-total", "0", "--autotest-repro-total", "0"]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *asked, *sorted(tests)]
    done = forks().run(command, ROOT, environment({"AUTOTEST_FAULT": f"family_faults:{fault}"}))
    assert done.returncode == 1, done.stdout + done.stderr
    records = [
        json.loads(line) for path in folder.glob("runs/*/records-*.jsonl") for line in path.read_text().splitlines()
    ]
    return {record["test"]: record["outcome"] for record in records if record["type"] == "test"}


def test_every_family_has_a_fault() -> None:
    """No family file is without a planted fault."""
    assert sorted(FAULTS) == FAMILIES


@pytest.mark.parametrize("family", FAULTS)
def test_fault_turns_its_op_red_and_no_other(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong op of a family turns all its forms red and leaves the innocent op of the family green."""
    fault = FAULTS[family]
    faulty = _tests(family, fault.op, monkeypatch)
    assert faulty, f"{family} has no rows of {fault.op}"
    expected = dict.fromkeys(faulty, "failed")
    if fault.innocent:
        innocent = _tests(family, fault.innocent, monkeypatch)
        assert innocent, f"{family} has no rows of {fault.innocent}"
        expected |= dict.fromkeys(innocent, "passed")
    assert _outcomes(tmp_path, {*expected}) == expected


#: Rows of calls that PyTorch refuses, by the file and the op.
REFUSED = {
    "convolution": ("torch.nn.functional.conv2d", ("channels", "kernel", "groups", "bias")),
    "indexing": ("torch.index_select", ("out_of_range", "negative", "dim", "real")),
    "join": ("torch.cat-default", ("sizes", "ranks", "dim", "nothing")),
    "loss": ("torch.nn.functional.cross_entropy", ("class", "batch")),
    "matmul": ("torch.matmul", ("sizes", "dtypes", "0d")),
    "view": ("Tensor.view", ("size", "inferred_twice", "strides")),
}


def test_op_that_accepts_what_it_should_refuse_is_red(tmp_path: Path) -> None:
    """Each wrong call of a lax op is a divergence, those of a strict one are none."""
    lax = {f"suites/test_{file}.py::test_errors[{op}-{way}]" for file, (op, ways) in REFUSED.items() for way in ways}
    lax.add("suites/test_signatures.py::test_errors[torch.logsumexp]")
    strict = {
        "suites/test_matmul.py::test_errors[torch.bmm-batch]",
        "suites/test_signatures.py::test_errors[torch.amax]",
    }
    expected = dict.fromkeys(lax, "failed") | dict.fromkeys(strict, "passed")
    assert _outcomes(tmp_path, lax | strict, "plant_lax") == expected


def test_a_wrong_default_of_a_method_or_a_layer_is_red(tmp_path: Path) -> None:
    """What leaves the argument out is red; its neighbour, and the function of the same name, are not."""
    file = "suites/test_signatures.py"
    wrong = {
        f"{file}::test_defaults_of_methods[Tensor.flatten]",
        f"{file}::test_defaults_of_layers[torch.nn.LeakyReLU]",
    }
    right = {
        f"{file}::test_defaults_of_methods[Tensor.diag]",
        f"{file}::test_defaults_of_layers[torch.nn.ELU]",
        f"{file}::test_defaults[torch.flatten]",
    }
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_defaults") == expected


def test_digits_lost_near_zero_are_red(tmp_path: Path) -> None:
    """They are far below the ordinary tolerance: no other row sees them."""
    file = "suites/test_unary.py"
    wrong = {f"{file}::test_near_zero[torch.{op}]" for op in ("log1p", "abs")}
    right = {f"{file}::test_near_zero[torch.{op}]" for op in ("expm1", "neg")}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_small") == expected


def test_what_is_computed_in_float32_is_red(tmp_path: Path) -> None:
    """Digits of a float64 that float32 lacks, and integers that it cannot tell apart."""
    digits, compared = "suites/test_dtypes.py::test_digits", "suites/test_comparison.py::test_op"
    wrong = {f"{digits}[torch.erf]", f"{compared}[torch.eq-neighbours]"}
    right = {f"{digits}[torch.exp]", f"{compared}[torch.ne-neighbours]"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_single") == expected


def test_groups_that_are_trained_as_the_first_are_red(tmp_path: Path) -> None:
    """By an optimizer's options, and by what gradients are clipped to."""
    file = "suites/test_optimizers.py"
    wrong = {f"{file}::test_groups[Adam]", f"{file}::test_groups[Adagrad]", f"{file}::test_clipping_of_groups"}
    right = {f"{file}::test_groups[SGD]", f"{file}::test_optimizer[Adam]", f"{file}::test_clipping_by_value"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_first_group") == expected


def test_a_state_that_is_not_loaded_is_red(tmp_path: Path) -> None:
    """That of an optimizer, and of a schedule."""
    file = "suites/contract/test_optimizer_contract.py"
    wrong = {f"{file}::test_goes_on[Adam]", f"{file}::test_schedule_goes_on[StepLR]"}
    right = {f"{file}::test_options", f"{file}::test_schedule_goes_on[LinearLR]"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_forgetful", target="oneflow") == expected


def test_a_rate_beside_its_formula_is_red(tmp_path: Path) -> None:
    """Eagerly, and in graphs."""
    file = "suites/contract/test_schedule_contract.py"
    wrong = {
        f"{file}::test_eager[CosineDecayLR]",
        f"{file}::test_in_graph[ConstantLR]",
        f"{file}::test_in_graph[SequentialLR]",
    }
    right = {
        f"{file}::test_eager[ConstantLR]",
        f"{file}::test_in_graph[CosineDecayLR]",
        f"{file}::test_plateau[cooldown]",
    }
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_late", target="oneflow") == expected


def test_modules_that_are_not_reached_are_red(tmp_path: Path) -> None:
    """By a mode, and by a state that is loaded."""
    file = "suites/contract/test_module_contract.py"
    wrong = {f"{file}::test_modes[True]", f"{file}::test_modes[False]", f"{file}::test_eval", f"{file}::test_loads"}
    right = {f"{file}::test_names", f"{file}::test_state", f"{file}::test_apply"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_shallow", target="oneflow") == expected


def test_groups_and_shared_parameters_that_are_updated_otherwise_are_red(tmp_path: Path) -> None:
    """A group that was added, and a parameter that two layers share."""
    file = "suites/test_optimizers.py"
    wrong = {f"{file}::test_added_group[Adam]", f"{file}::test_tied[RMSprop]"}
    right = {f"{file}::test_tied[Adam]", f"{file}::test_shared", f"{file}::test_padding"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_added") == expected


def test_an_update_that_one_configuration_has_wrong_is_red(tmp_path: Path) -> None:
    """It is right in the plain graph, and under all other configurations."""
    file = "suites/test_graph_configurations.py"
    wrong, right = {f"{file}::test_update[AdamW]"}, {f"{file}::test_update[Adagrad]"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, wrong | right, "plant_fused", target="oneflow") == expected
    [summary] = tmp_path.glob("summary.json")
    told = {row["fingerprint"] for row in json.loads(summary.read_text())["divergences"]}
    assert told == {"oneflow/graph_update/value/AdamW/float32,config=allow_fuse_model_update_ops"}


def test_suites_cover_the_op_surface(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables name at least 250 ops, in-place and plain forms of an op counted once."""
    names = {row.name.rstrip("_") for family in FAMILIES for row in _rows(family, monkeypatch)}
    assert len(names) >= 250


def test_ids_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two forms of a family share an id: pytest would number them, and case keys would change with their order."""
    for family in FAMILIES:
        ids = [call.id for row in _rows(family, monkeypatch) for call in row.calls()]
        assert len(ids) == len({*ids}), family
