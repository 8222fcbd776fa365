"""Every family of the suites turns red where the target's op is wrong, and nowhere else."""

from __future__ import annotations

import importlib
import json
from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from support.family_faults import FAULTS
from support.forks import forks
from support.runs import environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "suites"
FAMILIES = sorted(path.stem.removeprefix("test_") for path in SUITES.glob("test_*.py"))


def _coverage(family: str) -> str:
    return FAULTS[family].coverage


#: All faults are planted at once, and to start a run costs as much as a family or two: so many families share one.
SHARING = 8
TOGETHER = [
    families[start : start + SHARING]
    for families in ([*group] for _, group in groupby(sorted(FAULTS, key=_coverage), _coverage))
    for start in range(0, len(families), SHARING)
]


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


def _outcomes(
    folder: Path, tests: Collection[str], *faults: str, target: str = "torch", coverage: str = "none"
) -> dict[str, str]:
    """How each of these tests ends against a target with these faults, on three cases. On more of them, and on
    corners, all suites are green where nothing is planted: `.ci/run` shows it.
    """
    asked = ["--autotest-target", target, "--autotest-report", str(folder)]
    asked += ["--autotest-cases", "3", "--autotest-no-memory"]
    asked += ["--autotest-coverage", coverage]
    asked += ["--autotest-shrink", "0", "--autotest-blame-total", "0", "--autotest-repro-total", "0"]
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *asked, *sorted(tests)]
    planted = {"AUTOTEST_FAULT": "family_faults:plant_each", "AUTOTEST_FAULTS": " ".join(faults)}
    done = forks().run(command, ROOT, environment(planted))
    assert done.returncode == 1, done.stdout + done.stderr
    records = [
        json.loads(line) for path in folder.glob("runs/*/records-*.jsonl") for line in path.read_text().splitlines()
    ]
    return {record["test"]: record["outcome"] for record in records if record["type"] == "test"}


def test_every_family_has_a_fault() -> None:
    """No family file is without a planted fault."""
    assert sorted(FAULTS) == FAMILIES


@pytest.mark.parametrize("families", TOGETHER, ids="-".join)
def test_fault_turns_its_op_red_and_no_other(
    families: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong op of a family turns all its forms red and leaves the innocent op of the family green."""
    expected: dict[str, str] = {}
    for family in families:
        fault = FAULTS[family]
        faulty = _tests(family, fault.op, monkeypatch)
        assert faulty, f"{family} has no rows of {fault.op}"
        expected |= dict.fromkeys(faulty, "failed")
        if fault.innocent:
            innocent = _tests(family, fault.innocent, monkeypatch)
            assert innocent, f"{family} has no rows of {fault.innocent}"
            expected |= dict.fromkeys(innocent, "passed")
    assert _outcomes(tmp_path, expected, "plant", coverage=_coverage(families[0])) == expected


#: Rows of calls that PyTorch refuses, by the file and the op.
REFUSED = {
    "binary": ("torch.pow-whole", ("below_0",)),
    "convolution": ("torch.nn.functional.conv2d", ("channels", "kernel", "groups", "bias")),
    "indexing": ("torch.index_select", ("out_of_range", "negative", "dim", "real")),
    "join": ("torch.cat-default", ("sizes", "ranks", "dim", "nothing")),
    "loss": ("torch.nn.functional.cross_entropy", ("class", "batch")),
    "matmul": ("torch.matmul", ("sizes", "dtypes", "0d")),
    "view": ("Tensor.view", ("size", "inferred_twice", "strides")),
}


def _refusals() -> dict[str, str]:
    """Each wrong call of a lax op is a divergence, those of a strict one are none."""
    lax = {f"suites/test_{file}.py::test_errors[{op}-{way}]" for file, (op, ways) in REFUSED.items() for way in ways}
    lax.add("suites/test_signatures.py::test_errors[torch.logsumexp]")
    strict = {
        "suites/test_matmul.py::test_errors[torch.bmm-batch]",
        "suites/test_signatures.py::test_errors[torch.amax]",
    }
    return dict.fromkeys(lax, "failed") | dict.fromkeys(strict, "passed")


class Struck(NamedTuple):
    """What of a suite a planted fault turns red, what of it stays green, and what then has nothing to ask."""

    file: str
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    def outcomes(self) -> dict[str, str]:
        """How each of these tests ends."""
        ends = {"failed": self.wrong, "passed": self.right, "skipped": self.skipped}
        return {f"suites/{self.file}::{test}": end for end, tests in ends.items() for test in tests}


STRUCK = {
    # What leaves the argument out; not its neighbour, nor the function of the same name.
    "plant_defaults": Struck(
        "test_signatures.py",
        ("test_defaults_of_methods[Tensor.flatten]", "test_defaults_of_layers[torch.nn.LeakyReLU]"),
        (
            "test_defaults_of_methods[Tensor.diag]",
            "test_defaults_of_layers[torch.nn.ELU]",
            "test_defaults[torch.flatten]",
        ),
    ),
    # Digits that are far below the ordinary tolerance: no other row sees them.
    "plant_small": Struck(
        "test_unary.py",
        ("test_near_zero[torch.log1p]", "test_near_zero[torch.abs]"),
        ("test_near_zero[torch.expm1]", "test_near_zero[torch.neg]"),
    ),
    # An optimizer's options, and what gradients are clipped to.
    "plant_first_group": Struck(
        "test_optimizers.py",
        ("test_groups[Adam]", "test_groups[Adagrad]", "test_clipping_of_groups"),
        ("test_groups[SGD]", "test_optimizer[Adam]", "test_clipping_by_value"),
    ),
    # A group that was added, and a parameter that two layers share.
    "plant_added": Struck(
        "test_optimizers.py",
        ("test_added_group[Adam]", "test_tied[RMSprop]"),
        ("test_tied[Adam]", "test_shared", "test_padding"),
    ),
    # The state of an optimizer, and of a schedule: lost where it is loaded, and where it is saved.
    "plant_forgetful": Struck(
        "contract/test_optimizer_contract.py",
        ("test_goes_on[Adam]", "test_schedule_goes_on[StepLR]"),
        ("test_options", "test_schedule_goes_on[LinearLR]", "test_state[Adam]", "test_state_of_schedule[StepLR]"),
    ),
    "plant_unsaved": Struck(
        "contract/test_optimizer_contract.py",
        ("test_state[Adam]", "test_goes_on[Adam]", "test_state_of_schedule[StepLR]"),
        ("test_options", "test_state_of_schedule[LinearLR]"),
    ),
    # An option of an optimizer that is otherwise known to do what PyTorch does not.
    "plant_minimizing": Struck(
        "contract/test_optimizer_contract.py",
        ("test_maximize[False]", "test_maximize[True]"),
        ("test_options", "test_goes_on[SGD]"),
    ),
    # The state of a graph: what load_state_dict() loses, state_dict() cannot show; or it does not show what is there.
    "plant_graph_forgetful": Struck(
        "contract/test_training_contract.py",
        ("test_goes_on[Adam]",),
        ("test_goes_on[SGD]", "test_state_of_optimizers[Adam-m v]"),
        ("test_loaded_state_shows",),
    ),
    "plant_graph_silent": Struck(
        "contract/test_training_contract.py", ("test_loaded_state_shows",), ("test_goes_on[Adam]",)
    ),
    # The mask of a dropout that is checkpointed itself.
    "plant_redrawn": Struck(
        "contract/test_config_contract.py",
        ("test_checkpointed_dropout[drop]", "test_checkpointed_dropout[model drop]"),
        ("test_checkpointed_dropout[model]", "test_checkpointing[first]"),
    ),
    # Learning rates, eagerly, and in graphs.
    "plant_late": Struck(
        "contract/test_schedule_contract.py",
        ("test_eager[CosineDecayLR]", "test_in_graph[ConstantLR]", "test_in_graph[SequentialLR]"),
        ("test_eager[ConstantLR]", "test_in_graph[CosineDecayLR]", "test_plateau[cooldown]"),
    ),
    # A weight decay that an optimizer has in one of its modes.
    "plant_undecayed": Struck(
        "contract/test_lamb_contract.py",
        ("test_weight_decay[eager-False]", "test_groups[eager-weight_decay]"),
        ("test_weight_decay[eager-True]", "test_weight_decay[graph-False]", "test_bias_correction[eager]"),
    ),
    # Modules that a mode does not reach, nor a state that is loaded.
    "plant_shallow": Struck(
        "contract/test_module_contract.py",
        ("test_modes[True]", "test_modes[False]", "test_eval", "test_loads"),
        ("test_names", "test_state", "test_apply"),
    ),
    # Two dtypes of which the first decides.
    "plant_of_the_first": Struck(
        "test_dtypes.py",
        ("test_mixed[minimum]", "test_mixed_in_place[remainder]", "test_mixed_and_refused[dot]"),
        ("test_mixed[maximum]", "test_mixed_in_place[sub]", "test_mixed_and_refused[mv]"),
    ),
    # An operand without dimensions; what nothing is added of; what takes no gradient.
    "plant_number": Struck(
        "test_dtypes.py",
        ("test_mixed_with_one_of_no_dimension[mul]",),
        ("test_mixed_with_one_of_no_dimension[add]", "test_mixed_in_place[mul]"),
    ),
    "plant_all_added": Struck(
        "test_matmul.py",
        ("test_nothing_of_it_is_added[baddbmm]",),
        ("test_nothing_of_it_is_added[addmm]", "test_op[torch.baddbmm]"),
    ),
    "plant_unwritten": Struck(
        "test_inplace.py",
        ("test_input_is_written[clamp_]",),
        ("test_input_is_written[clamp_min_]", "test_input_is_written_by[sin_]"),
    ),
    # Lines that hold NaN, two ranks, matrices that are singular or have no root, rare losses.
    "plant_unseen": Struck(
        "test_scan.py", ("test_special_lines[cummin]",), ("test_special_lines[cummax]", "test_op[torch.cumsum]")
    ),
    "plant_widened": Struck(
        "test_dtypes.py",
        ("test_mixed_of_several_with_one_of_no_dimension[where]",),
        ("test_mixed_of_several[where]", "test_mixed_of_several_with_one_of_no_dimension[addcdiv]"),
    ),
    "plant_dry": Struck(
        "test_inplace.py",
        ("test_input_is_written_with[masked_fill_]",),
        ("test_input_is_written_with[index_fill_]", "test_input_is_written_with[lerp_]"),
    ),
    "plant_one_rank": Struck("test_matmul.py", ("test_op[torch.tensordot-ranks]",), ("test_op[torch.tensordot]",)),
    "plant_rootless": Struck(
        "test_matmul.py",
        ("test_refused_matrices[linalg.cholesky]",),
        ("test_refused_matrices[cholesky]", "test_refused_matrices[linalg.inv]"),
    ),
    "plant_singular": Struck(
        "test_matmul.py", ("test_special_matrices[det]",), ("test_special_matrices[linalg.slogdet]",)
    ),
    "plant_rare": Struck("test_layers.py", ("test_op[torch.nn.HuberLoss]",), ("test_op[torch.nn.SoftMarginLoss]",)),
    # Boundaries that come with their order.
    "plant_disordered": Struck(
        "test_sorting.py", ("test_op[torch.searchsorted-sorter]",), ("test_op[torch.searchsorted-met]",)
    ),
    # How wide weights are spread before a nonlinearity.
    "plant_slope": Struck(
        "contract/test_init_contract.py",
        ("test_gain[leaky_relu-0.5]", "test_gain[leaky_relu-2]"),
        ("test_gain[leaky_relu-None]", "test_gain[relu-None]", "test_no_gain"),
    ),
    # Where sequences of different lengths begin.
    "plant_padded_before": Struck(
        "contract/test_sequences_contract.py",
        ("test_padded[True-0.0]", "test_padded[False--1.0]", "test_packed_from_padded[True]"),
        ("test_padded_rows", "test_unsorted_is_refused", "test_gradients"),
    ),
    # What stands behind an inserted module, and in which order.
    "plant_unmoved": Struck(
        "contract/test_container_contract.py",
        ("test_insert[0]", "test_insert[2]", "test_dict", "test_dict_updated[update]"),
        ("test_insert[3]", "test_behind[append]", "test_dict_emptied", "test_list_of_parameters"),
    ),
}


def _singles() -> dict[str, str]:
    """Digits of a float64 that float32 lacks, and integers that it cannot tell apart."""
    digits, compared = "suites/test_dtypes.py::test_digits", "suites/test_comparison.py::test_op"
    wrong = {f"{digits}[torch.erf]", f"{compared}[torch.eq-neighbours]"}
    right = {f"{digits}[torch.exp]", f"{compared}[torch.ne-neighbours]"}
    return dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")


#: By fault: how tests end.
PLANTED = {
    **{fault: struck.outcomes() for fault, struck in STRUCK.items()},
    "plant_lax": _refusals(),
    "plant_single": _singles(),
}
#: Faults that do not concern each other share a run: to start one, OneFlow's above all, costs more than its tests.
SHARED = {
    ("plant_defaults", "plant_lax", "plant_small", "plant_first_group"): "torch",
    (
        "plant_single",
        "plant_added",
        "plant_of_the_first",
        "plant_number",
        "plant_all_added",
        "plant_unwritten",
    ): "torch",
    (
        "plant_unseen",
        "plant_widened",
        "plant_dry",
        "plant_one_rank",
        "plant_rootless",
        "plant_singular",
        "plant_rare",
        "plant_disordered",
    ): "torch",
    ("plant_forgetful", "plant_late", "plant_redrawn"): "oneflow",
    ("plant_unsaved", "plant_graph_silent", "plant_undecayed"): "oneflow",
    (
        "plant_graph_forgetful",
        "plant_minimizing",
        "plant_shallow",
        "plant_unmoved",
        "plant_slope",
        "plant_padded_before",
    ): "oneflow",
}


@pytest.mark.parametrize("faults", SHARED, ids=" ".join)
def test_fault_of_more_than_an_op_is_red(faults: Sequence[str], tmp_path: Path) -> None:
    """And nothing else is."""
    expected: dict[str, str] = {}
    for fault in faults:
        assert all(expected.get(test, end) == end for test, end in PLANTED[fault].items())
        expected |= PLANTED[fault]
    assert _outcomes(tmp_path, expected, *faults, target=SHARED[faults]) == expected


def test_every_fault_is_planted() -> None:
    """Once."""
    assert sorted(fault for faults in SHARED for fault in faults) == sorted(PLANTED)


def test_an_update_that_one_configuration_has_wrong_is_red(tmp_path: Path) -> None:
    """It is right in the plain graph, and under all other configurations."""
    file = "suites/test_graph_configurations.py"
    wrong, right = {f"{file}::test_update[AdamW]"}, {f"{file}::test_update[Adagrad]"}
    expected = dict.fromkeys(wrong, "failed") | dict.fromkeys(right, "passed")
    assert _outcomes(tmp_path, expected, "plant_fused", target="oneflow") == expected
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


def test_every_wrong_call_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A family whose rows have wrong calls has the test that makes them, or has these rows from one that has."""
    wrong = {
        family: {f"{row.name}-{what}" for row in _rows(family, monkeypatch) for what in getattr(row, "errors", ())}
        for family in FAMILIES
    }
    made = {
        name for family in FAMILIES if hasattr(_module(family, monkeypatch), "test_errors") for name in wrong[family]
    }
    assert {name for names in wrong.values() for name in names} == made
