"""A page's modules become one script, and what does not fit together is refused when the page is written."""

from __future__ import annotations

import pytest

from reports.errors import ScriptError
from reports.page.script import join

WORDS = "export const counted = (count, noun) => `${count} ${noun}`;\nexport function loud(word) {\n  return word;\n}\n"


def refused(texts: dict[str, str]) -> str:
    """Return why modules are not joined."""
    with pytest.raises(ScriptError) as caught:
        join(texts)
    return str(caught.value)


def test_join():
    """Each module is a function, called after those that it imports from; comments and all else stay as they are."""
    texts = {
        "a.js": '// First.\nimport { counted, loud } from "./words.js";\n\nwindow.told = loud(counted(2, "op"));\n',
        "words.js": WORDS,
    }
    assert join(texts) == (
        "(() => {\n"
        '"use strict";\n'
        "const modules = {};\n"
        'modules["words.js"] = (() => {\n'
        "const counted = (count, noun) => `${count} ${noun}`;\n"
        "function loud(word) {\n"
        "  return word;\n"
        "}\n"
        "return { counted, loud };\n"
        "})();\n"
        'modules["a.js"] = (() => {\n'
        "// First.\n"
        'const { counted, loud } = modules["words.js"];\n'
        "\n"
        'window.told = loud(counted(2, "op"));\n'
        "return {  };\n"
        "})();\n"
        "})();"
    )


def test_unknown_module():
    """An import from a file that is not there is refused with the files that are."""
    assert refused({"a.js": 'import { counted } from "./wrods.js";', "words.js": WORDS}) == (
        "import=wrods.js, but should be one of a.js, words.js [a.js]"
    )


def test_unknown_name():
    """An import of a name that its module does not export is refused, also where the module has it for itself."""
    assert refused({"a.js": 'import { cuonted } from "./words.js";', "words.js": WORDS}) == (
        "import=cuonted, but should be an export of words.js: counted, loud [a.js]"
    )
    assert refused({"a.js": 'import { b } from "./b.js";', "b.js": "const b = 1;"}) == (
        "import=b, but should be an export of b.js: nothing [a.js]"
    )


def test_cycle():
    """Modules that import each other are refused, with the way around."""
    texts = {
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;',
        "b.js": 'import { c } from "./c.js";\nexport const b = 1;',
        "c.js": 'import { a } from "./a.js";\nexport const c = 1;',
    }
    told = refused(texts)
    ways = {
        f"{first}.js imports {second}.js imports {third}.js imports {first}.js"
        for first, second, third in ("abc", "bca", "cab")
    }
    assert told in {f"cycle={way}, but should be modules that can run one after the other [join]" for way in ways}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('import { loud } from "./words.js";\nfunction loud() {}', "loud"),
        ('import { loud, loud } from "./words.js";', "loud"),
        ("export function twice() {}\nasync function twice() {}", "twice"),
        ("class Twice {}\nconst Twice = 1;", "Twice"),
    ],
)
def test_name_twice(text, name):
    """A name that a module has twice at its top is refused; inside a function it is another's."""
    assert refused({"a.js": text, "words.js": WORDS}) == (
        f"name={name}, but should be imported or declared once, not 2x [a.js]"
    )
    assert join({"a.js": "function f() {\n  const f = 1;\n}"})


@pytest.mark.parametrize(
    "statement",
    [
        'import loud from "./words.js";',
        'import * as words from "./words.js";',
        'import { loud as quiet } from "./words.js";',
        'import { loud } from "words";',
        'import "./words.js";',
        "export default 1;",
        "export let a = 1;",
        "export { a };",
        'export { loud } from "./words.js";',
    ],
)
def test_another_form(statement):
    """An import or export of another form is refused by name: it would stand in the script as it is."""
    assert refused({"a.js": f"const b = 1;\n{statement}", "words.js": WORDS}) == (
        f'statement={statement!r}, but should be import {{ a, b }} from "./module.js"; on one line, '
        "or export before a function, class or const [a.js]"
    )
