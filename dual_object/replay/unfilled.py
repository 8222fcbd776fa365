"""Members of an adapter that are still to be written: marked in the skeleton that `autotest target new` makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Member = TypeVar("Member", bound=Callable[..., Any])


def unfilled(member: Member) -> Member:
    """Mark a method, or what a property gets its value by, as one that is still to be written; a target that has any is
    not started.
    """
    member.__dict__["unfilled"] = True
    return member


def unfilled_members(adapter: object) -> dict[str, str]:
    """The marked members of an adapter, in the order of its class, each with what it should do: the first line of its
    docstring.
    """
    found: dict[str, str] = {}
    for kind in reversed(type(adapter).__mro__):
        for name in vars(kind):
            member = inspect.getattr_static(adapter, name)
            function = member.fget if isinstance(member, property) else member
            if inspect.isfunction(function) and "unfilled" in vars(function):
                found[name] = (inspect.getdoc(function) or "").partition("\n")[0]
    return found


__all__ = ["unfilled", "unfilled_members"]
