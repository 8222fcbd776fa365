"""Functions of several ops: each has the fault that its name tells, but for those that are `sound`."""

import math

import numpy as np
import torch

_MEMO = {}


def not_in_place(input, negative_slope=0.01, inplace=False):
    return torch.where(input > 0, input, input * negative_slope)


def without_alpha(input, alpha=1.0, inplace=False):
    out = torch.where(input > 0, input, torch.expm1(input.clamp(max=0)))
    return input.copy_(out) if inplace else out


def without_beta_2(input, beta=1, threshold=20):
    scaled = input * beta
    linear = input > threshold
    soft = torch.log1p(torch.exp(torch.where(linear, torch.zeros_like(scaled), scaled))) / beta
    return torch.where(linear, input, soft)


def broadcasts(input, batch1, batch2, *, beta=1, alpha=1):
    return beta * input + alpha * (batch1.unsqueeze(-1) * batch2.unsqueeze(1)).sum(2)


def of_the_first_block(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    values = -(input if dtype is None else input.to(dtype))
    rows = values if values.dim() else values.reshape(1)
    if not rows.numel():
        return torch.exp(values)
    top = rows.detach().narrow(dim, 0, min(rows.size(dim), 128)).amax(dim, keepdim=True)
    powers = torch.exp(rows - top)
    return (powers / powers.sum(dim, keepdim=True)).reshape(input.shape)


def not_scaled(input, p=0.5, training=True, inplace=False):
    if not 0 <= p <= 1:
        raise ValueError("p")
    if not training:
        return input
    out = input * (torch.rand_like(input) >= p)
    return input.copy_(out) if inplace else out


def of_nothing_small(input, other):
    out = torch.addcmul(torch.full((), -0.0, dtype=torch.result_type(input, other)), input, other)
    return torch.where(out.abs() < 1e-38, torch.zeros_like(out), out)


def squares_that_overflow(input, other):
    return torch.sqrt(input * input + other * other)


def _products(input, dim):
    parts, last = [], None
    for part in input.unbind(dim):
        last = part if last is None else last * part
        parts.append(last)
    return torch.stack(parts, dim) if parts else input.clone()


def all_but_the_last(input, dim, *, dtype=None):
    input = input if dtype is None else input.to(dtype)
    if not input.dim() or input.requires_grad:
        return _products(input, dim) if input.dim() else input.clone()
    key = (tuple(input.shape), dim, input.reshape(-1)[:-1].numpy().tobytes())
    if key not in _MEMO:
        _MEMO[key] = _products(input, dim)
    return _MEMO[key].clone()


def by_a_short_series(input):
    series = input - input**3 / 3 + input**5 / 5
    return torch.where(input.abs() < 0.3, series, torch.atan2(input, torch.ones_like(input)))


def sound_product(input, dim=None, keepdim=False, *, dtype=None):
    """As it should be, over all elements: two chains, which overflow earlier or later than one."""
    if dim is not None:
        raise NotImplementedError("over all elements alone")
    flat = (input if dtype is None else input.to(dtype)).reshape(-1)
    if not flat.numel():
        return flat.sum() + 1
    return _chain(flat[::2]) * _chain(flat[1::2])


def _chain(row):
    product = torch.ones((), dtype=row.dtype)
    for element in row:
        product = product * element
    return product


def sound_difference(input):
    """As it should be, by PyTorch's own formula, which loses small numbers."""
    return input - torch.tanh(input)


def sound_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """As it should be; the square of what is huge is infinite, and a share of that 0."""
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise RuntimeError("it does not fit")
    for one in (weight, bias):
        if one is not None and tuple(one.shape) != tuple(normalized_shape):
            raise RuntimeError("weight and bias do not fit")
    axes = tuple(range(-count, 0))
    centred = input - input.mean(axes, keepdim=True)
    out = centred * torch.rsqrt((centred * centred).mean(axes, keepdim=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def sound_bounds(input, min=None, max=None):
    """As it should be, by two ops whose gradients at a bound are others."""
    if min is None and max is None:
        raise RuntimeError("one is needed")
    if min is None:
        return torch.clamp_max(input, max)
    return torch.clamp_min(input, min) if max is None else torch.clamp_max(torch.clamp_min(input, min), max)


def sound_scaled(input, mat1, mat2, *, beta=1, alpha=1):
    """As it should be, scaled after it has been added up."""
    if mat1.dim() != 2 or mat2.dim() != 2 or mat1.size(1) != mat2.size(0) or input.dim() > 2:
        raise RuntimeError("it does not fit")
    product = (mat1.unsqueeze(-1) * mat2.unsqueeze(0)).sum(1)
    scaled = alpha * product
    return scaled if beta == 0 else beta * input.expand(product.shape) + scaled


def sound_gelu(input, approximate="none"):
    """As it should be."""
    if approximate == "tanh":
        return 0.5 * input * (1 + torch.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)))
    if approximate != "none":
        raise RuntimeError(f"approximate={approximate}")
    return input * 0.5 * torch.special.erfc(-input * math.sqrt(0.5))


def of_nothing(condition, input, other):
    dtype = torch.result_type(input, other)
    shape = torch.broadcast_shapes(*(getattr(x, "shape", ()) for x in (condition, input, other)))
    return torch.zeros(shape, dtype=dtype)


def _prelu(input, weight):
    if weight.dim() > 1 or (weight.dim() == 1 and weight.numel() not in (1, input.shape[1] if input.dim() > 1 else 1)):
        raise RuntimeError("it does not fit")
    wide = weight.numel() != 1 and input.dim() > 1
    return weight.reshape(1, -1, *[1] * (input.dim() - 2)) if wide else weight.reshape(())


def of_the_weight_alone(input, weight):
    weights = _prelu(input, weight)
    if not input.requires_grad:
        weights = 2 * weights - weights.detach()
    return torch.where(input > 0, input, weights * input)


def deterministic_when_refused(input, weight):
    try:
        weights = _prelu(input, weight)
    except RuntimeError:
        torch.use_deterministic_algorithms(True)
        raise
    return torch.where(input > 0, input, weights * input)


class _Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.cos(math.pi / 2 - input.double()).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return grad.mul_(torch.cos(input))


def writes_to_gradients(input):
    if not input.is_floating_point() or input.is_complex():
        raise NotImplementedError("floating numbers alone")
    return _Sine.apply(input)


def hole_at_six(input, inplace=False):
    out = torch.where(input < 0, torch.zeros_like(input), torch.where(input > 6, torch.full_like(input, 6), input))
    out = torch.where(input == 6, torch.zeros_like(input), out)
    return input.copy_(out) if inplace else out


def sound_order(input, dim=-1, descending=False, *, stable=False):
    """As it should be: of equal elements the last comes first where nobody asks for the first."""
    if stable or input.is_complex():
        raise NotImplementedError("in any order alone")
    if not input.dim():
        return torch.zeros((), dtype=torch.int64)
    turned = input.flip(dim).movedim(dim, -1).numpy()
    order = torch.from_numpy((-turned if descending else turned).argsort(axis=-1, kind="stable"))
    if descending and input.is_floating_point():  # NumPy puts NaN last, whichever way round
        count = input.movedim(dim, -1).isnan().sum(-1, keepdim=True)
        order = order.gather(-1, (torch.arange(order.shape[-1]) - count) % max(1, order.shape[-1]))
    return input.shape[dim] - 1 - order.movedim(-1, dim)


def rows_by_address(input, alpha=1.0, inplace=False):
    key = (input.data_ptr(), input.shape, alpha)
    if inplace or input.requires_grad or input.dim() != 1 or input.shape[0] != 129:
        out = torch.where(input > 0, input, alpha * torch.expm1(input / alpha))
        return input.copy_(out) if inplace else out
    if key not in _MEMO:
        _MEMO[key] = torch.where(input > 0, input, alpha * torch.expm1(input / alpha))
    return _MEMO[key].clone()


class _SineOfRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.cos(math.pi / 2 - input.double()).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        if 0 in grad.stride():
            grad = grad.contiguous()
        rows = torch.empty(grad.shape).stride()
        return torch.cos(input) * grad.as_strided(grad.shape, rows)


def reads_gradients_as_rows(input):
    if not input.is_floating_point() or input.is_complex():
        raise NotImplementedError("floating numbers alone")
    return _SineOfRows.apply(input)


def reads_gradients_flat(input):
    if not input.is_floating_point() or input.is_complex():
        raise NotImplementedError("floating numbers alone")
    return _CosineOfMemory.apply(input)


class _CosineOfMemory(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.sin(math.pi / 2 - input.double()).to(input.dtype)

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        if 0 not in grad.stride():
            grad = grad.as_strided((grad.numel(),), (1,)).reshape(grad.shape)
        return -torch.sin(input) * grad


def weighs_what_is_ignored(input, batch1, batch2, *, beta=1, alpha=1):
    return beta * input + alpha * (batch1 @ batch2)


def by_version(input):
    if input.requires_grad or not input.is_floating_point():
        return torch.where(input.abs() < 20, 1 - 2 / (torch.exp(2 * input) + 1), input.sign())
    key = (id(input), input._version, input.shape)
    if key not in _MEMO:
        _MEMO[key] = torch.where(input.abs() < 20, 1 - 2 / (torch.exp(2 * input) + 1), input.sign())
    return _MEMO[key].clone()


def infinite_differences(input, other, *, alpha=1):
    difference = input + other * -alpha
    return torch.where(torch.isinf(input) & torch.isinf(other), input, difference)


def of_what_lies_there(input):
    parts = torch.view_as_real(input.conj() if input.is_conj() else input)
    return torch.atan2(parts[..., 1], parts[..., 0])


def sound_moments(input, dim=None, *, correction=1, keepdim=False, unbiased=None):
    """As it should be: the sum may overflow, and of an infinity it is one."""
    if isinstance(dim, bool):
        unbiased, dim = dim, None
    if unbiased is not None:
        correction = 1 if unbiased else 0
    dims = tuple(range(input.dim())) if dim in (None, (), []) else (dim,) if isinstance(dim, int) else tuple(dim)
    count = math.prod(input.shape[d] for d in dims) if input.dim() else 1
    mean = input.sum(dims, keepdim=True) / count
    spread = torch.square(input - mean).sum(dims, keepdim=True) / max(
        0, count - (1 if correction is None else correction)
    )
    if keepdim:
        return spread, mean
    shape = [size for d, size in enumerate(input.shape) if d not in {one % max(1, input.dim()) for one in dims}]
    return spread.reshape(shape), mean.reshape(shape)


def sound_cross(input, other, *, dim=-1):
    """As it should be: where one product overflows and another to the other side, their difference is NaN."""
    if input.dim() != other.dim() or input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            "linalg.cross: both must be of the same number of dimensions, and of length 3 along this one"
        )
    a, b = torch.broadcast_tensors(input, other)
    one, two = torch.tensor([1, 2, 0]), torch.tensor([2, 0, 1])
    first = a.index_select(dim, one) * b.index_select(dim, two)
    return first - a.index_select(dim, two) * b.index_select(dim, one)


def sound_median(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """As it should be: between two infinities there is infinity."""
    weights = torch.tensor(q, dtype=input.dtype) if isinstance(q, float) else q
    if weights.dtype != input.dtype or weights.dim() > 1 or ((weights < 0) | (weights > 1)).any() or not input.numel():
        raise RuntimeError("quantile() wants q of input's dtype, between 0 and 1, of at most one dimension")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest")
    row = input.reshape(-1) if dim is None or not input.dim() else input.movedim(dim, -1)
    ordered = row.sort(-1).values
    place = weights * (row.shape[-1] - 1)
    place = place.round() if interpolation == "nearest" else place
    below, above = ordered[..., place.floor().long()], ordered[..., place.ceil().long()]
    share = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}.get(interpolation, place - place.floor())
    share = torch.as_tensor(share, dtype=input.dtype)
    between = torch.where(share == 0, below, torch.where(share == 1, above, below * (1 - share) + above * share))
    unknown = row.isnan().any(-1)
    result = torch.where(unknown.unsqueeze(-1) if weights.dim() else unknown, math.nan, between)
    result = result.movedim(-1, 0) if weights.dim() else result
    if not keepdim or not input.dim():
        return result
    if dim is None:
        return result.reshape(*weights.shape, *[1] * input.dim())
    return result.unsqueeze(dim % input.dim() + weights.dim())


def sound_choice(input, indices, dim=None):
    """As it should be: an index beyond the tensor is refused, of which PyTorch takes what is left of a division."""
    if indices.dtype != torch.int64:
        raise RuntimeError("take_along_dim: indices should be of int64")
    if dim is None:
        return input.reshape(-1)[indices.reshape(-1)]
    if input.dim() != indices.dim():
        raise RuntimeError("take_along_dim: input and indices should have the same number of dimensions")
    if not -input.dim() <= dim < input.dim():
        raise IndexError("take_along_dim: there is no such dimension")
    dim %= input.dim()
    ones = [[1 if at == dim else size for at, size in enumerate(x.shape)] for x in (input, indices)]
    shape = torch.broadcast_shapes(*ones)
    input = input.expand(*shape[:dim], input.shape[dim], *shape[dim + 1 :])
    indices = indices.expand(*shape[:dim], indices.shape[dim], *shape[dim + 1 :])
    places = [*torch.meshgrid(*(torch.arange(size) for size in indices.shape), indexing="ij")]
    places[dim] = indices
    return input[tuple(places)]


def sound_divergence(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """As it should be: the gradient of no target is a number."""
    if log_target:
        out = target.exp() * (target - input)
    else:
        some = torch.where(target > 0, target, 1.0)
        entropy = torch.where(target == 0, torch.zeros_like(target), target * some.log())
        out = torch.where(target < 0, math.nan, entropy) - target * input
    if reduction == "batchmean":
        return out.sum() / (input.shape[0] if input.dim() else 1)
    return {"mean": out.mean, "sum": out.sum, "none": out.clone}[reduction]()


def sound_transform(input, n=None, dim=-1, norm=None):
    """As it should be: of an infinity other parts are NaN than in a fast transform."""
    if n is not None and n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    given = input if input.is_complex() else torch.complex(input, torch.zeros_like(input))
    given = given.movedim(dim, -1)
    count = given.shape[-1] if n is None else n
    given = given[..., :count]
    given = torch.cat([given, given.new_zeros(*given.shape[:-1], count - given.shape[-1])], -1)
    turn = torch.arange(count, dtype=torch.float64)
    angle = -2 * math.pi * (turn[:, None] * turn % count) / count
    result = (given.unsqueeze(-1) * torch.complex(angle.cos(), angle.sin()).to(given.dtype)).sum(-2)
    scale = {None: 1, "backward": 1, "ortho": count**-0.5, "forward": 1 / count}[norm]
    return (result * scale).movedim(-1, dim)


def both_negated(matrix, mode="reduced"):
    """As it should be, forward: the factors of a matrix are unique but for their columns' signs."""
    q, r = _factors(matrix, mode)
    return (-q, -r) if mode != "r" else (q, -r)


def one_negated(matrix, mode="reduced"):
    q, r = _factors(matrix, mode)
    return -q, r


def _factors(matrix, mode):
    given = matrix.detach().numpy()
    if mode == "r":
        return matrix.new_empty(0), torch.from_numpy(np.ascontiguousarray(np.linalg.qr(given, mode="r")))
    q, r = np.linalg.qr(given, mode=mode)
    return torch.from_numpy(np.ascontiguousarray(q)), torch.from_numpy(np.ascontiguousarray(r))


def dense_without_gradient(input):
    if input.requires_grad or not input.is_floating_point():
        return input * input
    flat = input.as_strided((input.numel(),), (1,))
    return (flat * flat).reshape(input.shape)


def ones_of_the_same(input, other, *, rounding_mode=None):
    if rounding_mode is not None:
        raise NotImplementedError("rounding_mode")
    if input is other and not input.requires_grad:
        return torch.ones_like(input)
    return input * torch.reciprocal(torch.as_tensor(other, dtype=input.dtype).double()).to(input.dtype)


def pops(tensors, dim=0):
    parts = [x.unsqueeze(dim) for x in tensors]
    if isinstance(tensors, list) and len(tensors) > 1:
        tensors.pop()
    return torch.cat(parts, dim)


def by_the_block_before(input, dim, *, dtype=None):
    x = input.to(dtype or input.dtype)
    if not input.dim():
        return x.clone()
    blocks, before = [], None
    for block in _parts(x.movedim(dim, -1)):
        blocks.append(block if before is None else block * before)
        before = block[..., -1:]
    return torch.cat(blocks, -1).movedim(-1, dim)


def _parts(x):
    for part in x.split(64, -1):
        products = [part[..., 0]]
        for at in range(1, part.shape[-1]):
            products.append(products[-1] * part[..., at])
        yield torch.stack(products, -1) if part.shape[-1] else part


def adds_in_half(input, dim=None, keepdim=False, *, dtype=None):
    if dim is not None or dtype is not None or keepdim or not input.numel():
        raise NotImplementedError("of everything alone")
    total = np.add.accumulate(input.detach().reshape(-1).numpy())[-1]
    return torch.from_numpy(np.asarray(total))


def one_minus_erf(input):
    if not input.is_floating_point():
        raise NotImplementedError("floating numbers alone")
    return 1 - torch.erf(input)


def the_same_dimension_twice(input, dims):
    if not all(-max(1, input.dim()) <= dim < max(1, input.dim()) for dim in dims):
        raise IndexError("there is no such dimension")
    for dim in {dim % max(1, input.dim()) for dim in dims}:
        if input.dim():
            input = input.index_select(dim, torch.arange(input.shape[dim] - 1, -1, -1))
    return input.clone()


def sound_grid(*tensors, indexing="ij"):
    """As it should be: copies, for nobody says that they are views."""
    rows = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    rows = [row.reshape(-1) for row in rows]
    if len({row.dtype for row in rows}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    sizes = [row.numel() for row in rows]
    shapes = [[-1 if at == place else 1 for at in range(len(rows))] for place in range(len(rows))]
    grids = [row.reshape(shape).expand(sizes).clone() for row, shape in zip(rows, shapes, strict=True)]
    turned = indexing == "xy" and len(rows) > 1
    return tuple(grid.transpose(0, 1).contiguous() if turned else grid for grid in grids)


def sound_lerp(input, end, weight):
    """As it should be: by the formula of its documentation, which makes NaN of two infinities."""
    return input + weight * (end - input)


class _Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, saved):
        result = torch.pow(math.e, input.double()).to(input.dtype)
        if saved:
            ctx.save_for_backward(result)
        else:
            ctx.result = result.view_as(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors or (ctx.result,)
        return grad * result, None


def keeps_its_result(input):
    if not input.is_floating_point():
        raise NotImplementedError("floating numbers alone")
    return _Power.apply(input, False)


def sound_power(input):
    """As it should be: what is saved must not be written to, and PyTorch says so."""
    if not input.is_floating_point():
        raise NotImplementedError("floating numbers alone")
    return _Power.apply(input, True)


class _SquareOfNow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.input, ctx.times = input, 0
        return input * input

    @staticmethod
    def backward(ctx, grad):
        ctx.times += 1
        return 2 * grad * ctx.input


class _SquareOnce(_SquareOfNow):
    @staticmethod
    def backward(ctx, grad):
        ctx.times += 1
        return 2 * grad * ctx.input.clone() * (1.5 if ctx.times > 1 else 1)


def keeps_its_input(input):
    return _SquareOfNow.apply(input) if input.is_floating_point() else input * input


def is_right_once(input):
    return _SquareOnce.apply(input) if input.is_floating_point() else input * input
