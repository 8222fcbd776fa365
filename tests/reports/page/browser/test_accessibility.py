"""In a browser: axe-core, which checks names, roles, contrast and structure, finds nothing on any view of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

#: Of each view, what has to be there before it is looked at.
VIEWS = {
    "": ".row",
    "#all=1&open=4701a54b,39a871f0": ".program",
    "#view=matrix": "#view-matrix table",
    "#view=tests": "#view-tests table",
    "#view=coverage": "#view-coverage table",
    "#view=run": "#view-run svg",
    "#view=runs": "#view-runs table",
    "#view=op&op=lgamma": "#view-op table",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("hash", VIEWS)
def test_nothing_is_in_the_way(view: Callable[..., Any], page_file: Any, hash: str, scheme: str) -> None:
    """Each view, in either colour scheme."""
    watched = view(page_file, hash, color_scheme=scheme)
    watched.page.locator(VIEWS[hash]).first.wait_for()
    assert watched.violations() == {}


def test_a_fault_is_seen(view: Callable[..., Any], page_file: Any) -> None:
    """A button without a name, and a colour that is too pale."""
    watched = view(page_file)
    page = watched.page
    page.add_style_tag(content=".verdict { color: #d08a86 !important }")
    page.evaluate("document.querySelector('#theme').replaceChildren()")
    assert {*watched.violations()} == {"button-name", "color-contrast"}
