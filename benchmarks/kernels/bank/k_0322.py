"""Sort by NumPy's argsort, with the values gathered afterwards."""

import numpy as np
import torch


def sort(input, dim=-1, descending=False, stable=False):
    """Sorted values and their places along `dim`, for float32 and float64."""
    if input.dim() == 0:
        return torch.return_types.sort((input.clone(), torch.zeros((), dtype=torch.int64)))
    rows = input.detach().movedim(dim, -1).numpy()
    # NaN sorts last in NumPy as here; downwards, a stable order of equals needs the rows reversed twice.
    if descending:
        places = np.flip(rows.shape[-1] - 1 - np.argsort(np.flip(rows, -1), axis=-1, kind="stable"), -1)
    else:
        places = np.argsort(rows, axis=-1, kind="stable")
    places = torch.from_numpy(np.ascontiguousarray(places)).movedim(-1, dim).contiguous()
    values = torch.gather(input, dim, places)
    if not descending and rows.flags.c_contiguous and not input.requires_grad:
        rows.sort(axis=-1)
    return torch.return_types.sort((values, places))
