"""1D convolution as a sum over taps."""

import torch


def _one(value):
    return value if isinstance(value, int) else value[0]


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of float32 and float64 signals, batched or not."""
    if input.dim() not in (2, 3) or weight.dim() != 3 or input.dtype != weight.dtype:
        raise RuntimeError("conv1d: 2D or 3D input and a 3D weight of one dtype are expected")
    if input.dim() == 2:
        return conv1d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    stride, dilation = _one(stride), _one(dilation)
    outputs, per_group, taps = weight.shape
    if stride <= 0 or dilation <= 0 or groups <= 0 or input.size(1) != per_group * groups or outputs % groups:
        raise RuntimeError("conv1d: the arguments do not fit")
    if bias is not None and (tuple(bias.shape) != (outputs,) or bias.dtype != input.dtype):
        raise RuntimeError("conv1d: bias does not fit")
    reach = dilation * (taps - 1) + 1
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError("padding is 'same' or 'valid'")
        if padding == "same" and stride != 1:
            raise RuntimeError("'same' needs a stride of 1")
        total = reach - 1 if padding == "same" else 0
        left, right = total // 2, total - total // 2
    else:
        left = right = _one(padding)
    if left < 0:
        raise RuntimeError("negative padding is not supported")
    padded = torch.nn.functional.pad(input, (left, right))
    size = (padded.size(2) - reach) // stride + 1
    if padded.size(2) < reach:
        raise RuntimeError("the kernel is larger than the input")
    batch = input.size(0)
    grouped = padded.reshape(batch, groups, per_group, padded.size(2))
    kernels = weight.reshape(groups, outputs // groups, per_group, taps)
    out = 0
    for tap in range(taps):
        window = grouped[..., tap : tap + (size - 1) * stride + 1 : stride]
        out = out + torch.einsum("bgcl,goc->bgol", window, kernels[..., tap])
    out = out.reshape(batch, outputs, size)
    return out if bias is None else out + bias.unsqueeze(-1)
