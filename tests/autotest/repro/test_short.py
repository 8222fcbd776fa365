"""Short scripts: what a person would write, and what it must print to be told of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.compare.difference import Rules
from autotest.compare.divergence import new_row
from autotest.repro import Unscripted
from autotest.repro.issue import Extent, Issue
from autotest.repro.running import Ended
from autotest.repro.short import Told, short_text, tell
from autotest.repro.short.text import MOST_LINES, _renamed
from autotest.repro.short.trial import apart, told
from autotest.repro.templating import public
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Ref
from support.programs import one_call

OUTPUT = {"call": 0, "part": "output", "key": "1"}
GRADIENT = {"call": 0, "part": "gradient", "key": "0"}


def row(kind: str, phase: str = "eager_forward", op: str = "relu", message: str = "relu: x") -> dict[str, Any]:
    """The row of a divergence from OneFlow."""
    return dict(new_row(("oneflow", phase, kind, op, "float32"), "test_x.py::test_a", "test_x.py::test_a#0", message))


def test_one_call() -> None:
    """Both are imported, the input is made, the call is made, both results are printed."""
    assert short_text(row("value"), one_call(), OUTPUT) == (
        "import torch\n"
        "import oneflow\n"
        "\n"
        "for framework in (torch, oneflow):\n"
        "    x = framework.tensor([-1.5, 0.1, 2.0])\n"
        "    t0 = framework.relu(x)\n"
        "    print(framework.__name__, t0.detach().numpy())\n"
    )


def test_gradient() -> None:
    """A backward is one line, from ones by their name."""
    text = short_text(row("value", "eager_backward"), one_call(backward=True), GRADIENT)
    assert text.splitlines()[4:] == [
        "    x = framework.tensor([-1.5, 0.1, 2.0], requires_grad=True)",
        "    t0 = framework.relu(x)",
        "    t0.backward(framework.ones_like(t0))",
        "    print(framework.__name__, x.grad.numpy())",
    ]
    program = one_call(backward=True)
    program.cotangents = {1: np.array([0.5, 2, 3], np.float32)}
    text = short_text(row("grad_missing", "eager_backward"), program, GRADIENT)
    assert text.splitlines()[6:] == [
        "    t0.backward(framework.tensor([0.5, 2.0, 3.0]))",
        "    print(framework.__name__, x.grad is None)",
    ]


@pytest.mark.parametrize(
    ("kind", "printed"),
    [
        ("dtype", "t0.dtype"),
        ("shape", "t0.shape"),
        ("layout", "t0.stride(), t0.storage_offset()"),
        ("device", "t0.device.type"),
        ("requires_grad", "t0.requires_grad, t0.is_leaf"),
        ("exception", "tuple(t0.shape)"),
        ("crash", "tuple(t0.shape), flush=True"),
    ],
)
def test_a_kind_prints_what_it_is_about(kind: str, printed: str) -> None:
    """Not the values where these are no matter; what ends the process is printed at once."""
    assert short_text(row(kind), one_call(), OUTPUT).splitlines()[-1] == f"    print(framework.__name__, {printed})"


def test_refusal() -> None:
    """Where PyTorch raises, both sides say whether they do."""
    program = one_call()
    program.calls[0] = Call("function", "stack", (Ref(0), 7), {}, raises=("TypeError",))
    program.outputs = None
    assert short_text(row("accepts_invalid"), program, {**OUTPUT, "key": ""}).splitlines()[5:] == [
        "    try:",
        "        framework.stack(x, 7)",
        '        print(framework.__name__, "accepts it")',
        "    except Exception as error:",
        '        print(framework.__name__, "raises", type(error).__name__)',
    ]


def test_graph() -> None:
    """A static graph of calls is a class of two lines."""
    text = short_text(row("value", "graph_forward"), one_call(), OUTPUT)
    assert text == (
        "import torch\n"
        "import oneflow\n"
        "\n"
        "def program(torch, x):\n"
        "    return torch.relu(x)\n"
        "\n"
        "class Graph(oneflow.nn.Graph):\n"
        "    def build(self, *inputs):\n"
        "        return program(oneflow, *inputs)\n"
        "\n"
        'print("torch", program(torch, torch.tensor([-1.5, 0.1, 2.0])).detach().numpy())\n'
        'print("oneflow graph", Graph()(oneflow.tensor([-1.5, 0.1, 2.0])).detach().numpy())\n'
    )
    backward = short_text(row("value", "graph_backward"), one_call(backward=True), GRADIENT)
    assert "self.loss(out * d0).backward()" in backward
    assert backward.splitlines()[-2:] == [
        "for name, shown in run_graph(oneflow).items():",
        '    print("oneflow graph", name, shown.detach().numpy())',
    ]


def test_graph_under_a_configuration() -> None:
    """It is what `self.config` is told, where the graph is made."""
    told = {
        **row("value", "graph_forward"),
        "fingerprint": "oneflow/graph_forward/value/relu/float32,config=enable_amp.float16",
    }
    lines = short_text(told, one_call(), OUTPUT).splitlines()
    start = lines.index("class Graph(oneflow.nn.Graph):")
    assert lines[start + 1 : start + 7] == [
        "    def __init__(self):",
        "        super().__init__()",
        "        self.config.enable_amp(True, dtype=oneflow.float16)",
        "",
        "    def build(self, *inputs):",
        "        return program(oneflow, *inputs)",
    ]
    backward = short_text({**told, "phase": "graph_backward"}, one_call(backward=True), GRADIENT)
    assert "            self.config.enable_amp(True, dtype=torch.float16)\n" in backward


def test_module_and_layouts() -> None:
    """A module takes its state by its own method; a transposed input is NumPy's."""
    state = {"weight": np.array([[1.5, 2.0]], np.float32)}
    x = Input(0, "", np.array([[1.0, np.nan], [3.0, 4.0]], np.float32), "float32", strides=(1, 2))
    make = Call("module", "nn.Linear", (2, 1, False), {}, out=Ref(1), state=state)
    program = Program([x], [make, Call("call", "Linear", (Ref(1), Ref(0)), {}, out=Ref(2))], Ref(2))
    where = {"call": 1, "part": "output", "key": "2"}
    assert short_text(row("value", op="Linear"), program, where).splitlines() == [
        "from math import nan",
        "import numpy as np",
        "import torch",
        "import oneflow",
        "",
        "for framework in (torch, oneflow):",
        '    x = framework.from_numpy(np.array([[1.0, 3.0], [nan, 4.0]], "float32").T)',
        "    m0 = framework.nn.Linear(2, 1, False)",
        '    m0.load_state_dict({"weight": framework.tensor([[1.5, 2.0]])})',
        "    t0 = m0(x)",
        "    print(framework.__name__, t0.detach().numpy())",
    ]
    program.inputs[0] = Input(0, "", np.array([[1.0, 2.0]], np.float32), "float32", strides=(4, 2))
    assert short_text(row("value", op="Linear"), program, where).splitlines()[5:7] == [
        "    x = framework.from_numpy(np.lib.stride_tricks.as_strided("
        'np.array([1.0, 0.0, 2.0], "float32"), (1, 2), (16,',
        "        8)))",
    ]


@pytest.mark.parametrize(
    ("told_of", "program", "reason"),
    [
        (row("value"), one_call(values=np.ones((9, 8))), "its inputs have 72 elements, more than 64"),
        (row("value"), one_call(values=np.full(60, 0.123456789)), "its inputs are too long for a script of 12 lines"),
        (row("random"), one_call(), "it shows in many results together"),
        ({**row("value"), "target": "torch"}, one_call(), "both sides are PyTorch"),
    ],
)
def test_no_short_script(told_of: dict[str, Any], program: Program, reason: str) -> None:
    """What has none says why."""
    with pytest.raises(Unscripted) as refused:
        short_text(told_of, program, OUTPUT)
    assert str(refused.value) == reason
    assert MOST_LINES == 12


SAME, ELSE = "it prints the same for both sides", "the target raises something else in it: "
ABORT = Ended(-6, "torch (3,)\n", "")
RAISED = """Traceback (most recent call last):
  File "/home/ann/short.py", line 6
    y()
RuntimeError: \x1b[1mno\x1b[0m kernel
"""


@pytest.mark.parametrize(
    ("told_of", "ended", "shown"),
    [
        (row("value"), Ended(0, "torch [1. 2.]\noneflow [1.  2.5]\n", ""), "torch [1. 2.]\noneflow [1.  2.5]"),
        (
            row("dtype"),
            Ended(0, "torch torch.int64\noneflow oneflow.int32\n", ""),
            "torch torch.int64\noneflow oneflow.int32",
        ),
        (row("value"), Ended(0, "torch\noneflow graph 3\n", ""), "torch\noneflow graph 3"),
        (row("sign"), Ended(0, "torch [-0.]\noneflow [0.]\n", ""), "torch [-0.]\noneflow [0.]"),
        (row("crash"), ABORT, "torch (3,)\n(ended by signal 6)"),
        (row("timeout"), Ended(None, "torch (3,)\n", ""), "torch (3,)\n(does not end)"),
        (
            row("exception", message="relu raised RuntimeError: no"),
            Ended(1, "torch (3,)\n", RAISED),
            "torch (3,)\nRuntimeError: no kernel",
        ),
        (
            row("missing", message="relu raised MissingOp"),
            Ended(1, "torch (3,)\n", RAISED.replace("RuntimeError", "AttributeError")),
            "torch (3,)\nAttributeError: no kernel",
        ),
    ],
)
def test_what_shows_a_divergence(told_of: dict[str, Any], ended: Ended, shown: str) -> None:
    """Other numbers, words or signs; an end of the process; the exception without its traceback."""
    assert told("script", told_of, ended) == Told("script", shown)


@pytest.mark.parametrize(
    ("told_of", "ended", "reason"),
    [
        (row("value"), Ended(0, "torch [1. 2.]\noneflow [1.       2.000001]\n", ""), SAME),
        (row("dtype"), Ended(0, "torch torch.int64\noneflow oneflow.int64\n", ""), SAME),
        (row("crash"), Ended(0, "torch 1\noneflow 1\n", ""), "the target does not end its process in it"),
        (row("crash"), Ended(None, "torch 1\n", ""), "the target does not end its process in it"),
        (row("value"), Ended(1, "", "E: x"), "PyTorch itself did not print a result in it: E: x"),
        (row("value"), Ended(1, "torch 1\n", "E: x"), "the target does not come to its end: E: x"),
        (row("value"), Ended(None, "torch 1\n", ""), "it did not end"),
        (row("exception", message="raised OSError"), Ended(1, "torch 1\n", RAISED), f"{ELSE}RuntimeError"),
        (row("exception", message="raised OSError"), Ended(0, "torch 1\noneflow 1\n", ""), f"{ELSE}nothing"),
    ],
)
def test_what_does_not_show_a_divergence(told_of: dict[str, Any], ended: Ended, reason: str) -> None:
    """The same results within the tolerance, another end than was told of."""
    assert told("script", told_of, ended) == Told(reason=reason)


def test_numbers_apart() -> None:
    """Whole numbers agree exactly, floats within the tolerance of their dtype, NaN with NaN."""
    assert apart("[1 2]", "[1 3]")
    assert not apart("[1. nan]", "[1.00001 nan]")
    assert apart("[1. nan]", "[1. inf]")
    assert apart("[nan nan]", "[-inf nan]")
    assert not apart("[1.+2.j inf+nanj]", "[1.00001+2.j inf+nanj]")
    assert apart("[1.]", "[1.00001]", "float64")
    assert not apart("[[ 1.   2. ]\n [ 3.  -4.5]]", "[[1. 2.]\n [3. -4.5]]")
    assert apart("[1.]", "[[1.]]")
    assert apart("True", "False")


@pytest.mark.parametrize(("kind", "most"), [("timeout", 30.0), ("value", 60.0)])
def test_time_of_a_short_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, most: float) -> None:
    """One that does not end is left after half as long again as the long script waits, others in time."""
    given: list[float] = []

    def run(arguments: list[str], seconds: float, allowance: None) -> Ended:
        given.append(seconds)
        return Ended(None, "\nready\ntorch [1.]\n", "")

    monkeypatch.setattr("autotest.repro.short.trial.run_python", run)
    path = tmp_path / "short.py"
    path.write_text("pass\n")
    tell(path, row(kind), 60.0)
    assert given == [most]


def test_a_framework_by_another_name() -> None:
    """Each `torch` that stands by itself is the framework; an attribute of that name, or part of a name, is not."""
    assert _renamed("torch.relu(x.torch, torchx, torch.ones(1))", "f") == "f.relu(x.torch, torchx, f.ones(1))"


def test_short_script_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, with a target that may end it; what the frameworks print on import is no result."""
    head = (
        "import os\n\nimport torch\n\nprint('torch 7')\n\n\ndef __getattr__(name):\n    return getattr(torch, name)\n"
    )
    (tmp_path / "oneflow.py").write_text(f"{head}\n\ndef relu(x):\n    os.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    text = short_text(row("crash"), one_call(), OUTPUT)
    path = tmp_path / "short.py"
    path.write_text(text)
    assert tell(path, row("crash")) == Told(text, "torch (3,)\n(ended by signal 6)")


def test_issue_begins_with_it_and_has_no_path_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script and what it prints come first; the long one is folded; of paths the last name is left."""
    monkeypatch.setenv("HOME", "/home/ann lee")
    home = "/home/ann lee/secret/ops.py:3 /tmp/x1/test_a.py ../../up/b.py"
    issue = Issue(
        row("exception", message=f"relu: raised OSError in {home}"),
        "def program(torch, x): ...",
        Rules(),
        {"words": [home], "last_words": home, "blame": {"verdict": "target", "reason": home}},
        Extent(1, 1, ["eager_forward"], f"autotest run {home}"),
        {"oneflow": "0.9.0"},
        "print(1)\n",
        "",
    )
    text = issue.text(Told("import torch\n", f"torch 1\n{home}"))
    assert text.startswith(
        "# `relu`: raises where PyTorch does not (forward, eager)\n\n```python\nimport torch\n```\n\nIt prints:\n\n"
        "```text\ntorch 1\nsecret/ops.py:3 test_a.py b.py\n```\n"
    )
    assert [part for part in ("/home", "lee", "x1", "..", "up/") if part in text.replace("...", "")] == []
    assert text.endswith(
        "<details>\n<summary>A script that judges by itself (1 line)</summary>\n\n"
        "It needs the two frameworks and NumPy, and exits with 1 while the difference stands, with 0 when it is gone, "
        "and with 125\nwhere it cannot run.\n\n"
        "```python\nprint(1)\n```\n\n</details>\n"
    )
    without = issue.text(Told(reason="it did not end"))
    assert without.splitlines()[2:6] == [
        "There is no short script: it did not end. The one at the end holds this program and its inputs:",
        "",
        "```python",
        "def program(torch, x): ...",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('File "/home/ann/secret/x.py", line 3', 'File "x.py", line 3'),
        ("/opt/venv/lib/python3.10/site-packages/torch/nn/modules/linear.py:134", "torch/nn/modules/linear.py:134"),
        ("~/x/y.py ../test.py", "y.py test.py"),
        ("oneflow/eager_forward/value a / b 1/2/3 https://a.b/c/d suites/test_a.py",) * 2,
    ],
)
def test_paths(text: str, left: str) -> None:
    """What is no path from the root, from home or out of the folder stays."""
    assert public(text) == left
