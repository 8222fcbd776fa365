"""JUnit properties: one test's counts as one JSON string."""

from __future__ import annotations

from collections.abc import Mapping

from reports.errors import PlainError
from reports.plain import encode

PROPERTY = "autotest"


def junit_property(counts: Mapping[str, object]) -> tuple[str, str]:
    """Return the (name, value) pair to append to a pytest item's user_properties.

    The value is one line of ASCII JSON with sorted keys: XML can hold it, and pytest-xdist can send it,
    which it cannot do with a NumPy scalar. NumPy scalars become Python numbers; other values which are not
    plain data raise PlainError naming the part.
    """
    for name in counts:
        if not isinstance(name, str):
            raise PlainError(f"key={name!r}, but should be a str [junit_property]")
    return PROPERTY, encode({name: counts[name] for name in sorted(counts)}, "junit_property")
