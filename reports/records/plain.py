"""Plain data: the one JSON encoding of everything that reports write."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from reports.errors import PlainError

EXPECTED = "plain data: None, bool, int, finite float, str, list or dict with str keys"


def encode(value: object, where: str) -> str:
    """Return `value` as one line of ASCII JSON.

    NumPy scalars become Python numbers. Anything else which is not plain data, a float which is not finite
    included, raises PlainError naming the offending part; `where` ends its sentence.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        name, part = next(_offenders("value", value, 0), ("value", error))
        raise PlainError(f"{name}={_brief(part)}, but should be {EXPECTED} [{where}]") from None


def _scalar(value: object) -> object:
    # A 0-dim tensor has item() too, but reading it may wait for a device: only NumPy's own are converted.
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        item: object = value.item()  # type: ignore[attr-defined]
        if isinstance(item, (bool, int, float, str)):
            return item
    raise TypeError(type(value).__name__)


# ensure_ascii keeps every record on one line in any reader's view, and lets lone surrogates through.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_scalar)


def _offenders(name: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the parts that JSON refused, named as a reader would index them."""
    if depth > 50:
        yield name, value
    elif isinstance(value, dict):
        for key, part in value.items():
            if isinstance(key, str):
                yield from _offenders(f"{name}[{key!r}]", part, depth + 1)
            else:
                yield f"key of {name}", key
    elif isinstance(value, (list, tuple)):
        for position, part in enumerate(value):
            yield from _offenders(f"{name}[{position}]", part, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield name, value
    elif value is not None and not isinstance(value, (bool, int, str)):
        try:
            item = _scalar(value)
        except TypeError:
            yield name, value
        else:
            yield from _offenders(name, item, depth + 1)


def _brief(value: object) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>"
