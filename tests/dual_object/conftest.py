"""Bodies recorded on the reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dual_object.adapters.torch.adapter import Adapter
from support.dual_bodies import Body, Recorded, record


@pytest.fixture
def recorded(reference: Adapter) -> Callable[..., Recorded]:
    """Give a function which runs a body as a case and returns what was recorded."""

    def run(body: Body, **options: object) -> Recorded:
        return record(body, reference, **options)  # type: ignore[arg-type]

    return run
