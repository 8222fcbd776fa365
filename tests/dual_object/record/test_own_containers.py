"""Containers that hold modules of a test's own are what PyTorch's are, recorded call by call."""

from __future__ import annotations

from collections import OrderedDict

import pytest
import torch as real

from autotest.conformance.bodies import assert_same, tensor, torch
from dual_object import Replay
from dual_object.errors import ArgumentError


def blocks(namespace):
    """A class of `namespace`, the dual `torch` or PyTorch itself."""

    class Block(namespace.nn.Module):
        def __init__(self, width=3):
            super().__init__()
            self.layer = namespace.nn.Linear(3, width)

        def forward(self, x):
            return namespace.tanh(self.layer(x))

    return Block


def contained(namespace):
    """One of each container, filled in each way."""
    nn, block = namespace.nn, blocks(namespace)
    return [
        nn.ModuleList([block(), nn.ReLU()]),
        nn.ModuleList(block() for _ in range(2)),
        nn.Sequential(nn.Linear(3, 3), block()),
        nn.Sequential(OrderedDict(one=block(), two=nn.Linear(3, 2))),
        nn.Sequential(nn.Sequential(block()), nn.ReLU()),
        nn.ModuleDict({"one": block(), "two": nn.ReLU()}),
        nn.ModuleDict([("one", block())]),
    ]


def members(container):
    """What a container tells of what it holds."""
    named = [name for name, _ in container.named_parameters()]
    children = [name for name, _ in container.named_children()]
    return named, children, len(container), container.training


def test_members(recorded):
    """Their modules and parameters have the names that PyTorch gives them."""

    def run():
        own, pytorchs = contained(torch), contained(real)
        assert [members(one.eval()) for one in own] == [members(one.eval()) for one in pytorchs]
        kinds = ["ModuleList", "ModuleList", *["Sequential"] * 3, "ModuleDict", "ModuleDict"]
        assert all(isinstance(one, getattr(torch.nn, kind)) for one, kind in zip(own, kinds, strict=True))
        assert not isinstance(own[0], torch.nn.Sequential)
        assert isinstance(own[0], torch.nn.Module)
        return tensor(2, 3) * 2

    recorded(run)


def used(namespace):
    """What a forward of one's own does with them."""
    nn, block = namespace.nn, blocks(namespace)
    real.manual_seed(0)
    listed = nn.ModuleList([block(), block()])
    listed.append(block()).extend([nn.ReLU(), block(2)])
    seen = [len(listed), len(listed[1:]), type(listed[:2]).__name__, listed[-1] is list(listed)[4]]
    chain = nn.Sequential(block(), nn.ReLU(), block())
    seen += [len(chain[1:]), type(chain[1:]).__name__, chain[0] is next(iter(chain)), len(chain.append(block(2)))]
    by_name = nn.ModuleDict({"a": block()})
    by_name["b"] = block(2)
    seen += ["b" in by_name, "c" in by_name, list(by_name), list(by_name.keys()), len(by_name.values())]
    seen += [[name for name, _ in by_name.items()], by_name["a"] is next(iter(by_name.values()))]
    return seen, listed, chain, by_name


def test_use(recorded, reference):
    """Indexing, slices, iteration and membership are PyTorch's, and what is computed is the same in a replay."""

    def run():
        own, listed, chain, by_name = used(torch)
        assert own == used(real)[0]
        x = tensor(4, 3)
        y = x
        for layer in listed:
            y = layer(y)
        z = chain[1:](x)
        return y, z, by_name["b"](by_name["a"](x))

    case = recorded(run)
    assert_same(case.seen, Replay(reference, case.program).run())
    calls = [call.op for call in case.program.calls]
    assert "nn.ModuleList" not in calls
    assert calls.count("tanh") == 8


def test_modules_of_the_framework_alone(recorded):
    """A container of these is the framework's own, also where they come by an iterator."""

    def run():
        chain = torch.nn.Sequential(*torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(2)))
        return chain(tensor(2, 3))

    calls = [call.op for call in recorded(run).program.calls]
    assert "nn.Sequential" in calls
    assert "nn.ModuleList" in calls


def test_a_container_that_is_there(recorded):
    """One that was made of the framework's modules takes no others."""

    def run():
        with pytest.raises(ArgumentError) as caught:
            torch.nn.ModuleList().append(blocks(torch)())
        assert str(caught.value) == (
            "append was given Block, a module class of the test, but should be given modules of the framework: hold "
            "both as attributes of another such class, or give them to a new nn.ModuleList or nn.Sequential at once, "
            "and call them in its forward"
        )
        return tensor(2, 3) * 2

    recorded(run)
