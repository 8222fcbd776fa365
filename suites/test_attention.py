"""Attention written with basic ops, as models do that run on every framework."""

from __future__ import annotations

from rows import real, size, tensor, whole

from autotest import autotest, torch


def heads():
    """Draws queries, keys and values of a batch and its heads."""
    batch, count, length, width = size(1, 3), size(1, 3), whole(2, 4), whole(1, 4)
    return [tensor(batch, count, length, width) for _ in range(3)], length, width


@autotest(n=10)
def test_scaled_dot_product():
    (q, k, v), _, width = heads()
    return torch.softmax(q @ k.transpose(-2, -1) / width**0.5, dim=-1) @ v


@autotest(n=10)
def test_causal_mask():
    (q, k, v), length, width = heads()
    scores = q @ k.transpose(-2, -1) * width**-0.5
    mask = torch.triu(torch.ones(length, length), diagonal=1) > 0
    return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1) @ v


@autotest(n=10)
def test_additive_mask():
    (q, k, v), length, _ = heads()
    bias = tensor(length, length, requires_grad=False)
    weights = torch.softmax(torch.matmul(q, k.permute(0, 1, 3, 2)) + bias, dim=-1)
    return weights, torch.matmul(weights, v)


@autotest(n=10)
def test_einsum_spelling():
    (q, k, v), _, _ = heads()
    weights = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k), dim=-1)
    return torch.einsum("bhij,bhjd->bhid", weights, v)


@autotest(n=10)
def test_multi_head_block():
    count, width, length = whole(1, 3), whole(1, 4), whole(1, 4)
    x = tensor(size(1, 3), length, count * width)
    project = torch.nn.Linear(count * width, 3 * count * width)
    out = torch.nn.Linear(count * width, count * width)
    q, k, v = project(x).chunk(3, dim=-1)
    q, k, v = (part.reshape(x.shape[0], length, count, width).transpose(1, 2) for part in (q, k, v))
    mixed = torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
    return out(mixed.transpose(1, 2).reshape(x.shape[0], length, count * width))


@autotest(n=10)
def test_pre_norm_block():
    width = 4
    norm, inner = torch.nn.LayerNorm(width), torch.nn.Linear(width, width)
    x = tensor(size(1, 3), whole(2, 4), width)
    h = norm(x)
    x = x + torch.softmax(h @ h.transpose(1, 2), dim=-1) @ h
    return x + torch.nn.functional.gelu(inner(norm(x)))


@autotest(n=10)
def test_rotary_places():
    length = whole(1, 4)
    x = tensor(size(1, 3), length, 4)
    angles = torch.arange(length, dtype=torch.float32).unsqueeze(1) * torch.tensor([1.0, 0.1])
    left, right = x.chunk(2, dim=-1)
    sine, cosine = torch.sin(angles), torch.cos(angles)
    return torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)


@autotest(n=10)
def test_cross_attention_with_temperature():
    width = whole(1, 4)
    q, memory = tensor(2, whole(1, 4), width), tensor(2, whole(1, 4), width)
    weights = torch.nn.functional.softmax(torch.bmm(q, memory.transpose(1, 2)) / real(0.5, 2), dim=2)
    return torch.bmm(weights, memory), weights.sum(dim=2)
