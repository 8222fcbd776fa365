"""What the documentation of autograd says, which refers to PyTorch's: when gradients are recorded, what hooks
see, what is given back.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
from graphs import batch, linear

from autotest import contract

autograd = partial(contract, target="oneflow")

OFF = ["no_grad", "inference_mode"]


def doubled(x):
    return x * 2


def leaf(flow, *numbers):
    return flow.tensor([*(numbers or (1.0, -2.0, 3.0))], requires_grad=True)


@autograd("a function that it decorates records no gradients", of="autograd.no_grad")
@pytest.mark.parametrize("name", OFF)
def test_decorates(flow, name):
    assert not getattr(flow, name)()(doubled)(leaf(flow)).requires_grad
    assert doubled(leaf(flow)).requires_grad


@autograd("a function that it decorates records gradients or not, as it says", of="autograd.set_grad_enabled")
@pytest.mark.parametrize("enabled", [True, False])
def test_decorates_as_it_says(flow, enabled):
    decorated = flow.set_grad_enabled(enabled)(doubled)
    with flow.set_grad_enabled(not enabled):
        assert decorated(leaf(flow)).requires_grad == enabled
        assert flow.is_grad_enabled() != enabled


@autograd("a function that it decorates records gradients, even where none are recorded", of="autograd.enable_grad")
def test_decorates_where_it_is_off(flow):
    with flow.no_grad():
        assert flow.enable_grad()(doubled)(leaf(flow)).requires_grad
        assert not doubled(leaf(flow)).requires_grad


@autograd("what was so before is so again afterwards, whatever was raised within", of="autograd.no_grad")
@pytest.mark.parametrize("name", OFF)
def test_is_put_back(flow, name):
    with suppress(ArithmeticError), getattr(flow, name)():
        raise ArithmeticError
    assert flow.is_grad_enabled()
    with flow.no_grad():
        with suppress(ArithmeticError), flow.enable_grad():
            raise ArithmeticError
        assert not flow.is_grad_enabled()


@autograd("a decorated function that raises leaves it as it was", of="autograd.no_grad")
@pytest.mark.parametrize("name", OFF)
def test_is_put_back_by_a_decorated_function(flow, name):
    @getattr(flow, name)()
    def fails():
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fails()
    assert flow.is_grad_enabled()


@autograd("the gradients of several outputs are those of their sum, each with its own factor", of="autograd.grad")
def test_several_outputs(flow):
    x = leaf(flow)
    factors = [flow.tensor([1.0, 2.0, 3.0]), flow.tensor([10.0, 0.0, -1.0])]
    [gradient] = flow.autograd.grad([x * 2, x * x], x, factors)
    assert gradient.tolist() == [22.0, 4.0, 0.0]
    assert x.grad is None


@autograd("one gradient for each input, in their order", of="autograd.grad")
def test_several_inputs(flow):
    x, y = leaf(flow), leaf(flow, 4.0, 5.0, 6.0)
    given = flow.autograd.grad((x * y).sum(), [y, x])
    assert [gradient.tolist() for gradient in given] == [x.tolist(), y.tolist()]


@autograd("an input that nothing was made of is refused", of="autograd.grad")
def test_unused(flow):
    x, y = leaf(flow), leaf(flow)
    with pytest.raises(Exception, match="Check failed"):
        flow.autograd.grad((x * 2).sum(), [y])


@autograd("an input that nothing was made of has no gradient, where that is allowed", of="autograd.grad")
def test_unused_is_allowed(flow):
    x, y = leaf(flow), leaf(flow)
    used, unused = flow.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)
    assert (used.tolist(), unused) == ([2.0, 2.0, 2.0], None)


@autograd("gradients of a result may be asked for once, and again where the graph is retained", of="Tensor.backward")
@pytest.mark.parametrize("retained", [True, False])
def test_twice(flow, retained):
    x = leaf(flow)
    loss = flow.exp(x).sum()
    loss.backward(retain_graph=retained)
    once = x.grad.tolist()
    if retained:
        loss.backward()
        assert x.grad.tolist() == [2 * number for number in once]
    else:
        with pytest.raises(Exception, match="Specify retain_graph=True"):
            loss.backward()


@autograd("gradients come for leaves that ask for them, and for what retains its own", of="Tensor.retain_grad")
def test_retained(flow):
    x, y = leaf(flow), leaf(flow)
    y.requires_grad_(False)
    between, other = x * y, x + 1
    between.retain_grad()
    (between * other).sum().backward()
    assert between.grad.tolist() == other.tolist()
    assert x.grad is not None
    assert y.grad is None
    assert other.grad is None


@autograd("a hook sees the gradient, and what it returns takes its place", of="Tensor.register_hook")
@pytest.mark.parametrize("returns", [True, False])
def test_hook(flow, returns):
    seen, x = [], leaf(flow)

    def hook(gradient):
        seen.append(gradient.tolist())
        return gradient * 10 if returns else None

    y = x * 2
    y.register_hook(hook)
    (y * flow.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert seen == [[1.0, 2.0, 3.0]]
    assert x.grad.tolist() == [number * (20 if returns else 2) for number in (1.0, 2.0, 3.0)]


@autograd("of several hooks each sees what the one before has returned", of="Tensor.register_hook")
def test_hooks(flow):
    seen, x = [], leaf(flow)
    y = x * 2
    for factor in (10, 3):
        y.register_hook(lambda gradient, factor=factor: seen.append(gradient.tolist()) or gradient * factor)
    y.sum().backward()
    assert seen == [[1.0] * 3, [10.0] * 3]
    assert x.grad.tolist() == [60.0] * 3


@autograd("of several forward hooks each sees what the one before has returned", of="nn.Module.register_forward_hook")
def test_forward_hooks(flow):
    made = linear(flow)
    expected = made(batch(flow))
    made.register_forward_hook(lambda module, given, result: result * 3)
    made.register_forward_hook(lambda module, given, result: result + 1)
    assert made(batch(flow)).tolist() == (expected * 3 + 1).tolist()


@autograd(
    "of several forward pre-hooks each sees what the one before has returned", of="nn.Module.register_forward_pre_hook"
)
def test_forward_pre_hooks(flow):
    made = linear(flow)
    expected = made(batch(flow) * 2 + 1)
    made.register_forward_pre_hook(lambda module, given: (given[0] * 2,))
    made.register_forward_pre_hook(lambda module, given: (given[0] + 1,))
    assert made(batch(flow)).tolist() == expected.tolist()


@autograd("what a forward hook returns takes the place of the result", of="nn.Module.register_forward_hook")
@pytest.mark.parametrize("returns", [True, False])
def test_forward_hook(flow, returns):
    seen, made = [], linear(flow)
    expected = made(batch(flow))

    def hook(module, given, result):
        seen.append((module is made, given[0].tolist(), result.tolist()))
        return result * 3 if returns else None

    made.register_forward_hook(hook)
    assert made(batch(flow)).tolist() == (expected * (3 if returns else 1)).tolist()
    assert seen == [(True, batch(flow).tolist(), expected.tolist())]


@autograd("what a forward pre-hook returns takes the place of the arguments", of="nn.Module.register_forward_pre_hook")
@pytest.mark.parametrize("returns", [True, False])
def test_forward_pre_hook(flow, returns):
    made = linear(flow)
    expected = made(batch(flow) * (2 if returns else 1))
    made.register_forward_pre_hook(lambda module, given: (given[0] * 2,) if returns else None)
    assert made(batch(flow)).tolist() == expected.tolist()


@autograd("forward() may keep tensors for backward(), whose results are the gradients", of="autograd.Function")
def test_function(flow):
    class Cube(flow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, gradient):
            [x] = ctx.saved_tensors
            return gradient * 3 * x * x

    x = leaf(flow)
    result = Cube.apply(x)
    result.sum().backward()
    assert result.tolist() == [1.0, -8.0, 27.0]
    assert x.grad.tolist() == [3.0, 12.0, 27.0]


@autograd("what is detached takes no gradient, and has the same memory", of="Tensor.detach")
def test_detach(flow):
    x = leaf(flow)
    apart = x.detach()
    assert not apart.requires_grad
    (x * apart).sum().backward()
    assert x.grad.tolist() == x.tolist()
    apart[0] = 7.0
    assert x[0].item() == 7.0


@autograd("only floating tensors take gradients", of="Tensor.requires_grad_")
def test_integers(flow):
    with pytest.raises(RuntimeError):
        flow.tensor([1, 2]).requires_grad_()


@autograd("a leaf that takes gradients is not written to while they are recorded", of="Tensor.requires_grad")
def test_leaf_is_not_written_to(flow):
    x = leaf(flow)
    with pytest.raises(RuntimeError):
        x.add_(1)
    with flow.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, -1.0, 4.0]
