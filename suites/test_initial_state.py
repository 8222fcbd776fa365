"""What layers hold when they have been made."""

from __future__ import annotations

import pytest
from initial_state import initial, spread

from autotest import autotest, dual, torch

of = dual(reference=initial, target=initial, name="initial_state")
widths_of = dual(reference=spread, target=spread, name="initial_spread")

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
    ("Embedding", {"num_embeddings": 4, "embedding_dim": 3, "padding_idx": -1}, ["weight[3]"]),
    ("MultiheadAttention", {"embed_dim": 4, "num_heads": 2}, ["in_proj_bias", "out_proj.bias"]),
]


_MANY = 2500
#: Layers, what makes them, and how wide their random tensors are spread.
RANDOM = [
    ("Linear", {"in_features": 25, "out_features": _MANY}, {"weight": 1 / 5, "bias": 1 / 5}),
    (
        "Bilinear",
        {"in1_features": 25, "in2_features": 4, "out_features": _MANY},
        {"weight": 1 / 5, "bias": 1 / 5},
    ),
    ("ConvTranspose3d", {"in_channels": 1, "out_channels": _MANY, "kernel_size": 2}, {"weight": 0.01, "bias": 0.01}),
    ("Conv1d", {"in_channels": 5, "out_channels": _MANY, "kernel_size": 5}, {"weight": 1 / 5, "bias": 1 / 5}),
    ("Conv2d", {"in_channels": 4, "out_channels": _MANY, "kernel_size": 5}, {"weight": 1 / 10, "bias": 1 / 10}),
    (
        "Conv2d",
        {"in_channels": 4, "out_channels": _MANY, "kernel_size": (5, 5), "groups": 4},
        {"weight": 1 / 5, "bias": 1 / 5},
    ),
    ("Conv3d", {"in_channels": 2, "out_channels": _MANY, "kernel_size": 2}, {"weight": 1 / 4, "bias": 1 / 4}),
    ("ConvTranspose1d", {"in_channels": 1, "out_channels": _MANY, "kernel_size": 4}, {"weight": 0.01, "bias": 0.01}),
    ("ConvTranspose2d", {"in_channels": 1, "out_channels": _MANY, "kernel_size": 2}, {"weight": 0.01, "bias": 0.01}),
    *(
        (
            name,
            {"input_size": 3, "hidden_size": 400},
            dict.fromkeys(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), 1 / 20),
        )
        for name in ("RNN", "LSTM", "GRU")
    ),
    *(
        (
            name,
            {"input_size": 3, "hidden_size": 400},
            dict.fromkeys(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), 1 / 20),
        )
        for name in ("RNNCell", "LSTMCell", "GRUCell")
    ),
    ("Embedding", {"num_embeddings": 100, "embedding_dim": 100}, {"weight": -1.0}),
    (
        "MultiheadAttention",
        {"embed_dim": 150, "num_heads": 2},
        {"in_proj_weight": 1 / 10, "out_proj.weight": 150**-0.5},
    ),
]


def _called(layer, arguments, held):
    said = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"{layer}({said})"


@pytest.mark.parametrize(("layer", "arguments", "held"), MADE, ids=[_called(*row) for row in MADE])
@autotest(n=1, auto_backward=False, check_graph=False, coverage="none")
def test_new(layer, arguments, held):
    return of(torch.ones(1), layer, arguments, held)


@pytest.mark.parametrize(
    ("layer", "arguments", "widths"), RANDOM, ids=[_called(layer, arguments, {}) for layer, arguments, _ in RANDOM]
)
@autotest(n=1, auto_backward=False, check_graph=False, coverage="none")
def test_random(layer, arguments, widths):
    return widths_of(torch.ones(1), layer, arguments, widths)


@autotest(n=1, auto_backward=False, check_graph=False, coverage="none")
def test_state_of_buffers():
    """One that is not persistent is none of a layer's state."""
    m = torch.nn.ReLU()
    m.register_buffer("kept", torch.ones(2))
    m.register_buffer("left_out", torch.zeros(3), persistent=False)
    return list(m.state_dict().values())


@pytest.mark.parametrize("arguments", [{}, {"freeze": False}, {"padding_idx": 1}], ids=["default", "free", "padded"])
@autotest(n=1, check_graph=False, coverage="none", missing="count")
def test_of_given_weights(arguments):
    """They are frozen unless it is said otherwise."""
    m = torch.nn.Embedding.from_pretrained(torch.ones(3, 2), **arguments)
    return m(torch.tensor([0, 1, 2])), m.weight * 1
