"""Why a divergence has no script."""

from __future__ import annotations

from autotest.errors import AutotestError


class Unscripted(AutotestError, ValueError):  # noqa: N818 - a reason, not a fault
    """A divergence has no repro script, for the reason given."""


__all__ = ["Unscripted"]
