"""What a body draws from `random`, `numpy.random` and PyTorch follows the case's key, and disturbs nobody else."""

from __future__ import annotations

import random

import numpy as np
import torch

from autotest.cases.case import Case, Origin
from autotest.cases.drawer import Drawer
from autotest.cases.randomness import seeded
from autotest.options import TestOptions
from autotest.run.session import Session


def drawn() -> tuple[float, float, float]:
    """One number of each."""
    return random.random(), np.random.rand(), float(torch.rand(()))


def test_global_generators_are_given_back(session: Session) -> None:
    """Inside, the global generators follow the key; outside they go on as before, whatever happened inside."""
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    expected = drawn(), drawn()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    assert drawn() == expected[0]
    told = []
    for key in ("key", "key", "other"):
        try:
            with seeded(key, session.reference):
                told.append(drawn())
                raise KeyError(key)
        except KeyError:
            pass
    assert told[0] == told[1]
    assert all(one != other for one, other in zip(told[1], told[2], strict=True))
    assert drawn() == expected[1]


def test_a_body_draws_what_its_case_was_found_with(session: Session) -> None:
    """The numbers of a case are those of its seed, test and index, also where a run of another seed remembers it."""
    seen: list[tuple[float, float, float]] = []

    def body() -> object:
        from autotest import random_tensor

        seen.append(drawn())
        return random_tensor(ndim=1)

    def drawer(seed: int) -> Drawer:
        return Drawer(session.reference, "test_a.py::test_b", seed, "torch", TestOptions(), body)

    before = random.getstate()
    assert isinstance(drawer(7).draw(3), Case)
    assert isinstance(drawer(9).draw(3, origin=Origin(7, "standard")), Case)
    assert isinstance(drawer(9).draw(3), Case)
    assert seen[0] == seen[1]
    assert all(one != other for one, other in zip(seen[1], seen[2], strict=True))
    assert random.getstate() == before
