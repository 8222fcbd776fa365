"""Why a call is refused, in one word, read from what PyTorch says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from dual_object.refusals import refusal, refused_as
from dual_object.replay.observation import class_names, first_words

X = torch.ones(2, 3)


def said(call: Callable[[], object]) -> tuple[tuple[str, ...], str]:
    """The exception of a call that PyTorch refuses."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one, and of what words, is PyTorch's own
        call()
    return class_names(caught.value), first_words(caught.value)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: torch.sum(X, dims=0), "arguments"),
        (lambda: torch.sum(X, 2), "dims"),
        (lambda: torch.amax(X, (0, 0)), "dims"),
        (lambda: torch.t(X[None]), "dims"),
        (lambda: torch.index_select(X, 0, torch.tensor([2])), "indices"),
        (lambda: torch.gather(X, 0, torch.tensor([[5]])), "indices"),
        (lambda: torch.index_select(X, 0, torch.tensor([1.0])), "dtypes"),
        (lambda: torch.relu(X > 0), "dtypes"),
        (lambda: torch.std(X.int()), "dtypes"),
        (lambda: torch.narrow(X, 0, 0, -1), "negative"),
        (lambda: torch.narrow(X, 0, 0, 3), "sizes"),
        (lambda: torch.zeros(-1), "negative"),
        (lambda: torch.add(X, X.T), "sizes"),
        (lambda: torch.matmul(X, X), "sizes"),
        (lambda: torch.nn.functional.mse_loss(X, X, reduction="median"), "values"),
    ],
)  # fmt: skip
def test_refusal(call: Callable[[], object], word: str) -> None:
    """Dimensions, dtypes, indices, numbers below zero, sizes, and values."""
    assert refusal(*said(call)) == word


def test_refused_as() -> None:
    """By a class in common, and where words are given on both sides, for the same reason."""
    words = "index 3 is out of bounds for dimension 1 with size 3"
    recorded = ("MyError", "RuntimeError")
    assert refused_as(recorded, words, ("RuntimeError",), words.replace("3", "7"))
    assert refused_as(recorded, words, ("RuntimeError",), "")
    assert not refused_as(recorded, words, ("RuntimeError",), "sizes do not match")
    assert not refused_as(recorded, words, ("ValueError",), words)
    assert refused_as(recorded, "", ("RuntimeError",), "sizes do not match")
