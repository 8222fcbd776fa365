"""Methods of tensors that no table of PyTorch's has: questions, conversions, and ways to write in place."""

from __future__ import annotations

from rows import Op, args, eager_forms, flag, main_forms, ops, pick, shape, size, tensor, values, whole

from autotest import autotest


def plain():
    """Draws a tensor that needs no gradient."""
    return args(tensor(*shape(2), requires_grad=False))


def one():
    """Draws a tensor of one element that is not 0."""
    return args(tensor(1, low=0.5, high=1, requires_grad=False))


def pair():
    """Draws two tensors of one shape."""
    sizes = shape(2)
    return args(tensor(*sizes), tensor(*sizes))


def square():
    """Draws a square matrix, and a number for its diagonal."""
    count = whole(1, 5)
    return args(tensor(count, count), 0.5)


def tall():
    """Draws a matrix whose diagonal ends above its last rows, where it may begin again."""
    return args(tensor(pick(7, 4, 9), pick(2, 3)), pick(0.5, 0, float("nan")), wrap=flag())


def parts():
    """Draws a matrix, and the rows of two parts of it."""
    first, second = whole(1, 4), whole(1, 4)
    return args(tensor(first + second, size()), (first, second))


ROWS = (
    Op("cpu", values(-1, 1), "Tensor"),
    Op("fill_diagonal", square, "Tensor_"),
    Op("fill_diagonal", tall, "Tensor_", variant="tall"),
    Op("type_as", pair, "Tensor"),
    *ops("swapaxes swapdims", lambda: args(tensor(*shape(2)), 0, 1), "Tensor_"),
    Op("unsafe_split_with_sizes", parts, "Tensor"),
    Op("type", lambda: args(tensor(*shape(2), requires_grad=False), "torch.DoubleTensor"), "Tensor"),
    *ops("is_complex is_signed is_conj is_neg is_inference is_distributed is_nonzero", one, "Tensor", graph=False),
    *ops(
        "is_pinned is_shared get_device dense_dim sparse_dim dim_order tolist type",
        plain,
        "Tensor",
        graph=False,
        variant="asked",
    ),
    *ops("ndimension nelement dim size stride storage_offset is_contiguous", plain, "Tensor", graph=False),
    *ops("is_same_size is_set_to", pair, "Tensor", graph=False),
)


@main_forms(ROWS)
@autotest(n=3, missing="count")
def test_op(call):
    return call()


@eager_forms(ROWS)
@autotest(n=3, auto_backward=False, check_graph=False, missing="count")
def test_eager(call):
    return call()


@autotest(n=3, missing="count")
def test_detach_():
    x = tensor(*shape(2)) * 2
    return x.detach_() + 1


@autotest(n=3, check_graph=False, missing="count")
def test_set_():
    x, y = (tensor(*shape(2), requires_grad=False) for _ in range(2))
    return x.set_(y) * 1


@autotest(n=3, check_graph=False, missing="count")
def test_new_tensor():
    return tensor(size()).new_tensor([1.0, 2.0])
