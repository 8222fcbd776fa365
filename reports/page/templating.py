"""Templates: the one place where text becomes HTML or script, and where it is made safe for that.

Files of this package are read once in a process. To compile the template of a page takes longer than to fill it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from reports.page.script import join
from reports.records.plain import encode
from reports.words.literals import literal


@cache
def template(name: str) -> Template:
    """Return a template of this package; what it is given is escaped, and what it lacks is an error.

    Its filter `literal` shows what cannot be printed as the terminal does.
    """
    environment = Environment(
        loader=PackageLoader("reports.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["literal"] = literal
    return environment.get_template(name)


@cache
def style(name: str) -> Markup:
    """Return a style sheet of this package, to stand in a page as it is."""
    text = (files("reports.page") / "templates" / name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own file


@cache
def script(name: str) -> Markup:
    """Return a folder of ES modules of this package as one script, to stand in a page as it is. Raises ScriptError."""
    folder = files("reports.page") / "templates" / name
    return Markup(join({file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}))  # noqa: S704 - our own


@cache
def vendored(name: str) -> Markup:
    """Return a file of a library as it was published: uPlot draws plots, dagre lays out graphs."""
    text = (files("reports.page") / "templates" / name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - theirs, and read before it was taken in


def script_data(value: object) -> Markup:
    """Return plain data as JSON that nothing in a script element can take for markup. Raises PlainError."""
    text = encode(value, "report")
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - has no markup left


def script_call(function: str, value: object) -> str:
    """Return a script that hands plain data to a function of the page's own script. Raises PlainError."""
    return f"{function}({script_data(value)});\n"
