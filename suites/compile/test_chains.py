"""Chains of random calls: what one op alone never shows."""

from __future__ import annotations

from rows import shape, size, tensor

from autotest import autotest, random, random_program

CASES = 5


@autotest(n=CASES, coverage="none", missing="count")
def test_short():
    return random_program(ops=random(2, 6))


@autotest(n=CASES, coverage="none", missing="count")
def test_long():
    return random_program()


@autotest(n=CASES, coverage="none", missing="count")
def test_on_a_matrix():
    x = tensor(size(2, 5), size(2, 5))
    return random_program(x, ops=random(5, 16)), x


@autotest(n=CASES, coverage="none", missing="count")
def test_before_and_after():
    rows, columns = shape(2)
    first = random_program(tensor(rows, columns), tensor(columns), ops=random(3, 8))
    return random_program(*first, ops=random(3, 8))
