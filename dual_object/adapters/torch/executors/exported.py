"""What runtimes below PyTorch begin with: a program of `torch.export`, and results that come back as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from dual_object.adapters.torch.executors.executor import NotCaptured, Whole, is_bug


def exported(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> torch.export.ExportedProgram:
    """The program that a runtime's converter takes. Raises NotCaptured: what `torch.export` does not take is its own
    affair, and told by the executor `export`.
    """
    try:
        with torch.no_grad():
            return torch.export.export(module, tuple(inputs))
    except Exception as error:
        if is_bug(error):
            raise
        raise NotCaptured(error) from error


def decomposed(program: torch.export.ExportedProgram, table: Mapping[Any, Any]) -> torch.export.ExportedProgram:
    """The program with what writes to tensors undone, and ops written out in others by `table`."""
    with torch.no_grad():
        made: torch.export.ExportedProgram = program.run_decompositions({**table})
    return made


def innermost(error: BaseException) -> BaseException:
    """What an exception comes from, first of all: converters wrap that in words of their own."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def loaded(run: Callable[[Sequence[torch.Tensor]], Any], examples: Sequence[torch.Tensor]) -> Whole:
    """A graph that a runtime has made of what was exported for `examples`. It is one for their shapes: what it raises
    of tensors of others is a refusal.
    """
    shapes = [x.shape for x in examples]

    def call(*given: torch.Tensor) -> Any:
        try:
            return run(given)
        except Exception as error:
            if [x.shape for x in given] == shapes:
                raise
            raise NotCaptured(error) from error

    return Whole(call)


def arrays(inputs: Iterable[torch.Tensor]) -> list[Any]:
    """Inputs as NumPy has them, each in memory of its own: a runtime may write to what it is given."""
    return [x.numpy(force=True).copy(order="C") for x in inputs]


def tensors(results: Iterable[Any]) -> tuple[torch.Tensor, ...]:
    """What a runtime gave, in memory of its own: the next run may write to that."""
    return tuple(torch.from_numpy(np.array(result)) for result in results)


__all__ = ["arrays", "decomposed", "exported", "innermost", "loaded", "tensors"]
