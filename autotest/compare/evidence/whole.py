"""The tensors of a divergence as they are, where they are small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autotest.compare.mismatch import Mismatch
from autotest.compare.values import short
from dual_object.program.values import Array
from dual_object.replay.observation import Seen

#: Elements of a tensor that one looks at whole.
MOST = 64


def whole(mismatch: Mismatch, tensors: Sequence[Seen | None]) -> dict[str, object] | None:
    """What reference, eager target and graph have, as rows of texts, and 1 where the two that were compared differ;
    None for a tensor without elements or of more than 64.

    The last dimension runs along the columns, all others together along the rows: shape (2, 3, 5) gives 6 rows of 5. A
    side that has not run, or has another shape, is None.
    """
    expected = mismatch.expected
    if not 0 < expected.size <= MOST:
        return None
    known = [tensor.data if tensor is not None and tensor.shape == expected.shape else None for tensor in tensors]
    sides = zip(("reference", "eager", "graph"), known, strict=True)
    return {
        "shape": list(expected.shape),
        **{
            name: None if data is None else [[f"{short(x)}" for x in row] for row in _rows(data)]
            for name, data in sides
        },
        "wrong": [[int(x) for x in row] for row in _rows(mismatch.mask)],
    }


def _rows(data: Array) -> Array:
    return np.asarray(data.reshape(-1, data.shape[-1] if data.ndim else 1))


__all__ = ["MOST", "whole"]
