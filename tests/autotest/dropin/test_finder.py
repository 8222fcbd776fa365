"""The import hook: it answers for one package while it is installed, and leaves nothing behind."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from autotest.dropin.finder import PACKAGE, VOCABULARY, Finder, install, uninstall


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Finder]:
    """The hook, with packages of OneFlow's that are empty."""
    for name in ("oneflow", "oneflow.test_utils"):
        module = ModuleType(name)
        module.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    install()
    yield next(finder for finder in sys.meta_path if isinstance(finder, Finder))
    uninstall()


def test_finds_the_vocabulary(installed: Finder) -> None:
    """The harness's package is our folder, and so its modules are found there; other names are not answered for."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin == str(VOCABULARY / "__init__.py")
    assert spec.submodule_search_locations == [str(VOCABULARY)]
    assert installed.find_spec("oneflow.test_utils.test_util") is None
    assert installed.find_spec("torch") is None


def test_installs_once(installed: Finder) -> None:
    """Asking twice changes nothing."""
    install()
    assert [finder for finder in sys.meta_path if isinstance(finder, Finder)] == [installed]


def test_forgets_what_was_imported_before_and_after(monkeypatch: pytest.MonkeyPatch, installed: Finder) -> None:
    """What was imported under the harness's name goes with the hook, from its parent, too."""
    for name in (PACKAGE, f"{PACKAGE}.generators"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    parent = sys.modules["oneflow.test_utils"]
    parent.automated_test_util = sys.modules[PACKAGE]  # type: ignore[attr-defined]
    uninstall()
    assert [name for name in sys.modules if name.startswith(PACKAGE)] == []
    assert not hasattr(parent, "automated_test_util")
    assert not any(isinstance(finder, Finder) for finder in sys.meta_path)


def test_oneflow_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch, installed: Finder) -> None:
    """Where OneFlow cannot be imported, the import says why, in one sentence."""
    from dual_object.adapters.oneflow import eager as oneflow
    from dual_object.errors import TargetError

    def refuse() -> None:
        raise TargetError("target 'oneflow' is not installed here")

    monkeypatch.setattr(oneflow, "import_oneflow", refuse)
    monkeypatch.delitem(sys.modules, "oneflow")
    with pytest.raises(ImportError) as caught:
        importlib.import_module("oneflow")
    assert str(caught.value) == "target 'oneflow' is not installed here"
