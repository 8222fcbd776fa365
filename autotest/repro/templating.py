"""The templates of repros: Python and Markdown, where nothing is escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """Return a template of this package; what it lacks is an error."""
    environment = Environment(
        loader=PackageLoader("autotest.repro"),
        autoescape=False,  # noqa: S701 - no HTML is made of these
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)
