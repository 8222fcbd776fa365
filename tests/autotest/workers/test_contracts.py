"""What a framework makes of a contract, by what its function raises."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autotest.workers.contracts import Answer, Contract, answer

FRAMEWORK = """
class Graph:
    def __init__(self, *, name="graph"):
        self.name = name

    def __getattr__(self, name):
        raise AttributeError(f"a graph has no {name}")

    def broken(self):
        return self.inner_state

    def misled(self):
        return Graph(colour="red")

    def refusing(self):
        assert self.name == "other", "only another graph can"

    def lacking(self):
        raise NotImplementedError("not in this version")
"""


@pytest.fixture
def framework(tmp_path: Path) -> ModuleType:
    """A framework with one class, that is imported from a file of its own."""
    file = tmp_path / "framework.py"
    file.write_text(FRAMEWORK)
    spec = importlib.util.spec_from_file_location("framework", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _answer(framework: Any, body: Callable[..., None], *, gone: bool = False, **arguments: Any) -> Answer:
    return answer(Contract(body, "it holds", "framework", "Graph", gone), framework, arguments)


def test_kept(framework: Any) -> None:
    """A function that returns has found what it looked for; it gets the test's parameters by name."""
    seen = []
    assert _answer(framework, lambda flow, n: seen.append((flow, n)), n=3) == Answer("kept")
    assert seen == [(framework, 3)]


def test_broken(framework: Any) -> None:
    """An assertion of the test says what was compared, in one line; whatever the framework raises has its class told,
    an assertion of its own, too.
    """

    def compares(flow: Any) -> None:
        assert flow.Graph().name == "other", "it is called otherwise"

    def accepts(flow: Any) -> None:
        with pytest.raises(ValueError, match="x"):
            flow.Graph()

    def words(flow: Any) -> None:
        with pytest.raises(AssertionError, match="nobody"):
            flow.Graph().refusing()

    def refused(flow: Any) -> None:
        flow.Graph().refusing()

    assert _answer(framework, compares) == Answer("broken", "it is called otherwise", 2)
    assert _answer(framework, accepts) == Answer("broken", "nothing is raised", 2)
    mismatch = _answer(framework, words)
    assert (mismatch.outcome, mismatch.line) == ("broken", 2)
    assert "nobody" in mismatch.detail  # in the words of whichever pytest it is
    assert "only another graph can" in mismatch.detail
    assert _answer(framework, refused) == Answer("broken", "AssertionError: only another graph can", 2)


def test_unsupported(framework: Any) -> None:
    """An attribute or argument that the test asks for and that is not there, or words that say so."""

    def attribute(flow: Any) -> None:
        flow.Graph().enable_xla()

    def function(flow: Any) -> None:
        flow.compiled()

    def argument(flow: Any) -> None:
        flow.Graph(colour="red")

    def said(flow: Any) -> None:
        flow.Graph().lacking()

    assert _answer(framework, attribute) == Answer("unsupported", "AttributeError: a graph has no enable_xla", 2)
    lacking = "AttributeError: module 'framework' has no attribute 'compiled'"
    assert _answer(framework, function) == Answer("unsupported", lacking, 2)
    unknown = "TypeError: Graph.__init__() got an unexpected keyword argument 'colour'"
    assert _answer(framework, argument).outcome == "unsupported"
    assert _answer(framework, argument).detail.endswith(unknown.partition("Graph.")[2])
    assert _answer(framework, said) == Answer("unsupported", "NotImplementedError: not in this version", 2)


def test_a_fault_inside_is_none_that_is_lacking(framework: Any) -> None:
    """The same errors, raised by the framework over itself, are broken promises."""

    def attribute(flow: Any) -> None:
        flow.Graph().broken()

    def argument(flow: Any) -> None:
        flow.Graph().misled()

    assert _answer(framework, attribute) == Answer("broken", "AttributeError: a graph has no inner_state", 2)
    assert _answer(framework, argument).outcome == "broken"


def test_gone(framework: Any) -> None:
    """What is said to be gone has to be: whatever else comes of it, it is there."""

    def lacking(flow: Any) -> None:
        flow.Graph().enable_xla()

    def there(flow: Any) -> None:
        flow.Graph(name="a")

    def raising(flow: Any) -> None:
        flow.Graph().refusing()

    offered = Answer("broken", "it is there, though the test says that it is gone")
    assert _answer(framework, lacking, gone=True).outcome == "unsupported"
    assert _answer(framework, there, gone=True) == offered
    assert _answer(framework, raising, gone=True) == offered


def test_skipped(framework: Any) -> None:
    """A function may find that there is nothing to ask."""
    assert _answer(framework, lambda flow: pytest.skip("no such device")) == Answer("skipped", "no such device")
