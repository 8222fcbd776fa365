"""What the documentation of `nn.init` says of what is not random in it."""

from __future__ import annotations

from functools import partial

import pytest

from autotest import contract

init = partial(contract, target="oneflow")

#: By nonlinearity and its parameter: the gain.
GAINS = {
    ("linear", None): 1,
    ("conv2d", None): 1,
    ("sigmoid", None): 1,
    ("tanh", None): 5 / 3,
    ("relu", None): 2**0.5,
    ("leaky_relu", None): (2 / (1 + 0.01**2)) ** 0.5,
    ("leaky_relu", 0.5): (2 / (1 + 0.5**2)) ** 0.5,
    ("leaky_relu", 2): (2 / (1 + 2**2)) ** 0.5,
}


@init("each nonlinearity has its gain, a leaky one by its slope", of="nn.init.calculate_gain")
@pytest.mark.parametrize(("name", "slope"), GAINS)
def test_gain(flow, name, slope):
    given = [name] if slope is None else [name, slope]
    assert flow.nn.init.calculate_gain(*given) == pytest.approx(GAINS[name, slope], rel=1e-6)


@init("what has no gain is refused", of="nn.init.calculate_gain")
def test_no_gain(flow):
    with pytest.raises(ValueError, match="sigmoidal"):
        flow.nn.init.calculate_gain("sigmoidal")


@init("a tensor is filled in place, and given back", of="nn.init.constant_")
@pytest.mark.parametrize(("name", "value"), [("constant_", 2.5), ("constant_", -3), ("ones_", 1), ("zeros_", 0)])
@pytest.mark.parametrize("trained", [True, False])
def test_filled(flow, name, value, trained):
    x = flow.tensor([[0.5, float("nan")], [1.0, 2.0]], requires_grad=trained)
    filled = flow.nn.init.constant_(x, value) if name == "constant_" else getattr(flow.nn.init, name)(x)
    assert x.tolist() == filled.tolist() == [[value, value]] * 2
    assert (x.is_leaf, x.requires_grad, x.grad_fn) == (True, trained, None)


@init("eye_() fills a matrix of any sizes", of="nn.init.eye_")
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 4), (3, 1)])
def test_eye(flow, rows, columns):
    x = flow.full((rows, columns), 7.0)
    flow.nn.init.eye_(x)
    assert x.tolist() == [[float(row == column) for column in range(columns)] for row in range(rows)]


@init("eye_() takes matrices alone", of="nn.init.eye_")
def test_eye_of_no_matrix(flow):
    with pytest.raises(ValueError, match="2 dimensions"):
        flow.nn.init.eye_(flow.ones(3))
