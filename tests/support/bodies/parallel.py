"""Trainings that ranks share, each of whose models calls an op in which a fault may be planted."""

from autotest import autotest, random_tensor, torch

STEPS = {"n": 1, "train": 3, "coverage": "none"}


def loss_of(op, optimizer, **options):
    first, last = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = first, last

        def forward(self, x):
            return self.last(op(self.first(x)))

    model = torch.nn.parallel.DistributedDataParallel(Model())
    getattr(torch.optim, optimizer)(model.parameters(), lr=0.1, **options)
    x = random_tensor(ndim=2, dim0=4, dim1=3, requires_grad=False)
    return torch.square(model(x)).mean()


@autotest(**STEPS, graph_configs=("enable_zero.2", "set_stage"))
def test_sound():
    return loss_of(torch.relu, "SGD", momentum=0.9)


@autotest(**STEPS)
def test_sum_of_gradients():
    return loss_of(torch.sin, "SGD")


@autotest(**STEPS)
def test_gradients_of_one_rank():
    return loss_of(torch.cos, "SGD")


@autotest(**STEPS)
def test_op_on_one_rank():
    return loss_of(torch.tanh, "SGD")


@autotest(**STEPS)
def test_exception_on_one_rank():
    return loss_of(torch.exp, "SGD")


@autotest(**STEPS)
def test_skipped_update():
    return loss_of(torch.relu, "Adagrad")


@autotest(**STEPS)
def test_update_in_graph():
    return loss_of(torch.relu, "Adam")


@autotest(**STEPS, accumulate=2)
def test_several_batches():
    return loss_of(torch.relu, "SGD", momentum=0.9)


@autotest(**STEPS, graph_configs=("enable_zero.2", "set_stage"))
def test_stages():
    return loss_of(torch.sigmoid, "SGD")
