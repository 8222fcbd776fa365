"""What tests of the report's page share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def drawn(page: Page) -> None:
    """Wait for what a link, a step back or another hash shows.

    The page hears of another hash in a task of its own; what a frame later comes after that has the new list.
    """
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
