"""Whether a traced graph reads memory that no node of it wrote."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from dual_object.adapters.torch.unwritten import reads_unwritten


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        (lambda x: torch.empty(3) + x, True),
        (lambda x: torch.empty(3), True),
        (lambda x: torch.empty(3)[None].unsqueeze_(0) * x, True),
        (lambda x: x.clone().copy_(torch.empty(3)), True),
        (lambda x: torch.empty(3).fill_(0) + x, False),
        (lambda x: torch.empty_like(x).copy_(x), False),
        (lambda x: torch.empty(3)[None].fill_(1) + x, False),
        (lambda x: torch.add(x, x, out=torch.empty(3)), False),
        (lambda x: torch.nn.functional.dropout(x, 0.5), False),
        (lambda x: torch.empty(0, 3).sum(0) + x, False),
        (lambda x: (torch.empty(3), x)[1], False),
    ],
    ids=["sum", "result", "view", "copied", "filled", "copied_to", "filled_view", "out", "dropout", "empty", "unused"],
)
def test_graphs(body, reads):
    """What is written before it is read, has no elements or is not used does not count."""
    assert reads_unwritten(make_fx(body)(torch.ones(3)).graph) is reads
