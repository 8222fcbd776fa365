"""What a layer holds when it has been made: in a case both sides' layers are given the same values instead."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from buffers import framework


def spread(like: Any, layer: str, arguments: Mapping[str, Any], widths: Mapping[str, float]) -> list[Any]:
    """How wide the random tensors of a new layer are spread, by their names: the greatest of uniform numbers, as a part
    of the width that they should have, to a tenth; of a negative width's the deviation of normal ones. Of thousands of
    numbers either is within a hundredth. PyTorch's generator goes on from where it was: this is no random number.
    """
    flow = framework(like)
    with flow.random.fork_rng() if flow.__name__ == "torch" else contextlib.nullcontext():
        state = getattr(flow.nn, layer)(**arguments).state_dict()
    parts = [state[name].abs().max() if width > 0 else state[name].std() for name, width in widths.items()]
    return [like * round(part.item() / abs(width), 1) for part, width in zip(parts, widths.values(), strict=True)]


def initial(like: Any, layer: str, arguments: Mapping[str, Any], held: Sequence[str]) -> list[Any]:
    """Those tensors of a new layer, by their names in its `state_dict()`, that are no random ones; of `weight[0]` the
    first row. `like` says of which framework.
    """
    state = getattr(framework(like).nn, layer)(**arguments).state_dict()
    parts = [name.partition("[") for name in held]
    return [(state[name][int(row[:-1])] if row else state[name]).detach() * 1 for name, _, row in parts]
