"""As OneFlow tests the speed of ops."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *
from oneflow.test_utils.automated_test_util.profiler import set_hardware_info_list, set_profiler_hook


class TestProfile(flow.unittest.TestCase):
    @profile(torch.Tensor.masked_fill)
    def test_profile_masked_fill(test_case):
        set_hardware_info_list([("cpu", 1)])
        x = torch.ones(10, 10)
        mask = x > 2
        torch.Tensor.masked_fill(x, mask, 0.5)
        torch.Tensor.masked_fill(x, mask, 1.5, profile_description="10x10")

    @profile(torch.matmul)
    def test_profile_hook(test_case):
        set_hardware_info_list([("cpu", 1)])
        set_profiler_hook(lambda results: [result.kind for result in results])
        x = torch.ones(4, 4)
        test_case.assertEqual(torch.matmul(x, x), ["OneFlow", "PyTorch"])
        test_case.assertEqual(torch.relu(x).pytorch.sum().item(), 16)
        set_profiler_hook(lambda results: results)


if __name__ == "__main__":
    unittest.main()
