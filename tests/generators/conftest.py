"""A case to draw in, with a fixed key."""

from collections.abc import Iterator

import pytest

from generators import Drawing, PhiloxSource, drawing


@pytest.fixture
def case() -> Iterator[Drawing]:
    """The drawing of one case; the key never changes, so neither do its draws."""
    with drawing(PhiloxSource("0/test_example.py::test_it/0")) as drawn:
        yield drawn
