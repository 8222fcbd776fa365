"""One test per fault of `faults.wrong`: green without it, red by the named op with it."""

import pytest

from autotest import autotest, random, random_bool, random_tensor, torch

FORWARD_ONLY = {"n": 3, "check_graph": False}


def plain(**knobs):
    """A tensor of rank 2 with positive values that wants no gradient."""
    return random_tensor(ndim=2, low=0.1, high=0.9, requires_grad=False, **knobs)


def leaf(**knobs):
    """A tensor of rank 2 with positive values that wants a gradient."""
    return random_tensor(ndim=2, low=0.1, high=0.9, **knobs)


@autotest(n=3)
def test_value():
    return torch.sin(leaf())


@autotest(n=3)
def test_nonfinite():
    return torch.cos(leaf())


@autotest(n=3)
def test_sign():
    return torch.log(plain() * 0)


@autotest(n=3)
def test_shape():
    return torch.tan(plain())


@autotest(n=3)
def test_dtype():
    return torch.atan(plain())


@autotest(**FORWARD_ONLY)
def test_device():
    return torch.asin(plain())


@autotest(**FORWARD_ONLY)
def test_mutation():
    return torch.acos(plain())


@autotest(**FORWARD_ONLY)
def test_mutation_left_out():
    return plain().mul_(2)


@autotest(n=3)
def test_grad_missing():
    return torch.sinh(leaf())


@autotest(n=3)
def test_grad_wrong():
    return torch.cosh(leaf())


@autotest(n=3)
def test_grad_extra():
    k = random(1, 5).to(int)
    return leaf(dim0=k, dim1=3).view_as(leaf(dim0=k, dim1=3))


@autotest(n=3)
def test_backward_raises():
    return torch.atanh(leaf())


@autotest(n=3, grad_order=2)
def test_second_wrong():
    return torch.erf(leaf())


@autotest(n=3, grad_order=2)
def test_second_wrong_in_a_chain():
    return torch.square(torch.erf(leaf() * 2))


@autotest(n=3, grad_order=2)
def test_second_missing():
    return torch.rsqrt(leaf())


@autotest(n=3, grad_order=2)
def test_second_raises():
    return torch.tanh(leaf())


@autotest(n=3, grad_order=2)
def test_second_unsupported():
    return torch.reciprocal(leaf())


@autotest(n=3)
def test_structure_of_a_list():
    return torch.chunk(plain(dim0=4), 2)


@autotest(n=3)
def test_structure_of_a_tensor():
    return torch.asinh(plain())


@autotest(n=3)
def test_host_read():
    x = plain()
    return x * x.numel()


@autotest(n=3)
def test_state():
    return torch.nn.BatchNorm1d(3)(leaf(dim0=4, dim1=3))


@autotest(n=3, check_graph=False)
def test_mode():
    return torch.lgamma(plain()) + torch.ones(1)


@autotest(n=3, check_graph=False)
def test_mode_of_a_backward():
    return torch.digamma(leaf())


@autotest(n=3)
def test_exception():
    return torch.acosh(plain() + 1)


@autotest(n=3)
def test_accepts_invalid():
    x = plain(dim0=2, dim1=3)
    with pytest.raises(RuntimeError, match="size mismatch"):
        torch.mv(x, random_tensor(ndim=1, dim0=4, requires_grad=False))
    return x * 2


@autotest(n=4)
def test_accepts_invalid_draw():
    return torch.mm(plain(dim0=3, dim1=random(2, 4).to(int)), plain(dim0=2, dim1=3))


@autotest(n=3)
def test_exception_class():
    x = plain(dim0=2, dim1=3)
    with pytest.raises(RuntimeError, match="1D tensors expected"):
        torch.dot(x, x)
    return x * 2


@autotest(n=9)
def test_exception_class_draw():
    return torch.outer(random_tensor(ndim=random(1, 3).to(int)), random_tensor(ndim=1, dim0=2))


@autotest(n=3)
def test_missing():
    return torch.erfc(plain())


@autotest(n=3)
def test_unsupported():
    return torch.erfinv(plain())


@autotest(n=3)
def test_graph_value():
    return torch.sqrt(leaf())


@autotest(n=3)
def test_graph_dtype():
    return torch.expm1(plain())


@autotest(n=3, graph_backward="all")
def test_graph_gradient():
    return torch.exp(leaf())


@autotest(n=3)
def test_graph_state():
    return torch.nn.BatchNorm2d(3)(random_tensor(ndim=4, dim0=2, dim1=3))


@autotest(n=3)
def test_graph_identity():
    x = plain() + 1
    x.div_(2)
    return x


@autotest(n=3)
def test_graph_exception():
    return torch.log1p(plain())


@autotest(n=3)
def test_batch_only_value():
    return torch.exp2(plain())


@autotest(n=3)
def test_batch_only_failure():
    return torch.log2(plain())


@autotest(n=3)
def test_poisoned_graph():
    x = plain()
    return torch.log10(x) if random_bool().value() else torch.square(x)


@autotest(n=4)
def test_blame_in_a_chain():
    x = leaf()
    y = x * 2 + 1
    return torch.square(-torch.sigmoid(y)) - x


@autotest(n=4)
def test_two_faults():
    x = leaf()
    y = torch.sigmoid(x) * 3
    return torch.hypot(y, x) - 1


@autotest(**FORWARD_ONLY)
def test_layout():
    return torch.ceil(plain(dim0=2, dim1=3))


@autotest(n=3, check_graph=False, auto_backward=False)
def test_leaf():
    return torch.abs(leaf())


@autotest(**FORWARD_ONLY)
def test_sign_of_zero():
    return torch.round(plain() * -0.0)


@autotest(**FORWARD_ONLY)
def test_copy_for_a_view():
    return torch.movedim(plain(), 0, 1)


@autotest(**FORWARD_ONLY)
def test_view_for_a_copy():
    return torch.clone(plain())


@autotest(**FORWARD_ONLY)
def test_identity():
    return plain().sub_(2)


@autotest(**FORWARD_ONLY)
def test_named_tuple():
    return torch.sort(plain()).values


@autotest(**FORWARD_ONLY)
def test_list_for_a_tuple():
    return torch.unbind(plain(dim0=3))


@autotest(**FORWARD_ONLY)
def test_tensor_for_a_number():
    x = plain()
    return x * x[0, 0].item()


@autotest(**FORWARD_ONLY)
def test_parameter_mutation():
    m = torch.nn.Linear(3, 2)
    return torch.nn.functional.linear(plain(dim1=3), m.weight)


@autotest(**FORWARD_ONLY)
def test_state_dict():
    return torch.nn.LayerNorm(3)(plain(dim1=3))


@autotest(**FORWARD_ONLY)
def test_state_without_a_key():
    return torch.nn.BatchNorm3d(2)(random_tensor(ndim=5, dim0=2, dim1=2))


@autotest(**FORWARD_ONLY)
def test_state_saved_under_another_key():
    return torch.nn.GroupNorm(1, 3)(plain(dim1=3))


@autotest(**FORWARD_ONLY)
def test_state_not_saved():
    return torch.nn.InstanceNorm1d(3, track_running_stats=True)(random_tensor(ndim=3, dim1=3, dim2=4))


@autotest(**FORWARD_ONLY)
def test_mutation_of_what_is_not_returned():
    return torch.deg2rad(plain() * 2) + 1


@autotest(n=4)
def test_untouched():
    return torch.square(leaf()) + 1
