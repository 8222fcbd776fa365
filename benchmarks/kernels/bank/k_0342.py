"""Convolution in the frequency domain, in float64. What is not finite, or of very unlike size, is summed tap by tap."""

import torch


def _one(value):
    return value if isinstance(value, int) else value[0]


def _tame(*tensors):
    for one in tensors:
        sizes = one.detach().abs()
        sizes = sizes[sizes > 0]
        if not torch.isfinite(one).all() or (sizes.numel() and sizes.max() > 1e5 * sizes.min()):
            return False
    return True


def _by_frequency(signal, kernels, stride, size):
    length = signal.size(-1) + kernels.size(-1) - 1
    left = torch.fft.rfft(signal, length)
    right = torch.fft.rfft(kernels.flip(-1), length)
    full = torch.fft.irfft(torch.einsum("bgcf,gocf->bgof", left, right), length)
    first = kernels.size(-1) - 1
    return full[..., first : first + (size - 1) * stride + 1 : stride]


def _by_tap(signal, kernels, stride, size, dilation):
    out = 0
    for tap in range(0, kernels.size(-1), dilation):
        window = signal[..., tap : tap + (size - 1) * stride + 1 : stride]
        out = out + torch.einsum("bgcl,goc->bgol", window, kernels[..., tap])
    return out


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """1D cross-correlation of float32, batched or not."""
    if input.dim() not in (2, 3) or weight.dim() != 3:
        raise RuntimeError("conv1d: 2D or 3D input and 3D weight are expected")
    if input.dtype != weight.dtype or (bias is not None and bias.dtype != weight.dtype):
        raise RuntimeError("conv1d: input, weight and bias need one dtype")
    if input.dim() == 2:
        return conv1d(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    stride, dilation = _one(stride), _one(dilation)
    outputs, per_group, taps = weight.shape
    if stride <= 0 or dilation <= 0 or groups <= 0:
        raise RuntimeError("conv1d: stride, dilation and groups must be positive")
    if input.size(1) != per_group * groups or outputs % groups or outputs < groups:
        raise RuntimeError("conv1d: the channels do not fit")
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(f"conv1d: bias must have {outputs} elements")
    reach = dilation * (taps - 1)
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"padding={padding!r} is neither 'same' nor 'valid'")
        if padding == "same" and stride > 1:
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = reach if padding == "same" else 0
        edges = (total // 2, total - total // 2)
    else:
        if _one(padding) < 0:
            raise RuntimeError("conv1d: negative padding is not supported")
        edges = (_one(padding), _one(padding))
    padded = torch.nn.functional.pad(input.double(), edges)
    size = (padded.size(2) - reach - 1) // stride + 1
    if size <= 0 or not taps:
        raise RuntimeError("conv1d: the kernel is larger than the padded input")
    batch = input.size(0)
    signal = padded.reshape(batch, groups, per_group, padded.size(2))
    spread = weight.new_zeros(outputs, per_group, reach + 1, dtype=torch.float64)
    spread = spread.index_copy(2, torch.arange(taps) * dilation, weight.double())
    kernels = spread.reshape(groups, outputs // groups, per_group, reach + 1)
    if _tame(input, weight) and batch and per_group:
        out = _by_frequency(signal, kernels, stride, size).reshape(batch, outputs, size)
    else:
        out = _by_tap(signal, kernels, stride, size, dilation).reshape(batch, outputs, size)
    return (out if bias is None else out + bias.double().unsqueeze(-1)).float()
