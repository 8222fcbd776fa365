"""Every op and layer of the tables where no gradient will be asked for: what is computed is the same.

Frameworks have ways of their own there: kernels that keep nothing for a backward, layers that are fused.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rows import Call, tables

from autotest import autotest, torch

# Layers that PyTorch deprecates are here, too.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

#: Their rows are those of other files, of other dtypes or differentiated twice; a random result is another each time.
_WITHOUT = ("test_inference", "test_signatures", "test_second_derivatives", "test_dtypes", "test_random")


def calls() -> Iterator[Call]:
    """The main form of every row; of rows that call theirs alike the first one's."""
    known = set()
    for row in tables(*_WITHOUT):
        main = next(row.calls())
        if main.id not in known:
            known.add(main.id)
            yield main


@pytest.mark.parametrize("call", [pytest.param(call, id=call.id) for call in calls()])
@autotest(n=1, coverage="none", check_graph=False, auto_backward=False, missing="count")
def test_no_grad(call):
    with torch.no_grad():
        return call()
