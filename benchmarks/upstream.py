"""`python -m benchmarks.upstream FILE::Class::test`: a test under OneFlow's own harness, with what makes that fast."""

from __future__ import annotations

import sys
import warnings

import pytest
import torch

from autotest.workers.server import schedule_in_batches
from dual_object.adapters.oneflow.eager import import_oneflow


def main() -> None:
    """Run pytest on the arguments, with one thread per framework and the batch scheduler in this process too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flow = import_oneflow()
    torch.set_num_threads(1)
    if hasattr(flow, "set_num_threads"):
        flow.set_num_threads(1)
    schedule_in_batches()
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
