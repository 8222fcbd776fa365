"""Small models train alike where ranks share each batch: twenty steps, with `DistributedDataParallel` and in a graph.

PyTorch trains on the whole batch in one process. Each rank of the target has its part, and gradients are averaged; in
the static graph, batches are split and parameters lie whole on each rank. Losses are means over the batch, and what
mixes its rows stays out: batch norm uses its running statistics.
"""

from __future__ import annotations

import pytest
from nets import DLRM, GPT, MLP, VAE, Encoder, LanguageModel, LeNet, ResidualBlock
from rows import tensor

from autotest import autotest, placement, torch

RANKS = placement.all("cpu").ranks.size
pytestmark = pytest.mark.skipif(RANKS == 1, reason="one rank has nobody to average with; run with --ranks 2")

F = torch.nn.functional
STEPS = {"n": 1, "train": 20, "coverage": "none"}
#: What only ranks have. On CPUs OneFlow 0.9.0 ends all of them once ZeRO shares anything, as `enable_zero.2.1` does.
CONFIGURATIONS = ("enable_zero.1", "enable_zero.2", "enable_zero.3", "set_stage")
#: Rows that each rank has of a batch.
EACH = 2


def parallel(model):
    return torch.nn.parallel.DistributedDataParallel(model)


def batch(*sizes, low=-1, high=1):
    return tensor(EACH * RANKS, *sizes, low=low, high=high, requires_grad=False)


def labels(*sizes, classes=3):
    return tensor(EACH * RANKS, *sizes, low=0, high=classes, dtype=int)


@autotest(**STEPS)
def test_mlp():
    model = parallel(MLP())
    torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scores = model(batch(6))
    return F.cross_entropy(scores, labels()), scores


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@autotest(n=1, train=5, coverage="none", graph_configs=CONFIGURATIONS)
def test_zero_and_stages(optimizer):
    model = parallel(MLP())
    getattr(torch.optim, optimizer)(model.parameters(), lr=0.01)
    scores = model(batch(6))
    return F.cross_entropy(scores, labels()), scores


@autotest(**STEPS)
def test_lenet():
    model = parallel(LeNet())
    torch.optim.Adam(model.parameters(), lr=0.01)
    scores = model(batch(1, 8, 8))
    return F.cross_entropy(scores, labels()), scores


@autotest(**STEPS)
def test_residual_block_with_running_statistics():
    model = parallel(ResidualBlock().eval())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, weight_decay=1e-4)
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    scores = model(batch(2, 5, 5))
    return F.cross_entropy(scores, labels()), scores


@autotest(**STEPS)
def test_vae():
    model = parallel(VAE())
    torch.optim.Adam(model.parameters(), lr=0.01)
    x = batch(6, low=0.1, high=0.9)
    y, mean, spread = model(x, batch(2))
    divergence = -0.5 * (1 + spread - mean * mean - torch.exp(spread)).mean()
    return F.binary_cross_entropy(y, x) + divergence, y


@pytest.mark.parametrize("moved", [False, True])
@autotest(**STEPS)
def test_language_model(moved):
    model = LanguageModel()
    model = parallel(model.to("cpu") if moved else model)
    torch.optim.Adam(model.parameters(), lr=0.01)
    scores = model(labels(5, classes=7))
    loss = F.cross_entropy(scores.reshape(-1, 7), labels(5, classes=7).reshape(-1))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss, scores


@autotest(**STEPS)
def test_encoder():
    model, mask = parallel(Encoder()), torch.tensor([False, False, False, True]).reshape(1, 1, 4)
    torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    y = model(batch(4, 6), mask)
    return F.mse_loss(y, batch(4, 6)), y


@autotest(**STEPS)
def test_gpt():
    model, mask = parallel(GPT()), torch.triu(torch.ones(5, 5), diagonal=1) > 0.5
    torch.optim.AdamW(model.parameters(), lr=0.001, eps=1e-3, weight_decay=0.01)
    scores = model(labels(5, classes=7), mask)
    return F.cross_entropy(scores.reshape(-1, 7), labels(5, classes=7).reshape(-1)), scores


@autotest(**STEPS)
def test_dlrm():
    model = parallel(DLRM())
    torch.optim.Adagrad(model.parameters(), lr=0.05)
    y = model(batch(5), labels(3, classes=6), labels(2, classes=6))
    return F.binary_cross_entropy_with_logits(y, batch(1, low=0, high=1)), y
