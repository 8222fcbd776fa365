"""Samples of the shapes that a kernel claims."""

from __future__ import annotations

import torch

from dual_object.adapters.torch.kernels.samples.sample import Sample
from dual_object.adapters.torch.kernels.shapes import MOST_ELEMENTS, fits, within, worded


def shapes(samples: list[Sample]) -> list[list[tuple[int, ...]]]:
    """Of each sample those of its tensors."""
    return [[tuple(x.shape) for x in sample.tensors()] for sample in samples]


def test_which_shapes_fit() -> None:
    """A number is that size, None any; the number of dimensions counts; without patterns everything fits."""
    sample = Sample((torch.zeros(2, 128), torch.zeros(7)))
    assert fits(sample, ())
    assert fits(sample, [(None, 128)])
    assert fits(sample, [(3,), (2, None)])
    assert not fits(sample, [(None, 64), (None, None, 128), (128,)])
    assert not fits(Sample((3,)), [(None,)])
    assert worded([(None, 128), (3,)]) == "n,128 3"


def test_what_fits_is_left_as_it_is() -> None:
    """And what does not is left out."""
    fitting, other = Sample((torch.zeros(2, 4),)), Sample((torch.zeros(2, 3),))
    assert within([other, fitting], ()) == [other, fitting]
    assert within([other, fitting], [(None, 4), (2, None)]) == [fitting, other]
    assert within([other, fitting], [(None, 4)]) == [fitting]


def test_sizes_are_changed_wherever_they_come() -> None:
    """The weight of 3 columns gets 128, too; and the plain number that names the size, such as a normalized shape."""
    sample = Sample((torch.rand(2, 3, requires_grad=True), (3,), torch.rand(3)))
    [by_sizes, by_dims] = within([sample], [(None, 128)])
    assert shapes([by_sizes, by_dims]) == [[(2, 128), (128,)], [(2, 128), (3,)]]
    assert by_sizes.args[1] == (128,)
    assert by_sizes.tensors()[0].requires_grad
    assert by_dims.tensors()[0].requires_grad


def test_two_equal_sizes_are_told_apart_by_their_dimensions() -> None:
    """All tensors of the first one's shape follow."""
    brought = within([Sample((torch.rand(5, 5), torch.rand(5, 5)))], [(32, 128)])
    assert shapes(brought) == [[(32, 128), (32, 128)]]


def test_dimensions_come_and_go() -> None:
    """Where no sample has so many."""
    assert shapes(within([Sample((torch.rand(5, 6),))], [(None, None, 64)])) == [[(3, 5, 64)]]
    assert shapes(within([Sample((torch.rand(5, 6),))], [(9,)])) == [[(9,)]]


def test_what_is_too_large_or_empty_is_not_brought() -> None:
    """Neither a sample of more elements than a question may have, nor one without any."""
    assert within([Sample((torch.rand(2, 3),))], [(None, MOST_ELEMENTS)]) == []
    assert within([Sample((torch.rand(0, 3),))], [(None, 8)]) == []
