"""Faults in what a layer keeps, in what its mode changes, and in what is random."""

from __future__ import annotations

from typing import Any

from benchmarks.mutation.fault import Fault, World


def _kept(module: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(module, name).clone() for name in names}


def _put_back(module: Any, kept: dict[str, Any]) -> None:
    for name, value in kept.items():
        getattr(module, name).copy_(value)


def _biased(w: World, op: Any, self: Any, x: Any) -> Any:
    if w.building or not self.training:
        return op(self, x)
    old = self.running_var.clone()
    result = op(self, x)
    count = x.nelement() // x.shape[1]
    step = self.running_var - old * (1 - self.momentum)
    self.running_var.copy_(old * (1 - self.momentum) + step * ((count - 1) / count))
    return result


def _momentum(w: World, op: Any, self: Any, x: Any) -> Any:
    if w.building or not self.training:
        return op(self, x)
    old = self.running_mean.clone()
    result = op(self, x)
    batch = (self.running_mean - old * (1 - self.momentum)) / self.momentum
    self.running_mean.copy_(old * self.momentum + batch * (1 - self.momentum))
    return result


def _not_counted(w: World, op: Any, self: Any, x: Any) -> Any:
    if w.building or not self.training:
        return op(self, x)
    kept = _kept(self, "num_batches_tracked")
    result = op(self, x)
    _put_back(self, kept)
    return result


def _not_saved(w: World, op: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    op(self, *args, **kwargs)
    self._non_persistent_buffers_set.add("running_var")


def _renamed(w: World, op: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    state = op(self, *args, **kwargs)
    return type(state)((key.replace("bias", "beta"), value) for key, value in state.items())


def _writes_weight(w: World, op: Any, self: Any, x: Any) -> Any:
    result = op(self, x)
    if not w.building:
        self.weight.detach().mul_(0.99)
    return result


def _eval_writes(w: World, op: Any, self: Any, x: Any) -> Any:
    result = op(self, x)
    if not self.training and not w.building:
        self.running_mean.mul_(0.9)
    return result


def _eval_by_batch(w: World, op: Any, self: Any, x: Any) -> Any:
    if self.training or w.building:
        return op(self, x)
    kept = _kept(self, "running_mean", "running_var", "num_batches_tracked")
    self.training = True
    result = op(self, x)
    self.training = False
    _put_back(self, kept)
    return result


def _train_by_statistics(w: World, op: Any, self: Any, x: Any) -> Any:
    if not self.training or w.building:
        return op(self, x)
    self.training = False
    result = op(self, x)
    self.training = True
    return result


def _train_alone(w: World, op: Any, self: Any, mode: bool = True) -> Any:
    self.training = mode
    return self


def _always_dropping(w: World, op: Any, self: Any, x: Any) -> Any:
    return w.flow._C.dropout(x, self.p)


def _other_mask(w: World, op: Any, self: Any, x: Any) -> Any:
    if not self.training:
        return op(self, x)
    again = op(self, x)
    return op(self, x).detach() + (again - again.detach())


def _same_mask(w: World, op: Any, x: Any, p: float, training: bool) -> Any:
    if w.building or not training:
        return op(x, p, training)
    key = ("dropout", tuple(x.shape))
    if key not in w.memory:
        w.memory[key] = op(w.flow.ones_like(x).detach(), p, True)
    return x * w.memory[key]


def _remembered(w: World, op: Any, *size: int) -> Any:
    key = ("rand", size)
    if not w.building:
        w.memory[key] = op(*size)
        return w.memory[key]
    return w.memory.get(key, op(*size))


STATES = (
    Fault("BatchNorm1d-biased", "state", "BatchNorm1d", "keeps the biased variance", _biased, "nn.BatchNorm1d.forward"),
    Fault(
        "BatchNorm2d-momentum",
        "state",
        "BatchNorm2d",
        "takes momentum for the weight of the old mean",
        _momentum,
        "nn.BatchNorm2d.forward",
    ),
    Fault(
        "BatchNorm3d-not-counted",
        "state",
        "BatchNorm3d",
        "does not count its batches",
        _not_counted,
        "nn.BatchNorm3d.forward",
    ),
    Fault(
        "BatchNorm3d-not-saved",
        "state",
        "BatchNorm3d",
        "leaves running_var out of its state_dict",
        _not_saved,
        "nn.BatchNorm3d.__init__",
    ),
    Fault(
        "LayerNorm-beta",
        "state",
        "LayerNorm",
        "calls its bias beta in its state_dict",
        _renamed,
        "nn.LayerNorm.state_dict",
    ),
    Fault(
        "Conv1d-decays",
        "state",
        "Conv1d",
        "changes its weight in its forward",
        _writes_weight,
        "nn.Conv1d.forward",
    ),
)

MODES = (
    Fault("Dropout-always", "mode", "Dropout", "drops in evaluation, too", _always_dropping, "nn.Dropout.forward"),
    Fault(
        "BatchNorm1d-eval-batch",
        "mode",
        "BatchNorm1d",
        "uses the batch's statistics in evaluation",
        _eval_by_batch,
        "nn.BatchNorm1d.forward",
    ),
    Fault(
        "BatchNorm2d-eval-writes",
        "mode",
        "BatchNorm2d",
        "moves its running mean in evaluation",
        _eval_writes,
        "nn.BatchNorm2d.forward",
    ),
    Fault(
        "BatchNorm3d-train-running",
        "mode",
        "BatchNorm3d",
        "uses its running statistics in training",
        _train_by_statistics,
        "nn.BatchNorm3d.forward",
    ),
    Fault(
        "Sequential-train-alone",
        "mode",
        "Sequential",
        "does not hand its mode on to its layers",
        _train_alone,
        "nn.Sequential.train",
        reason="it turns the test red, but of the program as a whole: a module made of modules is not run alone",
    ),
    Fault(
        "dropout-not-training",
        "mode",
        "dropout",
        "drops with training=False",
        lambda w, op, x, p, training: op(x, p, True),
        "nn.functional.dropout",
    ),
)

RANDOM = (
    Fault(
        "dropout-keeps-p",
        "random",
        "dropout",
        "keeps a share of p",
        lambda w, op, x, p, training: op(x, 1 - p, training),
        "nn.functional.dropout",
    ),
    Fault(
        "dropout-same-mask",
        "random",
        "dropout",
        "drops the same elements each time",
        _same_mask,
        "nn.functional.dropout",
    ),
    Fault(
        "Dropout-not-scaled",
        "random",
        "Dropout",
        "does not scale what it keeps",
        lambda w, op, self, x: op(self, x) * (1 - self.p) if self.training else op(self, x),
        "nn.Dropout.forward",
    ),
    Fault(
        "Dropout-gradient",
        "random",
        "Dropout",
        "draws another mask for its gradient",
        _other_mask,
        "nn.Dropout.forward",
    ),
    Fault("rand-wide", "random", "rand", "draws from [0, 1.25)", lambda w, op, *size: op(*size) * 1.25),
    Fault("rand-graph-constant", "random", "rand", "is a constant in a graph", _remembered),
    Fault("randn-narrow", "random", "randn", "draws with a deviation of 0.8", lambda w, op, *size: op(*size) * 0.8),
    Fault(
        "randint-inclusive",
        "random",
        "randint",
        "draws the upper bound, too",
        lambda w, op, low, high, size: op(low, high + 1, size),
    ),
    Fault(
        "randperm-sorted",
        "random",
        "randperm",
        "does not shuffle",
        lambda w, op, n: w.flow._C.arange(0, n, 1, dtype=w.flow.int64),
    ),
    Fault(
        "bernoulli-half",
        "random",
        "bernoulli",
        "draws with a probability of one half",
        lambda w, op, p: op(w.flow.full_like(p, 0.5)),
    ),
    Fault(
        "normal-mean-lost",
        "random",
        "normal",
        "has the mean 0",
        lambda w, op, mean, std, size: op(0.0, std, size=size),
    ),
)

FAULTS = (*STATES, *MODES, *RANDOM)
