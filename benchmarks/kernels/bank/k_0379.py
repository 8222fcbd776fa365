"""Convolution as one matrix product over unfolded patches."""

import torch


def _pair(value):
    if isinstance(value, int):
        return (value, value)
    return tuple(value) * 2 if len(value) == 1 else tuple(value)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """2D cross-correlation of float32 and float64, batched or not."""
    if input.dim() not in (3, 4):
        raise RuntimeError(f"expected 3D or 4D input to conv2d, but got {input.dim()} dimensions")
    if weight.dim() != 4:
        raise RuntimeError(f"expected a 4D weight, but got {weight.dim()} dimensions")
    if input.dtype != weight.dtype or (bias is not None and bias.dtype != weight.dtype):
        raise RuntimeError("input, weight and bias need one dtype")
    if input.dim() == 3:
        return conv2d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    stride, dilation = _pair(stride), _pair(dilation)
    if min(stride) <= 0 or min(dilation) <= 0:
        raise RuntimeError("stride and dilation must be positive")
    if groups <= 0:
        raise RuntimeError("groups must be positive")
    out_channels, per_group, height, width = weight.shape
    if input.size(1) != per_group * groups or out_channels % groups or out_channels < groups:
        raise RuntimeError(
            f"weight of size {tuple(weight.shape)} does not fit {input.size(1)} channels in {groups} groups"
        )
    if bias is not None and tuple(bias.shape) != (out_channels,):
        raise RuntimeError(f"bias must have {out_channels} elements")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"padding={padding!r} is neither 'same' nor 'valid'")
        total = [0, 0]
        if padding == "same":
            if max(stride) > 1:
                raise RuntimeError("padding='same' is not supported for strided convolutions")
            total = [d * (k - 1) for d, k in zip(dilation, (height, width))]
        edges = (total[1] // 2, total[1] - total[1] // 2, total[0] // 2, total[0] - total[0] // 2)
    else:
        padding = _pair(padding)
        if min(padding) < 0:
            raise RuntimeError("negative padding is not supported")
        edges = (padding[1], padding[1], padding[0], padding[0])
    padded = torch.nn.functional.pad(input, edges)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, (height, width))]
    if padded.size(2) < reach[0] or padded.size(3) < reach[1]:
        raise RuntimeError("the kernel cannot be larger than the padded input")
    rows = (padded.size(2) - reach[0]) // stride[0] + 1
    columns = (padded.size(3) - reach[1]) // stride[1] + 1
    down = torch.arange(rows).unsqueeze(1) * stride[0] + torch.arange(height) * dilation[0]
    across = torch.arange(columns).unsqueeze(1) * stride[1] + torch.arange(width) * dilation[1]
    # batch, channel, rows, height, columns, width
    patches = padded[:, :, down][..., across]
    batch = input.size(0)
    patches = patches.reshape(batch, groups, per_group, rows, height, columns, width)
    patches = patches.permute(0, 1, 2, 4, 6, 3, 5).reshape(batch, groups, per_group * height * width, rows * columns)
    kernels = weight.reshape(groups, out_channels // groups, per_group * height * width)
    out = torch.matmul(kernels, patches).reshape(batch, out_channels, rows, columns)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)
