"""As OneFlow tests matmul."""

import unittest
from collections import OrderedDict

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *
from oneflow.test_utils.test_util import GenArgDict


@autotest(n=2, check_graph=True)
def _test_matmul_with_shapes(test_case, transpose, rank):
    k = random(1, 6)
    x = random_tensor(ndim=rank, dim1=k) if not transpose else random_tensor(ndim=2, dim0=k).t()
    y = random_tensor(ndim=2, dim0=k)
    return torch.matmul(x, y)


@flow.unittest.skip_unless_1n1d()
class TestMatmulModule(flow.unittest.TestCase):
    @autotest(n=5, check_graph=True)
    def test_flow_matmul_with_random_data(test_case):
        device = random_device()
        k = random(1, 6)
        x = random_tensor(ndim=2, dim1=k).to(device)
        y = random_tensor(ndim=2, dim0=k).to(device)
        z = torch.matmul(x, y)
        return z

    @autotest(n=5, check_graph=True)
    def test_flow_tensor_matmul_with_random_data(test_case):
        device = random_device()
        k = random(1, 6)
        x = random_tensor(ndim=2, dim1=k).to(device)
        y = random_tensor(ndim=2, dim0=k).to(device)
        return x.matmul(y)

    def test_matmul_with_shapes(test_case):
        arg_dict = OrderedDict()
        arg_dict["transpose"] = [False, True]
        arg_dict["rank"] = [2]
        for arg in GenArgDict(arg_dict):
            _test_matmul_with_shapes(test_case, **arg)


if __name__ == "__main__":
    unittest.main()
