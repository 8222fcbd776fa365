"""A module class of a test's own is recorded call by call, and its modules are recorded modules."""

from __future__ import annotations

import pytest
import torch as real

from autotest.conformance.bodies import assert_same, tensor, torch
from dual_object import Replay
from dual_object.errors import ArgumentError, UnknownName


class Block(torch.nn.Module):
    """A layer, a list of layers, a parameter and a buffer."""

    def __init__(self, width):
        super().__init__()
        self.layer = torch.nn.Linear(3, width)
        self.more = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(2)])
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        """All of them."""
        x = self.layer(x)
        for layer in self.more:
            x = torch.relu(layer(x))
        return x * self.scale + self.shift


class Net(torch.nn.Module):
    """A module class that holds another, and a module that trains otherwise."""

    def __init__(self):
        super().__init__()
        self.block = Block(2)
        self.norm = torch.nn.BatchNorm1d(2)

    def forward(self, x):
        """Both."""
        return self.norm(self.block(x))


def test_calls_are_recorded(recorded, reference):
    """What `__init__` and `forward` call is in the Program, and the case is the same when it is replayed."""
    case = recorded(lambda: Net()(tensor(4, 3)))
    assert_same(case.seen, Replay(reference, case.program).run())
    assert [call.op for call in case.program.calls if call.kind == "module"] == [
        "nn.Linear",
        "nn.Linear",
        "nn.Linear",
        "nn.ModuleList",
        "nn.BatchNorm1d",
    ]
    keys = {key.partition(".")[2] for key in case.seen.gradients}
    assert {"weight", "bias", ""} <= keys  # of layers, and of the parameter of its own


def test_modes_and_members_reach_the_modules_that_it_holds(recorded):
    """`eval`, `to` and the like, `children` and `parameters`."""

    def run():
        net = Net()
        assert isinstance(net, torch.nn.Module)
        assert not isinstance(net, torch.nn.Linear)
        assert [name for name, _ in net.named_children()] == ["block", "norm"]
        assert [name for name, _ in net.block.named_parameters()] == [
            "scale",
            "layer.weight",
            "layer.bias",
            "more.0.weight",
            "more.0.bias",
            "more.1.weight",
            "more.1.bias",
        ]
        assert len(list(net.parameters())) == 9
        linear, listed, norm = torch.nn.Linear, torch.nn.ModuleList, torch.nn.BatchNorm1d
        kinds = [Net, Block, linear, listed, linear, linear, norm]
        assert all(isinstance(module, kind) for module, kind in zip(net.modules(), kinds, strict=True))
        assert net.eval() is net
        assert (net.training, net.block.training, net.norm.training) == (False, False, False)
        assert net.train().norm.training
        net.block = torch.nn.Linear(3, 2)
        assert net.double() is net
        assert net.norm.weight.dtype == real.float64
        return net(tensor(4, 3).double())

    recorded(run)


def test_what_it_cannot_do(recorded):
    """What a class of a test's own lacks is refused with what to do instead."""

    class Empty(torch.nn.Module):
        pass

    class Hasty(torch.nn.Module):
        def __init__(self, held):
            self.width = 3
            self.held = held

    def run():
        net, x = Net(), tensor(2, 3)
        with pytest.raises(UnknownName) as caught:
            net.state_dict()
        assert str(caught.value) == (
            "Net has no state_dict: a module class of a test is recorded call by call, and is no module itself. "
            "Ask one that it holds, as in net.block.state_dict"
        )
        with pytest.raises(AttributeError, match=r"^'Net' object has no attribute 'blok'$"):
            _ = net.blok
        with pytest.raises(ArgumentError) as caught:
            net.double()
        assert str(caught.value) == (
            "Block.double(...) cannot reach its own parameter scale: make that as it should be, and call double on the "
            "modules that it holds"
        )
        with pytest.raises(ArgumentError) as caught:
            Empty()(x)
        assert str(caught.value) == "Empty has no forward, but should define what a call of it computes"
        for held in (Net(), torch.nn.ReLU(), torch.nn.Parameter(x)):
            with pytest.raises(ArgumentError) as caught:
                Hasty(held)
            assert str(caught.value) == (
                "Hasty sets held before its __init__ has called super().__init__(), but should after: PyTorch's "
                "modules refuse it"
            )
        assert Hasty(x).width == 3
        return x * 2

    recorded(run)


class Tied(torch.nn.Module):
    """Two layers with one weight, and one of them by two names."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.again = self.first

    def forward(self, x):
        """Both."""
        return self.again(self.second(x))


def test_shared_parameters_are_given_once(recorded):
    """As PyTorch gives them, by the first of their names: an optimizer would update them twice."""

    def body():
        net = Tied()
        names = [name for name, _ in net.named_parameters()]
        assert names == ["first.weight", "first.bias", "second.bias"]
        assert len(list(net.parameters())) == 3
        return net(tensor(3, 2))

    recorded(body)
