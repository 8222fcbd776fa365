"""The real OneFlow in a spawned worker conforms: eager, static graph forward and backward, many cases in one graph."""

from __future__ import annotations

import importlib.util

import pytest
from adapter_conformance import AdapterConformance
from dual_bodies import assert_same, tensor, torch

pytestmark = pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="oneflow is not installed")


class TestOneflow(AdapterConformance):
    """OneFlow 0.9.0."""

    target = "oneflow"
    rtol = 1e-5
    atol = 1e-5
    ungraphed = {"empty": "OneFlow's nn.Graph aborts on an input of size 0"}

    def test_views_are_read_from_where_they_start(self, worker, recorded):
        """Three views of one tensor are read each from its own place: `detach()` in OneFlow forgets the offset."""
        case = recorded(lambda: torch.split(tensor(6, 2), 2))
        [seen] = self.eager(worker, case.program)
        assert_same(case.seen, seen)
        assert len({output.data.tobytes() for output in seen.outputs.values()}) == 3

    def test_batch_of_twenty_eagerly(self, worker, recorded):
        """Twenty Programs of one request come back in their order."""
        cases = [recorded(lambda size=size: tensor(size) * 2) for size in range(1, 21)]
        for case, seen in zip(cases, self.eager(worker, *(case.program for case in cases)), strict=True):
            assert_same(case.seen, seen)
