"""Padding and resampling: borders, upsampling, grids and shuffled pixels."""

from __future__ import annotations

import pytest
from rows import Layer, Op, args, layers, main_forms, real, size, tensor, whole

from autotest import autotest, oneof, torch


def image(ndim, side=4):
    """Draws a batch of images."""
    return tensor(size(1, 3), size(1, 3), *([side] * ndim))


def padded(ndim, **named):
    """Draws an image, and borders for each side."""
    return lambda: args(image(ndim), tuple(whole(0, 3) for _ in range(2 * ndim)), **named)


def layer(ndim, *more):
    """Draws a padding layer, and an image."""
    return lambda: (args(tuple(whole(0, 3) for _ in range(2 * ndim)), *more), args(image(ndim)))


def resized(ndim, mode, **named):
    """Draws an image, and a size."""
    return lambda: args(image(ndim, 3), size=(whole(2, 6),) * ndim, mode=mode, **named)


def scaled(ndim, mode, **named):
    """Draws an image, and a factor."""
    return lambda: args(image(ndim, 3), scale_factor=oneof(2.0, 1.5, 3.0), mode=mode, **named)


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
    """Draws matrices, and the size of the grid they make."""
    return lambda: args(tensor(2, 2, 3), (2, 1, 3, 2), **named)


ROWS = (
    Op("pad", padded(2, value=1.5), "F", keywords=""),
    Op("pad", padded(1), "F", variant="1d"),
    Op("pad", padded(3, mode="constant"), "F", variant="3d"),
    Op("pad", lambda: args(image(2), (1, whole(0, 3))), "F", variant="last_dim"),
    Op("pad", lambda: args(image(2), (-1, 0, 0, -1)), "F", variant="negative"),
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
    Op("interpolate", resized(2, "area"), "F", variant="area"),
    Op("interpolate", scaled(2, "nearest"), "F", variant="nearest_scaled"),
    Op("interpolate", scaled(2, "bilinear", align_corners=False), "F", variant="bilinear_scaled"),
    Layer("Upsample", upsample("nearest")),
    Layer("Upsample", upsample("bilinear", align_corners=True), variant="bilinear"),
    *layers("UpsamplingNearest2d UpsamplingBilinear2d", lambda: (args(scale_factor=2), args(image(2, 3)))),
    *(
        Op("grid_sample", sampled(mode=mode, padding_mode=border, align_corners=False), "F", variant=f"{mode}_{border}")
        for mode, border in (("bilinear", "zeros"), ("nearest", "reflection"))
    ),
    Op("grid_sample", sampled(align_corners=True), "F", variant="corners"),
    Op("affine_grid", affine(align_corners=False), "F"),
    Op("affine_grid", affine(align_corners=True), "F", variant="corners"),
    Layer("PixelShuffle", lambda: (args(2), args(tensor(size(1, 3), size(1, 3) * 4, 2, size(1, 3))))),
    Layer("Flatten", lambda: (args(start_dim=whole(0, 2), end_dim=-1), args(image(2)))),
    Layer("Identity", lambda: (args(), args(image(1)))),
)


#: PyTorch 2.14.1 reads past its image, and ends the process, where a place is NaN: the places keep to their range.
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
@autotest(n=10, inputs="standard", coverage="pairs")
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
