"""What `@autotest` and the run accept, and the sentence for what cannot mean anything."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from autotest import UsageError, autotest
from autotest.compare.difference import Rules
from autotest.options import OPTIONS, TestOptions
from dual_object.replay.adapter import BUILT_IN


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n=0, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]"),
        (
            {"n": -3},
            "n=-3, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]",
        ),
        (
            {"n": True},
            "n=True, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]",
        ),
        (
            {"n": 2.0},
            "n=2.0, but should be a whole number of cases, at least 1 (0 with coverage='pairs') [@autotest(...)]",
        ),
        ({"check_graph": 1}, "check_graph=1, but should be True or False [@autotest(...)]"),
        ({"auto_backward": None}, "auto_backward=None, but should be True or False [@autotest(...)]"),
        ({"check_dtype": "no"}, "check_dtype='no', but should be True or False [@autotest(...)]"),
        ({"check_layout": 1}, "check_layout=1, but should be True or False [@autotest(...)]"),
        (
            {"graph_backward": "some"},
            "graph_backward='some', but should be one of 'share', 'all', 'none' [@autotest(...)]",
        ),
        (
            {"inputs": "wild"},
            "inputs='wild', but should be one of 'plain', 'standard', 'edge', or None [@autotest(...)]",
        ),
        (
            {"coverage": "all"},
            "coverage='all', but should be one of 'none', 'each', 'arguments', 'pairs' [@autotest(...)]",
        ),
        ({"seed": -1}, "seed=-1, but should be a whole number, at least 0, or None [@autotest(...)]"),
        ({"seed": True}, "seed=True, but should be a whole number, at least 0, or None [@autotest(...)]"),
        ({"missing": "skip"}, "missing='skip', but should be one of 'fail', 'count' [@autotest(...)]"),
        ({"unsupported": True}, "unsupported=True, but should be one of 'fail', 'count' [@autotest(...)]"),
        (
            {"rtol": 1e-3},
            "rtol=0.001 is given alone, but should come with atol: "
            "pass both, or neither for the dtype's own [@autotest(...)]",
        ),
        (
            {"because": "test_x#3"},
            "because='test_x#3', but should say which case needs the test's own rtol and atol: "
            "pass all three, with a case of `autotest tolerances` [@autotest(...)]",
        ),
        (
            {"times": 5},
            "times=5, but should be one of n, auto_backward, rtol, atol, check_graph, check_allclose, check_dtype, "
            "check_layout, check_grad_use_random_data, graph_backward, missing, unsupported, refusals, inputs, "
            "coverage, seed, grad_order, because, fullgraph, train, accumulate, graph_configs [@autotest(...)]",
        ),
        ({"cases": 5}, "cases=5, but should be n [@autotest(...)]"),
        ({"check_grpah": True}, "check_grpah=True, but should be check_graph [@autotest(...)]"),
        ({"train": 0}, "train=0, but should be a whole number of steps, at least 1, or None [@autotest(...)]"),
        ({"accumulate": 0}, "accumulate=0, but should be a whole number of batches, at least 1 [@autotest(...)]"),
        ({"accumulate": True}, "accumulate=True, but should be a whole number of batches, at least 1 [@autotest(...)]"),
        ({"accumulate": 2}, "accumulate=2, but should be 1 where nothing is trained [@autotest(...)]"),
        (
            {"graph_configs": ("",)},
            "graph_configs=('',), but should be 'all', or the name or names of configurations of the target's graphs "
            "[@autotest(...)]",
        ),
        (
            {"graph_configs": True},
            "graph_configs=True, but should be 'all', or the name or names of configurations of the target's graphs "
            "[@autotest(...)]",
        ),
        ({"grad_order": 3}, "grad_order=3, but should be 1 or 2 [@autotest(...)]"),
        ({"grad_order": True}, "grad_order=True, but should be 1 or 2 [@autotest(...)]"),
        (
            {"grad_order": 2, "auto_backward": False},
            "grad_order=2, but should be 1 with auto_backward=False, which takes no derivative at all [@autotest(...)]",
        ),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """An option that cannot mean anything is refused when the test is defined, by name and value."""
    with pytest.raises(UsageError) as caught:
        autotest(**options)
    assert str(caught.value) == message


def test_positional_option_is_refused() -> None:
    """`@autotest(5)` says how to write it."""
    with pytest.raises(UsageError) as caught:
        autotest(5)  # type: ignore[call-overload]
    assert str(caught.value) == "@autotest(5): options are given by name, as in @autotest(n=5)"


def test_class_is_refused_by_name() -> None:
    """A decorated class is told where the decorator belongs; without it pytest would collect none of its tests."""
    for decorator in (autotest, autotest(n=3)):
        with pytest.raises(UsageError) as caught:

            @decorator
            class TestRelu:
                pass

        assert str(caught.value) == (
            "test_class_is_refused_by_name.<locals>.TestRelu is a class, but @autotest should stand above a function: "
            "put it above each of the class's test methods"
        )


def test_namesake_is_refused_with_both_lines() -> None:
    """Of two tests of one name the first would never run, in a class as in a module; one line that runs again makes one
    test.
    """
    for _ in range(2):

        @autotest
        def test_relu() -> None: ...

    line = inspect.unwrap(test_relu).__code__.co_firstlineno
    with pytest.raises(UsageError) as caught:

        @autotest(n=2)
        def test_relu() -> None: ...

    assert str(caught.value) == (
        "test_namesake_is_refused_with_both_lines.<locals>.test_relu is there twice, "
        f"at lines {line} and {line + 6}, and only the last would run: give one of both another name"
    )
    with pytest.raises(UsageError) as caught:

        class TestRelu:
            @autotest
            def test_zero(self) -> None: ...

            @pytest.mark.parametrize("op", ["relu"])
            @autotest(n=2)
            def test_zero(self) -> None: ...  # noqa: F811

    assert str(caught.value) == (
        "test_namesake_is_refused_with_both_lines.<locals>.TestRelu.test_zero is there twice, "
        f"at lines {line + 16} and {line + 19}, and only the last would run: give one of both another name"
    )


def test_async_body_is_refused_by_name() -> None:
    """An async body is refused when it is defined."""
    with pytest.raises(UsageError) as caught:

        @autotest()
        async def body() -> None:
            """Nothing."""

    assert str(caught.value) == (
        "test_async_body_is_refused_by_name.<locals>.body is async, but should be a plain function: "
        "cases are recorded one call after the other"
    )


def test_defaults_are_the_documented_ones() -> None:
    """Without options a test has 20 cases, everything compared, a share of backward graphs."""
    options = TestOptions()
    assert (options.n, options.auto_backward, options.check_graph, options.graph_backward) == (20, True, True, "share")
    assert options.rules == Rules(None, None, True, True)


def test_unknown_target_is_refused() -> None:
    """A target that is no known name and no class path is refused with what there is."""
    with pytest.raises(UsageError) as caught:
        OPTIONS["target"].read("tensorflow", "--target")
    assert str(caught.value) == (
        "target='tensorflow', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, "
        "or a name in pyproject.toml [--target]"
    )
    assert OPTIONS["target"].read("my.adapter:Adapter") == "my.adapter:Adapter"
    assert set(BUILT_IN) == {"jax", "oneflow", "paddle", "torch"}, "what the sentence lists"


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("memory_limit", "4G", 4 << 30),
        ("memory_limit", "1.5m", 3 << 19),
        ("memory_limit", "2048", 2048),
        ("case_timeout", "0", None),
        ("case_timeout", "2.5", 2.5),
    ],
)
def test_what_a_value_means(name: str, text: str, meant: float | None) -> None:
    """Sizes are in powers of 1024, and no seconds at all are no deadline."""
    assert OPTIONS[name].read(text) == meant
