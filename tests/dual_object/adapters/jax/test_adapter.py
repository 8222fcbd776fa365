"""JAX in a spawned worker conforms: eager, gradients of whole Programs, all Programs of a request in one `jax.jit`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.conformance.adapter import AdapterConformance
from autotest.conformance.bodies import Recorded, assert_graph, assert_same, tensor, torch
from autotest.workers.supervisor import Supervisor
from dual_object import Observation, adapters
from dual_object.adapters.dialect import read, written
from dual_object.errors import TargetError
from dual_object.replay.adapter import GraphRefusal, load
from support.targets import launched

Record = Callable[..., Recorded]


@pytest.fixture(scope="module")
def worker() -> Iterator[Supervisor]:
    """JAX in its own process."""
    supervisor = Supervisor(launched("jax"), 60)
    supervisor.start()
    yield supervisor
    supervisor.close()


DIALECT = Path(adapters.__file__).with_name("jax") / "dialect.json"


@pytest.mark.own_environment
class TestJax(AdapterConformance):
    """JAX."""

    target = "jax"
    rtol = 1e-5
    atol = 1e-5
    refused = {"strided": "unmapped"}  # it asks whether a tensor is contiguous

    @pytest.fixture(scope="class")
    @classmethod
    def worker(cls) -> Iterator[Supervisor]:
        """In the environment of its own, where there is one."""
        supervisor = Supervisor(launched("jax"), 60)
        supervisor.start()
        yield supervisor
        supervisor.close()

    def test_every_row_is_there(self, worker: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
        """JAX has what the table says it has, in whatever version it is."""
        # A run that ends waits five seconds for this, and a test on a busy machine as long as it takes.
        monkeypatch.setattr("autotest.workers.supervisor.SURFACE_TIMEOUT", 60.0)
        rows = read(DIALECT)
        worker.info()  # one that has not begun is not asked
        surface = worker.surface([row.path for row in rows])
        assert surface is not None
        # Attributes of a tensor are looked up as its functions.
        assert set(surface.names) == {row.path.rpartition(".")[2] for row in rows}


def test_table_is_sorted() -> None:
    """One row a line, by path: a change of it reads as a change of rows."""
    data = json.loads(DIALECT.read_text())
    assert DIALECT.read_text() == written(data["about"], data["rows"])


def _written_unrecorded() -> Any:
    x = tensor(3) * 1
    with torch.no_grad():
        x.mul_(4)
    return x * x


def _frozen() -> Any:
    w = torch.ones(3, requires_grad=True)
    y = tensor(3) * w
    w.requires_grad_(False)
    return y + w


def _made_a_leaf() -> Any:
    w = torch.full((3,), 2.0)
    y = w * 3
    w.requires_grad_()
    return y + w * tensor(3)


def _detached_leaf() -> Any:
    x = tensor(3)
    w = (x * 2).detach().requires_grad_()
    return w * w * x


def _retained() -> Any:
    y = tensor(3) * 2
    y.retain_grad()
    return y * y


def _enabled_again() -> Any:
    x = tensor(3)
    with torch.no_grad():
        with torch.enable_grad():
            y = x * 2
        z = x * 3
    return y * z


def _switched() -> Any:
    x = tensor(3)
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return x * y


def _written_by_index() -> Any:
    x = tensor(4) * 1
    x[1:3] = tensor(2)
    x[0] += 5
    return x * x


def _overwritten() -> Any:
    x = tensor(3) * 1
    return torch.nn.functional.relu(x, inplace=True), x * 2


def _written_through_a_view() -> Any:
    x = tensor(2, 3) * 1
    y = x.view(-1)
    y[1:3] = 5.0
    y.mul_(tensor(6))
    x.t()[0].add_(1)
    return x * x


def _seen_through_a_view() -> Any:
    x = tensor(4) * 1
    first, last = x[:2], x.narrow(0, 2, 2)
    inner = last[1:]
    x.mul_(tensor(4, grad=False))
    first.add_(1)
    return inner * inner, last, x


def _written_through_a_view_unrecorded() -> Any:
    x = tensor(4) * 1
    y = x[1:]
    with torch.no_grad():
        y.mul_(3)
    return x * x


def _input_written_through_a_view() -> Any:
    x = tensor(2, 3, grad=False)
    x.transpose(0, 1)[1:].mul_(tensor(2, 2, grad=False))
    x[[0]].add_(1)
    return x * tensor(3)


def _running_statistics() -> Any:
    means, variances = ([tensor(3, grad=False, low=1, high=2) for _ in range(2)] for _ in range(2))
    x = torch.nn.functional.batch_norm(tensor(4, 3, 6), means[0], variances[0], training=True, momentum=0.3)
    return x, torch.nn.functional.instance_norm(tensor(4, 3, 6), means[1], variances[1]), means[1] * 2


def _asked_of_an_input() -> Any:
    x = tensor(3, grad=False)
    x.requires_grad_()
    return x * 2


def _shaped_like_another() -> Any:
    x, y = tensor(1, 3), tensor(2, 3)
    return x.expand_as(y), tensor(6).view_as(y), tensor(6).reshape_as(y), tensor(2).type_as(y)


def _branch() -> Any:
    x = tensor(2, 3)
    return x * 2 if bool(x.sum() > -100) else x


def _masked() -> Any:
    x = tensor(5)
    return x[x > 0] * 2


def _complex() -> Any:
    x = tensor(3, dtype="complex64")
    return x * x * 1j


#: What gradients of whole Programs must get right: where a tensor's past ends, and where a leaf begins.
GRADIENTS: dict[str, Callable[[], Any]] = {
    "written_unrecorded": _written_unrecorded,
    "frozen": _frozen,
    "made_a_leaf": _made_a_leaf,
    "detached_leaf": _detached_leaf,
    "retained": _retained,
    "enabled_again": _enabled_again,
    "switched": _switched,
    "written_by_index": _written_by_index,
    "overwritten": _overwritten,
    "written_through_a_view": _written_through_a_view,
    "seen_through_a_view": _seen_through_a_view,
    "written_through_a_view_unrecorded": _written_through_a_view_unrecorded,
    "input_written_through_a_view": _input_written_through_a_view,
    "running_statistics": _running_statistics,
    "asked_of_an_input": _asked_of_an_input,
    "shaped_like_another": _shaped_like_another,
    "read_data": lambda: (x := tensor(3)) * x.data,
    "cosine": lambda: torch.nn.functional.cosine_similarity(tensor(2, 3), tensor(2, 3), eps=9.0),
    "branch": _branch,
    "masked": _masked,
    "complex": _complex,
}


@pytest.mark.own_environment
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_pytorchs(name: str, worker: Supervisor, recorded: Record) -> None:
    """Outputs and gradients are PyTorch's, and what has no gradient there has none."""
    case = recorded(GRADIENTS[name])
    [seen] = worker.eager([case.program])
    assert type(seen) is Observation, seen
    assert any(gradient is not None for gradient in case.seen.gradients.values())
    assert_same(case.seen, seen, 1e-5, 1e-6)


def _whole() -> Any:
    return tensor(4, grad=False, low=1, high=9).long()


def _first() -> Any:
    return torch.zeros(2, 1, dtype=torch.int64)


#: Calls and what they give of integers, of names of arguments, and of places in any order.
FORMS: dict[str, Callable[[], Any]] = {
    "real_of_whole": lambda: (torch.exp(x := _whole()), x / 2, x * 2.5, torch.where(x > 2, 1.0, 2.0), x.double()),
    "sigmoid": lambda: (torch.sigmoid(x := _whole()), (x > 2).sigmoid(), torch.nn.functional.sigmoid(x.double())),
    "stretched": lambda: (
        torch.tensordot(tensor(2, 1), tensor(3, 4), dims=([-1], [0])),
        torch.tensordot(tensor(2, 3, 1), tensor(1, 1, 4)),
    ),
    "wide": lambda: (_whole().to(torch.float64), torch.float_power(_whole(), 2), _whole().softmax(0, torch.float64)),
    "running": lambda: (torch.cumsum(x := _whole().to(torch.int8), 0), x.cumprod(0), (x > 2).cumsum(0)),
    "softmax": lambda: [torch.nn.functional.softmax(tensor(*shape), None) for shape in ((2, 3), (2, 3, 2))],
    "log_softmax": lambda: torch.nn.functional.log_softmax(tensor(4), None),
    "dropped": lambda: [torch.nn.functional.dropout(tensor(3), p, train) for p, train in ((1, True), (0.5, False))],
    "undropped": lambda: torch.nn.functional.dropout(tensor(3), 0.0, True),
    "sized": lambda: (torch.ones(size=(2, 3)), torch.zeros(size=(2,)), torch.arange(end=3)),
    "one_hot": lambda: torch.nn.functional.one_hot(input=_whole(), num_classes=9),
    "split": lambda: (*tensor(4).tensor_split((3, 1)), *torch.tensor_split(tensor(4), indices=(1,))),
    "split_in": lambda: torch.tensor_split(tensor(5), sections=2),
    "hsplit": lambda: (*torch.hsplit(tensor(2, 4), sections=2), *torch.vsplit(tensor(4, 2), indices=(1,))),
    "dsplit": lambda: torch.dsplit(tensor(1, 1, 4), sections=2),
    "swapped": lambda: torch.swapaxes(tensor(2, 3), axis0=0, axis1=1),
    "at_least": lambda: (
        torch.atleast_1d(tensor(2)),
        torch.atleast_2d(tensor(2)),
        *torch.atleast_3d(tensor(2), tensor()),
    ),
    "flat": lambda: (torch.flatten(input=tensor(2)), torch.flatten(tensor(2, 3), 1), torch.flatten(tensor())),
    "scattered": lambda: [
        tensor(2, 3, grad=False).scatter(1, _first(), 3.0, reduce=word) for word in ("add", "multiply")
    ],
}


@pytest.mark.own_environment
@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
@pytest.mark.parametrize("name", FORMS)
def test_forms_are_pytorchs(name: str, worker: Supervisor, recorded: Record) -> None:
    """Values, dtypes and whether a tensor is the one that was given."""
    case = recorded(FORMS[name])
    [seen] = worker.eager([case.program])
    assert type(seen) is Observation, seen
    assert seen.structures == {}
    assert_same(case.seen, seen, 1e-5, 1e-6)


def _leaf_of_its_own() -> Any:
    return tensor(3) ** 3 * torch.full((3,), 2.0, requires_grad=True) ** 2


def _masked_cube() -> Any:
    x = tensor(5)
    return x[x > 0] ** 3


@pytest.mark.own_environment
@pytest.mark.parametrize(
    "body",
    [
        lambda: tensor(3) ** 3 * tensor(3),
        lambda: torch.sin(tensor(2, 2)) @ tensor(2, 2),
        _leaf_of_its_own,
        _masked_cube,
    ],
    ids=["products", "matrices", "leaf", "masked"],
)
def test_second_gradients_are_pytorchs(
    body: Callable[[], Any], worker: Supervisor, recorded: Record, reference: Any
) -> None:
    """Also where nothing can be compiled since values must be known."""
    from dual_object.replay.replay import Replay

    case = recorded(body)
    drawn = np.random.default_rng(0)
    case.program.second_cotangents = {
        key: drawn.uniform(-1, 1, gradient.shape).astype(gradient.data.dtype)
        for key, gradient in case.seen.gradients.items()
        if gradient is not None
    }
    wanted = Replay(reference, case.program, side="reference").run()
    [seen] = worker.eager([case.program])
    assert seen.second_failure is wanted.second_failure is None
    assert {*seen.second} == {*wanted.second} != set()
    for key, gradient in wanted.second.items():
        assert gradient is not None
        np.testing.assert_allclose(seen.second[key].data, gradient.data, 1e-5, 1e-6)


@pytest.mark.own_environment
def test_leaf_without_part_has_none(worker: Supervisor, recorded: Record) -> None:
    """Not zeros: what an output comes of is told by the tensors themselves."""
    case = recorded(lambda: (tensor(2), tensor(3) * 2, tensor(2).detach())[1:])
    [seen] = worker.eager([case.program])
    assert [key for key, gradient in seen.gradients.items() if gradient is None] == ["0", "3"]


@pytest.mark.own_environment
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_second_call_of_a_graph(backward: bool, worker: Supervisor, recorded: Record) -> None:
    """Nothing of the first call's values is compiled into it."""
    first, second = (
        recorded(lambda: torch.exp(tensor(2, 3)) * 2),
        recorded(lambda: torch.exp(tensor(2, 3, low=2, high=3)) * 2),
    )
    keys = first.gradient_keys() if backward else []
    second.program.cotangents = first.program.cotangents
    arrays = [[x.data for x in second.program.inputs]]
    [seen] = worker.graph([first.program], [keys] if backward else None, arrays)
    assert isinstance(seen, Observation), seen
    assert_graph(first, seen, keys)
    assert seen.again is not None
    [output] = seen.again.outputs.values()
    np.testing.assert_allclose(output.data, next(iter(second.seen.outputs.values())).data, 1e-6)


@pytest.mark.own_environment
@pytest.mark.parametrize("name", ["masked"])
def test_graph_refuses_what_depends_on_values(name: str, worker: Supervisor, recorded: Record) -> None:
    """By design: the sentence is counted, and no divergence."""
    case = recorded(GRADIENTS[name])
    call = next(index for index, call in enumerate(case.program.calls) if call.op == "getitem")
    why = "jax.jit refuses what depends on values: they are not known while it traces"
    [refused] = worker.graph([case.program], None)
    assert isinstance(refused, GraphRefusal)
    assert (refused.skipped, refused.call, refused.message, refused.uncaptured) == (True, call, why, True)


def _changed(program: Any, *args: Any, **kwargs: Any) -> None:
    call = program.calls[-1]
    call.args, call.kwargs = (call.args[0], *args), kwargs


#: What JAX itself would do in silence: bodies, what their last call is given instead, and what is said then.
REFUSED: dict[str, tuple[Callable[[], Any], tuple[Any, ...], dict[str, Any], str]] = {
    "index": (lambda: tensor(2, 3)[1], (5,), {}, "index=5 is out of bounds for dimension 0 of shape (2, 3)"),
    "later index": (
        lambda: tensor(2, 3)[..., 1],
        ((Ellipsis, 3),),
        {},
        "index=3 is out of bounds for dimension 1 of shape (2, 3)",
    ),
    "dim": (lambda: tensor(2, 3).sum(1), (2,), {}, "dim=2, but should be of [-2, 2)"),
    "keyword": (lambda: tensor(2, 3).exp(), (), {"base": 2}, "exp got an unexpected keyword argument 'base'"),
    "end": (lambda: tensor(5).narrow(0, 1, 3), (0, 3, 3), {}, "start=3 and length=3, but should end within 5"),
    "parts": (lambda: tensor(6).split([2, 4]), ([2, 3],), {}, "sections=[2, 3], but should be 6 in all"),
    "halves": (
        lambda: torch.nn.functional.glu(tensor(4)),
        (),
        {"dim": 5},
        "dim=5, but should be of [-1, 1)",
    ),
    "rounding": (
        lambda: torch.div(tensor(3), 2.0),
        (2.0,),
        {"rounding_mode": "up"},
        "rounding_mode='up', but should be None, 'floor' or 'trunc'",
    ),
    "reduction": (
        lambda: torch.nn.functional.mse_loss(tensor(3), 1 * tensor(3)),
        (2.0,),
        {"reduction": "most"},
        "reduction='most', but should be 'none', 'mean' or 'sum'",
    ),
    "pad": (
        lambda: torch.nn.functional.pad(tensor(1, 3), (1, 1)),
        ((1, 1),),
        {"mode": "wild"},
        "mode='wild', but should be one of constant, reflect, replicate, circular",
    ),
    "ends": (
        lambda: torch.flatten(tensor(2, 3, 4), 1, 2),
        (2, 1),
        {},
        "start_dim=2 and end_dim=1, but the end should not come first",
    ),
    "kept": (
        lambda: tensor(3).expand(2, 3),
        (-1, 3),
        {},
        "size=(-1, 3), but should keep no size of a new dimension",
    ),
    "size": (
        lambda: torch.nn.functional.avg_pool1d(tensor(1, 4), 2, 1, 0),
        (2, 1, True),
        {},
        "size=True, but should be a number",
    ),
    "frobenius": (
        lambda: torch.norm(tensor(2, 2, 2)),
        ("fro", (0, 1, 2)),
        {},
        "dim=(0, 1, 2), but should be of two dimensions at most [p='fro']",
    ),
}


@pytest.mark.own_environment
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, worker: Supervisor, recorded: Record) -> None:
    """What PyTorch refuses and JAX would do in another way is refused in a sentence."""
    body, args, kwargs, sentence = REFUSED[name]
    case = recorded(body)
    _changed(case.program, *args, **kwargs)
    [seen] = worker.eager([case.program])
    assert [failure.message for failure in seen.failures] == [sentence]


@pytest.mark.own_environment
def test_more_output_than_a_window_reaches(worker: Supervisor, recorded: Record) -> None:
    """A transposed convolution adds less to its output than a step, or a hole of its weight, is wide."""
    case = recorded(
        lambda: torch.nn.functional.conv_transpose1d(tensor(1, 1, 4), tensor(1, 1, 2), stride=3, output_padding=2)
    )
    case.program.calls[-1].kwargs = {"stride": 2, "output_padding": 2}
    [seen] = worker.eager([case.program])
    said = "output_padding=2, but should be less than 2 [stride, dilation]"
    assert [failure.message for failure in seen.failures] == [said]


def _embedded() -> Any:
    return torch.nn.functional.embedding(torch.zeros(2, dtype=torch.int64), tensor(3, 2), max_norm=1.0)


def _replaced() -> Any:
    x = tensor(3, grad=False)
    x.data = tensor(3, grad=False)
    return x * 2


#: What nobody has written for JAX.
UNMAPPED: dict[str, tuple[Callable[[], Any], str]] = {
    "embedding": (_embedded, "the dialect of jax has no arguments 'max_norm' and 'scale_grad_by_freq' of embedding"),
    "indices": (
        lambda: torch.nn.functional.max_pool1d(tensor(1, 4), 2, return_indices=True),
        "the dialect of jax has no argument 'return_indices' of max_pool",
    ),
    "rows": (
        lambda: torch.searchsorted(tensor(2, 3, grad=False).sort()[0], tensor(2, 1, grad=False)),
        "the dialect of jax searches in one row alone",
    ),
    "dropout": (lambda: torch.nn.functional.dropout(tensor(3), 0.5), "the dialect of jax draws no random numbers"),
    "data": (
        _replaced,
        "the dialect of jax sets no data: what had been there would have to stay where it was",
    ),
    "swapped": (
        lambda: (tensor(2, 3) * 1).swapaxes_(0, 1),
        "the dialect of jax has no 'Tensor.swapaxes_', which lays a tensor out anew in its place",
    ),
}


@pytest.mark.own_environment
@pytest.mark.parametrize("name", UNMAPPED)
def test_unmapped(name: str, worker: Supervisor, recorded: Record) -> None:
    """It is counted, and says nothing of JAX."""
    body, sentence = UNMAPPED[name]
    [seen] = worker.eager([recorded(body).program])
    assert [(failure.kind, failure.message) for failure in seen.failures] == [("unmapped", sentence)]


@pytest.mark.own_environment
@pytest.mark.parametrize(
    ("dtype", "value", "sentence"),
    [
        (
            "float32",
            np.zeros((2, 3), np.float32),
            "the result has shape (2, 3), which does not fit into one of shape (1, 3)",
        ),
        ("int64", np.zeros((1, 3), np.float32), "the result has dtype float32, which does not fit into int64"),
    ],
    ids=["shape", "dtype"],
)
def test_writes_that_do_not_fit(dtype: str, value: Any, sentence: str, worker: Supervisor, recorded: Record) -> None:
    """As PyTorch's in-place ops, which neither grow a tensor nor change its dtype."""
    case = recorded(
        lambda: tensor(1, 3, dtype=dtype, grad=False, high=5).add_(tensor(1, 3, dtype=dtype, grad=False, high=5))
    )
    x = case.program.inputs[1]
    case.program.inputs[1] = type(x)(x.id, x.name, value, value.dtype.name)
    [seen] = worker.eager([case.program])
    assert [failure.message for failure in seen.failures] == [sentence]


@pytest.mark.skipif(importlib.util.find_spec("jax") is not None, reason="jax is installed in this environment, too")
def test_not_installed() -> None:
    """One sentence, which says what to do."""
    with pytest.raises(TargetError) as caught:
        load("jax")
    assert str(caught.value) == (
        "target 'jax' is not installed in this environment, but should be: pip install jax, "
        "or name an interpreter that has it [--target-python]"
    )
