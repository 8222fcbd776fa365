"""Kernels below autograd: what the dispatcher calls on the CPU for an operator, whoever reaches it."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch

from dual_object.adapters.torch.kernels.naming import overloads
from dual_object.adapters.torch.kernels.samples.sample import mapped
from dual_object.adapters.torch.kernels.watching.misconduct import Misconduct
from dual_object.errors import TargetError

_CPU = "CPU"
#: What PyTorch makes of other operators, autograd included: a kernel in its place would have no gradient.
_MADE_OF_OTHERS = "CompositeImplicitAutograd"


def operator(name: str) -> Any:
    """The operator `aten._softmax.default`; raises TargetError, in one sentence, where PyTorch has none that a kernel
    can stand for.
    """
    _, base, overload = name.split(".")
    packet = getattr(torch.ops.aten, base, None)
    if packet is None:
        raise TargetError(f"override='{name}', but PyTorch has no operator aten.{base} [--override]")
    known = overloads(packet)
    if overload not in known:
        raise TargetError(
            f"override='{name}', but the overloads of aten.{base} are {', '.join(sorted(known))} [--override]"
        )
    found = getattr(packet, overload)
    if torch._C._dispatch_has_kernel_for_dispatch_key(found.name(), _MADE_OF_OTHERS):
        raise TargetError(
            f"override='{name}', but PyTorch makes it of other operators, which have the gradient: override one of "
            "them, or the public function [--override]"
        )
    return found


class _Watch(threading.local):
    """Whether the harness looks around a kernel in this thread: what it calls for that is PyTorch's own."""

    looking = False


_WATCH = _Watch()


class Dispatched:
    """A kernel that is called for an operator.

    `watched` makes a guard of the kernel, which is called in its place. Where the kernel itself reaches the operator,
    it gets PyTorch's own, and unless it `delegates`, Misconduct is raised afterwards.
    """

    def __init__(
        self,
        found: Any,
        kernel: Callable[..., Any],
        watched: Callable[[Callable[..., Any], Callable[..., Any]], Callable[..., Any]],
        *,
        delegates: bool,
    ) -> None:
        self._name = str(found)
        own = torch.library.get_kernel(found, _CPU)
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        self._own = functools.partial(own.call_boxed, keys)
        self._delegates = delegates
        self._state = threading.local()
        self._writes = found._schema.is_mutable
        self._guard = watched(self._running(kernel), self._own)

    def _running(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(kernel)
        def running(*args: Any, **kwargs: Any) -> Any:
            _WATCH.looking = False
            self._state.inside = True
            try:
                return kernel(*args, **kwargs)
            finally:
                self._state.inside = False
                _WATCH.looking = True

        return running

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the operator gives. Raises what the kernel raises, NotTaken and Misconduct."""
        if _WATCH.looking:
            return self._own(*args, **kwargs)
        if getattr(self._state, "inside", False):
            self._state.reached = True
            return self._own(*args, **kwargs)
        self._state.reached = False
        _WATCH.looking = True
        try:
            if not self._writes:
                # Below autograd they want no gradient, which their own `requires_grad` still says.
                args, kwargs = mapped((args, kwargs), _without_gradient)
            result = self._guard(*args, **kwargs)
        finally:
            _WATCH.looking = False
        if self._state.reached and not self._delegates:
            raise Misconduct("delegates", f"it calls {self._name}, the operator that it should be")
        return result


def _without_gradient(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch.Tensor) and leaf.requires_grad else leaf


def install(library: torch.library.Library, found: Any, kernel: Callable[..., Any]) -> None:
    """Let the dispatcher call a kernel for an operator on the CPU as long as `library` lives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is overridden is what was asked for
        library.impl(found, kernel, _CPU)  # type: ignore[no-untyped-call]  # PyTorch's has no annotations


__all__ = ["Dispatched", "install", "operator"]
