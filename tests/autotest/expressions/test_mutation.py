"""Mutation: each way to change a call is met, what comes of it is an expression, and draws decide all of it."""

from __future__ import annotations

import random

import pytest

from autotest.expressions import mutation, parse
from autotest.expressions.mutation import mutate

CALLS = (
    "torch.softmax(x[2, 3](low=-1, high=2), dim=-1)",
    "F.conv2d(x[2, 3, 5, 5], y[4, 3, 3, 3], None, stride=(1, 1))",
    "x[2, 3] + 1",
    "x[3, 4].sum(1, keepdim=True)",
    "torch.cat([x[2, 3], y[2, 3]], 1)",
    "x[4, 3].permute(1, 0) < 0.5",
    "x[3](dtype=bool) & y[3](dtype=bool)",
    "torch.relu(x[()])",
)
#: Of x[4, 2, 2] with another size in the place of 4 or of both 2.
SHARED = {"0, 2, 2", "1, 2, 2", "2, 2, 2", "33, 2, 2", "129, 2, 2", "5, 2, 2", "4, 0, 0", "4, 1, 1", "4, 3, 3"}


def drawn(text: str, seed: int, *others: str) -> str:
    """One mutation of a call."""
    chance = random.Random(seed)
    return mutate(text, others, chance.randrange)


@pytest.mark.parametrize("text", CALLS)
def test_mutations_are_expressions(text: str) -> None:
    """Whatever is drawn, `parse` takes it; most of it is another call, and a draw gives the same again."""
    mutations = [drawn(text, seed) for seed in range(100)]
    for mutated in mutations:
        parse(mutated)
    assert mutations == [drawn(text, seed) for seed in range(100)]
    assert len({*mutations}) >= 15


def only(kind: str, text: str, *others: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What comes of one way alone, by many draws."""
    for name in ("_size", "_shared_size", "_rank", "_dtype", "_layout", "_range", "_constant", "_dropped", "_added"):
        if name != kind:
            monkeypatch.setattr(mutation, name, lambda *_: False)
    if kind != "_swapped":
        monkeypatch.setattr(mutation, "_swapped", lambda *_: False)
    return {drawn(text, seed, *others) for seed in range(300)}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("_size", "torch.relu(x[2])", {f"torch.relu(x[{size}])" for size in (0, 1, 3, 33, 129)}),
        ("_shared_size", "x[2] @ y[2]", {f"x[{size}] @ y[{size}]" for size in (0, 1, 3, 33, 129)}),
        ("_rank", "torch.relu(x[2, 3])", {f"torch.relu(x[{s}])" for s in ("3", "1, 2, 3", "2, 2, 3", "3, 2, 3")}),
        # Twice in one input: 33 of each would be 4,356 elements, and 129 of each more.
        ("_shared_size", "torch.relu(x[4, 2, 2])", {f"torch.relu(x[{s}])" for s in SHARED}),
        (
            "_layout",
            "torch.relu(x[2, 3])",
            {
                "torch.relu(x[3, 2].transpose(0, 1))",
                "torch.relu(x[2, 6][..., ::2])",
                "torch.relu(x[1, 3].expand(2, 3))",
            },
        ),
        ("_dropped", "x[3].sum(0, keepdim=True)", {"x[3].sum(0)"}),
        ("_constant", "x[3].sum(0)", {f"x[3].sum({n})" for n in (0, 1, -1, 2, 7)}),
        ("_swapped", "x[2] & y[2]", {"x[2] | y[2]", "x[2] ^ y[2]"}),
        ("_swapped", "torch.triu(x[2, 3], 1)", {"torch.tril(x[2, 3], 1)"}),
    ],
)
def test_ways(kind: str, text: str, expected: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All that one way makes of a call."""
    assert only(kind, text, monkeypatch=monkeypatch) == expected


def test_dtypes_and_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another dtype has a range of its own; another range replaces the one that was there."""
    dtypes = only("_dtype", "torch.relu(x[2](low=0, high=5))", monkeypatch=monkeypatch)
    assert "torch.relu(x[2](dtype='int8'))" in dtypes
    assert len(dtypes) == len(mutation.DTYPES)
    monkeypatch.undo()
    ranges = only("_range", "torch.relu(x[2](low=0, high=5))", monkeypatch=monkeypatch)
    assert "torch.relu(x[2](low=-1000, high=1000))" in ranges
    assert len(ranges) == len(mutation.RANGES)
    whole = "torch.relu(x[2](dtype='int8'))"
    assert only("_range", whole, monkeypatch=monkeypatch) == {whole}


def test_keyword_of_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A keyword comes from the other calls of the op; without any the call is as it was."""
    text = "torch.std(x[3], 0)"
    others = ("torch.std(x[3], 0, keepdim=True)", "torch.std(x[3, 2], 1, correction=0)")
    assert only("_added", text, *others, monkeypatch=monkeypatch) == {
        "torch.std(x[3], 0, keepdim=True)",
        "torch.std(x[3], 0, correction=0)",
    }
    assert only("_added", text, monkeypatch=monkeypatch) == {text}
