"""Every public op over dtypes, ranks, places of size 0 and the corners of its arguments, in pairs, refusals included.

The other suites say of each op what it is for; here nothing is said that PyTorch's schemas do not say by themselves.
So nobody asks a target for each of these dtypes: one that it does not support is counted.
"""

from __future__ import annotations

import pytest
from schemas import Plan, operations

from autotest import autotest

# Deprecated overloads are here, too, of which PyTorch warns.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("operation", [pytest.param(operation, id=operation.id) for operation in operations()])
@autotest(
    n=0,
    coverage="pairs",
    auto_backward=False,
    check_graph=False,
    missing="count",
    unsupported="count",
    refusals="all",
)
def test_op(operation):
    if not isinstance(operation.plan, Plan):
        pytest.skip(operation.plan)
    return operation.run()
