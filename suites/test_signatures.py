"""Names and defaults of parameters: each op of the tables once in every way that Python has to write its call.

A default that the target has otherwise is a wrong value of the call that leaves it out, of a layer's construction that
does, or of the method alone: it has defaults of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from forms import member
from refusals import refused
from rows import Args, Layer, Op, tables
from signatures import (
    Way,
    bare,
    buildable,
    by_name,
    by_position,
    constructions,
    results,
    rewritable,
    taken,
    with_defaults,
    wrong,
)

from autotest import autotest

# PyTorch warns of a softmax that is told no dimension.
pytestmark = pytest.mark.filterwarnings("ignore:Implicit dimension choice")

#: A name or a default is no matter of values: one draw of a call is written in all ways, and on each seed the same one.
SEED = 0
#: Their rows are those of other files; a random result is another one in each way.
_WITHOUT = ("test_inference", "test_signatures", "test_second_derivatives")
_RANDOM = {"gumbel_softmax", "dropout"}
_ROOTS = {"torch": "torch.{}", "F": "torch.nn.functional.{}", "linalg": "torch.linalg.{}"}


def functions() -> Iterator[tuple[str, Op]]:
    """Every function of the tables with its first row: variants have the same parameters."""
    known = set()
    for row in tables(*_WITHOUT):
        home = row.spelled.split()[0] if isinstance(row, Op) else ""
        spelled = _ROOTS[home].format(row.name) if home in _ROOTS else ""
        if spelled and row.name not in _RANDOM and spelled not in known:
            known.add(spelled)
            yield spelled, row


def methods() -> Iterator[tuple[str, Op]]:
    """Every method of the tables with its first row."""
    known = set()
    for row in tables(*_WITHOUT):
        if isinstance(row, Op) and "Tensor" in row.spelled.split() and row.graph and row.name not in known:
            known.add(row.name)
            yield f"Tensor.{row.name}", row


def layers() -> Iterator[Layer]:
    """Every layer of the tables with each of its rows: which options others go with is theirs to say. Those of random
    results are another family's.
    """
    known = set()
    for row in tables(*_WITHOUT, "test_random"):
        if isinstance(row, Layer) and (row.name, row.variant) not in known:
            known.add((row.name, row.variant))
            yield row


FUNCTIONS = [*functions()]
METHODS = [(spelled, row) for spelled, row in methods() if rewritable(spelled, row, bare)]
LAYERS = [row for row in layers() if buildable(row)]


def written(spelled: str, row: Op, *kinds: Way) -> list[Any]:
    """The results of the row's call in all its ways of these kinds."""
    drawn = row.draw()
    values = results(spelled, drawn, (way for kind in kinds for way in kind(spelled, drawn)))
    return values if row.then is None else [row.then(value) for value in values]


def each(*kinds: Way) -> Any:
    """A test for every function whose call PyTorch tells another way of these kinds to write."""
    able = [
        pytest.param(spelled, row, id=spelled)
        for spelled, row in FUNCTIONS
        if not kinds or rewritable(spelled, row, *kinds)
    ]
    return pytest.mark.parametrize(("spelled", "row"), able)


@each(by_position, by_name)
@autotest(n=1, seed=SEED, check_graph=False, coverage="none")
def test_keywords(spelled, row):
    return written(spelled, row, by_position, by_name)


@each(with_defaults)
@autotest(n=1, seed=SEED, check_graph=False, coverage="none")
def test_defaults(spelled, row):
    return written(spelled, row, with_defaults)


@pytest.mark.parametrize(("spelled", "row"), [pytest.param(spelled, row, id=spelled) for spelled, row in METHODS])
@autotest(n=2, seed=SEED, check_graph=False, missing="count", coverage="none")
def test_defaults_of_methods(spelled, row):
    return written(spelled, row, bare)


@pytest.mark.parametrize("row", [pytest.param(row, id=next(row.calls()).id) for row in LAYERS])
@autotest(n=3, seed=SEED, check_graph=False, missing="count", coverage="none")
def test_defaults_of_layers(row):
    [call], (built, called) = row.calls(), row.draw()
    ways = constructions(row.name, built)
    fewer = [*taken(lambda *args, **kwargs: call.apply((Args(args, kwargs), called)), ways)]
    return [*fewer, call.apply((built, called))]


@each()
@autotest(n=1, seed=SEED, auto_backward=False, check_graph=False, coverage="none")
def test_errors(spelled, row):
    drawn = row.draw()
    for way in wrong(spelled, drawn):
        refused(partial(member(spelled), *way.args, **way.kwargs))
