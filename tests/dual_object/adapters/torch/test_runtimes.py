"""Runtimes below PyTorch: those that are installed here, on every kind of Program, and what they say where they are not.

Each has an environment of its own: `make onnxruntime`, `make iree`.
"""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace

import pytest
import torch as real

from autotest.compare.difference import Rules
from autotest.compare.observations import compare
from autotest.errors import UsageError
from autotest.options import OPTIONS
from dual_object.adapters.torch.executors import NotCaptured
from dual_object.adapters.torch.executors.exported import arrays, exported, loaded, tensors
from dual_object.adapters.torch.executors.iree import diagnostic
from dual_object.adapters.torch.executors.onnx_runtime import model_of
from dual_object.errors import TargetError
from dual_object.replay import executors
from dual_object.replay.adapter import GraphRefusal, GraphRequest, load
from dual_object.replay.executors import EXECUTORS, asked_executor, versions_of
from dual_object.replay.observation import Capture, Observation
from support.dual_bodies import BODIES, integers, tensor, torch

RUNTIMES = [name for name, row in EXECUTORS.items() if row.packages]


@pytest.fixture(params=RUNTIMES)
def runtime(request):
    """The target of each runtime that is installed here."""
    try:
        return load(f"torch:{request.param}")
    except TargetError as absent:
        pytest.skip(str(absent))


def shown(target, *cases, again=None):
    """What each case shows in a graph, as an Observation or a GraphRefusal."""
    return target.graph(GraphRequest([case.program for case in cases], None, again))


def differences(case, seen):
    """How it differs from the reference: kind and place."""
    assert isinstance(seen, Observation), seen
    return [(d.phase, d.kind, d.where) for d in compare(case.program, case.seen, seen, Rules(), graph=True)]


#: What is no graph on any target, and what a runtime does not take.
UNTAKEN = {
    "onnxruntime": {"leaf": "the body makes leaves, which are none outside of a graph"},
    "iree": {"leaf": "the body makes leaves, which are none outside of a graph"},
}


def test_bodies(runtime, recorded):
    """Every kind of Program: no sizes and sizes of 0, integers and booleans, several results, results that are inputs,
    constants, a batch norm that trains, inputs that are not contiguous, writes in place.
    """
    name = runtime.executor.name
    for body, function in BODIES.items():
        case = recorded(function)
        [seen] = shown(runtime, case)
        if isinstance(seen, GraphRefusal):
            assert UNTAKEN[name].get(body) == seen.message, (body, seen)
            continue
        assert differences(case, seen) == [], body
        assert body not in UNTAKEN[name]
