"""Ways of calling a kernel besides the plain one: each gives what the plain call should give, for the same arguments.

- `vmap 0`, `vmap 1`: the arguments are one element of a batch that `torch.func.vmap` maps the kernel over; the result
  is that element's. In the second the batch is not the first dimension, and every other tensor is the same for all of
  it.
- `compile`: within `torch.compile`, of which `aot_eager` is the backend: Dynamo captures, AOTAutograd differentiates,
  and nothing is made faster.
- `threads`: on several threads at once, some of which call it with the same arguments and others with others.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from dual_object.adapters.torch.kernels.samples.sample import leaves, mapped
from dual_object.adapters.torch.kernels.watching.misconduct import NotCaptured
from dual_object.replay.asked.kernels import THREADS

Kernel = Callable[..., Any]
#: What the elements of a batch are of the one that is asked about, which is the one in between.
_SHARES = (0.5, 1.0, 0.25)
_ASKED = 1
#: So many of the threads, the first ones, call with what is asked.
_ASKING = 2
#: Each calls so many times at least, and goes on for so many seconds, but not for more times: a thread that starts
#: takes longer than a call or two.
_LEAST_TIMES, _SECONDS, _MOST_TIMES = 8, 0.02, 100
#: Seconds after which another thread may run: Python's own are 5,000 times as many.
_SWITCH = 1e-6
#: So many forms of one function PyTorch compiles before it gives up, by itself 8.
_FORMS = 1000
#: Letters of why a kernel is not captured whole.
_MOST = 200


class _Mapped:
    """The kernel of one element of a batch."""

    def __init__(self, kernel: Kernel, dim: int) -> None:
        self._kernel = kernel
        self._dim = dim

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = [leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if not tensors:
            return self._kernel(*args, **kwargs)
        dims = [self._of(place, tensor) for place, tensor in enumerate(tensors)]
        batches = [_batch(tensor, dim) for tensor, dim in zip(tensors, dims, strict=True)]

        def called(*elements: torch.Tensor) -> Any:
            rest = iter(elements)
            given = mapped((args, kwargs), lambda leaf: next(rest) if isinstance(leaf, torch.Tensor) else leaf)
            return self._kernel(*given[0], **given[1])

        result = torch.func.vmap(called, in_dims=tuple(dims))(*batches)
        return mapped(result, lambda leaf: leaf[_ASKED] if isinstance(leaf, torch.Tensor) else leaf)

    def _of(self, place: int, tensor: torch.Tensor) -> int | None:
        """The dimension of the batch in one tensor; None where it is the same for all of it."""
        if self._dim == 0:
            return 0
        return None if place % 2 else min(self._dim, tensor.dim())


def _batch(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    """A tensor among others of its form and domain, smaller ones where it has floating numbers."""
    if dim is None:
        return tensor
    floats = tensor.is_floating_point() or tensor.is_complex()
    others = [tensor.detach() * share if floats else tensor.detach() for share in _SHARES]
    others[_ASKED] = tensor
    return torch.stack(others, dim)


class _Compiled:
    """The kernel within `torch.compile`; where that does not capture it whole, NotCaptured is raised once, and what is
    compiled of it is called from then on.
    """

    def __init__(self, kernel: Kernel) -> None:
        config: Any = torch._dynamo.config
        config.recompile_limit = config.accumulated_recompile_limit = _FORMS
        self._whole = torch.compile(kernel, backend="aot_eager", fullgraph=True)
        self._parts = torch.compile(kernel, backend="aot_eager")
        self._captured = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._captured:
            return self._parts(*args, **kwargs)
        try:
            return self._whole(*args, **kwargs)
        except torch._dynamo.exc.TorchDynamoException as error:
            self._captured = False
            raise NotCaptured(_reason(error)) from None


def _reason(error: Exception) -> str:
    """What PyTorch's compiler says, its first line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason")[:_MOST]


class _Crowded:
    """The kernel on several threads at once: what it gives in one of them, if possible something else than alone."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        #: What it was called with before: company for what it is called with next.
        self._before: deque[tuple[Any, Any]] = deque(maxlen=1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = (args, kwargs)
        smaller = [_apart(given, share) for share in (0.5, 0.25)]
        other = self._before[0] if self._before else smaller[0]
        calls = [given] * _ASKING + [*smaller, other]
        results: list[list[Any]] = [[] for _ in calls]
        errors: list[Exception] = []
        start = threading.Barrier(len(calls))
        grad = torch.is_grad_enabled()

        def work(place: int) -> None:
            args, kwargs = calls[place]
            with torch.set_grad_enabled(grad):
                start.wait()
                try:
                    until = time.monotonic() + _SECONDS
                    for times in range(_MOST_TIMES):
                        if times >= _LEAST_TIMES and time.monotonic() > until:
                            break
                        results[place].append(self._kernel(*args, **kwargs))
                except Exception as error:
                    if place < _ASKING:  # of its company nobody knows whether it is a lawful call
                        errors.append(error)

        assert len(calls) == THREADS
        threads = [threading.Thread(target=work, args=(place,)) for place in range(THREADS)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        self._before.append(_apart(given, 1.0))
        if errors:
            raise errors[0]
        alone = _bits(self._kernel(*args, **kwargs))
        of_asked = [result for place in range(_ASKING) for result in results[place]]
        return next((result for result in of_asked if _bits(result) != alone), of_asked[0])


def _apart(given: Any, share: float) -> Any:
    """Arguments with tensors of their own, of which floating ones are a share of what they were."""

    def leaf(item: Any) -> Any:
        if not isinstance(item, torch.Tensor):
            return item
        floats = item.is_floating_point() or item.is_complex()
        return item.detach() * share if floats and share != 1 else item.detach().clone()

    return mapped(given, leaf)


def _bits(result: Any) -> Sequence[object]:
    """What a result holds, bit for bit."""
    return [_bits_of(leaf) for leaf in leaves(result)]


def _bits_of(leaf: Any) -> object:
    if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
        return repr(leaf)
    held = leaf.detach().contiguous().reshape(-1).view(torch.uint8).cpu().numpy().tobytes()
    return str(leaf.dtype), tuple(leaf.shape), held


#: By the name of a way, what makes a kernel one that is called so.
_WAYS: Mapping[str, Callable[[Kernel], Kernel]] = MappingProxyType(
    {
        "vmap 0": lambda kernel: _Mapped(kernel, 0),
        "vmap 1": lambda kernel: _Mapped(kernel, 1),
        "compile": _Compiled,
        "threads": _Crowded,
    }
)


def called(way: str, kernel: Kernel) -> Kernel:
    """The kernel, called in a way besides the plain one."""
    return _WAYS[way](kernel)


__all__ = ["called"]
