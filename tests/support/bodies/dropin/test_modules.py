"""As OneFlow tests modules with state."""

import unittest

import oneflow as flow
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *


@flow.unittest.skip_unless_1n1d()
class TestModules(flow.unittest.TestCase):
    @autotest(n=2)
    def test_linear(test_case):
        input_size = random()
        m = torch.nn.Linear(in_features=input_size, out_features=random(), bias=random().to(bool) | nothing())
        m.train(random())
        device = random_device()
        m.to(device)
        x = random_tensor(ndim=2, dim1=input_size).to(device)
        return m(x)

    @autotest(n=2)
    def test_dropout_eval(test_case):
        m = torch.nn.Dropout(p=random(0, 1).to(float))
        m.eval()
        return m(random_tensor(ndim=3))

    @autotest(n=2, check_graph=False)
    def test_parameter_set(test_case):
        m = torch.nn.PReLU(num_parameters=1)
        x = random_tensor(ndim=3, low=-1)
        y = m(x)
        test_case.assertEqual(y.shape, x.shape)
        return y + m.weight


if __name__ == "__main__":
    unittest.main()
