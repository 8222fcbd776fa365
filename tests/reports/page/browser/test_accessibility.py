"""In a browser: axe-core, which checks names, roles, contrast and structure, finds nothing on any view of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

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


def violations(page: Any) -> dict[str, list[str]]:
    """What axe finds, by its rule the elements that break it."""
    found = Axe().run(page).response["violations"]
    return {rule["id"]: [node["html"][:160] for node in rule["nodes"]] for rule in found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("hash", VIEWS)
def test_nothing_is_in_the_way(view: Callable[..., Any], page_file: Any, hash: str, scheme: str) -> None:
    """Each view, in either colour scheme."""
    page = view(page_file, hash, color_scheme=scheme).page
    page.locator(VIEWS[hash]).first.wait_for()
    assert violations(page) == {}


def test_a_fault_is_seen(view: Callable[..., Any], page_file: Any) -> None:
    """A button without a name, and a colour that is too pale."""
    page = view(page_file).page
    page.add_style_tag(content=".verdict { color: #d08a86 !important }")
    page.evaluate("document.querySelector('#theme').replaceChildren()")
    assert {*violations(page)} == {"button-name", "color-contrast"}
