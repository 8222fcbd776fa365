"""Runs of pytest inside pytest, each made once and shared by all tests (and xdist workers) that look at it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from autotest.options import RunOptions
from autotest.run.session import Session, current_session
from support.forks import forks, locked
from support.runs import Outcome, run_pytest


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """Give a function like `run_pytest`, whose first argument names a run that is made once per session."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "inner"
    root.mkdir(exist_ok=True)

    def run(name: str, files: Mapping[str, str], *arguments: str, **options: Any) -> Outcome:
        done = root / f"{name}.json"
        with locked(root / f"{name}.lock"):
            if not done.exists():
                made = run_pytest(root / name, files, *arguments, **options)
                done.write_text(json.dumps([made.status, made.out]))
            status, out = json.loads(done.read_text())
        return Outcome(status, out, root / name)

    return run


@pytest.fixture(scope="session")
def torch_session() -> Iterator[Session]:
    """A session against the torch target that keeps no records; its worker stays warm for all tests."""
    session = Session(RunOptions(target="torch", case_timeout=60.0, inputs="plain", shrink=0, blame_total=0))
    yield session
    session.close()


@pytest.fixture(autouse=True)
def forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What starts as `sys.executable` is a fork that has PyTorch: a worker of the target torch is up at once."""
    if "real_interpreter" not in request.fixturenames:
        monkeypatch.setattr(sys, "executable", str(forks().python))


@pytest.fixture
def real_interpreter() -> None:
    """`sys.executable` stays what it is, for tests that look at the memory or the family of a process by its id."""


@pytest.fixture
def session(torch_session: Session) -> Iterator[Session]:
    """The warm session as the current one, so that an @autotest function can simply be called."""
    token = current_session.set(torch_session)
    torch_session.counts.clear()
    torch_session.inline_tests.clear()
    yield torch_session
    current_session.reset(token)
