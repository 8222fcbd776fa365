"""One test per fault of `faults.wrong`, as OneFlow writes its tests.

`red`: OneFlow's own harness would have failed; `stricter`: it would not.
"""

import unittest

from oneflow.test_utils.automated_test_util import *


def plain(**knobs):
    return random_tensor(ndim=2, low=0.1, high=0.9, requires_grad=False, **knobs)


def leaf(**knobs):
    return random_tensor(ndim=2, low=0.1, high=0.9, **knobs)


class TestRed(unittest.TestCase):
    @autotest(n=2, check_graph=False)
    def test_value(test_case):
        return torch.sin(leaf())

    @autotest(n=2, check_graph=False)
    def test_value_that_is_not_returned(test_case):
        x = leaf()
        torch.sin(x)
        return x * 2

    @autotest(n=2, check_graph=False)
    def test_value_of_nothing_returned(test_case):
        torch.sin(leaf())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_nonfinite(test_case):
        return torch.cos(plain())

    @autotest(n=2, auto_backward=False, check_dtype=True, check_graph=False)
    def test_dtype(test_case):
        return torch.atan(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_mutation(test_case):
        return torch.acos(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_mutation_left_out(test_case):
        return plain().mul_(2)

    @autotest(n=2, check_graph=False)
    def test_grad_missing(test_case):
        return torch.sinh(leaf())

    @autotest(n=2, check_graph=False)
    def test_grad_wrong(test_case):
        return torch.cosh(leaf())

    @autotest(n=2, check_graph=False)
    def test_backward_raises(test_case):
        return torch.atanh(leaf())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_length_of_a_returned_list(test_case):
        return torch.chunk(plain(dim0=4), 2)

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_structure_of_a_tensor(test_case):
        return torch.asinh(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_returned_number(test_case):
        return plain().numel()

    @autotest(n=2, check_graph=False)
    def test_state(test_case):
        return torch.nn.BatchNorm1d(3)(leaf(dim0=4, dim1=3))

    @autotest(n=2, auto_backward=False, check_graph=False, check_allclose=False)
    def test_exception(test_case):
        return torch.acosh(plain() + 1)

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_missing(test_case):
        return torch.erfc(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_unsupported(test_case):
        return torch.erfinv(plain())

    @autotest(n=2, auto_backward=False)
    def test_graph_exception(test_case):
        return torch.log1p(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_two_faults_of_which_one_is_seen(test_case):
        return torch.sin(torch.atan(plain()))


class TestStricter(unittest.TestCase):
    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_dtype(test_case):
        return torch.atan(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_shape_that_broadcasts(test_case):
        return torch.tan(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_device(test_case):
        return torch.asin(plain())

    @autotest(n=2, check_graph=False)
    def test_grad_extra(test_case):
        k = random(1, 5).to(int)
        return leaf(dim0=k, dim1=3).view_as(leaf(dim0=k, dim1=3))

    @autotest(n=2, check_graph=False)
    def test_gradient_of_a_group(test_case):
        return torch.cosh(leaf(dim0=4)).split(2)

    @autotest(n=2, check_graph=False)
    def test_host_read(test_case):
        x = leaf()
        x.numel()
        return x * 2

    @autotest(n=2, auto_backward=False, check_allclose=False, check_graph=False)
    def test_value_that_is_not_compared(test_case):
        return torch.sin(plain())

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_elements_that_nothing_looks_at(test_case):
        return torch.chunk(plain(dim0=4), 2)[0] * 2

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test_refusal_caught(test_case):
        x = plain(dim0=2, dim1=3)
        with test_case.assertRaises(RuntimeError):
            torch.mv(x, random_tensor(ndim=1, dim0=4, requires_grad=False))
        return x * 2

    @autotest(n=4, auto_backward=False, check_graph=False)
    def test_refused_draw(test_case):
        return torch.mm(plain(dim0=3, dim1=random(2, 4).to(int)), plain(dim0=2, dim1=3))

    @autotest(n=9, auto_backward=False, check_graph=False)
    def test_refused_otherwise(test_case):
        return torch.outer(random_tensor(ndim=random(1, 3).to(int)), random_tensor(ndim=1, dim0=2))

    @autotest(n=2)
    def test_graph_value(test_case):
        return torch.sqrt(leaf())

    @autotest(n=2, auto_backward=False)
    def test_graph_dtype(test_case):
        return torch.expm1(plain())

    @autotest(n=4)
    def test_graph_gradient(test_case):
        return torch.exp(leaf())

    @autotest(n=2)
    def test_graph_state(test_case):
        return torch.nn.BatchNorm2d(3)(random_tensor(ndim=4, dim0=2, dim1=3))

    @autotest(n=3, auto_backward=False)
    def test_batch_only_value(test_case):
        return torch.exp2(plain())

    @autotest(n=3, auto_backward=False)
    def test_batch_only_failure(test_case):
        return torch.log2(plain())

    @autotest(n=2, auto_backward=False)
    def test_graph_of_two_calls(test_case):
        return torch.trunc(torch.floor(plain()))


class TestUntouched(unittest.TestCase):
    @autotest(n=2)
    def test_untouched(test_case):
        return torch.square(leaf()) + 1
