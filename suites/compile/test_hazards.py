"""Functions whose second call does something else: what an executor has captured of the first one does not hold."""

from __future__ import annotations

import random

import numpy as np
import torch

from autotest import hazard

#: What some of the functions read, and write.
STATE = {"scale": 2.0, "calls": 0}
#: What is documented of executors that keep the calls of one run.
ONE_RUN = "it keeps the calls of one run: what Python decides, reads and computes between them is a constant in it"
TRACERS = {"trace": ONE_RUN, "make_fx": ONE_RUN}
#: What begins with `torch.export`, and runs below PyTorch.
RUNTIMES = ("onnxruntime", "iree")
CONSTANTS = TRACERS | dict.fromkeys(("fx", "export", "export_decomp", *RUNTIMES), ONE_RUN)
RANDOM = {"inductor": "upstream issue 198187: it reads the number, which is float64, as float32"}
STRIDED = "it takes strides for constants, and looks at the shapes and dtypes of its arguments alone"
STRIDES = dict.fromkeys(("export", "export_decomp", *RUNTIMES), STRIDED)
#: Of everything with AOTAutograd in it.
OVERLAP = "upstream issue 139789: a graph that writes to an argument has no guard on its sharing memory with another"
AOT = ("aot_eager", "aot_eager_decomp_partition", "inductor", "export_decomp")
COPIED = "each argument is copied by itself to where it runs"
SHARING = dict.fromkeys(AOT, OVERLAP) | dict.fromkeys(("lazy", *RUNTIMES), COPIED)


def numbers(*values):
    """Makes one tensor of these values for each call."""
    return lambda: (torch.tensor(values, requires_grad=True),)


def plain(*values):
    """The same without a gradient."""
    return lambda: (torch.tensor(values),)


@hazard(numbers(1.0, 2.0), other=numbers(-1.0, -2.0), known=TRACERS)
def test_branch_on_values(x):
    return x * 2 if x.sum() > 0 else x - 1


@hazard(numbers(1.0, 2.0, 3.0), other=numbers(1.0, 2.0, 3.0, 4.0, 5.0), known=TRACERS)
def test_code_that_depends_on_shapes(x):
    return x * (1.0 / x.shape[0]) + torch.arange(x.shape[0]) if x.shape[0] < 4 else x.cumsum(0)


@hazard(plain(3.0, 1.0, 2.0), other=plain(7.0, 9.0, 8.0), known=TRACERS)
def test_foreign_code(x):
    return torch.from_numpy(np.sort(x.numpy())) + x


@hazard(numbers(1.0, 2.0), other=numbers(1.0, 2.0, 3.0, 4.0), known=TRACERS)
def test_loop_over_rows(x):
    total = torch.zeros(())
    for row in range(x.shape[0]):
        total = total + x[row] * row
    return total


@hazard(numbers(2.0, 1.0), other=numbers(3.0, 1.0), known=TRACERS)
def test_item_as_a_size(x):
    return x.repeat(int(x[0].item()))


@hazard(numbers(1.0, 2.0), other=numbers(1.0, 2.0), state=STATE, changed={"scale": 3.0}, known=CONSTANTS)
def test_global_is_read(x):
    return x * STATE["scale"]


@hazard(numbers(1.0, 2.0), other=numbers(1.0, 2.0), state=STATE, changed={"calls": 5}, known=CONSTANTS)
def test_global_is_written(x):
    STATE["calls"] += 1
    return x * 2


@hazard(numbers(1.0, 2.0), other=numbers(1.0, 2.0), known=CONSTANTS | RANDOM)
def test_python_random_number(x):
    return x * random.random()


@hazard(plain(1.0, 2.0), other=plain(3.0, 4.0))
def test_argument_is_written(x):
    x.mul_(2)
    return x + 1


@hazard(plain(1.0, 2.0, 3.0), other=plain(4.0, 5.0, 6.0))
def test_view_of_an_argument(x):
    return x[1:]


@hazard(plain(1.0, 2.0), other=plain(3.0, 4.0), known={"inductor": "upstream issue 197893: it gives out its argument"})
def test_identity_that_folds(x):
    return x * 1, x + 0, x / 1


def apart():
    """Makes two tensors."""
    return torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def aliases():
    """Makes a tensor, and a view of all of it."""
    x = torch.tensor([1.0, 2.0])
    return x, x[:]


@hazard(apart, other=aliases, known=SHARING)
def test_arguments_share_memory(x, y):
    x.add_(1)
    return x + y


@hazard(lambda: (torch.ones(2, 3),), other=lambda: (torch.ones(3, 2).t(),), known=TRACERS | STRIDES)
def test_code_that_depends_on_strides(x):
    return x * 2 if x.is_contiguous() else x + 5
