"""False alarms that are understood and kept: each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: By variant and fingerprint: why the alarm cannot be told from a fault.
EXPLAINED: Mapping[tuple[str, str], str] = MappingProxyType({})
