"""A kernel with somebody beside it: it is called as it is, and what it does besides is told."""

from __future__ import annotations

import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import torch

from dual_object.adapters.torch.kernels.samples.sample import leaves, mapped
from dual_object.adapters.torch.kernels.watching.auditing import Auditor
from dual_object.adapters.torch.kernels.watching.delegation import Delegation
from dual_object.adapters.torch.kernels.watching.misconduct import Misconduct, NotTaken
from dual_object.adapters.torch.kernels.watching.state import State
from dual_object.replay.asked.kernels import SEVERAL_THREADS

#: So many of the last results are kept, to see whether one of them is given again.
KEPT = 6
#: Modules that are there where a function is tested.
_TESTERS = ("pytest", "_pytest", "hypothesis", "unittest", "unittest.case", "doctest")
#: So many forms of calls are watched by a mode of the dispatcher as well.
DISPATCHED = 12


class Guard:
    """A kernel that is called in place of PyTorch's own function.

    What no op may do raises Misconduct, each category once, so that later calls show the rest; `always`: at each call,
    so that a case shows the same whichever ran before it. What is `random` may draw random numbers.
    """

    def __init__(
        self,
        path: str,
        kernel: Callable[..., Any],
        own: Callable[..., Any],
        auditor: Auditor,
        *,
        delegates: bool,
        always: bool = False,
        random: bool = False,
    ) -> None:
        self._kernel = kernel
        self._own = own
        self._auditor = auditor
        self._delegation = None if delegates else Delegation(path)
        self._always = always
        self._random = random
        try:
            self._signature: inspect.Signature | None = inspect.signature(kernel)
        except (TypeError, ValueError):  # of another language's functions Python knows none
            self._signature = None
        self._calls = 0
        self._state = State()
        self._told: set[str] = set()
        self._results: deque[torch.Tensor] = deque(maxlen=KEPT)
        #: By the form of a call, the operator that the kernel hands such a call to.
        self._dispatched: dict[object, str | None] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel. Raises what it raises, NotTaken and Misconduct."""
        if self._signature is not None:
            try:
                self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise NotTaken(str(error)) from None
        state, called, held = self._state, list[str](), _held((args, kwargs))
        several = self._calls in SEVERAL_THREADS and not self._always
        if several:
            torch.set_num_threads(2)
        state.look(whole=self._always)
        try:
            result = self._watched(called, args, kwargs)
        finally:
            changes = [*state.changes(random_allowed=self._random, floods_allowed=self._auditor.compiled)]
            if several:
                torch.set_num_threads(1)
            if held != _held((args, kwargs)):
                changes.append(("mutation", "it changes a list or a dictionary that it was given"))
            self._tell([*self._auditor.seen, *changes])
        self._tell(self._of_result(result, args, kwargs))
        self._tell(self._of_calls(called, args, kwargs))
        return result

    def _watched(self, called: list[str], args: Any, kwargs: Any) -> Any:
        self._calls += 1
        with ExitStack() as stack:
            stack.enter_context(_testers(there=self._calls % 2 == 1))
            if self._delegation is not None:
                stack.enter_context(self._delegation.watching(called))
            stack.enter_context(self._auditor.listening())
            return self._kernel(*args, **kwargs)

    def _tell(self, found: list[tuple[str, str]]) -> None:
        for category, words in found:
            # What has not been computed cannot be read either.
            if category not in self._told or category == "lazy" or self._always:
                self._told.add(category)
                raise Misconduct(category, words)

    def _of_result(self, result: Any, args: Any, kwargs: Any) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        given, tensors = _storages((args, kwargs)), _tensors(result)
        for leaf in _others(result):
            found.append(("lazy", _lazy(leaf)))
        for tensor in tensors:
            if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
                found.append(("lazy", _lazy(tensor)))
                continue
            if tensor.is_meta:
                found.append(("lazy", "its result lies on the device meta, which holds no values"))
                continue
            place = _storage(tensor)
            if place and place not in given and any(place == _storage(kept) for kept in self._results):
                found.append(("caching", "it gives a result again, in the same memory, that it has given before"))
        self._results += [tensor for tensor in tensors if type(tensor) is torch.Tensor]
        return found

    def _of_calls(self, called: list[str], args: Any, kwargs: Any) -> list[tuple[str, str]]:
        delegation = self._delegation
        if delegation is None or ("delegates" in self._told and not self._always):
            return []
        name = delegation.called(called)
        if name is not None:
            return [("delegates", f"it calls {name}, the op that it should be")]
        form = tuple((x.dtype, x.dim()) for x in _tensors((args, kwargs))), *kwargs
        if form not in self._dispatched and len(self._dispatched) < DISPATCHED:
            self._dispatched[form] = self._below(delegation, args, kwargs)
        operator = self._dispatched.get(form)
        return [] if operator is None else [("delegates", f"it calls aten::{operator}, the op that it should be")]

    def _below(self, delegation: Delegation, args: Any, kwargs: Any) -> str | None:
        def apart(function: Callable[..., Any]) -> Callable[[], Any]:
            copied = mapped((args, kwargs), lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x)
            return lambda: function(*copied[0], **copied[1])

        try:
            return delegation.below(apart(self._kernel), apart(self._own))
        except Exception:  # only a look: what the kernel makes of these values is judged elsewhere
            return None


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in leaves(tree) if isinstance(leaf, torch.Tensor)]


def _held(tree: Any) -> list[object]:
    """What every list and dictionary of a tree holds."""
    if isinstance(tree, dict):
        return [*((key, id(item)) for key, item in tree.items()), *map(_held, tree.values())]
    if isinstance(tree, list):
        return [*map(id, tree), *map(_held, tree)]
    return [*map(_held, tree)] if type(tree) is tuple else []


def _lazy(item: Any) -> str:
    return f"its result is a {type(item).__name__}, which may compute when it is looked at"


def _others(tree: Any) -> list[Any]:
    """What of a result is neither a tensor nor a plain value."""
    plain = (torch.Tensor, bool, int, float, complex, str, type(None), torch.dtype, np.generic)
    return [leaf for leaf in leaves(tree) if not isinstance(leaf, plain)]


@contextmanager
def _testers(*, there: bool) -> Iterator[None]:
    """While it lasts, the process looks as if tests ran in it, or as if none did: no op is another for that."""
    before = {name: sys.modules.pop(name) for name in _TESTERS if name in sys.modules}
    if there:
        sys.modules.update({name: before.get(name) or _module(name) for name in _TESTERS})
    try:
        yield
    finally:
        for name in _TESTERS:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def _module(name: str) -> ModuleType:
    """An empty module, with what those have who ask whether it could be imported."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    return module


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided and tensor.numel() else 0


def _storages(tree: Any) -> set[int]:
    return {_storage(tensor) for tensor in _tensors(tree) if type(tensor) in (torch.Tensor, torch.nn.Parameter)}


__all__ = ["Guard"]
