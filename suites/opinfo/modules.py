"""PyTorch's own table of modules as sources of arguments: how a layer is built, in which mode, and what it is given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import torch as pytorch
from entries import MOST_ELEMENTS, SEED, STORABLE, Plan, as_inputs, copied, form, leaves, planned, replaced, seeded
from forms import member
from rows import Args
from variants import variants, weight

#: So many samples of a layer run in the static graph as well: the other families look at the graphs of layers.
IN_GRAPH = 1
#: Layers whose graph is not looked at, with the reason.
EAGER_ONLY = {"nn.CTCLoss": "PyTorch's own traced graph gives another loss than PyTorch"}
#: Elements of all parameters of a layer: PyTorch's own defaults make a Transformer of 44 million.
MOST_PARAMETERS = 1 << 16
#: Recurrent layers' constructors take anything; this is what they cannot do without.
RECURRENT = ("nn.RNN", "nn.GRU", "nn.LSTM")
RECURRENT_SIZES = ("input_size", "hidden_size")
#: So many of a layer's samples are looked at for one that can be called with the least arguments.
TRIED = 3


@dataclass(frozen=True, eq=False)
class Layer:
    """An entry of `module_db` in one mode; its id is the class and the mode, `nn.BatchNorm1d-eval`."""

    info: Any
    training: bool

    @property
    def id(self) -> str:
        """The class's name below `torch`; with the mode where the layer differs in them."""
        if not self.info.train_and_eval_differ:
            return str(self.info.name)
        return f"{self.info.name}-{'train' if self.training else 'eval'}"

    @functools.cached_property
    def plan(self) -> Plan:
        """The samples that are cases, chosen once, on PyTorch alone."""
        given = samples(self)
        obstacles = [_obstacle(self, sample) for sample in given]
        plan = planned(pytorch.float32, obstacles, [*map(_form, given)], IN_GRAPH)
        if self.info.name in EAGER_ONLY:
            plan = replace(plan, in_graph=(), eager=(*plan.in_graph, *plan.eager), reason=EAGER_ONLY[self.info.name])
        return plan

    def least(self) -> Any:
        """A sample of nothing but what the layer must be given, to be built and to be called; None where none of the
        first can be called so.
        """
        for sample in samples(self)[:TRIED]:
            if sample.forward_input is None:
                continue
            fewest = Sample(self._required(sample.constructor_input), _without(self._forward, sample.forward_input))
            if not _obstacle(self, fewest):
                return fewest
        return None

    def _required(self, made: Any) -> Args:
        if self.info.name in RECURRENT:
            return Args(
                tuple(made.args[:2]), {name: made.kwargs[name] for name in RECURRENT_SIZES if name in made.kwargs}
            )
        return _without(self.info.module_cls, made)

    @property
    def _forward(self) -> Callable[..., Any]:
        return functools.partial(self.info.module_cls.forward, None)

    @property
    def keeps(self) -> bool:
        """Whether what it is called with changes what it gives later: statistics of the batches it was trained on."""
        norm = pytorch.nn.modules.batchnorm._NormBase
        return self.training and issubclass(self.info.module_cls, norm)

    def call(self, sample: Any, build: Callable[..., Any], change: Callable[[Any], Any], times: int = 1) -> Any:
        """Build the layer of a sample with `build` and call it, its tensors as `change` has replaced them; the second
        time with other values.
        """
        made, given = sample.constructor_input, sample.forward_input
        layer = build(*change(tuple(made.args)), **change(dict(made.kwargs)))
        if not self.training:
            layer = layer.eval()
        args, kwargs = change(tuple(given.args)), change(dict(given.kwargs))
        results = []
        for _ in range(times):
            results.append(layer(*args, **kwargs))
            args = replaced(lambda item: item if isinstance(item, STORABLE) else item * 2 + 1, args)
        return results[0] if times == 1 else results

    def run(self, index: int) -> Any:
        """Build and call the dual layer, on sample `index` as the running case's inputs."""
        return self.apply(samples(self)[index])

    def apply(self, sample: Any, times: int = 1) -> Any:
        """Build and call the dual layer, with the tensors of a sample as the running case's inputs."""
        return self.call(sample, member(f"torch.{self.info.name}"), as_inputs(), times)


@dataclass(frozen=True)
class Sample:
    """What a layer is built with, and what it is called with."""

    constructor_input: Args
    forward_input: Args


def _without(function: Callable[..., Any], given: Any) -> Args:
    """What `function` is given, without its optional arguments."""
    known = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    needed = [parameter.name for parameter in known if parameter.default is parameter.empty]
    return Args(
        tuple(given.args[: len(needed)]), {name: value for name, value in given.kwargs.items() if name in needed}
    )


def modes(info: Any) -> list[Layer]:
    """An entry in training, and in evaluation where that is something else."""
    return [Layer(info, training) for training in ((True, False) if info.train_and_eval_differ else (True,))]


@functools.lru_cache(maxsize=1)  # the cases of one test follow each other
def samples(layer: Layer) -> tuple[Any, ...]:
    """All of PyTorch's samples of a layer in float32, the same each time."""
    with seeded(SEED):
        return tuple(
            layer.info.module_inputs_func(
                layer.info, device="cpu", dtype=pytorch.float32, requires_grad=True, training=layer.training
            )
        )


@functools.lru_cache(maxsize=1)  # the cases of one test follow each other
def looks(layer: Layer) -> tuple[Sample, ...]:
    """The sample that is called with the most arguments, of these the greatest, its tensors in every look in which
    PyTorch takes it.
    """
    usable = [samples(layer)[index] for index in sorted((*layer.plan.eager, *layer.plan.in_graph))]
    if not usable:
        return ()
    sample = max(usable, key=lambda sample: weight((sample.forward_input.args, sample.forward_input.kwargs)))
    given = sample.forward_input
    made = (variant.of((tuple(given.args), dict(given.kwargs)), pytorch.float32) for variant in variants())
    looking = (Sample(sample.constructor_input, Args(*tree)) for tree in made if tree is not None)
    return tuple(look for look in looking if not _obstacle(layer, look))


def _given(sample: Any) -> list[Any]:
    made, given = sample.constructor_input, sample.forward_input
    return leaves([tuple(made.args), dict(made.kwargs), tuple(given.args), dict(given.kwargs)])


def _form(sample: Any) -> Hashable:
    if sample.forward_input is None:
        return None
    return form(_given(sample)), tuple(sample.constructor_input.kwargs), tuple(sample.forward_input.kwargs)


class _TooLargeError(Exception):
    """A layer has more parameters than a Program is to hold."""


def _obstacle(layer: Layer, sample: Any) -> str:
    """Why a sample cannot be compared; empty where it can."""
    if issubclass(layer.info.module_cls, pytorch.nn.modules.lazy.LazyModuleMixin):
        return "its parameters are made by its first call, and both sides' could not be made the same before"
    if sample.forward_input is None:
        return "its samples do not call it"
    given = _given(sample)
    tensors = [leaf for leaf in given if isinstance(leaf, pytorch.Tensor)]
    for leaf in given:
        if not isinstance(leaf, (*STORABLE, pytorch.Tensor)):
            return f"its samples hold a {type(leaf).__name__}, which no Program can"
    if any(tensor.layout != pytorch.strided or tensor.is_nested for tensor in tensors):
        return "its samples hold a tensor that is not strided"
    if sum(tensor.numel() for tensor in tensors) > MOST_ELEMENTS:
        return f"its samples have more than {MOST_ELEMENTS} elements"
    drawn: list[Any] = []

    def build(*args: Any, **kwargs: Any) -> Any:
        built = layer.info.module_cls(*args, **kwargs)
        if sum(parameter.numel() for parameter in built.parameters()) > MOST_PARAMETERS:
            raise _TooLargeError
        drawn.append(pytorch.random.get_rng_state())  # what follows is its use
        return built

    with seeded(SEED):
        try:
            layer.call(sample, build, functools.partial(replaced, copied))
        except _TooLargeError:
            return f"its parameters have more than {MOST_PARAMETERS} elements"
        except Exception as error:
            return f"PyTorch refuses its samples with {type(error).__name__}"
        if not pytorch.equal(drawn[0], pytorch.random.get_rng_state()):
            return "it is random"
    return ""
