"""PyTorch's shape inference: what it says of the tensors of a Program, and that it leaves its process as it was."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch as real

from autotest.conformance.bodies import BODIES, tensor, torch
from dual_object.adapters.torch.adapter import Adapter
from dual_object.replay.adapter import Inferred, NotInferred
from support.forks import outer_environment
from support.preloaded import ROOT
from support.runs import INTERPRETER

Recorded = Callable[..., Any]
#: Of all kinds of bodies, those that shape inference does not go through, and why.
REFUSED = {
    "custom": "the body calls a function of the test's own",
    "device_argument": "Cannot copy out of meta tensor; no data!",
}


def asked(reference: Adapter, program: Any) -> Any:
    """What it says, or why it says nothing."""
    try:
        return reference.infer(program)
    except NotInferred as refused:
        return str(refused)


def test_every_tensor_is_told(reference: Adapter, recorded: Recorded) -> None:
    """Inputs, intermediate results and what a module gives, with dtypes, shapes and strides; None: contiguous."""

    def body() -> Any:
        x = tensor(2, 3)
        layer = torch.nn.Linear(2, 4)
        layer.eval()
        return layer(x.t()).to(torch.float64)

    told = reference.infer(recorded(body).program)
    assert [*told.values()] == [
        Inferred("float32", (2, 3), None),
        Inferred("float32", (3, 2), (1, 3)),
        Inferred("float32", (3, 4), None),
        Inferred("float64", (3, 4), None),
    ]


def test_what_was_read_stands_as_it_was(reference: Adapter, recorded: Recorded) -> None:
    """A number that the body read to Python is the one that it read."""

    def body() -> Any:
        x = tensor(data=[3.0])
        return torch.zeros(int(x.item()))

    assert [*reference.infer(recorded(body).program).values()][-1] == Inferred("float32", (3,), None)


def _cast() -> Any:
    with torch.autocast("cpu"):
        return torch.matmul(tensor(2, 2), tensor(2, 2))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (_cast, "autocast is a device's, and none of meta's"),
        (lambda: torch.nonzero(tensor(2)), "torch.nonzero() raises unimplemented"),
        (lambda: tensor(2).shape, "no call computes a tensor"),
    ],
    ids=["autocast", "depends on values", "reads alone"],
)
def test_refusals_give_their_reason(reference: Adapter, recorded: Recorded, body: Any, reason: str) -> None:
    """What meta has no kernel for, and what makes no tensor, is no answer."""
    with pytest.raises(NotInferred) as refused:
        reference.infer(recorded(body).program)
    assert reason in str(refused.value)


@pytest.mark.parametrize("name", BODIES)
def test_agrees_on_all_kinds_of_bodies(name: str, reference: Adapter, recorded: Recorded) -> None:
    """What it says is what eager shows, and random numbers, modes and warnings stay as they were."""
    case = recorded(BODIES[name])
    before = real.random.get_rng_state(), real.is_grad_enabled(), real.get_default_dtype()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        told = asked(reference, case.program)
    assert not warned
    after = real.random.get_rng_state(), real.is_grad_enabled(), real.get_default_dtype()
    assert real.equal(before[0], after[0])
    assert before[1:] == after[1:]
    if name in REFUSED:
        assert told == REFUSED[name]
        return
    for id_, seen in case.seen.outputs.items():
        assert told[id_] == Inferred(seen.dtype, seen.shape, seen.strides)


WITHOUT_DYNAMO = """
import sys
import torch
from dual_object.adapters.torch.executors import private
from dual_object.replay.adapter import load_reference
from support.programs import one_call

def there():
    return "torch._dynamo" in sys.modules

print(*load_reference().infer(one_call("relu")).values(), there())
with private.dynamo_left_out():
    torch.relu(torch.empty(1, device="meta"))
    print(vars(sys.modules["torch._dynamo"]).get("__file__"))
print(there())
sys.modules["torch._dynamo"] = None  # an import of it is refused
try:
    torch.relu(torch.empty(1, device="meta"))
except ImportError as refused:
    print(refused.name)
del sys.modules["torch._dynamo"]
with private.dynamo_left_out():
    torch.relu(torch.empty(1, device="meta"))
    import torch._dynamo
    torch._dynamo.reset()
    print(there(), torch._dynamo is sys.modules["torch._dynamo"], sys.modules["torch._dynamo"].__file__ is not None)
with private.dynamo_left_out():
    print(sys.modules["torch._dynamo"].__file__ is not None)
"""


@pytest.mark.slow
def test_dynamo_is_left_out() -> None:
    """Shapes are inferred without importing Dynamo, which is the real one for whoever asks it for more, or has it. A
    function that was called without it asks for it at its next call, as it does at its first.
    """
    variables = {**outer_environment(), "PYTHONPATH": str(ROOT / "tests")}
    line = [INTERPRETER, "-c", WITHOUT_DYNAMO]
    done = subprocess.run(line, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{Inferred('float32', (3,), None)} {Inferred('float32', (3,), None)} False",
        "None",
        "False",
        "torch._dynamo",
        "True True True",
        "True",
    ]
