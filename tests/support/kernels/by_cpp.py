"""Functions in C++ that say to be `torch.relu`: a sound one, and one that is wrong below zero.

Who calls one of them first compiles both.
"""

from functools import cache

import torch
from torch.utils.cpp_extension import load_inline

_SOURCE = """
#include <torch/types.h>

template <typename Change>
torch::Tensor mapped(const torch::Tensor& input, Change change) {
  const auto given = input.contiguous();
  auto result = torch::empty_like(given);
  AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "mapped", [&] {
    const auto* from = given.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < given.numel(); ++i) to[i] = change(from[i]);
  });
  return result;
}

torch::Tensor sound(const torch::Tensor& input) {
  return mapped(input, [](auto x) { return x <= 0 ? decltype(x)(0) : x; });
}

torch::Tensor leaky(const torch::Tensor& input) {
  return mapped(input, [](auto x) { return x <= 0 ? x / 8 : x; });
}
"""


@cache
def _compiled():
    return load_inline("autotest_relus", _SOURCE, functions=["sound", "leaky"], extra_cflags=["-O0"])


class _ByCpp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, forward):
        ctx.save_for_backward(input)
        return forward(input.detach())

    @staticmethod
    def backward(ctx, grad):
        (input,) = ctx.saved_tensors
        return torch.where(input > 0, grad, torch.zeros_like(grad)), None


def sound(input):
    """As it should be."""
    return _ByCpp.apply(input, _compiled().sound)


def leaky(input):
    return _ByCpp.apply(input, _compiled().leaky)
