"""The tables that PyTorch tests itself with: which ops and layers there are, and what each is called by."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from dual_object.adapters.torch.kernels.samples.table import silent
from dual_object.errors import TargetError


@dataclass(frozen=True, slots=True)
class TableOp:
    """An op of `op_db`, or a layer of `module_db`.

    Attributes:
        name: as its table has it, with the entry's variant: `linalg.norm`, `norm.nuc`, `nn.Conv2d`.
        path: below `torch`: `norm` for `norm.nuc`.
        names: what a Program calls it by, its aliases, methods and writing forms included.
        variant: whether the entry is about one form of an op.
    """

    table: Literal["ops", "layers"]
    name: str
    path: str
    names: frozenset[str]
    variant: bool = False


def table_ops() -> list[TableOp]:
    """All ops and all layers, in PyTorch's order; takes as long as PyTorch's own tests take to begin, some seconds.

    Raises TargetError where PyTorch's tables cannot be imported.
    """
    with warnings.catch_warnings(), silent():
        warnings.simplefilter("ignore")
        try:
            from torch.testing._internal.common_methods_invocations import op_db
            from torch.testing._internal.common_modules import module_db
        except ImportError as error:
            raise TargetError(
                f"PyTorch's tables of ops cannot be imported: {error} [op-autotest's extra suites]"
            ) from None
    ops = [
        TableOp("ops", info.full_name, _path(info), frozenset(_names(info)), bool(info.variant_test_name))
        for info in op_db
    ]
    layers = [TableOp("layers", info.name, info.name, frozenset({_last(info.name)})) for info in module_db]
    return [*ops, *layers]


def _path(info: Any) -> str:
    return str(info.name).removeprefix("torch.")


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _names(info: Any) -> Iterator[str]:
    for one in (info, *info.aliases):
        yield _last(one.name)
        for form in (one.method_variant, one.inplace_variant):
            name = getattr(form, "__name__", "")
            if name and not name.startswith("__"):
                yield name


__all__ = ["TableOp", "table_ops"]
