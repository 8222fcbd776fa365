"""Takes docs/report.png, the picture of a report's first screen: python docs/picture.py autotest-report/index.html."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1400, 900
PICTURE = Path(__file__).with_name("report.png")


def take(page: Path) -> None:
    """Take the picture of a page. Raises SystemExit without Chromium on the PATH."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not on the PATH, but takes the picture; install it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        shown = context.new_page()
        shown.goto(page.resolve().as_uri())
        shown.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
