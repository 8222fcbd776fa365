"""A name that the framework does not have: which one was meant."""

from __future__ import annotations

from typing import Any

from dual_object.errors import UnknownName
from dual_object.meant import meant


def unknown_name(error: AttributeError, owner: Any, told: str, name: str) -> AttributeError:
    """What to raise where `owner`, which is called `told`, has no `name`: a sentence, with the one that was meant if
    there is one near. A private name is left to the framework's own `error`.
    """
    if name.startswith("_"):
        return error
    near = meant(name, (known for known in dir(owner) if known[:1] != "_"))
    return UnknownName(f"{told} has no {name}" + (f": did you mean {told}.{near}?" if near else ""))
