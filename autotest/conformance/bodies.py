"""Test bodies of every kind, and how to record one: what the tests of this folder share with adapter conformance."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dual_object import DualNamespace, DualObject, Observation, Program, Recording, Replay, current_recording, dual
from dual_object.record.recording import recording
from generators import DTYPES, Nothing, PhiloxSource, drawing, dtype_name, fill_values

torch = DualNamespace()

Body = Callable[[], Any]


@dataclass(frozen=True)
class Recorded:
    """A body that ran on the reference: its recording, what it returned, and what the reference shows."""

    recording: Recording
    returned: Any
    seen: Observation

    @property
    def program(self) -> Program:
        """The Program."""
        return self.recording.program

    def text(self) -> str:
        """The printed Program."""
        return str(self.program)

    def gradient_keys(self) -> list[str]:
        """The leaves that have a gradient on the reference."""
        return self.seen.gradient_keys()


def tensor(
    *shape: int,
    dtype: str = "float32",
    grad: bool | None = None,
    low: float = -1,
    high: float = 1,
    data: Any = None,
    strides: tuple[int, ...] | None = None,
    name: str = "",
) -> DualObject:
    """An input of the running case; its values depend on its position among the inputs alone."""
    record = recording("tensor()")
    if data is None:
        seed = len(record.program.inputs) + 1
        low, high = (low, high) if DTYPES[dtype].category != "integer" else (int(low), int(high))
        data = fill_values("uniform", seed, shape, dtype, low, high)
    else:
        data = np.asarray(data, dtype=DTYPES[dtype].storage)
    wanted = DTYPES[dtype].category in ("floating", "complex") if grad is None else grad
    return record.input(data, dtype, requires_grad=wanted, name=name, strides=strides)


def integers(*values: int, dtype: str = "int64") -> DualObject:
    """An integer input with these values."""
    return tensor(data=values, dtype=dtype)


def state(name: str, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values for a module's parameter or buffer, set by its name and shape; variances are positive."""
    if data.dtype.kind != "f":
        return np.array(data)
    low = 0.5 if name.endswith("running_var") else -0.5
    return fill_values("uniform", len(name), data.shape, dtype_name(data.dtype), low, low + 1)


def record(
    body: Body, reference: Any, *, backward: bool = True, target: str = "oneflow", stepper: Replay | None = None
) -> Recorded:
    """Run `body` as the one body of a case whose key never changes."""
    with drawing(PhiloxSource("0/test_example.py::test_it/0")):
        made = Recording(reference, draw_state=state, omitted=Nothing, target=target, stepper=stepper)
        token = current_recording.set(made)
        try:
            returned = body()
        finally:
            current_recording.reset(token)
        made.program.outputs = made.returned(returned)
        if backward:
            for id_ in made.differentiable():
                dtype, shape, _, _ = reference.describe(made.values.by_id[id_])
                made.program.cotangents[id_] = fill_values("uniform", 1000 + id_, shape, dtype, -1, 1)
        return Recorded(made, returned, made.finish())


def assert_same(expected: Observation, actual: Observation, rtol: float = 0, atol: float = 0) -> None:
    """Both show the same outputs, mutated inputs, gradients, buffers; bit for bit where both tolerances are 0. What the
    target does not show is not compared.
    """
    standing = "standing" in actual.shows
    assert [failure for failure in actual.failures if actual.ended] == []
    assert actual.backward_failure is None
    assert actual.hosts == {}
    assert list(actual.outputs) == list(expected.outputs)
    for id_, wanted in expected.outputs.items():
        _assert_seen(wanted, actual.outputs[id_], rtol, atol, f"output {id_}", standing=standing)
    written = expected.inputs if "inputs" in actual.shows else {}
    assert set(actual.inputs) == set(written)
    for id_, data in written.items():
        _assert_data(data, actual.inputs[id_], rtol, atol, f"input {id_}")
    assert actual.gradient_keys() == expected.gradient_keys()
    for key, gradient in expected.gradients.items():
        found = actual.gradients.get(key)
        assert (found is None) == (gradient is None), f"gradient {key}"
        if gradient is not None and found is not None:
            _assert_seen(gradient, found, rtol, atol, f"gradient {key}", standing=standing)
    assert list(actual.buffers) == list(expected.buffers)
    for key, buffer in expected.buffers.items():
        _assert_seen(buffer, actual.buffers[key], rtol, atol, f"buffer {key}")


def assert_graph(
    recorded: Recorded, actual: Observation, keys: Sequence[str], rtol: float = 1e-6, atol: float = 1e-6
) -> None:
    """A static graph shows the eager outputs and the gradients of `keys`."""
    assert actual.failures == []
    assert list(actual.outputs) == list(recorded.seen.outputs)
    for id_, wanted in recorded.seen.outputs.items():
        found = actual.outputs[id_]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), f"output {id_}"
        _assert_data(wanted.data, found.data, rtol, atol, f"output {id_}")
    assert list(actual.gradients) == list(keys)
    for key in keys:
        gradient, found_gradient = recorded.seen.gradients[key], actual.gradients[key]
        assert gradient is not None
        assert found_gradient is not None
        assert (found_gradient.dtype, found_gradient.shape) == (gradient.dtype, gradient.shape), f"gradient {key}"
        _assert_data(gradient.data, found_gradient.data, rtol, atol, f"gradient {key}")


def _assert_seen(wanted: Any, found: Any, rtol: float, atol: float, what: str, *, standing: bool = True) -> None:
    assert (found.dtype, found.shape, found.device) == (wanted.dtype, wanted.shape, wanted.device), what
    assert found.requires_grad == wanted.requires_grad or not standing, what
    _assert_data(wanted.data, found.data, rtol, atol, what)


def _assert_data(wanted: Any, found: Any, rtol: float, atol: float, what: str) -> None:
    assert found.shape == wanted.shape, what
    assert found.dtype == wanted.dtype, what
    if rtol == atol == 0:
        assert found.tobytes() == wanted.tobytes(), what
    else:
        np.testing.assert_allclose(found, wanted, rtol, atol, err_msg=what)


def scaled(x: Any) -> Any:
    """Both sides of a custom dual op: twice the tensor."""
    return x + x


double = dual(reference=scaled, target=scaled, name="double")


def _inplace() -> Any:
    x = tensor(2, 3)
    y = x * 2
    z = y
    y += x
    y *= 3
    y.sub_(1)
    assert z is y
    return y


def _setitem() -> Any:
    x = tensor(3, 4)
    y = x * 1
    y[0, 1:3] = 5.0
    y[2] = x[0]
    return y


def _mutated_input() -> Any:
    x = tensor(3, grad=False)
    x.add_(1)
    x[0] = 7
    return x


def _batch_norm() -> Any:
    m = torch.nn.BatchNorm1d(3)
    return m(tensor(5, 3))


def _lstm() -> Any:
    m = torch.nn.LSTM(3, 4, num_layers=2)
    out, (h, c) = m(tensor(5, 2, 3))
    return out, h, c


def _sequential() -> Any:
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    return m(tensor(5, 3))


def _submodule() -> Any:
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
    return m[0](tensor(2, 3)) + m[0].bias


def _no_grad() -> Any:
    x = tensor(3)
    with torch.no_grad():
        y = x * 2
    return x * y, y


def _host() -> Any:
    x = tensor(2, 3)
    rows, columns = x.shape
    total = (x.sum() > -100).item()
    return x.reshape(columns, rows) * (2 if total else 3) * len(x)


def _raises() -> Any:
    x, y = tensor(2, 3), tensor(4, 5)
    try:
        torch.matmul(x, y)
    except RuntimeError:
        return x + 1
    return y


def _strided() -> Any:
    x = tensor(3, 4, strides=(1, 3))
    return x.transpose(0, 1) * 2, x.is_contiguous()


def _evaluated() -> Any:
    m = torch.nn.BatchNorm2d(2).eval()
    return m(tensor(2, 2, 3, 3))


def _leaf() -> Any:
    w = torch.ones(3, requires_grad=True)
    return tensor(3) * w


def _detached() -> Any:
    x = tensor(3)
    return x.detach() * x, x.detach()


def _dict_of_outputs() -> Any:
    x = tensor(2)
    return {"sum": x.sum(), "pair": [x * 2, (x - 1,)]}


#: Every kind of call, by name. A target may refuse some; PyTorch against itself shows each bit for bit.
BODIES: dict[str, Body] = {
    "relu": lambda: torch.relu(tensor(2, 3)),
    "functional": lambda: torch.nn.functional.gelu(tensor(2, 3)),
    "matmul": lambda: torch.matmul(tensor(2, 3), tensor(3, 4)),
    "operators": lambda: (-tensor(2) + 1) * 3 - tensor(2) / 2,
    "reflected": lambda: 1 - tensor(3) + 2 / tensor(3, low=1, high=2),
    "power": lambda: tensor(3, low=1, high=2) ** 2,
    "matmul_operator": lambda: tensor(2, 3) @ tensor(3, 2),
    "comparison": lambda: tensor(3) > 0,
    "integers": lambda: integers(1, 2, 3) * 2 + integers(4, 5, 6),
    "logic": lambda: (tensor(4) > 0) & ~(tensor(4) > 0),
    "float64": lambda: torch.exp(tensor(3, dtype="float64")),
    "method_keywords": lambda: tensor(2, 3).sum(dim=1, keepdim=True),
    "index": lambda: tensor(4, 5)[1:3, ..., None, 2],
    "index_tensor": lambda: tensor(4, 5)[integers(0, 2)],
    "tuple_out": lambda: torch.split(tensor(6, 2), 2),
    "named_out": lambda: torch.max(tensor(3, 4), dim=1).values,
    "list_in": lambda: torch.cat([tensor(2, 3), tensor(1, 3)], dim=0),
    "dict_out": _dict_of_outputs,
    "inplace": _inplace,
    "setitem": _setitem,
    "mutated_input": _mutated_input,
    "strided": _strided,
    "dtype_argument": lambda: tensor(3).to(torch.float64),
    "device_argument": lambda: tensor(3).to("cpu") + torch.zeros(3, device=torch.device("cpu")),
    "created": lambda: tensor(3) + torch.arange(3),
    "scalar_tensor": lambda: tensor() * 2,
    "empty": lambda: tensor(0, 3) * 2,
    "empty_inside": lambda: tensor(2, 0) * 2,
    "empty_beside": lambda: (tensor(2, 0, 3) * 2, tensor(3) * 2),
    "unused_input": lambda: (tensor(2), tensor(3) * 2)[1],
    "returned_input": lambda: tensor(2),
    "returned_twice": lambda: (lambda y: (y, y))(tensor(2) * 2),
    "leaf": _leaf,
    "detached": _detached,
    "no_grad": _no_grad,
    "host": _host,
    "raises": _raises,
    "linear": lambda: torch.nn.Linear(3, 4)(tensor(2, 3)),
    "conv2d": lambda: torch.nn.Conv2d(2, 3, kernel_size=3, padding=1)(tensor(1, 2, 4, 4)),
    "batch_norm": _batch_norm,
    "evaluated": _evaluated,
    "lstm": _lstm,
    "sequential": _sequential,
    "submodule": _submodule,
    "loss": lambda: torch.nn.MSELoss()(tensor(3), tensor(3)),
    "custom": lambda: double(tensor(3)) * 2,
    "plain": lambda: (tensor(2) * 2, 3, "text", None, 1.5),
}


def same(x: Any) -> Any:
    """The same values."""
    return x * 1


def same_without_collection(x: Any) -> Any:
    """The same, where no garbage collection can come in between; raises RuntimeError elsewhere."""
    if gc.isenabled():
        raise RuntimeError("garbage may be collected here")
    return x * 1
