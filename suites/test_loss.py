"""Losses, with each reduction, and distances."""

from __future__ import annotations

import pytest
from rows import (
    Layer,
    Op,
    args,
    axis,
    flag,
    main_forms,
    ops,
    other_forms,
    pick,
    rank,
    size,
    sizes,
    tensor,
    whole,
    wrong_calls,
)

from autotest import autotest, nothing, oneof, random, torch

# PyTorch warns that this mean will change.
pytestmark = pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")

_REDUCTIONS = ("none", "mean", "sum")
_CLASSES = 4


def pair(low=-1, high=1, low_y=-1, high_y=1, **named):
    """Draws a prediction and a target of its shape."""

    def draw():
        drawn = sizes(rank(2, 0, 1, 3, 5))
        x = tensor(*drawn, low=low, high=high)
        return args(x, tensor(*drawn, low=low_y, high=high_y, requires_grad=False), **named)

    return draw


def weighted(low, high, kind, *, logits=False):
    """Draws a prediction, a target and weights, of each element, of each column or none."""

    def draw():
        drawn = sizes(rank(2, 1, 3))
        wide, positive, reduction = pick(None, -1, 0), logits and flag(), pick("mean", "none", "sum")
        x, y = tensor(*drawn, low=low, high=high), tensor(*drawn, low=0, high=1, requires_grad=False)
        weight = None if wide is None else torch.ones(drawn[wide:]) * 0.7
        more = {"pos_weight": torch.ones(drawn[-1:]) * 2} if positive else {}
        options = {"weight": weight, "reduction": reduction, **more}
        return (args(**options), args(x, y)) if kind == "layer" else args(x, y, **options)

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


def scored(smoothed=False):
    """Draws options, scores of one to three dimensions of places or of a single one, and a class for each place."""
    ndim, weighed, ignored = rank(2, 1, 3, 4, 5), not flag(), pick(-100, 1, 0, -1)
    smoothing = {"label_smoothing": oneof(nothing(), 0.0, 0.1, 1.0)} if smoothed else {}
    options = {"ignore_index": ignored, "reduction": pick("mean", "none", "sum"), **smoothing}
    batch, places = size(1, 4).value(), (size(1, 3).value(), 2, 3)[: max(ndim - 2, 0)]
    ahead = (batch,) if ndim > 1 else ()
    weight = torch.arange(1, _CLASSES + 1, dtype=torch.float32) if weighed else None
    scores = tensor(*ahead, _CLASSES, *places)
    return scores, tensor(*ahead, *places, low=0, high=_CLASSES, dtype=int), {"weight": weight, **options}


def scored_function():
    """Draws what `cross_entropy` takes."""
    scores, chosen, options = scored(smoothed=True)
    return args(scores, chosen, **options)


def scored_layer(smoothed=False, log=False):
    """Draws the layers for `scored`."""

    def draw():
        scores, chosen, options = scored(smoothed)
        return args(**options), args(torch.log_softmax(scores, -1) if log else scores, chosen)

    return draw


def divergence():
    """Draws logarithms of probabilities, probabilities or their logarithms to compare them to, and options."""
    log, reduction, drawn = flag(), pick("mean", "none", "sum", "batchmean"), sizes(rank(2, 1, 3, 5))
    y = tensor(*drawn, low=0.1, high=0.9, requires_grad=False)
    options = {"reduction": reduction, "log_target": log}
    return options, (tensor(*drawn, low=-2, high=-0.1), -y if log else y)


def promoted():
    """Draws logarithms of one dtype, and probabilities of a wider one."""
    return args(tensor(2, 3), tensor(2, 3, low=0.1, dtype=torch.float64, requires_grad=False))


def divergence_function():
    """Draws what `kl_div` takes."""
    options, called = divergence()
    return args(*called, **options)


def divergence_layer():
    """Draws the layer for `divergence`."""
    options, called = divergence()
    return args(**options), args(*called)


def log_classes():
    """Draws logarithms of probabilities, and a class for each row."""
    scores, chosen = classes()().args
    return args(torch.log_softmax(scores, dim=1), chosen)


def log_places():
    """Draws logarithms of probabilities of three classes at each of some places, and a class for each."""
    drawn = (size(2).value(), size(1, 3).value())
    return args(torch.log_softmax(tensor(drawn[0], 3, drawn[1]), dim=1), tensor(*drawn, low=0, high=3, dtype=int))


def ranked():
    """Draws two lists of scores, and which of them should be greater."""
    drawn = sizes(rank(1, 0, 2, 3))
    side = torch.sign(tensor(*drawn, requires_grad=False))
    return args(tensor(*drawn), tensor(*drawn), side)


def triplet():
    """Draws an anchor, a near and a far example."""
    drawn = sizes(rank(2, 1, 3))
    return args(*(tensor(*drawn) for _ in range(3)))


def triplet_options():
    """How far apart, by which norm, and from which of the two."""
    return {"margin": pick(1.0, 0.5, 3.0), "p": pick(2.0, 1.0, 3.0), "swap": flag(), "reduction": reduced()}


def vectors():
    """Draws two lists of vectors."""
    rows, columns = size(), size(2)
    return args(tensor(rows, columns, low=0.2), tensor(rows, columns, low=0.2))


def similar():
    """Draws two tensors of vectors along one of their dimensions, of which one may broadcast."""
    ndim, eps, narrow = rank(3, 1, 2, 4), pick(1e-8, 0.5), flag()
    dim = axis(ndim)
    drawn = sizes(ndim, dim)
    other = (1, *drawn[1:]) if narrow and dim % ndim else drawn
    return args(tensor(*drawn, low=0.2), tensor(*other, low=0.2)), {"dim": dim, "eps": eps}


def apart():
    """Draws two lists of vectors or two vectors, and how their distance is measured."""
    options = {"p": pick(2.0, 1.0, 3.0, 0.0, float("inf")), "eps": pick(1e-6, 0.1), "keepdim": flag()}
    drawn = sizes(rank(2, 1, 3))
    return args(tensor(*drawn, low=0.2), tensor(*drawn, low=0.2)), options


def joined(draw):
    """What a function takes, of arguments and options."""

    def draw_both():
        called, options = draw()
        return args(*called.args, **options)

    return draw_both


def built(draw):
    """What a layer takes, of arguments and options."""

    def draw_both():
        called, options = draw()
        return args(**options), called

    return draw_both


def transcripts():
    """Draws log probabilities over time, and shorter transcripts."""
    batch = whole(1, 4)
    spoken = torch.log_softmax(tensor(4, batch, _CLASSES), dim=2)
    written = tensor(batch, 2, low=1, high=_CLASSES, dtype=int)
    return args(spoken, written, torch.full((batch,), 4, dtype=torch.int64), torch.full((batch,), 2, dtype=torch.int64))


def spoken():
    """Draws options of a CTC loss, log probabilities over time, and transcripts of none to three signs, of which some
    may be too long for the time that they have. A sign is never the blank, nor beyond the classes.
    """
    blank, reduction, forgiving = pick(0, _CLASSES - 1), pick("mean", "none", "sum"), oneof(False, True, nothing())
    (steps, least), batch = pick((6, 2), (2, 3), (3, 3), (12, 1), (6, 0)), size(1, 4).value()
    sounds = torch.log_softmax(tensor(steps, batch, _CLASSES), dim=2)
    first = 1 if blank == 0 else 0
    signs = tensor(batch, 3, low=first, high=first + _CLASSES - 1, dtype=int)
    heard, said = (torch.full((batch,), count, dtype=torch.int64) for count in (steps, least))
    options = {"blank": blank, "reduction": reduction, "zero_infinity": forgiving}
    return args(sounds, signs, heard, said), options


ROWS = (
    *ops("mse_loss l1_loss", lambda: args(*pair()().args, reduction=reduced()), "F"),
    *ops("mse_loss l1_loss smooth_l1_loss", pair(), "F", keywords="input target", variant="default"),
    Op("smooth_l1_loss", lambda: args(*pair()().args, reduction=reduced(), beta=pick(0.7, 1.0, 0.0, 2.0)), "F"),
    Op("binary_cross_entropy", weighted(0.1, 0.9, "function"), "F"),
    Op("binary_cross_entropy_with_logits", weighted(-2, 2, "function", logits=True), "F"),
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
    Op("cross_entropy", scored_function, "F", variant="reduction"),
    Op("cross_entropy", images, "F", variant="images"),
    Op("cross_entropy", lambda: args(*classes()().args, ignore_index=1, reduction="sum"), "F", variant="ignored"),
    Op("kl_div", divergence_function, "F"),
    Op("kl_div", promoted, "F", variant="promoted"),
    Op("triplet_margin_loss", lambda: args(*triplet().args, **triplet_options()), "F"),
    Op("cosine_similarity", joined(similar), "F"),
    Op("cosine_similarity", vectors, "F", variant="default"),
    Op("pairwise_distance", joined(apart), "F"),
    Layer("MSELoss", of(lambda: args(reduction=reduced()), pair())),
    Layer("L1Loss", of(lambda: args(reduction=reduced()), pair())),
    Layer("SmoothL1Loss", of(lambda: args(reduction=reduced(), beta=pick(1.0, 0.5, 0.0)), pair())),
    Layer("BCELoss", weighted(0.1, 0.9, "layer")),
    Layer("BCEWithLogitsLoss", weighted(-2, 2, "layer", logits=True)),
    Layer("KLDivLoss", divergence_layer),
    Layer("CrossEntropyLoss", scored_layer(smoothed=True)),
    Layer("CrossEntropyLoss", of(lambda: args(ignore_index=1, reduction="sum"), classes()), variant="ignored"),
    Layer("NLLLoss", scored_layer(log=True)),
    Layer("NLLLoss", of(lambda: args(ignore_index=1, reduction="sum"), log_classes), variant="ignored"),
    Layer("NLLLoss", of(lambda: args(torch.tensor([1.0, 2.0, 3.0]), reduction="none"), log_places), variant="places"),
    Layer("MarginRankingLoss", of(lambda: args(margin=random(0, 2).to(float), reduction=reduced()), ranked)),
    Layer("TripletMarginLoss", of(lambda: args(**triplet_options()), triplet)),
    Layer("CosineSimilarity", built(similar)),
    Layer("PairwiseDistance", built(apart)),
    Layer("CTCLoss", of(lambda: args(), transcripts)),
    Layer("CTCLoss", built(spoken), variant="sum"),
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
