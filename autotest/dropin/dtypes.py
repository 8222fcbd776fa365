"""Dtypes drawn by the names of their families, as OneFlow's harness after 0.9.0 has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.dropin.generators import generator, source
from autotest.errors import UsageError
from autotest.run.session import running_session

_SIGNED = ("int8", "int32", "int64")
_FLOAT = ("float32", "float64")
_ARITHMETIC = (*_FLOAT, *_SIGNED)
FAMILIES = {
    "None": (),
    "bool": ("bool",),
    "float": _FLOAT,
    "floating": _FLOAT,
    "half": ("float16",),
    "bfloat16": ("bfloat16",),
    "int": _SIGNED,
    "signed": _SIGNED,
    "unsigned": ("uint8",),
    "image": ("uint8", "float32"),
    "index": ("int32", "int64"),
    "arithmetic": _ARITHMETIC,
    "pod": (*_ARITHMETIC, "uint8", "bool"),
    "all": (*_ARITHMETIC, "float16", "bfloat16"),
    "complex": ("complex64", "complex128"),
}


class random_pytorch_dtype(generator):  # noqa: N801 - OneFlow's own name
    """A PyTorch dtype of one of the named families; `None` stands for no dtype at all."""

    def __init__(self, seq_names: Sequence[str] | str = ("all",)) -> None:
        super().__init__([])
        names = [seq_names] if isinstance(seq_names, str) else list(seq_names)
        for name in names:
            if name not in FAMILIES:
                raise UsageError(
                    f"seq_names={name!r}, but should be one of {', '.join(FAMILIES)} [random_pytorch_dtype(...)]"
                )
        self.data_type_seq = [dtype for name in names for dtype in (FAMILIES[name] or (None,))]

    def _calc_value(self) -> Any:
        chosen = self.data_type_seq[source().index(len(self.data_type_seq))]
        return None if chosen is None else running_session().reference.resolve(chosen)


class random_dtype(random_pytorch_dtype):  # noqa: N801 - OneFlow's own name
    """As `random_pytorch_dtype`, under its older name."""
