"""What the documentation of `nn.Graph` says of training: optimizers, schedules, scalers, state. One test a sentence.

Long, for it is one flat list, in which each sentence is looked up by itself.
"""

from __future__ import annotations

from functools import partial

import pytest
from graphs import (
    batch,
    copied,
    flat,
    linear,
    losses,
    near,
    of_function,
    of_module,
    printed,
    sgd,
    train_eagerly,
    training,
    values,
)

from autotest import contract

graph = partial(contract, target="oneflow")
OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "LAMB")
every_optimizer = pytest.mark.parametrize("name", [*OPTIMIZERS, "SGD with momentum"])
#: A factor by which a loss of `linear` leaves the range of float32 in its gradients.
TOO_MUCH = 2.0**126


def optimizer(flow, name, module):
    if name == "SGD with momentum":
        return sgd(flow, module, lr=0.05, momentum=0.9)
    return getattr(flow.optim, name)(module.parameters(), lr=0.05)


@graph("a graph with an optimizer trains: each call is a step as an eager one", of="nn.Graph.add_optimizer")
@every_optimizer
def test_trains_as_eagerly(flow, name):
    model, other = linear(flow), linear(flow)
    given = losses(flow, training(flow, model, optimizer(flow, name, model)), 4)
    expected = train_eagerly(flow, other, optimizer(flow, name, other), 4)
    assert near(given, expected), f"the losses are {given}, eagerly {expected}"
    assert near(values(model)["weight"], values(other)["weight"]), "the weights differ from eager ones"


@graph("a parameter without dimensions is trained as any other", of="nn.Graph.add_optimizer")
@every_optimizer
def test_no_dimensions(flow, name):
    def made():
        module = linear(flow)
        module.bias = flow.nn.Parameter(flow.tensor(0.5))
        return module, optimizer(flow, name, module)

    (model, own), (other, eager) = made(), made()
    losses(flow, training(flow, model, own), 4)
    train_eagerly(flow, other, eager, 4)
    assert near(values(model)["bias"], values(other)["bias"])
    assert not near(values(model)["bias"], [0.5])


@graph("a group's learning rate is multiplied by its lr_scale", of="nn.Graph.add_optimizer")
@every_optimizer
def test_scale_of_a_rate(flow, name):
    kind, options = ("SGD", {"momentum": 0.9}) if name == "SGD with momentum" else (name, {})

    def trained(**group):
        module = linear(flow)
        groups = [{"params": [module.weight], "lr": 0.05}, {"params": [module.bias], **group}]
        losses(flow, training(flow, module, getattr(flow.optim, kind)(groups, lr=0.05, **options)), 3)
        return values(module)["bias"]

    assert near(trained(lr=0.05, lr_scale=0.5), trained(lr=0.025))
    assert not near(trained(lr=0.05), trained(lr=0.025))


@graph(
    "the graph calls zero_grad() itself: gradients of an earlier call are not in the step", of="nn.Graph.add_optimizer"
)
def test_gradients_are_zeroed(flow):
    model, other = linear(flow), linear(flow)
    losses(flow, training(flow, model, sgd(flow, model)), 3)
    train_eagerly(flow, other, sgd(flow, other), 3)
    assert near(values(model)["bias"], values(other)["bias"])


@graph("the graph clips gradients if the optimizer is set to", of="nn.Graph.add_optimizer")
def test_clips_gradients(flow):
    def clipping(module):
        group = {"params": [*module.parameters()], "lr": 0.1, "clip_grad_max_norm": 0.01, "clip_grad_norm_type": 2.0}
        return flow.optim.SGD([group])

    model = linear(flow)
    losses(flow, training(flow, model, clipping(model)), 1)
    first = linear(flow)
    moved = [new - old for new, old in zip(values(model)["weight"], values(first)["weight"], strict=True)]
    moved += [new - old for new, old in zip(values(model)["bias"], values(first)["bias"], strict=True)]
    assert near([sum(step * step for step in moved) ** 0.5], [0.001])


#: What makes a schedule of an optimizer, by its name.
SCHEDULES = {
    "StepLR": {"step_size": 2, "gamma": 0.1},
    "MultiStepLR": {"milestones": [1, 3], "gamma": 0.5},
    "ExponentialLR": {"gamma": 0.5},
    "ConstantLR": {"factor": 0.5, "total_iters": 2},
    "LinearLR": {"start_factor": 0.25, "total_iters": 3},
    "PolynomialLR": {"decay_batch": 4, "end_learning_rate": 0.01},
    "CosineAnnealingLR": {"T_max": 4},
    "CosineAnnealingWarmRestarts": {"T_0": 2},
    "CosineDecayLR": {"decay_steps": 4},
    "LambdaLR": {"lr_lambda": lambda step: 1 / (step + 1)},
}


def scheduled(flow, name, module):
    """An optimizer, and its schedule."""
    made, schedules = sgd(flow, module), flow.optim.lr_scheduler
    if name == "WarmUpLR":
        return made, schedules.WarmUpLR(made, warmup_factor=0.25, warmup_iters=3)
    if name == "SequentialLR":
        parts = [schedules.ConstantLR(made, factor=0.1, total_iters=2), schedules.ExponentialLR(made, gamma=0.5)]
        return made, schedules.SequentialLR(made, schedulers=parts, milestones=[2])
    if name == "ChainedScheduler":
        parts = [schedules.ConstantLR(made, factor=0.1, total_iters=2), schedules.ExponentialLR(made, gamma=0.5)]
        return made, schedules.ChainedScheduler(parts)
    return made, getattr(schedules, name)(made, **SCHEDULES[name])


@graph("the graph calls the schedule's step() itself, once a call", of="nn.Graph.add_optimizer")
@pytest.mark.parametrize("name", [*SCHEDULES, "WarmUpLR", "SequentialLR", "ChainedScheduler"])
def test_steps_the_schedule(flow, name):
    model, other = linear(flow), linear(flow)
    own, schedule = scheduled(flow, name, model)
    given = losses(flow, training(flow, model, own, lr_sch=schedule), 12)
    eager, other_schedule = scheduled(flow, name, other)
    expected = train_eagerly(flow, other, eager, 12, other_schedule)
    assert near(given, expected), f"the losses are {given}, eagerly {expected}"


@graph("a schedule that is not of the optimizer is refused", of="nn.Graph.add_optimizer")
def test_no_other_schedule(flow):
    model = linear(flow)
    other = flow.optim.lr_scheduler.StepLR(sgd(flow, model), step_size=1)
    with pytest.raises(AssertionError, match="optimizer must be the same optimizer"):
        training(flow, model, sgd(flow, model), lr_sch=other)


@graph("what is no schedule is refused", of="nn.Graph.add_optimizer")
def test_no_schedule(flow):
    model = linear(flow)
    with pytest.raises(AssertionError):
        training(flow, model, sgd(flow, model), lr_sch=3)


@graph("what is no optimizer, or None, is refused", of="nn.Graph.add_optimizer")
@pytest.mark.parametrize("value", [None, 3])
def test_no_optimizer(flow, value):
    with pytest.raises(AssertionError, match="optimizer"):
        training(flow, linear(flow), value)


@graph("the schedule and whether it is sparse are given by name alone", of="nn.Graph.add_optimizer")
def test_names_alone(flow):
    model = linear(flow)
    made = sgd(flow, model)
    schedule = flow.optim.lr_scheduler.StepLR(made, step_size=1)
    with pytest.raises(TypeError, match="positional argument"):
        of_module(flow, model).add_optimizer(made, schedule)


@graph("several optimizers may be added, each for parameters of its own", of="nn.Graph.add_optimizer")
def test_several_optimizers(flow):
    def two(module):
        return flow.optim.SGD([module.weight], lr=0.1), flow.optim.Adam([module.bias], lr=0.01)

    model, other = linear(flow), linear(flow)
    given = losses(flow, training(flow, model, *two(model)), 3)
    first, second = two(other)
    expected = []
    for _ in range(3):
        expected += train_eagerly(flow, other, first, 1)
        second.step()
        second.zero_grad()
    assert near(given[:2], expected[:2])


@graph("an optimizer may have several groups of parameters, each with its rate", of="nn.Graph.add_optimizer")
def test_groups(flow):
    def grouped(module):
        return flow.optim.SGD([{"params": [module.weight], "lr": 0.1}, {"params": [module.bias], "lr": 0.5}], lr=1.0)

    model, other = linear(flow), linear(flow)
    given = losses(flow, training(flow, model, grouped(model)), 3)
    assert near(given, train_eagerly(flow, other, grouped(other), 3))


@graph("two optimizers that have one parameter are refused", of="nn.Graph.add_optimizer")
def test_one_optimizer_a_parameter(flow):
    model = linear(flow)
    with pytest.raises(Exception, match=r"\S"):
        training(flow, model, sgd(flow, model), sgd(flow, model))(batch(flow))


@graph("an optimizer of parameters that are not in the graph is refused", of="nn.Graph.add_optimizer")
def test_no_foreign_parameters(flow):
    with pytest.raises(Exception, match=r"\S"):
        training(flow, linear(flow), sgd(flow, linear(flow)))(batch(flow))


@graph("a sparse optimizer trains an embedding as a dense one does", of="nn.Graph.add_optimizer")
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_sparse(flow, name):
    rows = flow.tensor([1, 3, 1])

    def trained(sparse):
        table = flow.nn.Embedding(5, 2)
        table.weight.data.copy_(flow.arange(10).reshape(5, 2) * 0.1)
        made = getattr(flow.optim, name)(table.parameters(), lr=0.1)

        class Training(flow.nn.Graph):
            def __init__(self):
                super().__init__()
                self.table = table
                self.add_optimizer(made, is_sparse=sparse)

            def build(self, rows):
                loss = (self.table(rows) * self.table(rows)).sum()
                loss.backward()
                return loss

        Training()(rows)
        return values(table)["weight"]

    dense, sparse = trained(False), trained(True)
    assert near(sparse, dense), f"it gives {sparse}, a dense one {dense}"


@graph("only a scalar may call backward() in build()", of="nn.Graph.build")
def test_scalar_loss(flow):
    model = linear(flow)
    with pytest.raises(Exception, match=r"\S"):
        training(flow, model, sgd(flow, model), loss=lambda y: y * y)(batch(flow))


@graph("a loss of one element may call backward()", of="nn.Graph.build")
def test_loss_of_one_element(flow):
    model, other = linear(flow), linear(flow)
    made = training(flow, model, sgd(flow, model), loss=lambda y: (y * y).mean().reshape(1))
    assert near([made(batch(flow)).item(), made(batch(flow)).item()], train_eagerly(flow, other, sgd(flow, other), 2))


@graph("a graph with an optimizer whose loss calls no backward() is refused", of="nn.Graph.add_optimizer")
def test_backward_is_needed(flow):
    model = linear(flow)

    class Forgetful(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model
            self.add_optimizer(sgd(flow, model))

        def build(self, x):
            return self.model(x).mean()

    with pytest.raises(Exception, match=r"\S"):
        Forgetful()(batch(flow)).item()


@graph("a call of a graph that does not train leaves parameters as they are", of="nn.Graph.training")
def test_evaluation_changes_nothing(flow):
    model = linear(flow)
    of_module(flow, model)(batch(flow))
    assert values(model) == values(linear(flow))


@graph("a parameter that requires no gradient stays as it is", of="nn.Graph.add_optimizer")
def test_frozen(flow):
    model = linear(flow)
    model.bias.requires_grad_(False)
    losses(flow, training(flow, model, flow.optim.SGD([model.weight], lr=0.1)), 2)
    assert values(model)["bias"] == values(linear(flow))["bias"]
    assert values(model)["weight"] != values(linear(flow))["weight"]


@graph(
    "a parameter that requires no gradient may be given to the optimizer with the others", of="nn.Graph.add_optimizer"
)
def test_frozen_in_the_optimizer(flow):
    model = linear(flow)
    model.bias.requires_grad_(False)
    losses(flow, training(flow, model, sgd(flow, model)), 2)
    assert values(model)["bias"] == values(linear(flow))["bias"]


@graph("a parameter that the loss does not need stays as it is", of="nn.Graph.add_optimizer")
def test_unused(flow):
    model = linear(flow)
    model.spare = flow.nn.Linear(2, 2)
    before = values(model.spare)
    losses(flow, training(flow, model, sgd(flow, model)), 2)
    assert values(model.spare) == before
    assert values(model)["weight"] != values(linear(flow))["weight"]


@graph("a parameter that two modules share is updated once, by both gradients", of="nn.Graph.add_optimizer")
def test_shared_parameter(flow):
    class Tied(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = flow.nn.Linear(3, 3, bias=False), flow.nn.Linear(3, 3, bias=False)
            self.first.weight.data.copy_(flow.eye(3) * 0.5)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(self.first(x))

    model, other = Tied(), Tied()
    given = losses(flow, training(flow, model, flow.optim.SGD([model.first.weight], lr=0.1)), 3)
    assert near(given, train_eagerly(flow, other, flow.optim.SGD([other.first.weight], lr=0.1), 3))
    assert values(model)["first.weight"] == values(model)["second.weight"]


@graph("an eager call of the module after a step has the new parameters", of="nn.Graph.add_optimizer")
def test_eager_after_a_step(flow):
    model, other = linear(flow), linear(flow)
    losses(flow, training(flow, model, sgd(flow, model)), 1)
    train_eagerly(flow, other, sgd(flow, other), 1)
    assert near(flat(model(batch(flow))), flat(other(batch(flow))))


@graph("a learning rate that is changed before the first call counts", of="nn.Graph.add_optimizer")
def test_rate_before_first_call(flow):
    model, other = linear(flow), linear(flow)
    made = sgd(flow, model)
    trained = training(flow, model, made)
    made.param_groups[0]["lr"] = 0.3
    assert near(losses(flow, trained, 2), train_eagerly(flow, other, sgd(flow, other, lr=0.3), 2))


@graph("a scaler is a GradScaler or a StaticGradScaler, anything else is refused", of="nn.Graph.set_grad_scaler")
@pytest.mark.parametrize("value", [None, 2.0])
def test_no_other_scaler(flow, value):
    with pytest.raises(AssertionError):
        of_function(flow, abs).set_grad_scaler(value)


@graph(
    "a static scaler scales the loss and unscales the gradients: training is the same", of="nn.Graph.set_grad_scaler"
)
def test_static_scaler(flow):
    model, other = linear(flow), linear(flow)
    given = losses(flow, training(flow, model, sgd(flow, model), scaler=flow.amp.StaticGradScaler(1024.0)), 3)
    expected = losses(flow, training(flow, other, sgd(flow, other)), 3)
    assert near(given, expected), f"the losses are {given}, without a scaler {expected}"


@graph("a static scaler's factor is above 0", of="amp.StaticGradScaler")
def test_static_factor(flow):
    with pytest.raises(ValueError, match="must > 0"):
        flow.amp.StaticGradScaler(0.0)


@graph(
    "a dynamic scaler scales the loss and unscales the gradients: training is the same", of="nn.Graph.set_grad_scaler"
)
def test_dynamic_scaler(flow):
    model, other = linear(flow), linear(flow)
    scaler = flow.amp.GradScaler(init_scale=1024.0, growth_interval=1000)
    given = losses(flow, training(flow, model, sgd(flow, model), scaler=scaler), 3)
    assert near(given, losses(flow, training(flow, other, sgd(flow, other)), 3))


@graph("a dynamic scaler skips a step whose gradients overflow", of="nn.Graph.set_grad_scaler")
def test_overflow_is_skipped(flow):
    model = linear(flow)
    scaler = flow.amp.GradScaler(init_scale=TOO_MUCH, growth_interval=1000)
    losses(flow, training(flow, model, sgd(flow, model), scaler=scaler, loss=lambda y: (y * y).sum() * 16), 1)
    assert values(model) == values(linear(flow))


@graph("a dynamic scaler backs off after an overflow, until a step fits", of="nn.Graph.set_grad_scaler")
def test_backs_off(flow):
    model = linear(flow)
    scaler = flow.amp.GradScaler(init_scale=TOO_MUCH, growth_interval=1000)
    made = training(flow, model, sgd(flow, model, lr=0.01), scaler=scaler, loss=lambda y: (y * y).sum() * 16)
    losses(flow, made, 20)
    after = values(model)
    assert after != values(linear(flow)), "no step was taken"
    assert all(number == number for number in after["weight"]), "the weights are NaN"


def scale_of(state):
    """The scale among the states of a graph: the one number that is neither a module's nor the step's."""
    return {
        name: part.tolist() for name, part in state.items() if not isinstance(part, dict) and "TrainStep" not in name
    }


@graph("a dynamic scaler grows by its factor after so many steps that fit", of="amp.GradScaler")
@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_grows(flow, factor):
    model = linear(flow)
    scaler = flow.amp.GradScaler(init_scale=8.0, growth_factor=factor, backoff_factor=1 / factor, growth_interval=2)
    made = training(flow, model, sgd(flow, model), scaler=scaler)
    losses(flow, made, 1)
    before = scale_of(made.state_dict())
    losses(flow, made, 4)
    after, due = scale_of(made.state_dict()), 8.0 * factor**2
    assert [8.0] in before.values(), f"the state has {before}"
    assert [due] in after.values(), f"after five steps the state has {after}, not {due}"


@graph("a dynamic scaler divides its scale by its factor at an overflow", of="amp.GradScaler")
@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_divides(flow, factor):
    model = linear(flow)
    scaler = flow.amp.GradScaler(TOO_MUCH, growth_factor=factor, backoff_factor=1 / factor, growth_interval=1000)
    made = training(flow, model, sgd(flow, model), scaler=scaler, loss=lambda y: (y * y).sum() * 16)
    losses(flow, made, 1)
    state = scale_of(made.state_dict())
    assert [TOO_MUCH / factor] in state.values(), f"after an overflow the state has {state}"


@graph("a scaler's backoff is the inverse of its growth, any other is refused", of="amp.GradScaler")
def test_backoff_factor(flow):
    with pytest.raises(ValueError, match=r"Only support 1\.0/growth_factor"):
        flow.amp.GradScaler(growth_factor=2.0, backoff_factor=0.25)


@graph("state_dict() has the modules' states under their names in the graph", of="nn.Graph.state_dict")
def test_state_of_modules(flow):
    model = linear(flow)
    made = training(flow, model, sgd(flow, model))
    losses(flow, made, 2)
    assert values(made.state_dict()["model"]) == values(model)


@graph("state_dict() also has the states of optimizers, under the parameters' names", of="nn.Graph.state_dict")
@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("SGD with momentum", "momentum"),
        ("Adam", "m v"),
        ("AdamW", "m v"),
        ("LAMB", "m v"),
        ("Adagrad", "sum"),
        ("RMSprop", "mean_square"),
        ("Adadelta", "square_avgs acc_deltas"),
    ],
)
def test_state_of_optimizers(flow, name, states):
    model = linear(flow)
    made = training(flow, model, optimizer(flow, name, model))
    losses(flow, made, 1)
    expected = {f"model.{part}-{state}" for part in ("weight", "bias") for state in states.split()}
    assert set(made.state_dict()) == {"model", "System-Train-TrainStep", *expected}


@graph("state_dict() counts the steps of the schedule", of="nn.Graph.state_dict")
def test_state_of_schedules(flow):
    model = linear(flow)
    own = sgd(flow, model)
    made = training(flow, model, own, lr_sch=flow.optim.lr_scheduler.StepLR(own, step_size=2))
    losses(flow, made, 3)
    assert made.state_dict()["System-Train-TrainStep"].tolist() == [3]


@graph("state_dict(destination=...) writes into what is given", of="nn.Graph.state_dict")
def test_destination(flow):
    given = {}
    assert of_module(flow, linear(flow)).state_dict(destination=given) is given
    assert set(given) == {"model"}


def resumed(flow, name, save, *, scheduled=False, strict=True):
    """The losses of six steps, and those of three, and of three more in a new graph that has loaded their state."""

    def fresh():
        model = linear(flow)
        own = optimizer(flow, name, model)
        schedule = flow.optim.lr_scheduler.StepLR(own, step_size=2, gamma=0.5) if scheduled else None
        return training(flow, model, own, lr_sch=schedule)

    whole = losses(flow, fresh(), 6)
    first, second = fresh(), fresh()
    before = losses(flow, first, 3)
    second.load_state_dict(save(first.state_dict()), strict=strict)
    return whole, before + losses(flow, second, 3)


@graph(
    "training goes on in a graph that has loaded the state, bit for bit as without a break",
    of="nn.Graph.load_state_dict",
)
@every_optimizer
def test_goes_on(flow, name):
    whole, parts = resumed(flow, name, partial(copied, flow))
    assert parts == whole


@graph("the buffers of a graph's modules are loaded with its state", of="nn.Graph.load_state_dict")
def test_loads_buffers(flow):
    def fresh():
        model = flow.nn.Sequential(linear(flow), flow.nn.BatchNorm1d(2))
        return model, training(flow, model, sgd(flow, model))

    (trained, first), (other, second) = fresh(), fresh()
    losses(flow, first, 2)
    second.load_state_dict(copied(flow, first.state_dict()))
    given, expected = values(other), values(trained)
    assert given == expected, f"it has {given}, but was given {expected}"


@graph("a schedule goes on in a graph that has loaded the state", of="nn.Graph.load_state_dict")
def test_schedule_goes_on(flow):
    whole, parts = resumed(flow, "SGD", partial(copied, flow), scheduled=True)
    assert parts == whole


@graph("a scaler goes on in a graph that has loaded the state", of="nn.Graph.load_state_dict")
def test_scaler_goes_on(flow):
    def fresh():
        model = linear(flow)
        return training(flow, model, sgd(flow, model), scaler=flow.amp.GradScaler(init_scale=8.0, growth_interval=2))

    first, second = fresh(), fresh()
    losses(flow, first, 2)
    second.load_state_dict(copied(flow, first.state_dict()))
    losses(flow, first, 1)
    losses(flow, second, 1)
    scale, expected = (sorted(scale_of(made.state_dict()).values()) for made in (second, first))
    assert scale == expected, f"good steps and scale are {scale}, without a break {expected}"


@graph("a state that was written to a file by flow.save() can be loaded", of="nn.Graph.load_state_dict")
def test_saved_to_a_file(flow):
    import tempfile

    def through_a_file(state):
        with tempfile.TemporaryDirectory() as folder:
            flow.save(state, f"{folder}/state")
            return flow.load(f"{folder}/state")

    whole, parts = resumed(flow, "Adam", through_a_file)
    assert parts == whole


@graph("what was loaded is in state_dict() before the first call", of="nn.Graph.state_dict")
def test_loaded_state_shows(flow):
    model = linear(flow)
    first = training(flow, model, optimizer(flow, "Adam", model))
    losses(flow, first, 2)
    other = linear(flow)
    second = training(flow, other, optimizer(flow, "Adam", other))
    second.load_state_dict(copied(flow, first.state_dict()))
    shown, saved = (copied(flow, made.state_dict()) for made in (second, first))
    if losses(flow, second, 3) != losses(flow, first, 3):
        pytest.skip("training does not go on: load_state_dict() has lost what state_dict() could show")
    assert set(shown) == set(saved)
    assert shown["model.weight-m"].tolist() == saved["model.weight-m"].tolist()


@graph("a state can be loaded only before the first call", of="nn.Graph.load_state_dict")
def test_no_later_load(flow):
    made = of_module(flow, linear(flow))
    made(batch(flow))
    with pytest.raises(AssertionError, match="before the first call"):
        made.load_state_dict(made.state_dict())


@graph("a strict load refuses a state that lacks a parameter", of="nn.Graph.load_state_dict")
def test_strict_lacking(flow):
    state = copied(flow, of_module(flow, linear(flow)).state_dict())
    del state["model"]["bias"]
    with pytest.raises(RuntimeError, match="Missing key"):
        of_module(flow, linear(flow)).load_state_dict(state)


@graph("a strict load refuses a state with a parameter that is not there", of="nn.Graph.load_state_dict")
def test_strict_unexpected(flow):
    state = copied(flow, of_module(flow, linear(flow)).state_dict())
    state["model"]["more"] = flow.ones(2)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        of_module(flow, linear(flow)).load_state_dict(state)


@graph("a strict load refuses a state that lacks a module", of="nn.Graph.load_state_dict")
def test_strict_lacking_module(flow):
    with pytest.raises(Exception, match=r"\S"):
        of_module(flow, linear(flow)).load_state_dict({}, strict=True)


@graph("a strict load refuses a state of an optimizer that is not there", of="nn.Graph.load_state_dict")
def test_strict_unexpected_optimizer(flow):
    model = linear(flow)
    first = training(flow, model, optimizer(flow, "Adam", model))
    losses(flow, first, 1)
    with pytest.raises(Exception, match=r"\S"):
        of_module(flow, linear(flow)).load_state_dict(copied(flow, first.state_dict()), strict=True)


@graph("a load that is not strict takes what there is", of="nn.Graph.load_state_dict")
def test_not_strict(flow):
    state = copied(flow, of_module(flow, linear(flow)).state_dict())
    state["model"] = {"bias": flow.tensor([5.0, 6.0]), "more": flow.ones(2)}
    model = linear(flow)
    of_module(flow, model).load_state_dict(state, strict=False)
    assert values(model) == {**values(linear(flow)), "bias": [5.0, 6.0]}


@graph("a load refuses a tensor of another shape", of="nn.Graph.load_state_dict")
def test_no_other_shape(flow):
    state = copied(flow, of_module(flow, linear(flow)).state_dict())
    state["model"]["bias"] = flow.ones(3)
    with pytest.raises(RuntimeError, match="size mismatch"):
        of_module(flow, linear(flow)).load_state_dict(state)


@graph("a learning rate is printed at each step if the schedule is verbose", of="nn.Graph.add_optimizer")
def test_verbose(flow):
    model = linear(flow)
    own = sgd(flow, model)
    schedule = flow.optim.lr_scheduler.StepLR(own, step_size=1, gamma=0.5, verbose=True)
    made = training(flow, model, own, lr_sch=schedule)
    with printed() as told:
        losses(flow, made, 3)
    assert "0.05" in told[0], f"what is printed is {told[0]!r}"
