"""As OneFlow tests results that are tuples."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestGroups(flow.unittest.TestCase):
    @autotest(n=3)
    def test_flow_split(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=3)
        res = torch.split(x, 2, dim=0)
        return torch.cat(res, dim=1)

    @autotest(n=3)
    def test_chunk_alone(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=3)
        return torch.chunk(x, chunks=2, dim=0)

    @autotest(n=3, auto_backward=False)
    def test_topk(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=5)
        y = torch.topk(x, random(1, 3).to(int), dim=1)
        return y[0], y[1]

    @autotest(n=3)
    def test_gather_of_a_choice(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=5)
        index = choice_tensor(5, (4, 2))
        return torch.gather(x, 1, index)

    @autotest(n=3)
    def test_max_with_dim(test_case):
        x = random_tensor(ndim=2, dim0=4, dim1=5)
        return x.max(dim=1)[0]


if __name__ == "__main__":
    unittest.main()
