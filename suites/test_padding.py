"""Padding and resampling: borders, upsampling, grids and shuffled pixels."""

from __future__ import annotations

import pytest
from rows import (
    Layer,
    Op,
    args,
    each,
    flag,
    layers,
    main_forms,
    per_dimension,
    pick,
    real,
    size,
    tensor,
    whole,
    wrong_calls,
)

from autotest import autotest, torch


def image(ndim, side=4):
    """Draws a batch of images."""
    return tensor(size(1, 3), size(1, 3), *([side] * ndim))


def borders(ndim, most=3):
    """Draws a border for each side: the ends of the last dimension, then those of the one before it."""
    return tuple(whole(0, most + 1) for _ in range(2)) + tuple(whole(0, 3) for _ in range(2)) * (ndim - 1)


def padded(ndim, **named):
    """Draws an image, and borders for each side."""

    def draw():
        drawn = borders(ndim)
        return args(image(ndim), drawn, **named)

    return draw


def padded_by(ndim):
    """Draws an image, borders for each side, of which some cut it, and what lies there."""

    def draw():
        drawn, value = borders(ndim), pick(1.5, 0.0, -2, float("inf"))
        cut = pick(0, 1)
        return args(image(ndim), (drawn[0] - cut, drawn[1], *drawn[2:]), value=value)

    return draw


def layer(ndim, *more):
    """Draws a padding layer, one border for all sides or one for each, and an image, perhaps without a batch."""

    def draw():
        drawn, same, batched = borders(ndim), flag(), not flag()
        x = image(ndim) if batched else tensor(2, *([4] * ndim))
        return args(drawn[0] if same else drawn, *more), args(x)

    return draw


def resized(ndim, mode, **named):
    """Draws an image, and a size: smaller, greater or the same, of each side its own."""
    return lambda: args(image(ndim, 3), size=per_dimension(ndim, pick(5, 1, 2, 3, (2, 6), (7, 1))), mode=mode, **named)


def scaled(ndim, mode, **named):
    """Draws an image, and a factor, one for all sides or one for each."""
    return lambda: args(image(ndim, 4), scale_factor=each(ndim, 2.0, 1.5, 3.0, 0.5, (2.0, 0.5)), mode=mode, **named)


def upsample(mode, **named):
    """Draws an upsampling layer, and an image."""
    return lambda: (args(scale_factor=2.0, mode=mode, **named), args(image(2, 3)))


def sampled(**named):
    """Draws an image, and places within it to read at."""

    def draw():
        batch = size(1, 3)
        places = tensor(batch, 2, 3, 2, low=-0.9, high=0.9)
        return args(tensor(batch, size(1, 3), 3, 3), places, **named)

    return draw


def affine(**named):
    """Draws matrices, and the size of the grid they make, of a plane or of a space."""

    def draw():
        planes = pick((2, 1, 3, 2), (2, 3, 1, 4), (2, 1, 3, 2, 2))
        return args(tensor(2, len(planes) - 2, len(planes) - 1), planes, **named)

    return draw


def shuffled():
    """Draws by how much to enlarge an image, and its channels."""
    factor, channels = pick(2, 1, 3), size(1, 3).value()
    return args(factor), args(tensor(size(1, 3), channels * factor**2, 2, size(1, 3)))


def flat():
    """Draws from where to where an image is made flat."""
    return args(start_dim=pick(1, 0, 2, -4, -2), end_dim=pick(-1, 2, 3)), args(image(2))


ROWS = (
    Op("pad", padded_by(2), "F", keywords=""),
    Op("pad", padded_by(1), "F", variant="1d"),
    Op("pad", padded_by(3), "F", variant="3d"),
    Op("pad", lambda: args(image(2), (1, whole(0, 3))), "F", variant="last_dim"),
    Op("pad", lambda: args(image(2), (-1, 0, 0, -1)), "F", variant="negative"),
    Op(
        "pad", lambda: args(tensor(2, 3, low=0, high=2, dtype=bool), (1, 2), value=pick(0.5, 0, 2)), "F", variant="bool"
    ),
    *(Op("pad", padded(2, mode=mode), "F", variant=mode) for mode in ("reflect", "replicate", "circular")),
    *(Op("pad", padded(1, mode=mode), "F", variant=f"{mode}_1d") for mode in ("reflect", "replicate")),
    *(Layer(f"ConstantPad{n}d", layer(n, 1.5)) for n in (1, 2, 3)),
    *(Layer(f"{kind}Pad{n}d", layer(n)) for kind in ("Reflection", "Replication") for n in (1, 2)),
    Layer("ZeroPad2d", layer(2)),
    Layer("ZeroPad2d", lambda: (args(whole(0, 3)), args(image(2))), variant="number"),
    *(Op("interpolate", resized(n, mode), "F", variant=mode) for n, mode in ((1, "linear"), (2, "bilinear"))),
    *(Op("interpolate", resized(n, mode), "F", variant=mode) for n, mode in ((3, "trilinear"), (2, "bicubic"))),
    *(Op("interpolate", resized(n, "nearest"), "F", variant=f"nearest_{n}d") for n in (1, 2, 3)),
    *(
        Op("interpolate", resized(2, mode, align_corners=True), "F", variant=f"{mode}_corners")
        for mode in ("bilinear", "bicubic")
    ),
    *(
        Op(
            "interpolate",
            lambda mode=mode: args(
                image(2, 4), size=pick(3, (2, 6), 1), mode=mode, align_corners=pick(True, False), antialias=True
            ),
            "F",
            variant=f"{mode}_antialias",
        )
        for mode in ("bilinear", "bicubic")
    ),
    Op("interpolate", resized(2, "area"), "F", variant="area"),
    Op(
        "interpolate",
        scaled(2, "nearest"),
        "F",
        variant="nearest_scaled",
        errors={
            "below_0": lambda: args(image(2), scale_factor=-1),
            "no_size": lambda: args(image(2)),
            "two_sizes": lambda: args(image(2), size=(2, 2), scale_factor=2),
        },
    ),
    Op("interpolate", scaled(2, "bilinear", align_corners=False), "F", variant="bilinear_scaled"),
    Layer("Upsample", upsample("nearest")),
    Layer("Upsample", upsample("bilinear", align_corners=True), variant="bilinear"),
    *layers("UpsamplingNearest2d UpsamplingBilinear2d", lambda: (args(scale_factor=2), args(image(2, 3)))),
    *(
        Op(
            "grid_sample",
            lambda mode=mode: sampled(mode=mode, padding_mode="zeros", align_corners=flag())(),
            "F",
            variant=f"{mode}_zeros",
        )
        for mode in ("bilinear", "nearest")
    ),
    Op(
        "grid_sample",
        sampled(mode="nearest", padding_mode="reflection", align_corners=False),
        "F",
        variant="nearest_reflection",
    ),
    Op("grid_sample", sampled(align_corners=True), "F", variant="corners"),
    Op("affine_grid", affine(align_corners=False), "F"),
    Op("affine_grid", affine(align_corners=True), "F", variant="corners"),
    Layer("PixelShuffle", shuffled),
    Layer("Flatten", flat),
    Layer("Identity", lambda: (args(), args(image(1)))),
)


#: PyTorch 2.14.1 reads past its image, and ends the process, where a place is NaN: the places keep to their range, and
#: no corner is laid out.
WITHIN = (
    Op(
        "grid_sample",
        sampled(mode="bilinear", padding_mode="border", align_corners=False),
        "F",
        variant="bilinear_border",
    ),
)


@main_forms(ROWS)
@autotest(n=10, coverage="pairs")
def test_op(call):
    return call()


@main_forms(WITHIN)
@autotest(n=10, inputs="standard", coverage="none")
def test_places_within_an_image(call):
    return call()


@pytest.mark.filterwarnings("ignore:.nn.functional.upsample. is deprecated")
@autotest(n=1)
def test_upsample():  # deprecated, and still in use; OneFlow 0.9.0 has a class under this name
    return torch.nn.functional.upsample(image(2, 3), scale_factor=2, mode="nearest")


@autotest(n=10)
def test_pad_and_convolve():
    x = torch.nn.functional.pad(image(2), (1, 1, 0, 1), value=real(-1, 1))
    return torch.nn.Conv2d(x.shape[1], 2, 2)(x)


@wrong_calls(ROWS)
@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_errors(call):
    return call()
