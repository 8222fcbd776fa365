"""Layers that no other family has, over their arguments: containers, rare layers and rare losses. PyTorch's own table
of modules leaves them out, or has a few calls of each.
"""

from __future__ import annotations

import pytest
from rows import Layer, args, flag, main_forms, pick, rank, shape, size, sizes, tensor, whole

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


def reduction():
    """A reduction, drawn anew."""
    return pick("mean", "none", "sum")


def matched(low=-1, high=1, low_y=-1, high_y=1, **choices):
    """Draws a loss, each argument of these choices, a prediction and a target of its shape."""

    def draw():
        drawn = sizes(rank(2, 1, 3))
        target = tensor(*drawn, low=low_y, high=high_y, requires_grad=False)
        built = {name: pick(*values) for name, values in choices.items()}
        return args(reduction=reduction(), **built), args(tensor(*drawn, low=low, high=high), target)

    return draw


def signed(**choices):
    """Draws a loss, predictions, and 1 or -1 for each."""

    def draw():
        drawn = sizes(rank(2, 1, 3))
        signs = tensor(*drawn, low=0, high=2, dtype=int).to(torch.float32) * 2 - 1
        built = {name: pick(*values) for name, values in choices.items()}
        return args(reduction=reduction(), **built), args(tensor(*drawn), signs)

    return draw


def cosines():
    """Draws the loss, two batches of vectors, and 1 or -1 for each pair of them."""
    rows, columns = size(), size()
    signs = tensor(rows, low=0, high=2, dtype=int) * 2 - 1
    built = args(margin=pick(0.0, 0.5, -0.3), reduction=reduction())
    return built, args(tensor(rows, columns), tensor(rows, columns), signs)


def gaussian():
    """Draws the loss, means, targets, and a variance for each of them or for each row."""
    rows, columns, each_row = size(), size(), flag()
    variance = tensor(rows, 1 if each_row else columns, low=0.1, high=2)
    built = args(full=flag(), eps=pick(1e-6, 0.5), reduction=reduction())
    return built, args(tensor(rows, columns), tensor(rows, columns, requires_grad=False), variance)


def margins():
    """Draws the loss, scores, and a class for each row; of no rows PyTorch's mean is whatever its memory holds."""
    rows = whole(1, 5)
    built = args(p=pick(1, 2), margin=pick(1.0, 0.4), reduction=reduction())
    return built, args(tensor(rows, 4), tensor(rows, low=0, high=4, dtype=int))


def several_classes():
    """Draws the loss, scores, and the classes of each row up to the first -1; some rows, for the same reason."""
    rows = whole(1, 5)
    return args(reduction=reduction()), args(tensor(rows, 4), tensor(rows, 4, low=-1, high=4, dtype=int))


def poisson():
    """Draws the loss, rates or their logarithms, and counts."""
    drawn, log = sizes(rank(2, 1, 3)), not flag()
    built = args(log_input=log, full=flag(), eps=pick(1e-8, 0.5), reduction=reduction())
    rates = tensor(*drawn, low=-1 if log else 0.1, high=2)
    return built, args(rates, tensor(*drawn, low=0, high=9, dtype=int).to(torch.float32))


def neighbours():
    """Draws the layer, and what has channels before none to three other dimensions."""
    built = args(pick(2, 3, 1, 5), alpha=pick(1e-4, 0.5), beta=pick(0.75, 1.0), k=pick(1.0, 0.5))
    return built, args(tensor(size(), size(), *(2, 3, 2)[: rank(4, 3, 5) - 2]))


def products():
    """Draws the layer and two batches of vectors."""
    first, second, ahead = whole(1, 4), whole(1, 4), (size(), 2)[: rank(2, 3) - 1]
    return args(first, second, whole(1, 4), bias=not flag()), args(tensor(*ahead, first), tensor(*ahead, second))


def powers(ndim):
    """Draws the layer, and images with negative numbers: sums of odd powers are some of them."""

    def draw():
        kernel = pick(2, 3, 1) if ndim == 1 or flag() else tuple(pick(2, 1, 3) for _ in range(ndim))
        built = args(pick(2, 1, 3, 2.5), kernel, stride=pick(None, 1, 2, 3), ceil_mode=flag())
        return built, args(tensor(size(), 2, *(size(3, 7) for _ in range(ndim))))

    return draw


def padded(ndim, *value):
    """Draws a padding of all sides or of each, of which some take away, and images, a batch of them or one."""

    def draw():
        sides = tuple(pick(1, 2, 0, -1) for _ in range(2 * ndim))
        ahead = (size(), 2)[rank(2, 1) == 1 :]
        return args(pick(sides, 1, 2), *value), args(tensor(*ahead, *(size(3, 5) for _ in range(ndim))))

    return draw


def attended():
    """Draws attention with heads, queries, keys and values, and which of them are left out."""
    batched, first, alike = not flag(), flag(), not flag()
    key, value = (None, None) if alike else (3, 5)
    built = {"bias": not flag(), "add_bias_kv": flag(), "add_zero_attn": flag(), "batch_first": first}
    batch, long, from_ = 2, whole(1, 4), whole(1, 4)

    def laid(length, width):
        if not batched:
            return tensor(length, width)
        return tensor(batch, length, width) if first else tensor(length, batch, width)

    query, keys, values = laid(long, 4), laid(from_, key or 4), laid(from_, value or 4)
    masks = {}
    if flag():  # never all of them
        left_out = torch.arange(from_) > 0
        masks["key_padding_mask"] = left_out.expand(batch, from_) if batched else left_out
    if flag():
        masks["attn_mask"] = torch.arange(from_) > torch.arange(long).reshape(long, 1)
    named = {"need_weights": not flag(), "average_attn_weights": not flag(), **masks}
    return args(4, 2, kdim=key, vdim=value, **built), args(query, keys, values, **named)


def one(*built):
    """Draws a layer with these arguments, and what it is called with."""
    return lambda: (args(*built), args(tensor(*sizes(rank(2, 1, 3)))))


LOSSES = (
    Layer("CosineEmbeddingLoss", cosines),
    Layer("GaussianNLLLoss", gaussian),
    Layer("HingeEmbeddingLoss", signed(margin=(1.0, 0.3))),
    Layer("HuberLoss", matched(low=-3, high=3, delta=(1.0, 0.3, 2.5))),
    Layer("MultiLabelMarginLoss", several_classes),
    Layer("MultiLabelSoftMarginLoss", matched(low_y=0)),
    Layer("MultiMarginLoss", margins),
    Layer("PoissonNLLLoss", poisson),
    Layer("SoftMarginLoss", signed()),
)

ROWS = (
    *LOSSES,
    Layer("Bilinear", products),
    Layer("LocalResponseNorm", neighbours),
    Layer("MultiheadAttention", attended),
    Layer("Softmax2d", batch(2)),
    Layer("Softmin", one(-1)),
    Layer("Tanhshrink", one()),
    *(Layer(f"LPPool{n}d", powers(n)) for n in (1, 2, 3)),
    *(
        Layer(f"{kind}Pad{n}d", padded(n))
        for kind in ("Reflection", "Replication", "Circular", "Zero")
        for n in (1, 2, 3)
    ),
    *(Layer(f"ConstantPad{n}d", padded(n, 2.5)) for n in (1, 2, 3)),
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
def test_weight_norm():
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 4), dim=pick(0, 1, None))
    return layer(tensor(size(), 3)), layer.weight_g, layer.weight_v


@autotest(n=4, missing="count")
def test_weight_norm_removed():
    layer = torch.nn.utils.weight_norm(torch.nn.Conv2d(3, 4, 2))
    x = tensor(size(), 3, 4, 4)
    y = layer(x)
    torch.nn.utils.remove_weight_norm(layer)
    return y, layer(x)


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
