"""Trees of neutral values survive JSON, and nothing else passes for one."""

from __future__ import annotations

import json
import math
from collections import OrderedDict

import numpy as np
import pytest

from dual_object.errors import ProgramError
from dual_object.program.values import Device, Name, Named, Opaque, Ref, from_json, map_leaves, refs, to_json

TREES = [
    None,
    True,
    -3,
    1 << 70,
    2.5,
    math.inf,
    "text \u2028 \ud800",
    1 - 2j,
    Ellipsis,
    Ref(3),
    Name("nn.functional.relu"),
    Device("cuda:1"),
    slice(None, Ref(1), -1),
    (),
    (1, (2, [3, {}])),
    [Ref(0), None],
    {"a": 1, 2: (Ref(4),), (1, 2): "b"},
    OrderedDict([("b", Ref(1)), ("a", [])]),
    Named(("values", "indices"), (Ref(1), Ref(2))),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_round_trip(tree):
    """A tree is the same after JSON, its types and the order of its keys included."""
    back = from_json(json.loads(json.dumps(to_json(tree, []))), [])
    assert back == tree
    assert type(back) is type(tree)
    assert repr(back) == repr(tree)


def test_round_trip_of_nan():
    """NaN stays NaN."""
    assert math.isnan(from_json(json.loads(json.dumps(to_json(float("nan"), []))), []))


def test_arrays_travel_beside():
    """An array is referred to by its position and comes back as the same object."""
    arrays = []
    first, second = np.arange(3), np.array(True)
    data = to_json([first, {"b": second}], arrays)
    assert data == [{"array": 0}, {"dict": [["b", {"array": 1}]]}]
    assert arrays[0] is first
    back = from_json(data, arrays)
    assert back[0] is first
    assert back[1]["b"] is second


def test_opaque_object_is_not_stored():
    """An object which only an inline run can pass on is refused by name."""
    with pytest.raises(ProgramError) as caught:
        to_json([Opaque(3)], [])
    assert str(caught.value) == "Opaque(value=3) cannot be stored in a Program"


@pytest.mark.parametrize("node", [{}, {"no": 1}, {"ref": 1, "name": "x"}, (1,), object], ids=repr)
def test_garbage_is_no_tree(node):
    """JSON of another shape is refused and shown."""
    with pytest.raises(ProgramError) as caught:
        from_json(node, [])
    assert str(caught.value) == f"{node!r} is no value of a Program"


def test_map_leaves_keeps_containers():
    """Every leaf is mapped wherever it stands, and containers keep their types."""
    tree = (1, [2, {"a": 3}], OrderedDict(b=4), Named(("f",), (5,)), slice(6, None, 7))
    mapped = map_leaves(tree, lambda leaf: None if leaf is None else leaf * 10)
    assert mapped == (10, [20, {"a": 30}], OrderedDict(b=40), Named(("f",), (50,)), slice(60, None, 70))
    assert type(mapped[2]) is OrderedDict
    assert type(mapped[3]) is Named


def test_refs_in_order():
    """Values are found in every container, in order, repeated as they occur."""
    tree = (
        Ref(3),
        [Ref(1), {"k": Ref(3)}],
        OrderedDict(o=Ref(4)),
        Named(("f",), (Ref(5),)),
        slice(Ref(6), None, Ref(7)),
    )
    assert refs(tree) == [3, 1, 3, 4, 5, 6, 7]
    assert refs("text") == []
