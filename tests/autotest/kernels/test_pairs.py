"""Files and folders of kernels: which op each is held against, how that is told, and that it is judged as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.errors import UsageError
from autotest.kernels.judge import Kernel, KernelJudge
from autotest.kernels.modules import ModulePair
from autotest.kernels.pairs import Left, Pair, read_kernels, read_module, read_pairs
from autotest.kernels.questions import Asking
from dual_object.adapters.torch.kernels.naming import operator_named, public_path
from dual_object.adapters.torch.kernels.samples.drawing import samples
from dual_object.errors import TargetError
from dual_object.replay.adapter import load_reference

pytestmark = pytest.mark.slow

SOFTMAX = """
import torch

def _softmax_kernel_impl(x, dim, half_to_float):
    parts = torch.exp(x - x.amax(dim, keepdim=True)) if x.numel() else x.clone()
    return parts / parts.sum(dim, keepdim=True)
"""


def lay(folder: Path, files: dict[str, str]) -> Path:
    """These files in a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("name", "operator", "public"),
    [
        ("relu", "aten.relu.default", "relu"),
        ("gelu", "aten.gelu.default", "nn.functional.gelu"),
        ("_softmax", "aten._softmax.default", None),
        ("add__Tensor", "aten.add.Tensor", None),
        ("add", "aten.add.Tensor", None),
        ("add___Tensor", "aten.add_.Tensor", None),
        ("sum__dim_IntList", "aten.sum.dim_IntList", None),
        ("silu", "aten.silu.default", None),
    ],
)
def test_names(name: str, operator: str, public: str | None) -> None:
    """Folders are named after operators; a public function is asked for where it takes the very arguments."""
    assert operator_named(name) == operator
    assert public_path(operator) == public


def test_names_of_nothing() -> None:
    """What is no operator is none."""
    assert operator_named("no_such__Tensor") is None


def test_a_folder_of_operators(tmp_path: Path) -> None:
    """Of several implementations the first counts; what is no pair is told, with the reason."""
    folder = lay(
        tmp_path,
        {
            "_softmax/_softmax_implementation_v1.py": SOFTMAX,
            "_softmax/_softmax_implementation_v2.py": "1 / 0",
            "relu/relu_implementation_v1.py": "def relu_kernel_impl(x): ...",
            "none/none_implementation_v1.py": "def none_kernel_impl(x): ...",
            "sin/sin_implementation_v1.py": "def kernel(x): ...",
            "docs/README.md": "",
        },
    )
    pairs, left = read_pairs(folder)
    place = folder.resolve()
    assert pairs == [
        Pair(
            "ops.aten._softmax.default",
            Kernel(place / "_softmax" / "_softmax_implementation_v1.py", "_softmax_kernel_impl"),
            gradients=False,
            how="the folder _softmax is aten._softmax.default",
        ),
        Pair(
            "relu",
            Kernel(place / "relu" / "relu_implementation_v1.py", "relu_kernel_impl"),
            gradients=False,
            how="the folder relu is aten.relu.default, which takes what torch.relu takes",
        ),
    ]
    assert left == [
        Left(folder / "none", "PyTorch has no operator none"),
        Left(folder / "sin", "sin_implementation_v1.py has no function sin_kernel_impl, but should"),
    ]


def test_a_folder_of_files(tmp_path: Path) -> None:
    """Each has one public function; its helpers begin with a line."""
    folder = lay(
        tmp_path,
        {
            "a.py": "def _helper(x): ...\ndef gelu(x): ...\n",
            "b.py": "def sin(x): ...\ndef cos(x): ...\n",
            "c.py": "x = 1\n",
            "d.py": "class sin: ...\ndef mine(x): ...\n",
        },
    )
    pairs, left = read_pairs(folder)
    assert pairs == [
        Pair("nn.functional.gelu", Kernel(folder.resolve() / "a.py", "gelu"), how="a.py has the function gelu alone")
    ]
    assert [(one.path.name, one.why) for one in left] == [
        ("b.py", "it has 2 public functions (sin, cos), but should have one"),
        ("c.py", "it has no public function, but should have one"),
        ("d.py", "PyTorch has no public function mine"),
    ]


def test_a_folder_of_nothing(tmp_path: Path) -> None:
    """What was found instead is told."""
    lay(tmp_path, {"d.py": "def mine(x): ...\n"})
    with pytest.raises(UsageError) as caught:
        read_pairs(tmp_path)
    assert str(caught.value) == (
        f"KERNEL='{tmp_path}', but should be a folder of OP/OP_implementation_v1.py, or of files with one public "
        "function each that is named after an op; d.py: PyTorch has no public function mine"
    )


def test_a_file_of_kernels(tmp_path: Path) -> None:
    """The same file as for runs; gradients of operators are made above them."""
    text = (
        '[[kernel]]\nop = "torch.softmax"\nimplementation = "k.py:softmax"\ndomain = { dtypes = ["float32"] }\n'
        'known_gaps = ["no out="]\ndelegates = true\nclaims = ["compile"]\n'
        '[[kernel]]\nop = "aten::_softmax"\nimplementation = "k.py:low"\n'
    )
    lay(tmp_path, {"k.py": "", "kernels.toml": text})
    file = tmp_path.resolve() / "k.py"
    assert read_kernels(tmp_path / "kernels.toml") == [
        Pair(
            "softmax",
            Kernel(file, "softmax", delegates=True, claims=("compile",)),
            ("float32",),
            ("no out=",),
            how="kernels.toml names torch.softmax",
        ),
        Pair(
            "ops.aten._softmax.default",
            Kernel(file, "low"),
            gradients=False,
            how="kernels.toml names aten._softmax.default",
        ),
    ]
    lay(tmp_path, {"none.toml": '[[kernel]]\nop = "aten.none"\nimplementation = "k.py:low"\n'})
    with pytest.raises(UsageError) as caught:
        read_kernels(tmp_path / "none.toml")
    assert str(caught.value) == (f"{tmp_path}/none.toml names aten.none.default, but PyTorch has no such operator")


def test_a_problem_and_its_module(tmp_path: Path) -> None:
    """A module lies in a file that is named, in the only one beside the problem that has it, or in the problem."""
    problem = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"
    new = "class ModelNew: ...\n"
    folder = lay(tmp_path, {"1_problem.py": problem, "1_new.py": new, "other.py": "x = 1\n"}).resolve()
    pair = ModulePair(folder / "1_problem.py", folder / "1_new.py")
    assert read_module(folder / "1_problem.py") == read_module(folder / "1_problem.py", folder / "1_new.py") == pair
    lay(folder, {"2_new.py": new})
    for given, sentence in (
        ((folder / "1_problem.py",), f"KERNEL='{folder}/1_problem.py', but should have one file beside it with a "
         "module ModelNew: there is 1_new.py, 2_new.py"),
        ((folder / "1_problem.py", folder / "other.py"), f"KERNEL='{folder}/other.py', but should have a module "
         "ModelNew"),
        ((folder / "other.py",), f"KERNEL='{folder}/other.py', but should be FILE.py:FUNCTION, the kernel of an op, or "
         "a problem, with Model, get_inputs and get_init_inputs"),
    ):  # fmt: skip
        with pytest.raises(UsageError) as caught:
            read_module(*given)
        assert str(caught.value) == sentence
    lay(folder, {"1_problem.py": problem + new})
    assert read_module(folder / "1_problem.py") == ModulePair(folder / "1_problem.py", folder / "1_problem.py")


def test_samples_of_operators() -> None:
    """They are what public ops call operators with; one that none of a like name calls has no samples."""
    given = samples("ops.aten._softmax_backward_data.default", dtypes=("float32",))
    assert all(len(sample.args) == 4 for sample in given if sample.role == "plain")
    assert {"plain", "edges", "layout", "size"} <= {sample.role for sample in given}
    with pytest.raises(TargetError) as caught:
        samples("ops.aten._cslt_compress.default")
    assert str(caught.value) == (
        "PyTorch has no samples that reach aten._cslt_compress.default, but a kernel can be judged for any operator "
        "that an op of its table op_db of a like name calls [--like]"
    )


def test_an_operator_is_judged(tmp_path: Path) -> None:
    """At the operator's own arguments: a sound one is accepted, one that is off or delegates is refused."""
    sound = SOFTMAX
    folder = lay(
        tmp_path,
        {
            "_softmax/_softmax_implementation_v1.py": sound,
            "wrong.py": sound.replace("return parts", "return 1.001 * parts"),
            "delegates.py": "import torch\n\ndef _softmax_kernel_impl(x, dim, half_to_float):\n"
            "    return torch.ops.aten._softmax.default(x, dim, half_to_float)\n",
        },
    )
    [pair], _ = read_pairs(folder)
    judge = KernelJudge(load_reference(), Asking(pair.path, ("float32",), pair.gradients))
    verdict = judge.judge(pair.kernel)
    assert verdict.accepted, [finding.sentence for finding in verdict.findings]
    wrong = judge.judge(Kernel(folder / "wrong.py", "_softmax_kernel_impl"))
    assert "numerics" in {finding.category for finding in wrong.findings}
    delegating = judge.judge(Kernel(folder / "delegates.py", "_softmax_kernel_impl"))
    assert delegating.findings[0].sentence == "delegates: it calls _softmax, the op that it should be"
