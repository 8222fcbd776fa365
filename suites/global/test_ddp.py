"""`DistributedDataParallel` gives every rank the gradients that one process has on the whole batch."""

from __future__ import annotations

import ddp_gradients
import pytest

from autotest import autotest, dual, placement, random, random_tensor, torch

RANKS = placement.all("cpu").ranks.size
pytestmark = pytest.mark.skipif(RANKS == 1, reason="one rank has nobody to average with; run with --ranks 2")

gradients = dual(
    reference=ddp_gradients.on_one_process, target=ddp_gradients.on_all_ranks, name="DistributedDataParallel"
)

gradients_of_second_step = dual(
    reference=ddp_gradients.on_one_process,
    target=ddp_gradients.second_on_all_ranks,
    name="DistributedDataParallel.second_step",
)


@autotest(n=4, auto_backward=False, check_graph=False, coverage="none")
def test_linear():
    features = random(1, 6).to(int).value()
    module = torch.nn.Linear(features, random(1, 6).to(int).value())
    x = random_tensor(ndim=2, dim0=RANKS * random(1, 4).to(int).value(), dim1=features, requires_grad=False)
    return gradients(module, x)


@autotest(n=3, auto_backward=False, check_graph=False, coverage="none")
def test_layers():
    module = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
    x = random_tensor(ndim=2, dim0=RANKS * random(1, 4).to(int).value(), dim1=4, requires_grad=False)
    return gradients(module, x)


@autotest(n=2, auto_backward=False, check_graph=False, coverage="none")
def test_gradients_set_to_none():
    module = torch.nn.Linear(4, 2)
    x = random_tensor(ndim=2, dim0=RANKS * random(1, 4).to(int).value(), dim1=4, requires_grad=False)
    return gradients_of_second_step(module, x)
