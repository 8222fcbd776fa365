"""Every op that PyTorch tests itself with, on the arguments that PyTorch tests it with.

`op_db` is the table of `torch.testing._internal`. All of an entry's samples are cases, the same on every seed; a few
of them run in the static graph as well. An op that the target lacks is counted as missing and fails
nothing. What PyTorch's tests expect it to refuse, the target has to refuse too.
"""

from __future__ import annotations

import warnings

import pytest
from entries import IN_GRAPH, SEED, Entry, told
from refused import error_inputs
from variants import ENDING, looks
from ways import ways

from autotest import autotest, each, torch

try:
    # It imports whatever else is installed, which may warn.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
except ImportError as error:
    pytest.skip(f"OpInfo cannot be imported: {error}", allow_module_level=True)

# OpInfo covers deprecated forms too, of which PyTorch warns.
pytestmark = pytest.mark.filterwarnings("ignore")


ENTRIES = [Entry(info) for info in op_db]
ERRORS = [error for entry in ENTRIES for error in error_inputs(entry)]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])
@autotest(n=IN_GRAPH, seed=SEED, missing="count", coverage="none")
def test_entry(entry):
    if not entry.plan.in_graph:
        pytest.skip(entry.plan.reason)
    return entry.run(each(*entry.plan.in_graph).value())


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])
@autotest(seed=SEED, check_graph=False, missing="count", coverage="none")
def test_sample(entry):
    if not entry.plan.eager:
        pytest.skip(entry.plan.reason or "all of its samples run in the graph")
    return entry.run(each(*entry.plan.eager).value())


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])
@autotest(seed=SEED, check_graph=False, missing="count", coverage="none")
def test_ways(entry):
    every = ways(entry)
    if not every:
        pytest.skip("its samples are called in no other way")
    return each(*every).value().run()


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])
@autotest(seed=SEED, check_graph=False, missing="count", unsupported="count", coverage="none")
def test_looks(entry):
    """One sample with special values, of other dtypes, lying otherwise."""
    every = () if entry.name in ENDING else looks(entry)
    if not every:
        pytest.skip(ENDING.get(entry.name, "PyTorch takes none of its samples with other tensors"))
    return entry.apply(torch, each(*every).value())


def test_left_out():
    pytest.skip(f"samples that are no cases: {told(entry.plan for entry in ENTRIES)}")


@pytest.mark.parametrize("error", [pytest.param(error, id=error.id) for error in ERRORS])
@autotest(n=1, auto_backward=False, check_graph=False, missing="count")
def test_errors(error):
    obstacle = error.obstacle()
    if obstacle:
        pytest.skip(obstacle)
    error.run()
