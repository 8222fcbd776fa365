"""Graphs that OneFlow 0.9.0 refuses where OneFlow's own harness builds none, or another one."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestUnseenGraphs(flow.unittest.TestCase):
    @autotest(n=1, auto_backward=False)
    def test_method(test_case):
        return random_tensor(ndim=1, dim0=5, low=0, high=4, dtype=int).bincount()

    @autotest(n=1)
    def test_select(test_case):
        return torch.select(random_tensor(ndim=2, dim0=3, dim1=4), 1, 2)

    @autotest(n=1)
    def test_repeat_interleave(test_case):
        x = random_tensor(ndim=3, dim0=2, dim1=2, dim2=3)
        return torch.repeat_interleave(x, random_tensor(ndim=1, dim0=2, low=1, high=4, dtype=int), 1)

    @autotest(n=1, auto_backward=False)
    def test_linspace(test_case):
        start, end = random_tensor(ndim=0, requires_grad=False), random_tensor(ndim=0, requires_grad=False)
        return torch.linspace(start, end, 4)

    @autotest(n=1)
    def test_flatten(test_case):
        return torch.nn.Flatten(0)(random_tensor(ndim=0))


if __name__ == "__main__":
    unittest.main()
