"""The ATen graph of a function, and the limits of its tracer, which two kinds of targets share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from dual_object.adapters.torch.executors import NotCaptured, make_executor
from dual_object.adapters.torch.executors.aten import aten_graph
from dual_object.adapters.torch.executors.body import module_of
from dual_object.replay.asked.executors import AskedExecutor
from dual_object.replay.tracing import NotTraced

#: What the tracer does not do, and why.
LIMITS: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "value": (
        lambda x: torch.nn.functional.one_hot(x.long()),
        "PyTorch's tracer cannot follow a value that an op reads",
    ),
    "memory": (
        lambda x: copy.deepcopy(x) * 2,
        "PyTorch's tracer cannot copy the memory of a tensor",
    ),
    "sparse": (
        lambda x: torch.sparse_coo_tensor(torch.tensor([[0, 1, 1]]), x.detach().requires_grad_(), (3,)).to_dense(),
        "PyTorch's tracer makes no sparse tensor of its parts",
    ),
    "keyword": (
        lambda x: x.clone().random_(0, 7),
        "PyTorch's tracer writes no Python for an overload named as a keyword",
    ),
    "unwritten": (
        lambda x: torch.empty(3) + x,
        "PyTorch's traced graph lacks what PyTorch's own code wrote by hand, and reads unwritten memory",
    ),
}


def test_graph() -> None:
    """It computes what the function does, for other values, too."""
    graph = aten_graph(lambda x: torch.softmax(x, 0) * 2, [torch.ones(3)])
    x = torch.tensor([1.0, 2.0, 3.0])
    assert torch.equal(graph(x), torch.softmax(x, 0) * 2)


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name: str) -> None:
    """Each is told in its own words, by the executor `make_fx` as well."""
    function, words = LIMITS[name]
    with pytest.raises(NotTraced) as reached:
        aten_graph(function, [torch.ones(3)])
    assert str(reached.value) == words
    module, _ = module_of("def forward(self, x):\n    return body(x)\n", {"body": function}, "limit")
    with pytest.raises(NotCaptured) as refused:
        make_executor(AskedExecutor("torch:make_fx", "make_fx")).compile(module, [torch.ones(3)])
    assert str(refused.value) == words


def test_other_errors_stay() -> None:
    """What the function itself raises is no limit."""

    def failing(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no such x")

    with pytest.raises(ValueError, match=r"^no such x$"):
        aten_graph(failing, [torch.ones(3)])
