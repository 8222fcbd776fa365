"""Causes: which sentences tell one, and which tell the same."""

from __future__ import annotations

import pytest

from autotest.compare.causes import cause


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("unbind raised RuntimeError: chunk expects 1, got: 0", "chunk expects 0, got: 0"),
        ("x: unbind raised RuntimeError: chunk expects 25, got: 3", "chunk expects 0, got: 0"),
        ("backward raised Exception: out_grad's shape must be ((3, 1) vs ())", "out_grad's shape must be (() vs ())"),
        ("sort raised TypeError: dim must be int; but should raise IndexError", "dim must be int"),
        ("sort raised TypeError: dim must be int [on paddle: paddle.sort(x, axis=1)]", "dim must be int"),
        ("topk accepted what the reference refuses with RuntimeError: k not in range", "k not in range"),
        ("norm accepted what the reference refuses with RuntimeError: it is (1 x 4), got 2 0 -1", "it is (), got 0"),
        ("argmax raised RuntimeError: std::bad_alloc", "std::bad_alloc"),
        ("pad raised ValueError: less than 5, the input itself", "less than 0, the input itself"),
        # What tells numbers alone, or nothing but that the call is wrong, may have any cause.
        ("matmul raised RuntimeError: (3 vs 5)", ""),
        ("matmul raised RuntimeError: ((1,) vs (5,5))", ""),
        ("Conv2d raised AssertionError: AssertionError", ""),
        ("sum raised TypeError: Error: sum(): received an invalid combination of arguments", ""),
        ("norm returned None, but should return one object", "None, but should return one object"),
        (
            "sum returned x itself, but should return another tensor",
            "an argument itself, but should return another tensor",
        ),
        (
            "sum returned t0 itself, but should return another tensor",
            "an argument itself, but should return another tensor",
        ),
        (
            "ELU returned another tensor than t0, but should return t0 itself",
            "another tensor than an argument, but should return an argument itself",
        ),
        # Nothing is raised, and no other thing given.
        ("t0 differs in 1 of 2 elements", ""),
    ],
)
def test_cause(message: str, told: str) -> None:
    """What is said, without numbers and shapes, and without what the reference or a table adds to it."""
    assert cause(message) == told
