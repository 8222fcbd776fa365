"""Owners: the innermost module that a leaf belongs to, by the names of the modules around it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from dual_object.program.calls import Call
from dual_object.program.owners import owner
from dual_object.program.program import Program
from dual_object.program.values import Ref

NORM, LINEAR, INNER, OUTER, LAYER = 1, 2, 3, 4, 5


def program(*outer: Any, op: str = "nn.Sequential", **named: Any) -> Program:
    """A norm and a layer in a Sequential, which is given to another module."""
    calls = [
        Call("module", "nn.BatchNorm1d", (2,), {}, Ref(NORM)),
        Call("module", "nn.Linear", (2, 2), {}, Ref(LINEAR)),
        Call("module", "nn.Sequential", (Ref(LINEAR), Ref(NORM)), {}, Ref(INNER)),
        Call("module", op, outer, named, Ref(OUTER)),
        Call("module", "nn.TransformerEncoder", (Ref(LINEAR), 2), {}, Ref(LAYER)),
    ]
    return Program([], calls)


def owned(made: Program, key: str) -> int | None:
    """The number of the module that a leaf belongs to."""
    call = owner(made, key)
    return None if call is None else call.results()[0]


@pytest.mark.parametrize(
    ("outer", "op", "name"),
    [
        ((Ref(INNER),), "nn.Sequential", "0"),
        ((Ref(LINEAR), Ref(INNER)), "nn.Sequential", "1"),
        ((OrderedDict(first=Ref(LINEAR), second=Ref(INNER)),), "nn.Sequential", "second"),
        (([Ref(LINEAR), Ref(INNER)],), "nn.ModuleList", "1"),
        (({"first": Ref(LINEAR), "second": Ref(INNER)},), "nn.ModuleDict", "second"),
    ],
)
def test_nested(outer: Any, op: str, name: str) -> None:
    """Each container has its own names for what it is given."""
    made = program(*outer, op=op)
    assert owned(made, f"{OUTER}.{name}.1.running_mean") == NORM
    assert owned(made, f"{OUTER}.{name}.0.weight") == LINEAR


def test_keyword() -> None:
    """What a container is given by keyword is the same."""
    assert owned(program(op="nn.ModuleList", modules=[Ref(NORM)]), f"{OUTER}.0.running_mean") == NORM


def test_own() -> None:
    """A leaf of a layer is the layer's, and so is one of a part that it has made itself."""
    made = program(Ref(INNER))
    assert owned(made, f"{NORM}.running_mean") == NORM
    assert owned(made, f"{LAYER}.layers.0.weight") == LAYER
    assert owned(made, f"{LAYER}.0.weight") == LAYER


def test_unknown() -> None:
    """A part that was added since is the container's; a module that nothing makes is nobody's."""
    assert owned(program(Ref(INNER)), f"{OUTER}.7.weight") == OUTER
    assert owned(program(Ref(INNER)), "9.weight") is None
