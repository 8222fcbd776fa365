"""How a script speaks to a framework that has a table: how it imports it, makes a tensor, and reads one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import dual_object.adapters
from dual_object.adapters.dialect import Row, table


@dataclass(frozen=True, slots=True)
class Speech:
    """A framework as a script needs it.

    Attributes:
        root: what its functions are called below.
        imports: the lines that import it.
        tensor: an expression that makes a tensor of `{array}` and `{dtype}`; `leaf`: the same of one whose gradient is
            kept.
        read: an expression that gives the values of `{value}` as an array.
        state: a statement that sets what `{layer}` holds under `{name}` to `{array}`; empty where a script sets none.
        backward: a statement that differentiates `{outputs}` from `{starts}`; `gradient`: an expression of what that
            leaves in `{leaf}`. Empty where a script does not differentiate.
    """

    root: str
    imports: tuple[str, ...]
    tensor: str
    leaf: str
    read: str
    backward: str = ""
    gradient: str = ""
    state: str = ""


SPEECHES: Mapping[str, Speech] = MappingProxyType(
    {
        "paddle": Speech(
            "paddle",
            ("import paddle",),
            'paddle.to_tensor({array}, dtype="{dtype}")',
            'paddle.to_tensor({array}, dtype="{dtype}", stop_gradient=False)',
            '({value}.astype("float32") if {value}.dtype == paddle.bfloat16 else {value}).numpy()',
            "paddle.autograd.backward([{outputs}], [{starts}])",
            "{leaf}.grad",
            "{layer}.{name}.set_value({array})",
        ),
        "jax": Speech(
            "jax",
            ("import jax", "import jax.numpy", 'jax.config.update("jax_enable_x64", True)'),
            'jax.numpy.asarray({array}, dtype="{dtype}")',
            'jax.numpy.asarray({array}, dtype="{dtype}")',
            "np.asarray({value})",
        ),
    }
)


@cache
def rows(target: str) -> Mapping[str, Row]:
    """The table of a built-in target, by PyTorch's path; raises DialectError."""
    return MappingProxyType(table(Path(dual_object.adapters.__path__[0]) / target))


__all__ = ["SPEECHES", "Speech", "rows"]
