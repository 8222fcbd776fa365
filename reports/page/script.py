"""The script of a page: ES modules, joined into one text, for a page opened from file:// may not import.

Every module becomes a function that is called once, after the modules that it imports from:

    import { counted } from "./words.js";         modules["tally.js"] = (() => {
    export const told = counted(2, "op");         const { counted } = modules["words.js"];
                                                  const told = counted(2, "op");
                                                  return { told };
                                                  })();

So a module sees of another what it imports and nothing else, as it does in a browser that loads them. No JavaScript is
parsed: imports and exports are lines of one form each, and any other line that begins with these words is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from reports.errors import ScriptError

IMPORT = re.compile(r'^import \{ ([\w$]+(?:, [\w$]+)*) \} from "\./([\w.-]+)";$', re.MULTILINE)
#: Not `let`: who imports it gets its value once, and would not see what is assigned to it later.
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
#: The names at the top of a module; a browser finds two of the same one, too, but not where both are functions.
DECLARED = re.compile(r"^(?:async function|function|class|const|let) ([\w$]+)", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """A module: what it imports and exports, and its body, where both are ordinary statements."""

    name: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]  # the name of a module, and what is taken from it
    exports: tuple[str, ...]
    body: str

    @classmethod
    def read(cls, name: str, text: str) -> Module:
        """Return the module of a text. Raises ScriptError where it imports or exports in another form."""
        imports = tuple((source, tuple(names.split(", "))) for names, source in IMPORT.findall(text))
        body = EXPORT.sub("", IMPORT.sub(r'const { \1 } = modules["\2"];', text)).strip()
        for other in OTHER.findall(body):
            raise ScriptError(
                f'statement={other!r}, but should be import {{ a, b }} from "./module.js"; on one line, '
                f"or export before a function, class or const [{name}]"
            )
        return cls(name, imports, tuple(EXPORT.findall(text)), body)

    def check(self, modules: Mapping[str, Module]) -> None:
        """Raise ScriptError where it imports what is not there, or has two things of one name."""
        for source, names in self.imports:
            if source not in modules:
                raise ScriptError(f"import={source}, but should be one of {', '.join(modules)} [{self.name}]")
            for name in names:
                if name not in modules[source].exports:
                    exports = ", ".join(modules[source].exports) or "nothing"
                    raise ScriptError(f"import={name}, but should be an export of {source}: {exports} [{self.name}]")
        imported = [name for _, names in self.imports for name in names]
        for name, times in Counter([*imported, *DECLARED.findall(self.body)]).items():
            if times > 1:
                raise ScriptError(f"name={name}, but should be imported or declared once, not {times}x [{self.name}]")

    def call(self) -> str:
        """Return the statement that runs the module and keeps what it exports."""
        return f'modules["{self.name}"] = (() => {{\n{self.body}\nreturn {{ {", ".join(self.exports)} }};\n}})();'


def join(texts: Mapping[str, str]) -> str:
    """Return one classic script that does what the modules do, given by their names; it adds none to the window.

    Raises ScriptError where they do not fit together.
    """
    modules = {name: Module.read(name, text) for name, text in sorted(texts.items())}
    for module in modules.values():
        module.check(modules)
    imported = {module.name: [source for source, _ in module.imports] for module in modules.values()}
    try:
        order = [*TopologicalSorter(imported).static_order()]
    except CycleError as error:
        # Python tells of a cycle from what is imported to who imports it.
        cycle = " imports ".join(reversed(error.args[1]))
        raise ScriptError(f"cycle={cycle}, but should be modules that can run one after the other [join]") from None
    calls = "\n".join(modules[name].call() for name in order)
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{calls}\n}})();'
