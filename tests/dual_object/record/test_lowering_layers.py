"""Each layer of PyTorch, lowered: its functions give bit for bit what it gives."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch as pytorch

from autotest.conformance.bodies import assert_same, integers, record, tensor, torch
from dual_object import Replay
from dual_object.errors import NotLowered
from dual_object.record.lowering import lower
from dual_object.replay.adapter import Reference, load_reference

nn = torch.nn
#: Classes that are no layers: others derive from them.
BASES = {"Container", "Module", "RNNBase", "RNNCellBase"}
#: Layers that cannot be lowered, or not be recorded at all, and why.
UNLOWERED = {
    "CrossMapLRN2d": "CrossMapLRN2d calls pow with out=",
    **dict.fromkeys(
        (
            *(f"LazyConv{n}d" for n in (1, 2, 3)),
            *(f"LazyConvTranspose{n}d" for n in (1, 2, 3)),
            *(f"LazyBatchNorm{n}d" for n in (1, 2, 3)),
            *(f"LazyInstanceNorm{n}d" for n in (1, 2, 3)),
            "LazyLinear",
        ),
        "Attempted to use an uninitialized parameter",
    ),
}
#: What some samples of a layer cannot be lowered for: the average of BatchNorm is a count of calls, read to Python.
IN_PART = {
    name: f"{name} reads values to Python by Tensor.__float__" for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
}
#: So many of PyTorch's own samples of a layer, in each mode.
SAMPLES = 3
#: Layers so large that one of their samples will do.
LARGE = {"Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer", "LinearCrossEntropyLoss"}


def _unpool(n: int) -> Any:
    x, indices = getattr(nn, f"MaxPool{n}d")(2, return_indices=True)(tensor(1, 2, *[4] * n))
    return getattr(nn, f"MaxUnpool{n}d")(2)(x, indices)


def _fractional(n: int) -> Any:
    return getattr(nn, f"FractionalMaxPool{n}d")(2, output_size=2, return_indices=True)(tensor(1, 2, *[5] * n))


def _parameters() -> Any:
    held = nn.ParameterList([nn.Parameter(tensor(3)), nn.Parameter(tensor(3))])
    return held[0] * held[1] * tensor(3)


def _parameter_dict() -> Any:
    held = nn.ParameterDict({"a": nn.Parameter(tensor(3))})
    return held["a"] * tensor(3)


def _dict() -> Any:
    held = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.ReLU()})
    return held["b"](held["a"](tensor(2, 3)))


def _list() -> Any:
    held = nn.ModuleList([nn.Linear(3, 4), nn.Tanh()])
    return held[1](held[0](tensor(2, 3)))


def _transformer(kind: str, *given: Any, **options: Any) -> Any:
    layer = getattr(nn, f"Transformer{kind}Layer")(4, 2, 8, dropout=0.0)
    return getattr(nn, f"Transformer{kind}")(layer, 2, **options)(*given)


#: Layers that PyTorch's table of modules has not, or whose samples no Program can hold.
BODIES: dict[str, Callable[[], Any]] = {
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5])(tensor(3, 4), integers(0, 1, 0)),
    "AlphaDropout": lambda: nn.AlphaDropout(0.4)(tensor(3, 4)),
    "ChannelShuffle": lambda: nn.ChannelShuffle(2)(tensor(1, 4, 2, 2)),
    "CosineSimilarity": lambda: nn.CosineSimilarity()(tensor(2, 3), tensor(2, 3)),
    "CrossMapLRN2d": lambda: nn.CrossMapLRN2d(2)(tensor(1, 3, 4, 4)),
    "DataParallel": lambda: nn.DataParallel(nn.Linear(3, 4))(tensor(2, 3)),
    "Dropout": lambda: nn.Dropout(0.4)(tensor(3, 4)),
    "Dropout1d": lambda: nn.Dropout1d(0.4)(tensor(2, 3, 4)),
    "Dropout2d": lambda: nn.Dropout2d(0.4)(tensor(2, 3, 4, 4)),
    "Dropout3d": lambda: nn.Dropout3d(0.4)(tensor(2, 3, 4, 4, 4)),
    "EmbeddingBag": lambda: nn.EmbeddingBag(5, 3, mode="sum")(integers(0, 4, 2, 1), integers(0, 2)),
    "FeatureAlphaDropout": lambda: nn.FeatureAlphaDropout(0.4)(tensor(2, 3, 4)),
    "Flatten": lambda: nn.Flatten()(tensor(2, 3, 4)),
    "Fold": lambda: nn.Fold((3, 3), 2)(tensor(1, 8, 4)),
    "FractionalMaxPool2d": lambda: _fractional(2),
    "FractionalMaxPool3d": lambda: _fractional(3),
    "Hardsigmoid": lambda: nn.Hardsigmoid()(tensor(3, low=-4, high=4)),
    "Identity": lambda: nn.Identity()(tensor(3)),
    "LazyLinear": lambda: nn.LazyLinear(4)(tensor(2, 3)),
    "MaxUnpool1d": lambda: _unpool(1),
    "MaxUnpool2d": lambda: _unpool(2),
    "MaxUnpool3d": lambda: _unpool(3),
    "ModuleDict": _dict,
    "ModuleList": _list,
    "NLLLoss2d": lambda: nn.NLLLoss2d()(tensor(1, 3, 2, 2), tensor(data=[[[0, 2], [1, 1]]], dtype="int64")),
    "PairwiseDistance": lambda: nn.PairwiseDistance()(tensor(2, 3), tensor(2, 3)),
    "ParameterDict": _parameter_dict,
    "ParameterList": _parameters,
    "PixelShuffle": lambda: nn.PixelShuffle(2)(tensor(1, 4, 2, 2)),
    "PixelUnshuffle": lambda: nn.PixelUnshuffle(2)(tensor(1, 1, 4, 4)),
    "RReLU": lambda: nn.RReLU()(tensor(3, 4)),
    "Sequential": lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))(tensor(5, 3)),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(2)(tensor(3, 2, 4)),
    "TransformerDecoder": lambda: _transformer("Decoder", tensor(3, 2, 4), tensor(5, 2, 4)),
    "TransformerEncoder": lambda: _transformer("Encoder", tensor(3, 2, 4), enable_nested_tensor=False),
    "TripletMarginLoss": lambda: nn.TripletMarginLoss()(tensor(2, 3), tensor(2, 3), tensor(2, 3)),
    "TripletMarginWithDistanceLoss": lambda: nn.TripletMarginWithDistanceLoss()(
        tensor(2, 3), tensor(2, 3), tensor(2, 3)
    ),
    "Unflatten": lambda: nn.Unflatten(1, (2, 3))(tensor(2, 6)),
    "Unfold": lambda: nn.Unfold(2)(tensor(1, 2, 3, 3)),
    "Upsample": lambda: nn.Upsample(scale_factor=2)(tensor(1, 2, 3, 3)),
    "UpsamplingBilinear2d": lambda: nn.UpsamplingBilinear2d(scale_factor=2)(tensor(1, 2, 3, 3)),
    "UpsamplingNearest2d": lambda: nn.UpsamplingNearest2d(scale_factor=2)(tensor(1, 2, 3, 3)),
    **{
        f"LazyBatchNorm{n}d": lambda n=n: getattr(nn, f"LazyBatchNorm{n}d")()(tensor(2, 3, *[2] * n)) for n in (1, 2, 3)
    },
    **{
        f"LazyInstanceNorm{n}d": lambda n=n: getattr(nn, f"LazyInstanceNorm{n}d")(affine=True)(tensor(2, 3, *[2] * n))
        for n in (1, 2, 3)
    },
}
LAYERS = sorted(
    name
    for name, member in vars(pytorch.nn).items()
    if inspect.isclass(member) and issubclass(member, pytorch.nn.Module) and name not in BASES
)


def _dual(value: Any) -> Any:
    """A sample's value with its tensors as inputs of the running case."""
    if isinstance(value, pytorch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return tensor(data=value.detach().numpy(), dtype=dtype, grad=value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_dual, value))
    return {key: _dual(item) for key, item in value.items()} if isinstance(value, dict) else value


def _sampled(info: Any) -> Iterator[Callable[[], Any]]:
    """Bodies of PyTorch's own samples of a layer."""
    name = info.module_cls.__name__
    for training in (True, False) if info.train_and_eval_differ else (True,):
        samples = info.module_inputs_func(
            info, device="cpu", dtype=pytorch.float32, requires_grad=True, training=training
        )
        for sample in itertools.islice(samples, 1 if name in LARGE else SAMPLES):
            made, given = sample.constructor_input, sample.forward_input
            if given is None:
                continue

            def body(made: Any = made, given: Any = given, training: bool = training) -> Any:
                layer = getattr(nn, name)(*_dual(made.args), **_dual(made.kwargs))
                if not training:
                    layer = layer.eval()
                return layer(*_dual(given.args), **_dual(given.kwargs))

            yield body


@pytest.fixture(scope="module")
def reference() -> Reference:
    """PyTorch."""
    return load_reference()


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """PyTorch's table of modules. It takes two seconds to import, which only the process waits for that needs it."""
    from torch.testing._internal.common_modules import module_db

    return {info.module_cls.__name__: info for info in module_db}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAYERS)
def test_bit_for_bit(name: str, reference: Reference, table: dict[str, Any]) -> None:
    """Outputs, gradients and buffers are those of the layer; or there is a reason why it cannot be asked."""
    with pytorch.random.fork_rng():
        pytorch.manual_seed(0)
        bodies = [BODIES[name]] if name in BODIES else list(_sampled(table[name]))
    assert bodies
    if name in UNLOWERED:
        with pytest.raises((NotLowered, ValueError)) as told:
            lower(record(bodies[0], reference).program, reference)
        assert str(told.value).startswith(UNLOWERED[name])
        return
    reasons: set[str] = set()
    lowered = 0
    for body in bodies:
        recorded = record(body, reference)
        try:
            lowering = lower(recorded.program, reference)
        except NotLowered as reason:
            reasons.add(str(reason))
            continue
        lowered += 1
        assert not any(lowering.program.modules())
        assert all(call.kind != "call" for call in lowering.program.calls)
        with reference.random_apart():
            reference.seed(0)
            seen = lowering.restored(Replay(reference, lowering.program).run())
        assert lowering.shown is not None
        assert_same(lowering.shown if recorded.program.random else recorded.seen, seen)
    assert lowered
    assert reasons == {reason for layer, reason in IN_PART.items() if layer == name}


def test_nearly_all() -> None:
    """At least 140 of PyTorch's layers are lowered; each reason is about a layer that there is."""
    assert len(LAYERS) - len(UNLOWERED) >= 140
    assert UNLOWERED.keys() <= set(LAYERS)
    assert not BASES & BODIES.keys()
