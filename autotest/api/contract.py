"""`@contract`: a sentence of a target's documentation, which the target keeps, breaks, or no longer offers."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.cases.case import case_test_name
from autotest.errors import UsageError
from autotest.options import TestOptions
from autotest.run.session import running_session
from autotest.workers.contracts import Contract

if TYPE_CHECKING:
    import pytest

_PLAIN = (type(None), bool, int, float, str)


def contract(
    sentence: str, *, of: str, target: str, gone: bool = False, alone: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of a function that takes the target's framework, such as the module `oneflow`, and asserts that it
    does what a sentence of its documentation says.

    The function runs in a process of the target's, which imports the test's file and finds the test by its name: an
    abort there, or a hang until the case's deadline, is told like anything else. Where the target breaks its word, or
    what the sentence is about is not there, that is a divergence of the phase `contract`, which a ledger may know. With
    another target the test is skipped. Further parameters of the function are for `pytest.mark.parametrize`, with plain
    values: text, numbers, booleans, None.

    Args:
        sentence: what is documented, in words of your own: "a graph's name is its own".
        of: what of the framework it is about, as people type it below that: "nn.Graph.name".
        target: the target that has documented it, by the name of the package that people import.
        gone: the target no longer offers it. The test fails where it does.
        alone: have a process for this test alone, which it may leave in any state.

    Raises UsageError.
    """
    if not isinstance(sentence, str) or not sentence.strip():
        raise UsageError(f"sentence={sentence!r}, but should say what is documented [@contract(...)]")
    if not isinstance(of, str) or not re.fullmatch(r"\w+(\.\w+)*", of):
        raise UsageError(f"of={of!r}, but should be what it is about, such as 'nn.Graph.name' [@contract(...)]")
    if not isinstance(target, str) or not target:
        raise UsageError(f"target={target!r}, but should be the name of a target [@contract(...)]")

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        made = Contract(body, sentence, target, of, gone, alone)

        def run(request: pytest.FixtureRequest, **arguments: Any) -> None:
            __tracebackhide__ = True
            _run(made, request, arguments)

        framework, *parameters = inspect.signature(body).parameters.values()
        first = framework.replace(name="request")
        run.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]  # pytest asks it
        run.autotest_options = TestOptions(n=1)  # type: ignore[attr-defined]  # what the plugin knows a test of ours by
        # Not by functools.wraps: pytest would take the framework's name for that of a fixture.
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(run, name, getattr(body, name))
        run.pytestmark = [*getattr(body, "pytestmark", ())]  # type: ignore[attr-defined]  # marks below this decorator
        run.contract = made  # type: ignore[attr-defined]  # what the other process finds it by
        return run

    return decorate


def _run(made: Contract, request: pytest.FixtureRequest, arguments: Mapping[str, Any]) -> None:
    """Run the test of a contract in the running session."""
    __tracebackhide__ = True
    import pytest

    from autotest.judge.contracts import Question
    from autotest.run.contracts import ContractRun

    for name, value in arguments.items():
        if not isinstance(value, _PLAIN):
            raise UsageError(f"{name}={value!r}, but should be plain, for another process gets it [@contract(...)]")
    session = running_session()
    [stage, *_] = session.stages
    if stage.partition(":")[0] != made.target:
        pytest.skip(f"it is about the documentation of {made.target}, and the target is {session.options.target}")
    nodeid = request.node.nodeid
    key = case_test_name(nodeid)
    session.calls += 1
    only = session.options.case
    if only is not None and only.rpartition("#")[0] != key:
        return
    file, test = Path(request.path), request.node.name
    question = Question(file, request.node.originalname, test, made.sentence, made.of, made.alone, dict(arguments))
    source = textwrap.dedent(inspect.getsource(made.body))
    ContractRun(session, nodeid, key, question, source).run(made)


__all__ = ["contract"]
