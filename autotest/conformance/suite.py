"""The tests that `pytest --autotest-conformance NAME` runs: any target, held to what it says that it has.

A body whose op the target lacks is skipped with what the target says of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from autotest.compare.tolerance import tolerance
from autotest.conformance.adapter import AdapterConformance
from autotest.conformance.bodies import Body, Recorded, record
from autotest.errors import EnvironmentFault
from autotest.exits import USAGE
from autotest.options.targets import launch
from autotest.workers.supervisor import Supervisor
from dual_object.replay.adapter import Reference, load_reference

#: pytest's options: the target, and the interpreter that it runs in.
OPTION, PYTHON = "--autotest-conformance", "--autotest-target-python"
_RTOL, _ATOL, _ = tolerance("float32", "cpu", None, None)


@pytest.fixture(scope="session")
def reference() -> Reference:
    """PyTorch."""
    return load_reference()


@pytest.fixture
def recorded(reference: Reference) -> Callable[..., Recorded]:
    """Give a function which runs a body as a case and returns what was recorded."""

    def run(body: Body) -> Recorded:
        return record(body, reference)

    return run


class TestConformance(AdapterConformance):
    """The target that pytest was asked for."""

    rtol: ClassVar[float] = _RTOL
    atol: ClassVar[float] = _ATOL
    lenient: ClassVar[bool] = True

    @pytest.fixture(scope="class")
    @classmethod
    def worker(cls, request: pytest.FixtureRequest) -> Iterator[Supervisor]:
        """The target in its own process."""
        cls.target = request.config.getoption(OPTION)
        supervisor = Supervisor(launch(cls.target, request.config.getoption(PYTHON)), 60)
        supervisor.start()
        try:
            supervisor.info()
        except EnvironmentFault as fault:  # once, and not by each test
            pytest.exit(str(fault), returncode=USAGE)
        yield supervisor
        supervisor.close()
