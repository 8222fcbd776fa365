"""Average pooling as a sum of shifted slices, divided by how many elements each window has."""

import torch


def _pair(value):
    if isinstance(value, int):
        return (value, value)
    return tuple(value) * 2 if len(value) == 1 else tuple(value)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """Means of windows of float32 and float64 images, batched or not."""
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError("avg_pool2d: 3D or 4D input with elements is expected")
    kernel, edge = _pair(kernel_size), _pair(padding)
    step = kernel if stride is None or (not isinstance(stride, int) and not len(stride)) else _pair(stride)
    if min(kernel) <= 0 or min(step) <= 0 or min(edge) < 0:
        raise RuntimeError("avg_pool2d: kernel_size and stride must be positive, padding not negative")
    if any(2 * e > k for e, k in zip(edge, kernel)):
        raise RuntimeError("avg_pool2d: padding should be at most half of the kernel size")
    if divisor_override == 0:
        raise RuntimeError("avg_pool2d: divisor must not be zero")
    size = []
    for length, k, s, e in zip(input.shape[-2:], kernel, step, edge):
        span = length + 2 * e - k
        count = (-(-span // s) if ceil_mode else span // s) + 1
        if ceil_mode and (count - 1) * s >= length + e:
            count -= 1
        if span < 0 and not ceil_mode or count <= 0:
            raise RuntimeError("avg_pool2d: output size is too small")
        size.append(count)
    reach = [(n - 1) * s + k for n, s, k in zip(size, step, kernel)]
    height, width = input.shape[-2:]
    right, bottom = max(reach[1] - width - edge[1], 0), max(reach[0] - height - edge[0], 0)

    def windows(image):
        padded = torch.nn.functional.pad(image, (edge[1], right, edge[0], bottom))
        total = 0
        for y in range(kernel[0]):
            for x in range(kernel[1]):
                rows = padded[..., y : y + (size[0] - 1) * step[0] + 1 : step[0], :]
                total = total + rows[..., x : x + (size[1] - 1) * step[1] + 1 : step[1]]
        return total

    if divisor_override is not None:
        return windows(input) / divisor_override
    inside = torch.ones(height, width, dtype=input.dtype)
    if count_include_pad:
        # What ceil_mode adds beyond the padding does not count.
        inside = torch.nn.functional.pad(inside, (edge[1], edge[1], edge[0], edge[0]), value=1.0)
        beyond = [max(end - length - 2 * e, 0) for end, length, e in zip(reach, (height, width), edge)]
        counts = torch.nn.functional.pad(inside, (0, beyond[1], 0, beyond[0])).unfold(0, kernel[0], step[0])
        counts = counts.unfold(1, kernel[1], step[1])[: size[0], : size[1]].sum((-1, -2))
    else:
        counts = windows(inside)
    return windows(input) / counts
