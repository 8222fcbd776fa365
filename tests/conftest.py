"""What holds for all tests: `support` is what they share, and holds none itself."""

from __future__ import annotations

import pytest

# Test files of the inner runs lie there: each is copied to where it runs.
collect_ignore = ["support"]
pytest.register_assert_rewrite("support")
