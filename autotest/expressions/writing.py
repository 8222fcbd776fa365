"""The test file of some expressions, as a person would have written it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

from autotest.expressions.grammar import Expression

#: Where test files lie that nobody asked for by name, each in a folder of its own; Git and pytest pass it by. What is
#: known of all of them lies where `.autotest` does.
UNNAMED = Path(".autotest") / "check"
#: Where nothing is drawn all cases are alike, but for the cotangent of their backward.
ALIKE = 1


def test_file(expressions: Sequence[Expression], cases: int | None) -> str:
    """The text of a test file with one test for each expression, of so many cases (None: 20, or one where nothing is
    drawn).
    """
    typed = " ".join(["autotest check", *(shlex.quote(expression.text) for expression in expressions)])
    names = sorted({"autotest", "torch"}.union(*(expression.uses for expression in expressions)))
    head = [f"# {typed}"]
    if any(expression.pinned for expression in expressions):
        head += ["import torch as pytorch", ""]
    head.append(f"from autotest import {', '.join(names)}")
    tests = []
    taken: set[str] = set()
    for expression in expressions:
        tests += ["", "", *_test(expression, _name(expression.op, taken), cases)]
    return "\n".join([*head, *tests]) + "\n"


def _test(expression: Expression, name: str, cases: int | None) -> list[str]:
    n = cases or (20 if expression.draws else ALIKE)
    body = [f"{bound} = {code}" for bound, code in expression.bindings.items()]
    lines = [f"# {expression.text}", *body, f"return {expression.returned}"]
    return [f"@autotest(n={n})", f"def {name}():", *(f"    {line}" for line in lines)]


def _name(op: str, taken: set[str]) -> str:
    """The name of a test by its op, numbered where there are several of it."""
    base = f"test_{re.sub(r'[^a-z0-9_]', '_', op.lower())}"
    numbered = chain([base], (f"{base}_{number}" for number in count(2)))
    name = next(name for name in numbered if name not in taken)
    taken.add(name)
    return name


test_file.__test__ = False  # type: ignore[attr-defined]  # pytest: no test
