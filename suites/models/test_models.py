"""Small models train alike: twenty steps, eagerly and in the target's training graph."""

from __future__ import annotations

from nets import DLRM, GPT, MLP, VAE, Encoder, LanguageModel, LeNet, ResidualBlock, UNet
from rows import tensor

from autotest import autotest, torch

F = torch.nn.functional
STEPS = {"n": 2, "train": 20, "coverage": "none"}


def labels(*sizes, classes=3):
    return tensor(*sizes, low=0, high=classes, dtype=int)


def target(*sizes, low=-1, high=1):
    return tensor(*sizes, low=low, high=high, requires_grad=False)


def causal(length):
    return torch.triu(torch.ones(length, length), diagonal=1) > 0.5


@autotest(**STEPS)
def test_mlp():
    model = MLP()
    torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scores = model(tensor(4, 6))
    return F.cross_entropy(scores, labels(4)), scores


@autotest(**STEPS)
def test_lenet():
    model = LeNet()
    torch.optim.Adam(model.parameters(), lr=0.01)
    scores = model(target(3, 1, 8, 8))
    return F.cross_entropy(scores, labels(3)), scores


@autotest(**STEPS)
def test_residual_block():
    model = ResidualBlock()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    scores = model(target(4, 2, 5, 5))
    return F.cross_entropy(scores, labels(4)), scores


@autotest(**STEPS)
def test_vae():
    model = VAE()
    torch.optim.Adam(model.parameters(), lr=0.01)
    x = target(4, 6, low=0.1, high=0.9)
    y, mean, spread = model(x, target(4, 2))
    divergence = -0.5 * (1 + spread - mean * mean - torch.exp(spread)).mean()
    return F.binary_cross_entropy(y, x) + divergence, y


@autotest(**STEPS)
def test_language_model():
    model = LanguageModel()
    torch.optim.Adam(model.parameters(), lr=0.01)
    scores = model(labels(2, 5, classes=7))
    loss = F.cross_entropy(scores.reshape(-1, 7), labels(10, classes=7))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss, scores


@autotest(**STEPS)
def test_encoder():
    model, mask = Encoder(), torch.tensor([False, False, False, True]).reshape(1, 1, 4)
    torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    y = model(target(2, 4, 6), mask)
    return F.mse_loss(y, target(2, 4, 6)), y


@autotest(**STEPS)
def test_gpt():
    model, mask = GPT(), causal(5)
    torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    scores = model(labels(2, 5, classes=7), mask)
    return F.cross_entropy(scores.reshape(-1, 7), labels(10, classes=7)), scores


@autotest(**STEPS)
def test_unet():
    model = UNet()
    torch.optim.Adam(model.parameters(), lr=0.01)
    y = model(target(2, 1, 6, 6))
    return F.binary_cross_entropy_with_logits(y, target(2, 1, 6, 6, low=0, high=1)), y


@autotest(**STEPS)
def test_dlrm():
    model = DLRM()
    torch.optim.Adagrad(model.parameters(), lr=0.05)
    y = model(target(4, 5), labels(4, 3, classes=6), labels(4, 2, classes=6))
    return F.binary_cross_entropy_with_logits(y, target(4, 1, low=0, high=1)), y
