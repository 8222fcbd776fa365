"""Trainings, each with what one fault of `training_faults` concerns."""

from autotest import autotest, random_tensor, torch

STEPS = {"n": 2, "train": 3, "coverage": "none"}


def model():
    """A layer, and what it computes of a batch."""
    layer = torch.nn.Linear(3, 2)
    return layer, lambda: torch.square(layer(random_tensor(2, 4, 3, low=0.5, high=1.5))).mean()


@autotest(**STEPS)
def test_sgd():
    layer, loss = model()
    torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
    return loss()


@autotest(**STEPS)
def test_adam():
    layer, _ = model()
    torch.optim.Adam(layer.parameters(), lr=0.1)
    return torch.nn.MSELoss()(layer(random_tensor(2, 4, 3)), random_tensor(2, 4, 2))


@autotest(**STEPS)
def test_adamw():
    layer, loss = model()
    torch.optim.AdamW(layer.parameters(), lr=0.1, weight_decay=0.2)
    return loss()


@autotest(**STEPS)
def test_adagrad():
    layer, loss = model()
    torch.optim.Adagrad(layer.parameters(), lr=0.1)
    return loss()


@autotest(**STEPS)
def test_groups():
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    torch.optim.Adadelta([{"params": first.parameters()}, {"params": second.parameters()}], lr=1.0)
    return torch.square(second(first(random_tensor(2, 4, 3)))).mean()


@autotest(**STEPS)
def test_step_lr():
    layer, loss = model()
    torch.optim.lr_scheduler.StepLR(torch.optim.SGD(layer.parameters(), lr=0.1), step_size=2)
    return loss()


@autotest(**STEPS)
def test_first_rate():
    layer, loss = model()
    torch.optim.lr_scheduler.ConstantLR(torch.optim.SGD(layer.parameters(), lr=0.1), factor=0.5, total_iters=4)
    return loss()


@autotest(**STEPS)
def test_momentum_by_schedule():
    layer, loss = model()
    torch.optim.lr_scheduler.ExponentialLR(torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9), gamma=0.9)
    return loss()


@autotest(**STEPS)
def test_clipping():
    layer, loss = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    value = loss()
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.01)
    return value


@autotest(**STEPS)
def test_scaler():
    layer, loss = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    return loss()


@autotest(**STEPS)
def test_forward():
    layer, _ = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return torch.sinh(layer(random_tensor(2, 4, 3))).mean()


@autotest(**STEPS)
def test_backward():
    layer, _ = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return torch.cosh(layer(random_tensor(2, 4, 3))).mean()


@autotest(**STEPS)
def test_later_batches():
    layer, _ = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return torch.tanh(layer(random_tensor(2, 4, 3))).mean()


@autotest(**STEPS, accumulate=2)
def test_accumulating():
    layer, loss = model()
    torch.optim.RMSprop(layer.parameters(), lr=0.1, eps=1e-30)
    return loss()


@autotest(**STEPS)
def test_third_batch():
    layer, _ = model()
    torch.optim.SGD(layer.parameters(), lr=0.1)
    return torch.atan(layer(random_tensor(2, 4, 3))).mean()


@autotest(**STEPS)
def test_zero_grad():
    layer, loss = model()
    torch.optim.RMSprop(layer.parameters(), lr=0.1)
    return loss()
