"""Every layer that PyTorch tests itself with, built and called as PyTorch tests it, in both modes.

`module_db` is the table of `torch.testing._internal`. All of a layer's samples are cases, the same on every seed; one
of them runs in the static graph as well. A layer that the target lacks is counted as missing and fails nothing.
"""

from __future__ import annotations

import warnings

import pytest
from entries import SEED, told
from modules import IN_GRAPH, looks, modes, samples

from autotest import autotest, each

try:
    # It imports whatever else is installed, which may warn.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_modules import module_db
except ImportError as error:
    pytest.skip(f"PyTorch's table of modules cannot be imported: {error}", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")

LAYERS = [layer for info in module_db if info.name.startswith("nn.") for layer in modes(info)]
every = pytest.mark.parametrize("layer", [pytest.param(layer, id=layer.id) for layer in LAYERS])


@every
@autotest(n=IN_GRAPH, seed=SEED, missing="count", coverage="none")
def test_layer(layer):
    if not layer.plan.in_graph:
        pytest.skip(layer.plan.reason)
    return layer.run(each(*layer.plan.in_graph).value())


@every
@autotest(seed=SEED, check_graph=False, missing="count", coverage="none")
def test_sample(layer):
    if not layer.plan.eager:
        pytest.skip(layer.plan.reason or "all of its samples run in the graph")
    return layer.run(each(*layer.plan.eager).value())


@every
@autotest(n=1, seed=SEED, check_graph=False, missing="count", coverage="none")
def test_least(layer):
    sample = layer.least()
    if sample is None:
        pytest.skip("PyTorch takes none of its samples without optional arguments, or what they give is random")
    return layer.apply(sample)


@pytest.mark.parametrize("layer", [pytest.param(layer, id=layer.id) for layer in LAYERS if layer.keeps])
@autotest(seed=SEED, check_graph=False, missing="count", coverage="none")
def test_batches(layer):
    """Two batches in training, whose statistics the layer keeps."""
    if not layer.plan.eager:
        pytest.skip(layer.plan.reason or "all of its samples run in the graph")
    return layer.apply(samples(layer)[each(*layer.plan.eager).value()], times=2)


@every
@autotest(seed=SEED, check_graph=False, missing="count", unsupported="count", coverage="none")
def test_looks(layer):
    """One sample with special values, of other dtypes, lying otherwise."""
    looking = looks(layer)
    if not looking:
        pytest.skip("PyTorch takes none of its samples with other tensors")
    return layer.apply(each(*looking).value())


def test_left_out():
    pytest.skip(f"samples that are no cases: {told(layer.plan for layer in LAYERS)}")
