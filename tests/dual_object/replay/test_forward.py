"""A Program as the method `forward`: its text, and what of it is left out or given back."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from autotest.conformance.bodies import double, tensor, torch
from dual_object.replay.forward import forward


def test_text(recorded):
    """Modules are attributes, made and configured before; a region keeps its body; each line knows its call."""

    def body():
        x = tensor(2, 3)
        m = torch.nn.Linear(3, 4).eval()
        with torch.no_grad():
            len(x)
        y = m(x)
        y[0] = 1.5
        y += y
        return y.max(dim=1)

    made = forward(recorded(body).program, hosts=False)
    assert made.text == (
        "def forward(self, x):\n"
        "    with torch.no_grad():\n"
        "        pass\n"
        "    t0 = self.m1(x)\n"
        "    t0[0] = 1.5\n"
        "    t0 += t0\n"
        "    t1, t2 = t0.max(dim=1)\n"
        "    return (t1, t2)\n"
    )
    assert made.modules == {1: "m1"}
    assert made.hosts == ()
    calls = recorded(body).program.calls
    ops = [None if index is None else calls[index].op for index in made.calls]
    assert ops == [None, "enter", "exit", "Linear", "setitem", "iadd", "max", None]


def test_hosts(recorded):
    """What the body read is given back after the values, where that is asked for."""

    def body():
        x = tensor(2, 3)
        return x * x.sum().item() + len(x)

    program = recorded(body).program
    made = forward(program, hosts=True)
    assert made.text == (
        "def forward(self, x):\n"
        "    t0 = x.sum()\n"
        "    t1 = t0.item()\n"
        f"    t2 = x * ({program.calls[1].out!r})\n"
        "    t3 = len(x)\n"
        "    t4 = t2 + 2\n"
        "    return (t4, t1, t3)\n"
    )
    assert [program.calls[index].op for index in made.hosts] == ["item", "len"]
    assert "item" not in forward(program, hosts=False).text


def test_names(recorded):
    """Arrays, operators without a sign and custom ops are names that the text finds; an input never hides `torch`."""
    program = recorded(lambda: double(deepcopy(tensor(2, grad=False))) + torch.tensor(np.array([1, 2]))).program
    renamed = replace(program, inputs=[replace(program.inputs[0], name="torch")])
    made = forward(renamed, hosts=False)
    assert made.text == (
        "def forward(self, x):\n"
        "    t0 = deepcopy(x)\n"
        "    t1 = double_1(t0)\n"
        "    t2 = torch.tensor(array_2)\n"
        "    t3 = t1 + t2\n"
        "    return (t3,)\n"
    )
    assert made.names["deepcopy"] is deepcopy
    assert made.names["array_2"].tolist() == [1, 2]
    assert made.names["double_1"](2.0) == 4.0
