"""What holds for all tests: `support` is what they share, and holds none itself."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dual_object.adapters.torch.adapter import Adapter

# Test files of the inner runs lie there: each is copied to where it runs.
collect_ignore = ["support"]
pytest.register_assert_rewrite("support")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests and what they import live as long as the process: no search for garbage looks at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def ordinary_dtype() -> Generator[None]:
    """A test that leaves PyTorch another default dtype is itself the one that fails, and not those after it."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and (left := torch.get_default_dtype()) != torch.float32:
        torch.set_default_dtype(torch.float32)
        pytest.fail(f"the test leaves {left} as the default dtype, but should leave torch.float32")


@pytest.fixture(scope="session")
def reference() -> Adapter:
    """PyTorch's adapter, of one thread as in a run: by how many it sums decides how it rounds."""
    # Tests of packages that know no framework do not wait for one.
    from dual_object.adapters.torch.adapter import Adapter

    adapter = Adapter()
    adapter.use_one_thread()
    return adapter


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What starts as `sys.executable` is a fork that has PyTorch: a worker of the target torch is up at once."""
    from support.forks import forks  # not before its assertions are rewritten

    monkeypatch.setattr(sys, "executable", str(forks().python))
