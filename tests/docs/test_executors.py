"""docs/executors.md names every executor, its options and what it shows, as the code has them."""

from __future__ import annotations

import re

from dual_object.adapters.torch.executors import making
from dual_object.adapters.torch.executors.compiled import TorchCompile
from dual_object.replay.asked.executors import EXECUTORS
from dual_object.replay.observation import ALL_PARTS, PLAIN_PARTS
from support.documents import ROOT, table

#: What the page calls the parts that an executor shows.
PARTS = {
    ALL_PARTS: "all",
    ALL_PARTS - {"hosts"}: "all but reads by Python",
    ALL_PARTS - {"hosts", "gradients", "standing"}: "forward alone, without reads by Python",
    PLAIN_PARTS: "values, gradients, buffers",
    frozenset({"values", "layout", "inputs", "buffers"}): "values, strides, inputs, buffers; forward alone",
    frozenset({"layout"}): "strides; forward alone",
    frozenset({"values"}): "values; forward alone",
}


def test_page_has_every_executor() -> None:
    """One row each, in the order of the command line, and one in the table of what was found."""
    rows = table("docs/executors.md", "| executor | what it is | options | compared besides shapes and dtypes |")
    assert [row[0] for row in rows] == [f"`{name}`" for name in EXECUTORS]
    for (name, executor), (_, _, options, shows) in zip(EXECUTORS.items(), rows, strict=True):
        assert tuple(re.findall("`([a-z_]+)`", options)) == executor.options
        made = making._MADE.get(name, TorchCompile)
        assert shows == PARTS[made.shows]
        assert executor.forward_only == ("forward alone" in shows)
        assert executor.reads == ("hosts" in made.shows)
    page = (ROOT / "docs" / "executors.md").read_text()
    found = re.findall(r"^\| `(\w+)`[^|]*\|[ \d]+\|[ \d]+\|[ \d]+\|[ \d]+\|", page, re.MULTILINE)
    assert sorted(found) == sorted(EXECUTORS)
