"""Convolution of 3 x 3 kernels by Winograd's F(2, 3) in float64; other shapes, and what is not finite or of very unlike
size, by a sum over taps."""

import torch

_INPUT = torch.tensor([[1.0, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], dtype=torch.float64)
_WEIGHT = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], dtype=torch.float64)
_OUTPUT = torch.tensor([[1.0, 1, 1, 0], [0, 1, -1, -1]], dtype=torch.float64)


def _pair(value):
    if isinstance(value, int):
        return (value, value)
    return tuple(value) * 2 if len(value) == 1 else tuple(value)


def _tame(*tensors):
    """Whether the largest and the smallest magnitude but zero are near enough for float64 to hold both exactly."""
    for one in tensors:
        sizes = one.detach().abs()
        sizes = sizes[sizes > 0]
        if not torch.isfinite(one).all() or (sizes.numel() and sizes.max() > 1e6 * sizes.min()):
            return False
    return True


def _winograd(padded, weight):
    rows, columns = padded.size(2) - 2, padded.size(3) - 2
    # Tiles of four with two in common: odd results want one more row or column.
    padded = torch.nn.functional.pad(padded, (0, columns % 2, 0, rows % 2))
    tiles = padded.unfold(2, 4, 2).unfold(3, 4, 2)
    spectra = torch.einsum("ai,bcyxij,dj->bcyxad", _INPUT, tiles, _INPUT)
    filters = torch.einsum("ai,ocij,dj->ocad", _WEIGHT, weight, _WEIGHT)
    products = torch.einsum("bcyxad,ocad->boyxad", spectra, filters)
    small = torch.einsum("ia,boyxad,jd->boyixj", _OUTPUT, products, _OUTPUT)
    out = small.reshape(small.size(0), small.size(1), small.size(2) * 2, small.size(4) * 2)
    return out[:, :, :rows, :columns]


def _taps(padded, weight, stride, dilation, size):
    out = 0
    for y in range(weight.size(2)):
        for x in range(weight.size(3)):
            top, left = y * dilation[0], x * dilation[1]
            window = padded[:, :, top : top + (size[0] - 1) * stride[0] + 1 : stride[0]]
            window = window[..., left : left + (size[1] - 1) * stride[1] + 1 : stride[1]]
            out = out + torch.einsum("bcyx,oc->boyx", window, weight[:, :, y, x])
    return out


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """2D cross-correlation of float32, batched or not."""
    if input.dim() not in (3, 4) or weight.dim() != 4:
        raise RuntimeError("conv2d: 3D or 4D input and 4D weight are expected")
    if input.dtype != weight.dtype or (bias is not None and bias.dtype != weight.dtype):
        raise RuntimeError("conv2d: input, weight and bias need one dtype")
    if input.dim() == 3:
        return conv2d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    stride, dilation = _pair(stride), _pair(dilation)
    outputs, per_group, height, width = weight.shape
    if min(stride) <= 0 or min(dilation) <= 0 or groups <= 0:
        raise RuntimeError("conv2d: stride, dilation and groups must be positive")
    if input.size(1) != per_group * groups or outputs % groups or outputs < groups:
        raise RuntimeError("conv2d: the channels do not fit")
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(f"conv2d: bias must have {outputs} elements")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"padding={padding!r} is neither 'same' nor 'valid'")
        if padding == "same" and max(stride) > 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        down, across = (d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, (height, width)))
        edges = (across // 2, across - across // 2, down // 2, down - down // 2)
    else:
        down, across = _pair(padding)
        if min(down, across) < 0:
            raise RuntimeError("conv2d: negative padding is not supported")
        edges = (across, across, down, down)
    padded = torch.nn.functional.pad(input.double(), edges)
    size = [(padded.size(2 + i) - dilation[i] * (weight.size(2 + i) - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    if min(size) <= 0:
        raise RuntimeError("conv2d: the kernel is larger than the padded input")
    quick = (height, width) == (3, 3) and stride == dilation == (1, 1) and _tame(input, weight)
    parts = []
    for part, kernels in zip(padded.chunk(groups, 1), weight.double().chunk(groups, 0)):
        parts.append(_winograd(part, kernels) if quick else _taps(part, kernels, stride, dilation, size))
    out = torch.cat(parts, 1)
    return (out if bias is None else out + bias.double().reshape(1, -1, 1, 1)).float()
