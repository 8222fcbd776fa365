"""Radix sort: sixteen bits at a time, from the lowest, each pass stable."""

import numpy as np
import torch


def _keys(rows):
    """Whole numbers in the order of the elements; both zeros are one, NaN is the largest."""
    plain = rows + 0.0
    wide = np.uint32 if rows.dtype == np.float32 else np.uint64
    bits = plain.view(wide)
    top = wide(1) << wide(wide(0).itemsize * 8 - 1)
    keys = np.where(bits & top, ~bits, bits | top)
    keys[np.isnan(rows)] = ~wide(0)
    return keys


def _order(keys):
    places = np.broadcast_to(np.arange(keys.shape[-1]), keys.shape).copy()
    for shift in range(0, keys.itemsize * 8, 16):
        digits = ((keys >> keys.dtype.type(shift)) & keys.dtype.type(0xFFFF)).astype(np.uint16)
        turn = np.argsort(np.take_along_axis(digits, places, -1), axis=-1, kind="stable")
        places = np.take_along_axis(places, turn, -1)
    return places


def sort(input, dim=-1, descending=False, stable=False):
    """Sorted elements and their places along `dim`, stable, for float32 and float64."""
    if not input.dim():
        if dim not in (0, -1):
            raise IndexError(f"dim={dim} is out of range for no dimensions")
        return torch.return_types.sort((input.clone(), torch.zeros((), dtype=torch.int64)))
    rows = np.ascontiguousarray(input.detach().movedim(dim, -1).numpy())
    with np.errstate(all="ignore"):
        keys = _keys(rows)
    places = _order(~keys if descending else keys)
    places = torch.from_numpy(places).movedim(-1, dim).contiguous()
    return torch.return_types.sort((torch.gather(input, dim, places), places))
