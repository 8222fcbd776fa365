"""Layers that no other family has and PyTorch's own table of modules leaves out: containers and rare layers."""

from __future__ import annotations

import pytest
from rows import Layer, args, main_forms, shape, size, tensor, whole

from autotest import autotest, oneof, torch

# PyTorch warns of names that it would rather not have.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def batch(ndim, *built, channels=4, **named):
    """Draws a layer with these arguments, and a batch of images."""
    return lambda: (args(*built, **named), args(tensor(size(2), channels, *([4] * ndim))))


def pixels(ndim):
    """Draws an unpooling layer, pooled values, and where each came from."""

    def draw():
        values = tensor(size(), size(), *([2] * ndim))
        pool = getattr(torch.nn.functional, f"max_pool{ndim}d")
        pooled, places = pool(tensor(size(), 2, *([4] * ndim), distinct=True), 2, return_indices=True)
        return args(2), args(pooled + values.sum() * 0, places)

    return draw


def classified():
    """Draws scores, and a class for each row; classes beyond the second are in clusters."""
    rows = whole(1, 5)
    return args(4, 6, [2, 4], div_value=2.0), args(tensor(rows, 4), tensor(rows, low=0, high=6, dtype=int))


def bags():
    """Draws bags of rows of a table."""
    mode = oneof("sum", "mean", "max")
    return args(5, 3, mode=mode), args(tensor(size(), size(2), low=0, high=5, dtype=int))


def triplet():
    """Draws an anchor, a near and a far example."""
    rows, columns = shape(2)
    return args(), args(*(tensor(rows, columns) for _ in range(3)))


def images():
    """Draws logarithms of probabilities per pixel, and a class for each pixel."""
    count = size()
    scores = torch.log_softmax(tensor(count, 4, 2, 2), dim=1)
    return args(), args(scores, tensor(count, 2, 2, low=0, high=4, dtype=int))


ROWS = (
    Layer("AdaptiveLogSoftmaxWithLoss", classified),
    Layer("ChannelShuffle", batch(2, 2)),
    Layer("CrossMapLRN2d", batch(2, 3)),
    Layer("EmbeddingBag", bags),
    Layer("NLLLoss2d", images),
    Layer("PixelUnshuffle", batch(2, 2)),
    Layer("PixelShuffle", batch(2, 2)),
    Layer("TripletMarginWithDistanceLoss", triplet),
    Layer("Unflatten", batch(2, 1, (2, 2))),
    Layer("Flatten", batch(2)),
    *(Layer(f"MaxUnpool{n}d", pixels(n)) for n in (1, 2, 3)),
)


@main_forms(ROWS)
@autotest(n=4, missing="count")
def test_op(call):
    return call()


@autotest(n=4, missing="count")
def test_transformer_encoder():
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2)(tensor(size(), size(), 4))


@autotest(n=4, missing="count")
def test_transformer_decoder():
    layer = torch.nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    rows = size()
    return torch.nn.TransformerDecoder(layer, 2)(tensor(rows, size(), 4), tensor(rows, size(), 4))


@autotest(n=4, missing="count")
def test_module_list():
    layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Tanh()])
    x = tensor(size(), 3)
    for layer in layers:
        x = layer(x)
    return x


@autotest(n=4, missing="count")
def test_module_dict():
    layers = torch.nn.ModuleDict({"first": torch.nn.Linear(3, 2), "second": torch.nn.ReLU()})
    return layers["second"](layers["first"](tensor(size(), 3)))


@autotest(n=4, missing="count")
def test_parameter_list():
    parameters = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3))])
    x = tensor(size(), 3)
    for parameter in parameters:
        x = x * parameter
    return x


@autotest(n=4, missing="count")
def test_parameter_dict():
    parameters = torch.nn.ParameterDict({"scale": torch.nn.Parameter(torch.ones(3))})
    return tensor(size(), 3) * parameters["scale"]
