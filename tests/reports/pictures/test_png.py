"""The picture of a run as PNG."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from reports.errors import ReportError
from reports.pictures.png import ZOOM, png_picture
from reports.pictures.svg import svg_picture
from reports.tallies.summary import Summary


def test_it_is_the_same_picture(summed: Callable[..., Summary]) -> None:
    """Of twice as many pixels in both directions."""
    summary = summed()
    data = png_picture(summary)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    drawn = ElementTree.fromstring(svg_picture(summary))  # noqa: S314 - our own
    assert struct.unpack(">II", data[16:24]) == (
        ZOOM * int(drawn.get("width") or 0),
        ZOOM * int(drawn.get("height") or 0),
    )


def test_without_its_library(summed: Callable[..., Summary], monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence says what to install."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ReportError) as refused:
        png_picture(summed())
    assert str(refused.value) == (
        "format=png, but resvg-py, which draws it, is not installed: pip install 'op-autotest[png]' [--format]"
    )
