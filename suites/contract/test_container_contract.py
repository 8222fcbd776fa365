"""What the documentation of modules that hold others says: which is where, and what its parameters are called."""

from __future__ import annotations

from functools import partial

import pytest

from autotest import contract

container = partial(contract, target="oneflow")


def layers(flow, count):
    """As many layers, each of a size of its own."""
    return [flow.nn.Linear(size, 1) for size in range(1, count + 1)]


def holds(made, *expected):
    """Whether exactly these are in a container, in this order, its state in the same one."""
    sizes = [parameter.shape[1] for name, parameter in made.named_parameters() if name.endswith("weight")]
    found = [*made]
    return (
        len(found) == len(made) == len(expected)
        and all(one is other for one, other in zip(found, expected, strict=True))
        and sizes == [each.in_features for each in expected]
    )


@container("a list of modules has them under their places", of="nn.ModuleList")
def test_names_in_a_list(flow):
    made = flow.nn.ModuleList(layers(flow, 3))
    assert [*made.state_dict()] == [f"{place}.{name}" for place in range(3) for name in ("weight", "bias")]


@container("insert() moves all that come after one place on", of="nn.ModuleList.insert")
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_insert(flow, place):
    *held, new = layers(flow, 4)
    made = flow.nn.ModuleList(held)
    made.insert(place, new)
    held.insert(place, new)
    assert holds(made, *held)


@container("append(), extend() and += put modules behind all others", of="nn.ModuleList.append")
@pytest.mark.parametrize("way", ["append", "extend", "+="])
def test_behind(flow, way):
    *held, new, last = layers(flow, 4)
    made = flow.nn.ModuleList(held)
    if way == "append":
        made.append(new)
        made.append(last)
    elif way == "extend":
        made.extend([new, last])
    else:
        made += [new, last]
    assert holds(made, *held, new, last)


@container("a place counts from the end where it is negative, and a slice is a list of its own", of="nn.ModuleList")
@pytest.mark.parametrize("kind", ["ModuleList", "Sequential"])
def test_places(flow, kind):
    held = layers(flow, 4)
    made = flow.nn.ModuleList(held) if kind == "ModuleList" else flow.nn.Sequential(*held)
    assert made[1] is held[1]
    assert made[-1] is held[3]
    assert type(made[1:3]) is type(made)
    assert holds(made[1:3], *held[1:3])
    assert holds(made[::2], held[0], held[2])
    assert holds(made, *held)


@container("a module can be set and taken out at any place", of="nn.ModuleList")
@pytest.mark.parametrize("kind", ["ModuleList", "Sequential"])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_set_and_taken_out(flow, kind, place):
    *held, new = layers(flow, 4)
    made = flow.nn.ModuleList(held) if kind == "ModuleList" else flow.nn.Sequential(*held)
    made[place] = new
    held[place] = new
    assert holds(made, *held)
    del made[place]
    del held[place]
    assert holds(made, *held)


@container("a slice can be taken out", of="nn.ModuleList")
@pytest.mark.parametrize("kind", ["ModuleList", "Sequential"])
def test_slice_taken_out(flow, kind):
    held = layers(flow, 4)
    made = flow.nn.ModuleList(held) if kind == "ModuleList" else flow.nn.Sequential(*held)
    del made[1:3]
    assert holds(made, held[0], held[3])


@container("a place beyond the end is refused", of="nn.ModuleList")
@pytest.mark.parametrize("place", [3, -4])
def test_beyond(flow, place):
    with pytest.raises(IndexError):
        flow.nn.ModuleList(layers(flow, 3))[place]


@container("a sequence calls its modules in their order, with names of one's own too", of="nn.Sequential")
def test_named_sequence(flow):
    from collections import OrderedDict

    double, shift = flow.nn.Linear(1, 1, bias=False), flow.nn.Linear(1, 1)
    double.weight.data.fill_(2.0)
    shift.weight.data.fill_(1.0)
    shift.bias.data.fill_(3.0)
    x = flow.ones(1, 1)
    made = flow.nn.Sequential(OrderedDict(twice=double, more=shift))
    assert made(x).tolist() == [[5.0]]
    assert flow.nn.Sequential(shift, double)(x).tolist() == [[8.0]]
    assert [*made.state_dict()] == ["twice.weight", "more.weight", "more.bias"]
    assert made.more is shift


@container("a dict of modules keeps the order in which they were put in", of="nn.ModuleDict")
def test_dict(flow):
    first, second, third = layers(flow, 3)
    made = flow.nn.ModuleDict({"b": first, "a": second})
    made["c"] = third
    assert [*made.keys()] == [*made] == ["b", "a", "c"]
    assert [*made.items()] == [("b", first), ("a", second), ("c", third)]
    assert all(one is other for one, other in zip(made.values(), (first, second, third), strict=True))
    assert ("a" in made, "d" in made, len(made)) == (True, False, 3)
    assert [*made.state_dict()][::2] == ["b.weight", "a.weight", "c.weight"]


@container("what is put in under a name that is there takes its place", of="nn.ModuleDict.update")
@pytest.mark.parametrize("way", ["update", "setitem"])
def test_dict_updated(flow, way):
    first, second, third = layers(flow, 3)
    made = flow.nn.ModuleDict({"b": first, "a": second})
    if way == "update":
        made.update({"b": third})
    else:
        made["b"] = third
    assert [*made.items()] == [("b", third), ("a", second)]


@container("pop() gives the module that it takes out, and clear() takes out all", of="nn.ModuleDict.pop")
def test_dict_emptied(flow):
    first, second = layers(flow, 2)
    made = flow.nn.ModuleDict({"b": first, "a": second})
    assert made.pop("b") is first
    assert [*made.keys()] == ["a"]
    made["d"] = first
    del made["a"]
    assert [*made.keys()] == ["d"]
    made.clear()
    assert (len(made), [*made.parameters()]) == (0, [])


def parameters(flow, count):
    """As many parameters, each of a size of its own."""
    return [flow.nn.Parameter(flow.ones(size)) for size in range(1, count + 1)]


@container("a list of parameters has them under their places, in their order", of="nn.ParameterList")
def test_list_of_parameters(flow):
    *held, new, last, other = parameters(flow, 5)
    made = flow.nn.ParameterList(held)
    made.append(new)
    made.extend([last])
    made[0] = other
    expected = [other, held[1], new, last]
    assert len(made) == 4
    assert all(one is two for one, two in zip(made, expected, strict=True))
    assert made[-1] is last
    assert [(name, parameter.shape[0]) for name, parameter in made.named_parameters()] == [
        ("0", 5), ("1", 2), ("2", 3), ("3", 4),
    ]  # fmt: skip


@container("a dict of parameters has them under their names", of="nn.ParameterDict")
def test_dict_of_parameters(flow):
    first, second, third = parameters(flow, 3)
    made = flow.nn.ParameterDict({"b": first, "a": second})
    made["c"] = third
    assert {name: parameter.shape[0] for name, parameter in made.named_parameters()} == {"b": 1, "a": 2, "c": 3}
    assert made.pop("a") is second
    assert ("a" in made, len(made)) == (False, 2)
    made.update({"b": second})
    assert made["b"] is second
    assert {name: parameter.shape[0] for name, parameter in made.named_parameters()} == {"b": 2, "c": 3}


@container("modules of a list are switched, moved and trained with it", of="nn.ModuleList")
def test_list_is_a_module(flow):
    class Holder(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.held = flow.nn.ModuleList([flow.nn.Dropout(0.5), flow.nn.BatchNorm1d(2)])

    made = Holder().eval().double()
    assert [each.training for each in made.held] == [False, False]
    assert made.held[1].weight.dtype == flow.float64
    made.held.append(flow.nn.Linear(2, 2))
    assert [*made.state_dict()][-2:] == ["held.2.weight", "held.2.bias"]
