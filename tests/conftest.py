"""What holds for all tests: `support` is what they share, and holds none itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dual_object.adapters.torch.adapter import Adapter

# Test files of the inner runs lie there: each is copied to where it runs.
collect_ignore = ["support"]
pytest.register_assert_rewrite("support")


@pytest.fixture(scope="session")
def reference() -> Adapter:
    """PyTorch's adapter."""
    # Tests of packages that know no framework do not wait for one.
    from dual_object.adapters.torch.adapter import Adapter

    return Adapter()
