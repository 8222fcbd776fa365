"""What the documentation of optimizers and schedules says of their states, eagerly. One test a sentence."""

from __future__ import annotations

from functools import partial
from math import inf, isnan, nan

import pytest
from graphs import batch, linear, mean_square, near, train_eagerly

from autotest import contract

eager = partial(contract, target="oneflow")
#: What makes an optimizer with a state, by its name.
OPTIMIZERS = {
    "SGD": {"lr": 0.05, "momentum": 0.9},
    "Adam": {"lr": 0.05},
    "AdamW": {"lr": 0.05, "amsgrad": True},
    "Adagrad": {"lr": 0.05, "lr_decay": 0.1},
    "Adadelta": {"lr": 0.5},
    "RMSprop": {"lr": 0.05, "centered": True},
    "LAMB": {"lr": 0.05},
}
#: How many tensors each of these keeps for a parameter.
KEPT = {"SGD": 1, "Adam": 2, "AdamW": 3, "Adagrad": 1, "Adadelta": 2, "RMSprop": 2, "LAMB": 2}
#: What makes a schedule of an optimizer, by its name.
SCHEDULES = {
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 4], "gamma": 0.5},
    "ExponentialLR": {"gamma": 0.5},
    "ConstantLR": {"factor": 0.5, "total_iters": 4},
    "LinearLR": {"start_factor": 0.1, "total_iters": 5},
    "CosineAnnealingLR": {"T_max": 5},
    "CosineAnnealingWarmRestarts": {"T_0": 4},
    "ReduceLROnPlateau": {"factor": 0.5, "patience": 1},
}
#: What a schedule that looks at a loss is told: it is best at the second step.
LOSSES = (3.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0)


def optimizer(flow, module, name="SGD", **changed):
    return getattr(flow.optim, name)(module.parameters(), **OPTIMIZERS[name] | changed)


def assert_goes_on(flow, fresh, other=None):
    """Training goes on from a loaded state as without a break. `fresh` makes a module and its optimizer, and so does
    `other` for those that load.
    """

    def in_the_middle():
        module, made = fresh()
        train_eagerly(flow, module, made, 3)
        return module, made

    first, second = in_the_middle(), (other or fresh)()
    for old, new in zip(first, second, strict=True):
        new.load_state_dict(old.state_dict())
    given, expected = train_eagerly(flow, *second, 3), train_eagerly(flow, *in_the_middle(), 3)
    assert given == expected, f"the losses are {given}, without a break {expected}"


def assert_goes_on_after(flow, name, happens):
    """Training goes on after what happens to the optimizer in the middle, as without it."""

    def trained(between):
        module = linear(flow)
        made = optimizer(flow, module, name)
        first = train_eagerly(flow, module, made, 3)
        between(made)
        return first + train_eagerly(flow, module, made, 3)

    given, expected = trained(happens), trained(lambda made: None)
    assert given == expected, f"the losses are {given}, without it {expected}"


@eager("the state holds what the optimizer keeps of each parameter", of="optim.Optimizer.state_dict")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state(flow, name):
    module = linear(flow)
    made = optimizer(flow, module, name)
    train_eagerly(flow, module, made, 3)
    state = made.state_dict()["state"]
    for place, parameter in enumerate(module.parameters()):
        kept = [tensor for tensor in state[place].values() if isinstance(tensor, flow.Tensor)]
        assert [tensor.shape for tensor in kept] == [parameter.shape] * KEPT[name]
        assert all(tensor.abs().max().item() > 0 for tensor in kept), kept


@eager(
    "training goes on with an optimizer that has loaded the state, bit for bit as without a break",
    of="optim.Optimizer.load_state_dict",
)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_goes_on(flow, name):
    def fresh():
        module = linear(flow)
        return module, optimizer(flow, module, name)

    assert_goes_on(flow, fresh)


@eager(
    "training goes on with groups of parameters that have loaded the state, each with its own options and state",
    of="optim.Optimizer.load_state_dict",
)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_groups_go_on(flow, name):
    def grouped(*rates):
        module, options = linear(flow), OPTIMIZERS[name] | {"weight_decay": 0.1}
        parts = ([module.weight], [module.bias])
        groups = [{"params": part, **options, "lr": rate} for part, rate in zip(parts, rates, strict=True)]
        return module, getattr(flow.optim, name)(groups)

    assert_goes_on(flow, lambda: grouped(0.05, 0.2), lambda: grouped(0.5, 0.5))


@eager("each of several parameters of one shape gets its own state", of="optim.Optimizer.load_state_dict")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_alike_go_on(flow, name):
    def fresh():
        # More than ten: as text, 10 comes before 2.
        module = flow.nn.Sequential(*[flow.nn.Linear(3, 3, bias=False) for _ in range(12)])
        for place, layer in enumerate(module):
            layer.weight.data.copy_(flow.eye(3) + (-0.1, 0.05, 0.02)[place % 3] * (1 + place / 12))
        return module, optimizer(flow, module, name)

    assert_goes_on(flow, fresh)


@eager("what a parameter has of earlier steps outlives one without a gradient", of="optim.Optimizer.step")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_outlives_no_gradient(flow, name):
    def step_without(made):
        made.zero_grad(set_to_none=True)
        made.step()

    assert_goes_on_after(flow, name, step_without)


@eager("a group that is added in the middle leaves the others as they are", of="optim.Optimizer.add_param_group")
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "LAMB"])
def test_added_in_the_middle(flow, name):
    assert_goes_on_after(flow, name, lambda made: made.add_param_group({"params": [flow.zeros(2, requires_grad=True)]}))


@eager(
    "a group that is added has the defaults of the optimizer for what it does not say",
    of="optim.Optimizer.add_param_group",
)
def test_added_has_defaults(flow):
    module, defaults = linear(flow), {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.3}
    first = {"params": [module.weight], "lr": 0.5, "momentum": 0.5, "weight_decay": 0.5}
    made = flow.optim.SGD([first], **defaults)
    made.add_param_group({"params": [module.bias], "lr": 0.2})
    added = made.param_groups[1]
    assert {name: added[name] for name in defaults} == defaults | {"lr": 0.2}


def clipped(flow, largest=1.0, value=3.0, **arguments):
    """What clip_grad_norm_ gives for gradients of a value and -4, and these gradients afterwards."""
    first, second = flow.zeros(1, requires_grad=True), flow.zeros(1, requires_grad=True)
    first.grad, second.grad = flow.tensor([value]), flow.tensor([-4.0])
    norm = flow.nn.utils.clip_grad_norm_([first, second], largest, **arguments)
    return norm.item(), [first.grad.item(), second.grad.item()]


@eager("all gradients together are scaled to the norm, which is returned as it was", of="nn.utils.clip_grad_norm_")
@pytest.mark.parametrize(("kind", "norm"), [(2.0, 5.0), (1.0, 7.0), (inf, 4.0)])
def test_clips(flow, kind, norm):
    told, after = clipped(flow, norm_type=kind)
    assert near([told, *after], [norm, 3 / norm, -4 / norm]), f"the norm is {told}, the gradients are {after}"


@eager("gradients within the norm stay as they are", of="nn.utils.clip_grad_norm_")
def test_clips_nothing(flow):
    told, after = clipped(flow, largest=100.0)
    assert near([told, *after], [5.0, 3.0, -4.0]), f"the norm is {told}, the gradients are {after}"


@eager("an infinite gradient is clipped to NaN, and the finite ones to 0", of="nn.utils.clip_grad_norm_")
def test_clips_infinite(flow):
    norm, (infinite, finite) = clipped(flow, value=inf)
    assert norm == inf, f"the norm is {norm}"
    assert isnan(infinite), f"the infinite gradient becomes {infinite}"
    assert finite == 0, f"the finite gradient becomes {finite}"


@eager("a norm that is not finite is an error where that is asked for", of="nn.utils.clip_grad_norm_")
@pytest.mark.parametrize("value", [nan, inf])
def test_clips_nothing_infinite(flow, value):
    x = flow.zeros(1, requires_grad=True)
    x.grad = flow.tensor([value])
    with pytest.raises(RuntimeError, match="non-finite"):
        flow.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)


@eager("zero_grad() leaves no gradient: none at all, or zeros", of="optim.Optimizer.zero_grad")
@pytest.mark.parametrize("to_none", [True, False])
def test_zero_grad(flow, to_none):
    module = linear(flow)
    made = flow.optim.SGD([{"params": [module.weight]}, {"params": [module.bias]}], lr=0.1)
    mean_square(module(batch(flow))).backward()
    made.zero_grad(set_to_none=to_none)
    left = [parameter.grad for parameter in (module.weight, module.bias)]
    assert all(grad is None if to_none else not grad.any() for grad in left), f"the gradients are {left}"


@eager("a parameter is in one group alone", of="optim.Optimizer.add_param_group")
def test_one_group(flow):
    module = linear(flow)
    made = flow.optim.SGD([module.weight], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        made.add_param_group({"params": [module.weight]})


@eager("maximize raises the loss, as far as it would be lowered else, where there is a momentum", of="optim.SGD")
@pytest.mark.parametrize("nesterov", [False, True])
def test_maximize(flow, nesterov):
    def moved(**options):
        module = linear(flow)
        before = module.weight.numpy().copy()
        train_eagerly(flow, module, optimizer(flow, module, nesterov=nesterov, **options), 1)
        return (module.weight.numpy() - before).reshape(-1).tolist()

    up, down = moved(maximize=True), moved()
    assert near(up, [-way for way in down]), f"it moves the weights by {up}, and without maximize by {down}"


@eager("a group may be maximized by itself, where there is a momentum", of="optim.SGD")
def test_maximizes_a_group(flow):
    def moved(**own):
        module = linear(flow)
        before = module.bias.numpy().copy()
        groups = [{"params": [module.weight]}, {"params": [module.bias], **own}]
        train_eagerly(flow, module, flow.optim.SGD(groups, lr=0.05, momentum=0.9), 1)
        return (module.bias.numpy() - before).tolist()

    up, down = moved(maximize=True), moved()
    assert near(up, [-way for way in down]), f"it moves the bias by {up}, and without maximize by {down}"


@eager("the options of each group are loaded", of="optim.Optimizer.load_state_dict")
def test_options(flow):
    first = optimizer(flow, linear(flow), lr=0.3, momentum=0.8, weight_decay=0.1)
    second = optimizer(flow, linear(flow))
    second.load_state_dict(first.state_dict())
    options = {option: second.param_groups[0][option] for option in ("lr", "momentum", "weight_decay")}
    assert options == {"lr": 0.3, "momentum": 0.8, "weight_decay": 0.1}


@eager("a state of another number of groups is refused", of="optim.Optimizer.load_state_dict")
def test_no_other_groups(flow):
    module = linear(flow)
    two = flow.optim.SGD([{"params": [module.weight]}, {"params": [module.bias]}], lr=0.1)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer(flow, linear(flow)).load_state_dict(two.state_dict())


@eager("a state of a group of another size is refused", of="optim.Optimizer.load_state_dict")
def test_no_other_size(flow):
    alone = flow.optim.SGD([linear(flow).weight], lr=0.1)
    with pytest.raises(ValueError, match="doesn't match the size"):
        optimizer(flow, linear(flow)).load_state_dict(alone.state_dict())


@eager("the state has all variables of a schedule but its optimizer", of="optim.lr_scheduler.LRScheduler.state_dict")
@pytest.mark.parametrize("name", SCHEDULES)
def test_state_of_schedule(flow, name):
    made = getattr(flow.optim.lr_scheduler, name)(optimizer(flow, linear(flow)), **SCHEDULES[name])
    for loss in LOSSES[:3]:
        made.step(*[loss] * (name == "ReduceLROnPlateau"))
    assert made.state_dict() == {variable: value for variable, value in vars(made).items() if variable != "optimizer"}


@eager("a schedule that has loaded the state goes on", of="optim.lr_scheduler.LRScheduler.load_state_dict")
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_goes_on(flow, name):
    assert_resumed(flow, lambda own: getattr(flow.optim.lr_scheduler, name)(own, **SCHEDULES[name]))


@eager(
    "a schedule that has loaded the state starts from its learning rate",
    of="optim.lr_scheduler.LRScheduler.load_state_dict",
)
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_keeps_its_start(flow, name):
    assert_resumed(flow, lambda own: getattr(flow.optim.lr_scheduler, name)(own, **SCHEDULES[name]), lr=0.7)


@eager("a sequence of schedules goes on where it was", of="optim.lr_scheduler.SequentialLR.load_state_dict")
def test_sequence_goes_on(flow):
    lr = flow.optim.lr_scheduler

    def sequence(own):
        parts = [lr.ConstantLR(own, factor=0.5, total_iters=10), lr.StepLR(own, step_size=2, gamma=0.5)]
        return lr.SequentialLR(own, schedulers=parts, milestones=[2])

    assert_resumed(flow, sequence)


def assert_resumed(flow, make, **changed):
    """The learning rates of a schedule that was saved and loaded are those of one that was not. The optimizer that
    loads is made with the `changed` options.
    """

    def fresh(**changed):
        own = optimizer(flow, linear(flow), **changed)
        return own, make(own)

    def rates(own, schedule, losses):
        given = []
        for loss in losses:
            own.step()
            schedule.step(*[loss] * isinstance(schedule, flow.optim.lr_scheduler.ReduceLROnPlateau))
            given.append(own.param_groups[0]["lr"])
        return given

    whole = rates(*fresh(), LOSSES)
    first, second = fresh(), fresh(**changed)
    before = rates(*first, LOSSES[:3])
    for old, new in zip(first, second, strict=True):
        new.load_state_dict(old.state_dict())
    parts = before + rates(*second, LOSSES[3:])
    assert parts == whole, f"the learning rates are {parts}, without a break {whole}"
