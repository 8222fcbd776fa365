"""Average over windows."""

import torch


def _one(value):
    return value if isinstance(value, int) else value[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Means of windows of float32 and float64 signals."""
    if input.dim() not in (2, 3):
        raise RuntimeError("2D or 3D input is expected")
    width, edge = _one(kernel_size), _one(padding)
    step = width if stride is None or stride == () else _one(stride)
    if width <= 0 or step <= 0 or edge < 0 or edge > width // 2:
        raise RuntimeError("avg_pool1d: the arguments do not fit")
    length = input.size(-1)
    span = length + 2 * edge - width
    if span < 0:
        raise RuntimeError("output size is too small")
    size = (-(-span // step) if ceil_mode else span // step) + 1
    if ceil_mode and (size - 1) * step >= length + edge:
        size -= 1
    windows = []
    for place in range(size):
        start = place * step - edge
        end = min(start + width, length + edge)
        part = input[..., max(start, 0) : min(end, length)]
        windows.append(part.sum(-1) / (end - start))
    return torch.stack(windows, -1)
