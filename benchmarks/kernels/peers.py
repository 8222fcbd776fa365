"""The rules by which others accept a kernel, on the same bank.

    $ python -m benchmarks.kernels.peers [NAME ...]

`five_draws` is what benchmarks of generated kernels do: five draws of normal numbers in one shape, compared at 1e-2.
`op_samples` is what those do that have PyTorch's own table of ops: its sample inputs, compared at 1e-2. Both look at
results alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from benchmarks.kernels.children import YES, ended
from benchmarks.kernels.entries import Entry, Kernel, entries
from benchmarks.kernels.witnesses import copied, tensors

#: Both rules': absolute and relative.
TOLERANCE = 1e-2
DRAWS = 5
#: How long one rule may take for one kernel. What is compiled first takes a minute.
SECONDS = 180.0

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def samples(like: Kernel, dtype: torch.dtype) -> list[Arguments]:
    """What PyTorch's table of ops calls an op with, without the arguments that kernels do not have."""
    from torch.testing._internal.common_methods_invocations import op_db

    name = like.__name__
    rows = [row for row in op_db if name in (getattr(row.op, "__name__", ""), row.name.rpartition(".")[2])]
    rows = [row for row in rows if row.op is like] or rows
    given = (one for row in rows if dtype in row.dtypes for one in row.sample_inputs("cpu", dtype))
    return [((one.input, *one.args), one.kwargs) for one in given if "out" not in one.kwargs]


def drawn(value: Any) -> Any:
    """The same arguments with normal numbers in the floating tensors."""
    if isinstance(value, torch.Tensor):
        return torch.randn(value.shape, dtype=value.dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(drawn(one) for one in value)
    return value


def close(kernel: Kernel, like: Kernel, arguments: Arguments) -> bool:
    """Whether both give the same shapes, and values within the tolerance. An op's own refusal is not compared."""
    try:
        theirs = [*tensors(like(*copied(arguments[0]), **arguments[1]))]
    except (RuntimeError, ValueError, IndexError, TypeError):
        return True
    ours = [*tensors(kernel(*copied(arguments[0]), **arguments[1]))]
    return len(ours) == len(theirs) and all(
        one.shape == other.shape
        and torch.allclose(one, other.to(one.dtype), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        for one, other in zip(ours, theirs, strict=True)
    )


def five_draws(kernel: Kernel, like: Kernel, dtypes: Iterable[torch.dtype] = (torch.float32,)) -> bool:
    """Five draws of one shape, that of the largest sample, in the first dtype."""
    largest = max(samples(like, next(iter(dtypes))), key=lambda one: sum(each.numel() for each in tensors(one[0])))
    torch.manual_seed(0)
    return all(close(kernel, like, (tuple(drawn(one) for one in largest[0]), largest[1])) for _ in range(DRAWS))


def op_samples(kernel: Kernel, like: Kernel, dtypes: Iterable[torch.dtype] = (torch.float32,)) -> bool:
    """All samples of each dtype."""
    return all(close(kernel, like, one) for dtype in dtypes for one in samples(like, dtype))


RULES: Mapping[str, Callable[..., bool]] = {"five draws": five_draws, "op samples": op_samples}


def accepted(rule: str, entry: Entry) -> bool:
    """Whether a rule accepts a kernel of the bank in the dtypes that it claims; one that dies or hangs is refused."""
    dtypes = [getattr(torch, name) for name in entry.domain.get("dtypes", ["float32", "float64"])]

    def quiet() -> bool:
        nowhere = os.open(os.devnull, os.O_WRONLY)  # one kernel prints megabytes
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        return RULES[rule](entry.load(), entry.op(), dtypes)

    return ended(quiet, SECONDS) == YES


def main(names: list[str]) -> None:
    """Tell what each rule makes of each kernel, and how often it is right."""
    torch.set_num_threads(1)  # a forked child has no pool of threads
    samples(torch.abs, torch.float32)  # the table is made once, before the first child
    chosen = [entry for entry in entries() if not names or entry.name in names]
    told = {}
    for entry in chosen:
        told[entry.name] = {rule: accepted(rule, entry) for rule in RULES}
        verdicts = ", ".join(f"{rule}: {'accepted' if yes else 'refused'}" for rule, yes in told[entry.name].items())
        print(f"{entry.name}: {'sound' if entry.sound else entry.category}: {verdicts}", flush=True)
    for rule in RULES:
        for line in told_of(rule, chosen, told):
            print(line)


def told_of(rule: str, chosen: list[Entry], told: Mapping[str, Mapping[str, bool]]) -> Iterator[str]:
    """How many wrong ones a rule has refused, and how many sound ones accepted."""
    wrong = [entry for entry in chosen if not entry.sound]
    sound = [entry for entry in chosen if entry.sound]
    refused = sum(not told[entry.name][rule] for entry in wrong)
    kept = sum(told[entry.name][rule] for entry in sound)
    yield f"{rule}: {refused} of {len(wrong)} wrong kernels refused, {kept} of {len(sound)} sound ones accepted"


if __name__ == "__main__":
    main(sys.argv[1:])
