"""A name that the framework does not have: which one was meant."""

from __future__ import annotations

import difflib
from typing import Any

from dual_object.errors import UnknownName

#: How alike two names should be to be told, of 1.
_ALIKE = 0.7


def unknown_name(error: AttributeError, owner: Any, told: str, name: str) -> AttributeError:
    """What to raise where `owner`, which is called `told`, has no `name`: a sentence, with the one that was meant if
    there is one near. A private name is left to the framework's own `error`.
    """
    if name.startswith("_"):
        return error
    near = difflib.get_close_matches(name, [known for known in dir(owner) if known[:1] != "_"], n=1, cutoff=_ALIKE)
    return UnknownName(f"{told} has no {name}" + (f": did you mean {told}.{near[0]}?" if near else ""))
