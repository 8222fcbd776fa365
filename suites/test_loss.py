"""Losses, with each reduction, and distances."""

from __future__ import annotations

import pytest
from rows import Layer, Op, args, main_forms, ops, other_forms, shape, size, tensor, whole, wrong_calls

from autotest import autotest, oneof, random, torch

# PyTorch warns that this mean will change.
pytestmark = pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")

_REDUCTIONS = ("none", "mean", "sum")
_CLASSES = 4


def pair(low=-1, high=1, low_y=-1, high_y=1, **named):
    """Draws a prediction and a target of its shape."""

    def draw():
        rows, columns = shape(2)
        x = tensor(rows, columns, low=low, high=high)
        return args(x, tensor(rows, columns, low=low_y, high=high_y, requires_grad=False), **named)

    return draw


def reduced():
    """A reduction, drawn anew."""
    return oneof(*_REDUCTIONS)


def of(build, draw):
    """Draws a loss with the arguments of `build`, and what it is called with."""
    return lambda: (build(), draw())


def classes(**named):
    """Draws scores, and a class for each row."""

    def draw():
        batch = size()
        return args(tensor(batch, _CLASSES), tensor(batch, low=0, high=_CLASSES, dtype=int), **named)

    return draw


def index(batch):
    """Classes in range."""
    return tensor(batch, low=0, high=_CLASSES, dtype=int)


def images():
    """Draws scores per pixel, and a class for each pixel."""
    batch = size(1, 3)
    return args(tensor(batch, _CLASSES, 2, 3), tensor(batch, 2, 3, low=0, high=_CLASSES, dtype=int))


def log_classes():
    """Draws logarithms of probabilities, and a class for each row."""
    scores, chosen = classes()().args
    return args(torch.log_softmax(scores, dim=1), chosen)


def ranked():
    """Draws two lists of scores, and which of them should be greater."""
    batch = size()
    side = torch.sign(tensor(batch, requires_grad=False))
    return args(tensor(batch), tensor(batch), side)


def triplet():
    """Draws an anchor, a near and a far example."""
    rows, columns = shape(2)
    return args(*(tensor(rows, columns) for _ in range(3)))


def vectors():
    """Draws two lists of vectors."""
    rows, columns = size(), size(2)
    return args(tensor(rows, columns, low=0.2), tensor(rows, columns, low=0.2))


def transcripts():
    """Draws log probabilities over time, and shorter transcripts."""
    batch = whole(1, 4)
    spoken = torch.log_softmax(tensor(4, batch, _CLASSES), dim=2)
    written = tensor(batch, 2, low=1, high=_CLASSES, dtype=int)
    return args(spoken, written, torch.full((batch,), 4, dtype=torch.int64), torch.full((batch,), 2, dtype=torch.int64))


ROWS = (
    *ops("mse_loss l1_loss", lambda: args(*pair()().args, reduction=reduced()), "F"),
    *ops("mse_loss l1_loss smooth_l1_loss", pair(), "F", keywords="input target", variant="default"),
    Op("smooth_l1_loss", lambda: args(*pair()().args, reduction=reduced(), beta=0.7), "F"),
    Op("binary_cross_entropy", lambda: args(*pair(0.1, 0.9, 0, 1)().args, reduction=reduced()), "F"),
    Op("binary_cross_entropy_with_logits", lambda: args(*pair(-2, 2, 0, 1)().args, reduction=reduced()), "F"),
    Op(
        "cross_entropy",
        classes(),
        "F",
        keywords="input target",
        errors={
            "class": lambda: args(tensor(2, _CLASSES), index(2) + _CLASSES),
            "batch": lambda: args(tensor(2, _CLASSES), index(3)),
        },
    ),
    Op("cross_entropy", lambda: args(*classes()().args, reduction=reduced()), "F", variant="reduction"),
    Op("cross_entropy", images, "F", variant="images"),
    Op("cross_entropy", lambda: args(*classes()().args, ignore_index=1, reduction="sum"), "F", variant="ignored"),
    Op("cross_entropy", classes(label_smoothing=0.1), "F", variant="smoothed"),
    Op("kl_div", lambda: args(*pair(-2, -0.1, 0.1, 0.9)().args, reduction=oneof("none", "sum")), "F"),
    Op("kl_div", pair(-2, -0.1, 0.1, 0.9, reduction="mean"), "F", variant="mean"),
    Op("triplet_margin_loss", triplet, "F"),
    Op("cosine_similarity", vectors, "F"),
    Op("cosine_similarity", lambda: args(*vectors().args, dim=0), "F", variant="dim"),
    Op("pairwise_distance", vectors, "F"),
    Layer("MSELoss", of(lambda: args(reduction=reduced()), pair())),
    Layer("L1Loss", of(lambda: args(reduction=reduced()), pair())),
    Layer("SmoothL1Loss", of(lambda: args(reduction=reduced()), pair())),
    Layer("SmoothL1Loss", of(lambda: args(beta=0.5), pair()), variant="beta"),
    Layer("BCELoss", of(lambda: args(reduction=reduced()), pair(0.1, 0.9, 0, 1))),
    Layer("BCEWithLogitsLoss", of(lambda: args(reduction=reduced()), pair(-2, 2, 0, 1))),
    Layer("BCEWithLogitsLoss", of(lambda: args(pos_weight=torch.ones(1) * 2), pair(-2, 2, 0, 1)), variant="weight"),
    Layer("KLDivLoss", of(lambda: args(reduction=oneof("none", "sum")), pair(-2, -0.1, 0.1, 0.9))),
    Layer("KLDivLoss", of(lambda: args(reduction="sum", log_target=True), pair(-2, -0.1, -2, -0.1)), variant="log"),
    Layer("CrossEntropyLoss", of(lambda: args(reduction=reduced()), classes())),
    Layer("CrossEntropyLoss", of(lambda: args(ignore_index=1, reduction="sum"), classes()), variant="ignored"),
    Layer("NLLLoss", of(lambda: args(reduction=reduced()), log_classes)),
    Layer("NLLLoss", of(lambda: args(ignore_index=1, reduction="sum"), log_classes), variant="ignored"),
    Layer("MarginRankingLoss", of(lambda: args(margin=random(0, 2).to(float), reduction=reduced()), ranked)),
    Layer("TripletMarginLoss", of(lambda: args(margin=0.5, p=2.0), triplet)),
    Layer("CosineSimilarity", of(lambda: args(dim=1), vectors)),
    Layer("PairwiseDistance", of(lambda: args(p=2), vectors)),
    Layer("CTCLoss", of(lambda: args(), transcripts)),
    Layer("CTCLoss", of(lambda: args(blank=0, reduction="sum"), transcripts), variant="sum"),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@other_forms(ROWS)
@autotest(n=5, coverage="none")
def test_form(call):
    return call()


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()


@autotest(n=10)
def test_penalised_loss():
    k = size()
    m = torch.nn.Linear(k, 1)
    x = tensor(size(), k)
    return torch.nn.functional.mse_loss(m(x), x.sum(dim=1, keepdim=True)) + m.weight.square().sum() * 0.1
