"""The arguments of a call, and the Program without one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from autotest.judge.facts.arguments import Argument, arguments, kinds_of_arguments, plain
from dual_object.adapters.torch.adapter import Adapter
from dual_object.program.calls import Call, Input
from dual_object.program.program import Program
from dual_object.program.values import Device, Name, Ref

INF = float("inf")


def one(kind: str, op: str, *args: Any, **kwargs: Any) -> Program:
    """A call with two tensors at hand, 0 and 1."""
    inputs = [Input(id_, "", np.ones((2, 2), np.float32), "float32") for id_ in (0, 1)]
    return Program(inputs, [Call(kind, op, args, kwargs, out=Ref(2))], Ref(2))  # type: ignore[arg-type]


def layer(made: torch.nn.Module, name: str, *args: Any, **kwargs: Any) -> Program:
    """A layer that is made and called."""
    state = {key: tensor.detach().numpy() for key, tensor in made.state_dict().items()}
    x = Input(0, "", np.ones((2, 3, 3), np.float32), "float32")
    return Program(
        [x],
        [Call("module", f"nn.{name}", args, kwargs, Ref(1), state), Call("call", name, (Ref(1), Ref(0)), {}, Ref(2))],
        Ref(2),
    )


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (one("function", "norm", Ref(0), INF, 1, keepdim=True), ["keepdim", "dim", "p"]),
        (one("method", "norm", Ref(0), p=INF, dim=None), ["p"]),
        (one("method", "norm", Ref(0), INF, 1), ["dim", "p"]),
        (one("operator", "mod", Ref(0), -1.5), ["other"]),
        (one("operator", "getitem", Ref(0), 1), ["index"]),
        (one("method", "to", Ref(0), Name("float64")), ["dtype"]),
        (one("method", "to", Ref(0), Ref(1)), ["other"]),
        (one("method", "to", Ref(0), Device("cpu"), Name("float64")), ["dtype", "device"]),
        (one("method", "to", Ref(0), "cpu"), ["device"]),
        (one("method", "to", Ref(0), 0), ["device"]),
        (one("function", "no_such_op", Ref(0), 1), ["1"]),
        (one("function", "nn.functional.layer_norm", Ref(0), (2,), None, Ref(1)), ["bias", "normalized_shape"]),
        (one("get", "T", Ref(0)), []),
    ],
)
def test_arguments(program: Program, names: list[str]) -> None:
    """All but the receiver, and but None, the last first."""
    assert [argument.name(Adapter(), program) for argument in arguments(program, 0)] == names


def test_arguments_of_a_layer() -> None:
    """Those that it is called with, and those that it was made with."""
    program = layer(torch.nn.GRU(3, 3), "GRU", 3, 3, batch_first=True)
    found = [(argument.call, argument.at) for argument in arguments(program, 1)]
    assert found == [(1, 1), (0, "batch_first"), (0, 1), (0, 0)]
    # Beside a layer, what is called with names alone.
    named = Call("function", "softmax", (), {"input": Ref(0), "dim": 0}, Ref(3))
    both = replace(program, calls=[*program.calls, named])
    assert [(argument.call, argument.at) for argument in arguments(both, 2)] == [(2, "dim"), (2, "input")]


@pytest.mark.parametrize(
    ("program", "at", "calls"),
    [
        (one("function", "norm", Ref(0), INF), 1, ["norm(0)", "norm(0, 1.0)", "norm(0, 2.0)", "norm(0, 0.5)"]),
        (one("function", "roll", Ref(0), 1, -1), 1, ["roll(0, 2, -1)", "roll(0, 0, -1)"]),
        (one("method", "std", Ref(0), unbiased=False), "unbiased", ["std(0)", "std(0, unbiased=True)"]),
        (one("method", "repeat", Ref(0), (3, 1)), 1,
         ["repeat(0)", *(f"repeat(0, {sizes})" for sizes in [(1, 2), (0, 1), (1, 1), (2, 2), (0, 0)])]),
        (one("function", "mse_loss", Ref(0), Ref(1), reduction="sum"), "reduction", ["mse_loss(0, 1)"]),
        (one("function", "addmm", Ref(0), Ref(1), Ref(1)), 1, ["addmm(0, None, 1)"]),
    ],
)  # fmt: skip
def test_replaced(program: Program, at: int | str, calls: list[str]) -> None:
    """Left out, where nothing follows in its place; then others of its type."""

    def shown(value: Any) -> str:
        return str(value.id) if isinstance(value, Ref) else str(value)

    found = []
    for less in Argument(0, at).replaced(Adapter(), program):
        call = less.calls[0]
        given = [*map(shown, call.args), *(f"{name}={shown(value)}" for name, value in call.kwargs.items())]
        found.append(f"{call.op}({', '.join(given)})")
    assert found == calls


def test_plain() -> None:
    """Without whatever has a name and is no tensor; None where that is nothing."""
    adapter = Adapter()
    less = plain(adapter, one("function", "std", Ref(0), 1, unbiased=False, keepdim=True), 0)
    assert less is not None
    assert (less.calls[0].args, less.calls[0].kwargs) == ((Ref(0), 1), {})
    assert plain(adapter, one("function", "norm", Ref(0), INF), 0) is None
    assert plain(adapter, one("function", "linear", Ref(0), weight=Ref(1)), 0) is None


def test_a_layer_keeps_its_parameters() -> None:
    """A layer that would have other parameters is not tried: a kernel believes the sizes that it is told, not those of
    the memory. One that has fewer keeps the rest.
    """
    adapter = Adapter()
    program = layer(torch.nn.GRU(3, 3, bidirectional=True), "GRU", 3, 3, bidirectional=True)
    assert list(Argument(0, 1).replaced(adapter, program)) == []
    assert plain(adapter, program, 1) is not None
    norm = torch.nn.BatchNorm1d(3, affine=True)
    program = layer(norm, "BatchNorm1d", 3, affine=True, track_running_stats=True)
    [_, less] = Argument(0, "track_running_stats").replaced(adapter, program)
    assert sorted(less.calls[0].state) == ["bias", "weight"]
    assert plain(adapter, layer(torch.nn.BatchNorm1d(3, affine=False), "BatchNorm1d", 3, affine=False), 1) is None


@pytest.mark.parametrize(
    ("one_of", "other", "alike"),
    [
        ({"p": 2.0}, {"p": 3.5}, True),
        ({"p": 2.0}, {"p": INF}, False),
        ({"p": 2.0}, {"p": -2.0}, False),
        ({"p": 2.0}, {"p": 0.0}, False),
        ({"p": 2.0}, {"p": 2}, False),
        ({"p": 2.0}, {}, False),
        ({"dim": (0, 1)}, {"dim": (1, 2)}, False),
        ({"dim": (1, 2)}, {"dim": (2, 3)}, True),
        ({"keepdim": True}, {"keepdim": False}, False),
        ({"p": "fro"}, {"p": "nuc"}, False),
        ({"out": Ref(1)}, {"out": Ref(0)}, True),
    ],
)
def test_kinds_of_arguments(one_of: dict[str, Any], other: dict[str, Any], alike: bool) -> None:
    """Numbers of one type and sign are of a kind; an infinity, a choice, and what is left out are each their own."""
    kinds = [[*kinds_of_arguments(one("function", "norm", Ref(0), **each).calls[0])] for each in (one_of, other)]
    assert (kinds[0] == kinds[1]) is alike
