"""What layers hold when they have been made."""

from __future__ import annotations

import pytest
from initial_state import initial

from autotest import autotest, dual, torch

of = dual(reference=initial, target=initial, name="initial_state")

_AFFINE = ["weight", "bias"]
_RUNNING = ["running_mean", "running_var", "num_batches_tracked"]
MADE = [
    ("PReLU", {}, ["weight"]),
    ("PReLU", {"num_parameters": 3, "init": 0.5}, ["weight"]),
    ("PReLU", {"num_parameters": 3}, ["weight"]),
    ("LayerNorm", {"normalized_shape": 3}, _AFFINE),
    ("GroupNorm", {"num_groups": 2, "num_channels": 4}, _AFFINE),
    *((f"BatchNorm{n}d", {"num_features": 3}, [*_AFFINE, *_RUNNING]) for n in (1, 2, 3)),
    ("BatchNorm2d", {"num_features": 3, "affine": False}, _RUNNING),
    *(
        (f"InstanceNorm{n}d", {"num_features": 3, "affine": True, "track_running_stats": True}, [*_AFFINE, *_RUNNING])
        for n in (1, 2, 3)
    ),
    ("Embedding", {"num_embeddings": 4, "embedding_dim": 3, "padding_idx": 0}, ["weight[0]"]),
]


def _called(layer, arguments, held):
    said = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"{layer}({said})"


@pytest.mark.parametrize(("layer", "arguments", "held"), MADE, ids=[_called(*row) for row in MADE])
@autotest(n=1, auto_backward=False, check_graph=False, coverage="none")
def test_new(layer, arguments, held):
    return of(torch.ones(1), layer, arguments, held)
