"""Every op that PyTorch tests itself with, on the arguments that PyTorch tests it with.

`op_db` is the table of `torch.testing._internal`. An op that the target lacks is counted as missing and fails
nothing. What PyTorch's tests expect it to refuse, the target has to refuse too.
"""

from __future__ import annotations

import pytest
from entries import Entry
from refused import error_inputs

from autotest import autotest, oneof, random

try:
    from torch.testing._internal.common_methods_invocations import op_db
except ImportError as error:
    pytest.skip(f"OpInfo cannot be imported: {error}", allow_module_level=True)

# OpInfo covers deprecated forms too, of which PyTorch warns.
pytestmark = pytest.mark.filterwarnings("ignore")


ENTRIES = [Entry(info) for info in op_db]
ERRORS = [error for entry in ENTRIES for error in error_inputs(entry)]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in ENTRIES])
@autotest(n=3, missing="count")
def test_entry(entry):
    if not entry.plan.samples:
        pytest.skip(entry.plan.reason)
    return entry.run(oneof(*entry.plan.samples).value(), random(0, 2**31).to(int).value())


@pytest.mark.parametrize("error", [pytest.param(error, id=error.id) for error in ERRORS])
@autotest(n=1, auto_backward=False, check_graph=False, missing="count")
def test_errors(error):
    obstacle = error.obstacle()
    if obstacle:
        pytest.skip(obstacle)
    error.run()
