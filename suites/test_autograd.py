"""Autograd as training code uses it: hooks, retained gradients, no_grad, results used more than once."""

from __future__ import annotations

from rows import shape, size, tensor

from autotest import autotest, random_bool, torch


@autotest(n=10)
def test_used_twice():
    x = tensor(*shape(2))
    y = x * 2
    return y * y + x.sum()


@autotest(n=10)
def test_leaf_returned_with_its_result():
    x = tensor(*shape(2))
    return x, torch.exp(x)


@autotest(n=10)
def test_unused_leaf():
    x, _ = tensor(*shape(2)), tensor(2)
    return x * 3


@autotest(n=10)
def test_only_one_needs_a_gradient():
    sizes = shape(2)
    return tensor(*sizes) * tensor(*sizes, requires_grad=False)


@autotest(n=10)
def test_no_grad():
    x = tensor(*shape(2))
    with torch.no_grad():
        scale = x.abs().sum() + 1
    return x / scale


@autotest(n=10)
def test_enable_grad_inside_no_grad():
    x = tensor(*shape(2))
    with torch.no_grad(), torch.enable_grad():
        y = x * 2
    return y.sin()


@autotest(n=10)
def test_set_grad_enabled():
    x = tensor(*shape(2))
    with torch.set_grad_enabled(random_bool().value()):
        y = x * 2
    return y + x


@autotest(n=10)
def test_inference_mode():
    x = tensor(*shape(2))
    with torch.inference_mode():
        return x * 2


@autotest(n=10)
def test_detach():
    x = tensor(*shape(2))
    return x * x.detach()


@autotest(n=10)
def test_view_of_what_was_detached():
    x = tensor(*shape(2))
    return x[1:].detach().flatten(), x.detach()[1:].sin()


@autotest(n=10)
def test_requires_grad_read():
    x = tensor(*shape(2))
    return [x.requires_grad, (x * 2).requires_grad, x.detach().requires_grad, x.is_leaf]


@autotest(n=10, auto_backward=False)
def test_backward_in_the_body():
    x = tensor(*shape(2))
    (x * x).sum().backward()
    return x.grad


@autotest(n=10, auto_backward=False)
def test_backward_with_a_gradient():
    sizes = shape(2)
    x = tensor(*sizes)
    (x * 3).backward(tensor(*sizes, requires_grad=False))
    return x.grad


@autotest(n=10, auto_backward=False)
def test_backward_of_a_loss_with_a_gradient():
    x = tensor(*shape(2))
    (x * x).sum().backward(tensor(requires_grad=False))
    return x.grad


@autotest(n=10, auto_backward=False)
def test_second_backward_adds():
    x = tensor(*shape(2))
    loss = torch.exp(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad


@autotest(n=10, auto_backward=False)
def test_retain_grad():
    x = tensor(*shape(2))
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    return x.grad, y.grad


@autotest(n=10, auto_backward=False)
def test_grad_function():
    x = tensor(*shape(2))
    return torch.autograd.grad(torch.sin(x).sum(), x)


@autotest(n=10, auto_backward=False)
def test_second_derivative():
    x = tensor(*shape(2))
    [first] = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


@autotest(n=10)
def test_gradient_through_a_view():
    x = tensor(4, size())
    return x[1:3].t().reshape(-1) * 2


@autotest(n=10)
def test_gradient_of_a_broadcast():
    return tensor(1, size()) + tensor(size(), 1)


@autotest(n=10)
def test_gradient_of_an_accumulation():
    x = tensor(size(), 3)
    total = torch.zeros(3)
    for row in x.unbind(0):
        total = total + row * row
    return total


@autotest(n=10)
def test_shared_module():
    m = torch.nn.Linear(3, 3)
    return m(m(tensor(size(), 3)))


@autotest(n=10)
def test_frozen_parameter():
    m = torch.nn.Linear(3, 2)
    m.weight.requires_grad_(False)
    return m(tensor(size(), 3))


@autotest(n=5, check_graph=False)
def test_hook():
    x = tensor(*shape(2)) * 1
    x.register_hook(lambda gradient: gradient * 2)
    return x.sin()


@autotest(n=5, check_graph=False)
def test_hook_of_a_leaf():
    x = tensor(*shape(2))
    x.register_hook(lambda gradient: gradient * 2)
    return x.sin()


@autotest(n=5, check_graph=False)
def test_gradient_from_before_is_kept():
    x = tensor(*shape(2))
    (x * 2).sum().backward()
    return x * x


@autotest(n=5, auto_backward=False)
def test_backward_with_a_transposed_gradient():
    rows, columns = shape(2)
    x = tensor(rows, columns)
    (x * 3).backward(tensor(columns, rows, requires_grad=False).t())
    return x.grad


@autotest(n=5, check_graph=False)
def test_gradient_of_a_result_that_is_kept():
    y = tensor(*shape(2)) * 2
    y.retain_grad()
    return y.sin()


@autotest(n=5, auto_backward=False, check_graph=False)
def test_training_steps():
    x, target = tensor(4, 3, requires_grad=False), tensor(4, 2, requires_grad=False)
    m = torch.nn.Linear(3, 2)
    losses = []
    for _ in range(3):
        loss = ((m(x) - target) ** 2).mean()
        losses.append(loss)
        m.zero_grad()
        loss.backward()
        with torch.no_grad():
            m.weight -= 0.1 * m.weight.grad
            m.bias -= 0.1 * m.bias.grad
    return losses, m.weight, m.bias
