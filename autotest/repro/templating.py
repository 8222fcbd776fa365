"""The templates of repros: Python and Markdown, where nothing is escaped."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

#: A path from the root, from home, or out of the working folder.
_PATH = re.compile(r"(?<![\w.:/~])(?:(?:~|\.\.)(?:/[\w.+@-]+)+|(?:/[\w.+@-]+){2,})/?")


@cache
def template(name: str) -> Template:
    """Return a template of this package; what it lacks is an error. Each is compiled once in a process, which takes
    longer than to fill it.
    """
    environment = Environment(
        loader=PackageLoader("autotest.repro"),
        autoescape=False,  # noqa: S701 - no HTML is made of these
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["public"] = public
    return environment.get_template(name)


def public(text: str) -> str:
    """A text for strangers: of a path of this machine only the last name is left, or what follows `site-packages/`."""
    for folder in (os.getcwd(), str(Path.home())):  # their names may have blanks
        text = text.replace(f"{folder}/", "") if len(folder) > 1 else text
    return _PATH.sub(_last_name, text)


def _last_name(path: re.Match[str]) -> str:
    _, installed, inside = path[0].rpartition("site-packages/")
    return inside if installed else path[0].rstrip("/").rpartition("/")[2]
