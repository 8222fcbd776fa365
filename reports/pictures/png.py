"""The picture of a run as PNG, where SVG is not shown: a chat, a wiki, a slide."""

from __future__ import annotations

from reports.errors import ReportError
from reports.pictures.svg import svg_picture
from reports.tallies.summary import Summary

#: So many pixels for one of the SVG, that text is sharp on the screens of today.
ZOOM = 2


def png_picture(summary: Summary) -> bytes:
    """Return the same picture as `svg_picture`, in the colours of day. Raises ReportError without its library."""
    try:
        import resvg_py
    except ImportError:
        raise ReportError(
            "format=png, but resvg-py, which draws it, is not installed: pip install 'op-autotest[png]' [--format]"
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg_picture(summary), zoom=ZOOM))
