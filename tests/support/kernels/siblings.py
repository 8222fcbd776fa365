"""Functions of several ops: each has the fault that its name tells, but for those that are `sound`."""

import math

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
