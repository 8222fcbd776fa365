"""The bare ops that a case stands for, in both frameworks, with their results read. Run as a process: `bare.py KIND
COUNT`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autotest.workers.server import schedule_in_batches
from dual_object.adapters.oneflow.eager import import_oneflow


def eager(count: int) -> None:
    """Three small ops, forward and backward, in PyTorch and in OneFlow, every result read."""
    import torch

    flow = import_oneflow()
    torch.set_num_threads(1)
    schedule_in_batches()
    rng = np.random.default_rng(0)
    for _ in range(count):
        m, k, n = rng.integers(1, 6, 3)
        a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
        dy = rng.random((m, n), dtype=np.float32)
        for framework in (torch, flow):
            x, y = framework.from_numpy(a.copy()), framework.from_numpy(b.copy())
            x.requires_grad = y.requires_grad = True
            result = framework.relu(framework.matmul(x, y)) * 2
            result.backward(framework.from_numpy(dy))
            for tensor in (result.detach(), x.grad, y.grad):
                tensor.numpy()


def _matmul_graphs(count: int, backward: bool) -> None:
    flow = import_oneflow()
    schedule_in_batches()
    rng = np.random.default_rng(0)

    class Forward(flow.nn.Graph):  # type: ignore[misc,name-defined]
        def build(self, x: Any, y: Any) -> Any:
            return flow.matmul(x, y)

    class Dummy(flow.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.p = flow.nn.Parameter(flow.zeros(1))

        def forward(self) -> Any:
            return self.p.sum() * 0

    class Training(flow.nn.Graph):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dummy = Dummy()
            self.add_optimizer(flow.optim.SGD(self.dummy.parameters(), lr=0.0))

        def build(self, x: Any, y: Any, dy: Any) -> Any:
            x.requires_grad_()
            y.requires_grad_()
            result = flow.matmul(x, y)
            loss = (result * dy).sum() + self.dummy()
            loss.backward()
            return result, x.grad, y.grad

    for _ in range(count):
        m, k, n = rng.integers(1, 6, 3)
        x, y = (flow.from_numpy(rng.random(shape, dtype=np.float32)) for shape in ((m, k), (k, n)))
        if backward:
            dy = flow.from_numpy(rng.random((m, n), dtype=np.float32))
            for tensor in Training()(x, y, dy):
                tensor.numpy()
        else:
            Forward()(x, y).numpy()


def graph(count: int) -> None:
    """One matmul per nn.Graph, forward."""
    _matmul_graphs(count, backward=False)


def training_graph(count: int) -> None:
    """One matmul per nn.Graph, forward and backward."""
    _matmul_graphs(count, backward=True)


def steps(count: int) -> None:
    """Five steps of Adam in an nn.Graph, loss, gradients and parameters read after each."""
    flow = import_oneflow()
    schedule_in_batches()
    rng = np.random.default_rng(0)

    class Trained(flow.nn.Graph):  # type: ignore[misc,name-defined]
        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.layer = layer
            self.add_optimizer(flow.optim.Adam(layer.parameters(), lr=0.1))

        def build(self, x: Any) -> Any:
            loss = flow.square(self.layer(x)).mean()
            loss.backward()
            return loss, *(parameter.grad for parameter in layer.parameters())

    for _ in range(count):
        layer = flow.nn.Linear(4, 3)
        graph = Trained(layer)
        for _ in range(5):
            x = flow.from_numpy(rng.random((4, 4), dtype=np.float32))
            for tensor in (*graph(x), *layer.parameters()):
                tensor.detach().numpy()


KINDS: dict[str, Callable[[int], None]] = {
    "eager": eager,
    "graph": graph,
    "training_graph": training_graph,
    "steps": steps,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]](int(sys.argv[2]))
