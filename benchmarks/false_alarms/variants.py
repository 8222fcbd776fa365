"""PyTorch computing lawfully otherwise: what a harness must not take for a fault.

`AUTOTEST_FAULT=benchmarks.false_alarms.variants:plant` turns the target of a worker into the variant that
`LAWFUL_VARIANT` names. Most are dispatch modes, below autograd: forward and backward are made of the ops they see.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

VARIABLE = "LAWFUL_VARIANT"
#: The variant whose target is PyTorch as it is, and whose tests remember cases of another seed.
REMEMBERING = "remembering"
_AT_RANDOM = torch.Tag.nondeterministic_seeded
_HALVES = (torch.float16, torch.bfloat16, torch.float32)


#: Ops that write their running statistics, though their schema does not say so.
WRITERS = frozenset({"aten.native_batch_norm", "aten._batch_norm_impl_index", "aten._native_batch_norm_legit"})


def functional(op: Any) -> bool:
    """Whether an op gives new memory, writes to no argument, and is not random: others are left as they are."""
    schema = op._schema
    return not (
        schema.is_mutable or any(result.alias_info is not None for result in schema.returns) or _AT_RANDOM in op.tags
    )


def put(values: Any, into: Any) -> Any:
    """The tensors of a result with the floating values of another result of the same op: their dtypes and strides."""
    for new, old in zip(tree_flatten(values)[0], tree_flatten(into)[0], strict=True):
        if not (isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor)):
            continue  # the backward of a convolution leaves out what one path of it does not need
        if old.is_floating_point() and old.shape == new.shape:
            old.copy_(new)
    return into


class Wide(TorchDispatchMode):
    """Each op is computed in float64, then rounded."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one op twice, as it is and in float64."""
        kwargs = kwargs or {}
        result = op(*args, **kwargs)
        if not functional(op) or str(op.overloadpacket) in ONE_DTYPE:
            return result
        narrow = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor) and x.dtype in _HALVES]
        if not narrow:
            return result
        wide_args, wide_kwargs = tree_map(_widened, (args, kwargs))
        return put(op(*wide_args, **wide_kwargs), result)


#: Ops that exist for some dtypes alone, whose result is about a dtype, or whose backward looks for the greatest
#: distance among those that it works out anew: the one that it is given was rounded to float32.
ONE_DTYPE = frozenset(
    {
        "aten._cdist_backward",
        "aten._pdist_backward",
        "aten._to_copy",
        "aten.nextafter",
        "aten._scaled_dot_product_flash_attention_for_cpu",
        "aten._scaled_dot_product_flash_attention_for_cpu_backward",
        "aten.mkldnn_rnn_layer",
        "aten.mkldnn_rnn_layer_backward",
    }
)


def _widened(x: Any) -> Any:
    if isinstance(x, torch.dtype):
        return torch.float64 if x in _HALVES else x
    return x.to(torch.float64) if isinstance(x, torch.Tensor) and x.dtype in _HALVES else x


class Contiguous(TorchDispatchMode):
    """Each op is given contiguous tensors."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one op on contiguous copies of what is not."""
        kwargs = kwargs or {}
        if functional(op) and str(op.overloadpacket) not in WRITERS:
            args, kwargs = tree_map(lambda x: x.contiguous() if isinstance(x, torch.Tensor) else x, (args, kwargs))
        return op(*args, **kwargs)


class Permuted(TorchDispatchMode):
    """Sums run from the last element to the first."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one op; a reduction a second time in the other order."""
        kwargs = kwargs or {}
        result = op(*args, **kwargs)
        turn = TURNED.get(str(op.overloadpacket))
        if turn is None or not functional(op):
            return result
        return put(op(*turn(*args), **kwargs), result)


def _all(x: torch.Tensor, *rest: Any) -> tuple[Any, ...]:
    return (x.flip(tuple(range(x.ndim))), *rest)


def _reduced(x: torch.Tensor, dims: Any = None, *rest: Any) -> tuple[Any, ...]:
    """Only the dimensions that are reduced are turned, for the others are the result's."""
    along = tuple(range(x.ndim)) if dims is None or dims == [] else dims
    return (x.flip(along), dims, *rest)


def _product(a: torch.Tensor, b: torch.Tensor) -> tuple[Any, ...]:
    return a.flip(-1), b.flip(-2 if b.ndim > 1 else -1)


def _added_product(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[Any, ...]:
    return (c, *_product(a, b))


#: How the arguments of a reduction are turned, by op.
TURNED: Mapping[str, Callable[..., tuple[Any, ...]]] = MappingProxyType(
    {
        "aten.sum": lambda x, *rest: _reduced(x, *rest) if rest else _all(x),
        "aten.mean": lambda x, *rest: _reduced(x, *rest) if rest else _all(x),
        "aten.var": lambda x, *rest: _reduced(x, *rest) if rest else _all(x),
        "aten.std": lambda x, *rest: _reduced(x, *rest) if rest else _all(x),
        "aten.logsumexp": _reduced,
        "aten.mm": _product,
        "aten.bmm": _product,
        "aten.mv": _product,
        "aten.dot": _product,
        "aten.addmm": _added_product,
        "aten.baddbmm": _added_product,
    }
)


@dataclass(frozen=True)
class Variant:
    """A lawful variant: what it does, how a worker becomes it, and kinds in which it differs by its very nature."""

    name: str
    does: str
    become: Callable[[], object]
    lawful: frozenset[str] = frozenset()


#: Results of ops on contiguous copies have lawfully other strides than PyTorch's on what was given.
VARIANTS = (
    Variant("float64", "computes each op in float64, then rounds", lambda: Wide().__enter__()),
    Variant("mkldnn_off", "runs without oneDNN", lambda: torch.backends.mkldnn.set_flags(False)),
    Variant("threads4", "runs on four threads, not on one", lambda: torch.set_num_threads(4)),
    Variant("contiguous", "makes each op's inputs contiguous", lambda: Contiguous().__enter__(), frozenset({"layout"})),
    Variant("permuted", "sums from the last element to the first", lambda: Permuted().__enter__()),
    Variant(REMEMBERING, "first draws the cases that another seed has left in memory", lambda: None),
)


def plant(adapter: Any) -> None:
    """Become the variant; raises StopIteration for a name that none has."""
    next(variant for variant in VARIANTS if variant.name == os.environ[VARIABLE]).become()
