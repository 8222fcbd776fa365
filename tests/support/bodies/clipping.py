"""Trainings that clip, each with what one fault of `training_faults:clipping` concerns."""

from autotest import autotest, random_tensor, torch

STEPS = {"n": 2, "train": 3, "coverage": "none"}
INFINITY = float("inf")


def clipped(optimizer, schedule=None, norm_type=2.0, times=1.0):
    """The loss of a layer, so many times as great, whose gradients are clipped."""
    layer = torch.nn.Linear(3, 2)
    made = optimizer(layer.parameters())
    if schedule is not None:
        schedule(made)
    loss = torch.square(layer(random_tensor(2, 4, 3, low=0.5, high=1.5))).mean() * times
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.01, norm_type=norm_type)
    return loss


@autotest(**STEPS)
def test_norm():
    return clipped(
        lambda parameters: torch.optim.AdamW(parameters, lr=0.1, eps=1e-2, weight_decay=0.1), norm_type=INFINITY
    )


@autotest(**STEPS)
def test_groups():
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    groups = [{"params": first.parameters()}, {"params": second.parameters()}]
    torch.optim.Adadelta(groups, lr=1.0)
    loss = torch.square(second(first(random_tensor(2, 4, 3)))).mean()
    torch.nn.utils.clip_grad_norm_(first.parameters(), 0.01)
    torch.nn.utils.clip_grad_norm_(second.parameters(), 0.1)
    return loss


@autotest(**STEPS, accumulate=2)
def test_accumulating():
    return clipped(lambda parameters: torch.optim.Adagrad(parameters, lr=0.1, eps=1e-2))


@autotest(**STEPS)
def test_epsilon():
    return clipped(lambda parameters: torch.optim.Adam(parameters, lr=0.1), times=1000.0)


@autotest(**STEPS)
def test_rate():
    return clipped(lambda parameters: torch.optim.SGD(parameters, lr=0.1))


@autotest(**STEPS)
def test_schedule():
    return clipped(
        lambda parameters: torch.optim.RMSprop(parameters, lr=0.1, eps=1e-30),
        lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, step_size=2),
    )


@autotest(**STEPS)
def test_scaler():
    def prepared(parameters):
        optimizer = torch.optim.AdamW(parameters, lr=0.1, eps=1e-2, weight_decay=0.1)
        torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
        return optimizer

    return clipped(prepared, norm_type=INFINITY)


@autotest(**STEPS)
def test_beside():
    return clipped(lambda parameters: torch.optim.RMSprop(parameters, lr=0.1, eps=1e-2), norm_type=INFINITY)
