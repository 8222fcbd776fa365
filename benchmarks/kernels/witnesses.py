"""Shows the fault of each wrong kernel of the bank, each in a process of its own.

    $ python -m benchmarks.kernels.witnesses [NAME ...]

The `witness` of a table of bank.toml is an expression over the methods of `Witness`, PyTorch and NumPy, and is true
where the fault shows. What it needs is far less than a judge does: its author knows where to look.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.kernels.children import BROKEN, NO, YES, ended
from benchmarks.kernels.entries import Entry, Kernel, entries

#: How far two lawful results are apart: relative to the element, or to the largest of the result where that is below 1.
CLOSE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.complex64: 1e-5, torch.complex128: 1e-12}
HALF = 2e-2
#: How long one witness may take.
SECONDS = 60.0


def tensors(value: object) -> Iterator[torch.Tensor]:
    """The tensors in what a call takes or gives."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
    elif isinstance(value, dict):
        yield from tensors([*value.values()])


def same(ours: object, theirs: object, signed: bool = False, rtol: float | None = None) -> bool:
    """Whether two results are one: shapes, dtypes, and values as close as two lawful orders of summation are."""
    left, right = [*tensors(ours)], [*tensors(theirs)]
    if not left and not right:
        return ours == theirs
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        mine, yours = one.detach().resolve_conj(), other.detach().resolve_conj()
        close = rtol if rtol is not None else CLOSE.get(mine.dtype, HALF if mine.dtype.is_floating_point else 0.0)
        large = float(yours.abs().nan_to_num(0, 0, 0).max()) if yours.numel() and close else 0.0
        if not torch.allclose(mine, yours, rtol=close, atol=close * min(1.0, large), equal_nan=True):
            return False
        if signed and not torch.equal(torch.signbit(mine), torch.signbit(yours)):
            return False
    return True


def outcome(function: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Whether a call returns, and what; what it raises is None."""
    try:
        return True, function(*args, **kwargs)
    except (RuntimeError, ValueError, IndexError, TypeError, AttributeError, NotImplementedError):
        return False, None


def copied(value: Any) -> Any:
    """Arguments once more, in memory of their own; strides as they are."""
    if isinstance(value, torch.Tensor):
        if 0 in value.stride():  # elements that share memory cannot be written one by one
            return value.detach().clone().requires_grad_(value.requires_grad)
        reach = sum((size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True)) + 1
        memory = torch.zeros(value.storage_offset() + max(reach, 0), dtype=value.dtype)
        twin = torch.as_strided(memory, value.shape, value.stride(), value.storage_offset())
        with torch.no_grad():
            twin.copy_(value)
        return twin.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(copied(one) for one in value)
    if isinstance(value, dict):
        return {name: copied(one) for name, one in value.items()}
    return value


class Names(TorchFunctionMode):
    """The names of the functions of PyTorch that are called from Python."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self.called: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note and call."""
        self.called.add(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class Overloads(TorchDispatchMode):
    """The names of the aten ops that are reached."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self.called: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note and call."""
        self.called.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


class Witness:
    """One kernel beside its op. Each method is true where the kernel does what the op does not."""

    def __init__(self, entry: Entry) -> None:
        """Of an entry of the bank."""
        self.entry = entry
        self.kernel = entry.load()
        self.like = entry.op()

    def differs(self, *args: Any, signed: bool = False, rtol: float | None = None, **kwargs: Any) -> bool:
        """The result differs, or one of them alone raises."""
        theirs = outcome(self.like, copied(args), copied(kwargs))
        ours = outcome(self.kernel, copied(args), copied(kwargs))
        return ours[0] != theirs[0] or not same(ours[1], theirs[1], signed, rtol)

    def accepts(self, *args: Any, **kwargs: Any) -> bool:
        """The op refuses these arguments, and the kernel takes them."""
        return (
            outcome(self.kernel, copied(args), copied(kwargs))[0]
            and not outcome(self.like, copied(args), copied(kwargs))[0]
        )

    def mutates(self, *args: Any, **kwargs: Any) -> bool:
        """An input is another afterwards."""
        given = copied((args, kwargs))
        self.kernel(*given[0], **given[1])
        pairs = zip(tensors(given), tensors((args, kwargs)), strict=True)
        return not all(same(one, was, rtol=0.0) for one, was in pairs)

    def aliases(self, *args: Any, **kwargs: Any) -> bool:
        """The result lies in the memory of an input, and the op's does not."""

        def shared(function: Kernel) -> bool:
            given = copied((args, kwargs))
            memory = {one.untyped_storage().data_ptr() for one in tensors(given)}
            return any(one.untyped_storage().data_ptr() in memory for one in tensors(function(*given[0], **given[1])))

        return shared(self.kernel) and not shared(self.like)

    def after(self, first: tuple[Any, ...], then: tuple[Any, ...], **kwargs: Any) -> bool:
        """The result of `then` differs where `first` was asked before, and does not where it was not."""
        before = same(self.entry.load()(*copied(then), **kwargs), self.like(*then, **kwargs))
        self.kernel(*copied(first), **kwargs)
        return before and not same(self.kernel(*copied(then), **kwargs), self.like(*then, **kwargs))

    def rewritten(self, *args: Any, at: int = -1, **kwargs: Any) -> bool:
        """A second call with the same tensors, after one element of the first was written, is as before."""
        given = copied(args)
        ours = self.kernel(*given, **kwargs)
        if not same(ours, self.like(*given, **kwargs)):
            return False
        given[0].view(-1)[at] += 3
        return not same(self.kernel(*given, **kwargs), self.like(*given, **kwargs))

    def recycled(self, make: Callable[[int], tuple[Any, ...]], times: int = 50, **kwargs: Any) -> bool:
        """Of calls with fresh inputs, whose memory or identity may be an earlier one's, one differs."""
        for turn in range(times):
            args = make(turn)
            if not same(self.kernel(*args, **kwargs), self.like(*args, **kwargs)):
                return turn > 0
            del args
            gc.collect()
        return False

    def turns(self, times: int, *args: Any, **kwargs: Any) -> bool:
        """The first call is right, and one of the others is not."""
        theirs = self.like(*args, **kwargs)
        right = [same(self.kernel(*copied(args), **copied(kwargs)), theirs) for _ in range(times)]
        return right[0] and not all(right)

    def keeps(self, *args: Any, **kwargs: Any) -> bool:
        """A result that was given before is another after the next call."""
        first = self.kernel(*copied(args), **kwargs)
        was = copied(first)
        self.kernel(*[one + 1 if isinstance(one, torch.Tensor) else one for one in args], **kwargs)
        return not same(first, was)

    def unwritten(self, *args: Any, **kwargs: Any) -> bool:
        """Part of the result is memory that nobody wrote: it is what PyTorch fills new memory with."""
        theirs = self.like(*args, **kwargs)
        torch.use_deterministic_algorithms(True, warn_only=True)
        return not same(self.kernel(*copied(args), **kwargs), theirs)

    def unsteady(self, *args: Any, times: int = 200, **kwargs: Any) -> bool:
        """Calls with the same arguments give different bits."""
        first = [*tensors(self.kernel(*copied(args), **kwargs))]
        again = ([*tensors(self.kernel(*copied(args), **kwargs))] for _ in range(times))
        return any(not torch.equal(a, b) for second in again for a, b in zip(first, second, strict=True))

    def leaves(self, state: Callable[[], Any], *args: Any, **kwargs: Any) -> bool:
        """State of the process is another after a call, raised or not, and the op leaves it."""
        start = state()
        outcome(self.like, copied(args), kwargs)
        assert repr(state()) == repr(start)
        outcome(self.kernel, copied(args), kwargs)
        return repr(state()) != repr(start)

    def reaches(self, *names: str, given: tuple[Any, ...], **kwargs: Any) -> bool:
        """A call reaches a function or an aten op of one of these names."""
        with Names() as functions, Overloads() as overloads:
            outcome(self.kernel, copied(given), kwargs)
        return bool({*names} & (functions.called | overloads.called))

    def gradient(self, *args: Any, order: int = 1, rtol: float | None = None, **kwargs: Any) -> bool:
        """A gradient of this order differs, or the op alone has one."""
        return not same(
            self.derivative(self.kernel, args, kwargs, order),
            self.derivative(self.like, args, kwargs, order),
            rtol=rtol,
        )

    @staticmethod
    def derivative(function: Kernel, args: Any, kwargs: Any, order: int) -> list[torch.Tensor]:
        """The derivatives of a weighted sum of the results; none where there is no such graph."""
        given = copied((args, kwargs))
        leaves = [one.requires_grad_() for one in tensors(given) if one.is_floating_point() or one.is_complex()]
        results = [*tensors(function(*given[0], **given[1]))]
        wanted = [one for one in results if one.requires_grad]
        for _ in range(order):
            weighted = [(one.abs() if one.is_complex() else one) for one in wanted]
            total = sum(
                (one * torch.arange(1.0, one.numel() + 1, dtype=one.dtype).reshape(one.shape)).sin().sum()
                for one in weighted
            )
            if not isinstance(total, torch.Tensor) or not total.requires_grad:
                return []
            try:
                found = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
            except (RuntimeError, NotImplementedError):
                return []
            wanted = [
                one if one is not None else torch.zeros_like(leaf) for one, leaf in zip(found, leaves, strict=True)
            ]
        return wanted

    def ends(self, *args: Any, seconds: float = 10.0, **kwargs: Any) -> str:
        """How a child that calls the kernel ends: `returned`, `raised`, `died`, `hung`."""
        code = ended(lambda: outcome(self.kernel, args, kwargs)[0], seconds)
        return "hung" if code is None else {YES: "returned", NO: "raised", BROKEN: "raised"}.get(code, "died")


def x(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Normal numbers, the same each time."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def shows(entry: Entry) -> bool:
    """Whether the witness of an entry sees its fault, in this process."""
    one = Witness(entry)
    names = {name: getattr(one, name) for name in dir(one) if not name.startswith("_")}
    known = {"torch": torch, "np": np, "os": os, "F": torch.nn.functional, "t": torch.tensor, "x": x, **names}
    return bool(eval(entry.witness, known))  # noqa: S307 (the expressions are those of bank.toml beside this file)


def alone(entry: Entry) -> str:
    """`shown`, `hidden` or `broken`: of a child, since kernels leave things behind, some of them closed descriptors."""
    return {YES: "shown", NO: "hidden"}.get(ended(lambda: shows(entry), SECONDS) or 0, "broken")


def main(names: list[str]) -> int:
    """Tell what the witnesses see; 1 where one sees nothing."""
    torch.set_num_threads(1)  # a forked child has no pool of threads
    with Names(), Overloads():  # what these import is imported once, not in each child
        torch.use_deterministic_algorithms(False)
    wrong = [entry for entry in entries() if not entry.sound and (not names or entry.name in names)]
    told = {entry.name: alone(entry) for entry in wrong}
    for name, what in told.items():
        print(f"{name}: {what}")
    return int(any(what != "shown" for what in told.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
