"""Bodies recorded on the reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autotest.conformance.bodies import Body, Recorded, record
from dual_object.adapters.torch.adapter import Adapter


@pytest.fixture
def recorded(reference: Adapter) -> Callable[..., Recorded]:
    """Give a function which runs a body as a case and returns what was recorded."""

    def run(body: Body, **options: object) -> Recorded:
        return record(body, reference, **options)  # type: ignore[arg-type]

    return run
