"""Tests of every shape that pytest knows: functions, parameters, fixtures, classes, `unittest.TestCase`."""

import unittest

import pytest

from autotest import autotest, random, random_tensor, torch


@pytest.fixture
def factor():
    """A number."""
    return 3


@autotest(n=3)
def test_function():
    return torch.square(random_tensor(ndim=2))


@pytest.mark.parametrize("op", ["sin", "cos"])
@autotest(n=2)
def test_parametrized(op, factor):
    return getattr(torch, op)(random_tensor(ndim=random(1, 3).to(int))) * factor


class TestPlain:
    @autotest(n=2)
    def test_method(self, factor):
        return random_tensor(ndim=1) * factor


class TestCase(unittest.TestCase):
    ready = 0

    def setUp(self):
        """Count the calls."""
        self.ready += 1

    @autotest(n=4)
    def test_unittest(self):
        assert self.ready == 1
        return torch.neg(random_tensor(ndim=1))

    @autotest
    def test_without_parentheses(self):
        return torch.abs(random_tensor(ndim=1))


@autotest(n=2)
def test_skipping():
    pytest.skip("not today")


@autotest(n=2, check_graph=False)
def test_rejecting():
    k = random(2, 4).to(int)
    return torch.mm(random_tensor(ndim=2, dim0=1, dim1=k), random_tensor(ndim=2, dim0=3, dim1=1))


def test_ordinary(factor):
    assert factor == 3
