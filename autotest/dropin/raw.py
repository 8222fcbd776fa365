"""Functions of OneFlow's harness that take OneFlow's own objects: eager calls and graphs of one call."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import oneflow as flow

from autotest.dropin.errors import BothDoNotSupportError, OneFlowGraphBuildOrRunError, PyTorchDoesNotSupportError
from autotest.dropin.generators import tensor_converter
from autotest.dropin.levels import aligns_exceptions
from autotest.dropin.notes import get_fake_program_more_detail
from autotest.dropin.options import running_options


def torch_tensor_to_flow(x: Any) -> Any:
    """A OneFlow tensor with the values of a PyTorch tensor."""
    return tensor_converter(x)


def get_args_copy(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Copies of a call's arguments, which an in-place op may write to."""

    def copied(value: Any) -> Any:
        return value.clone().detach() if flow.is_tensor(value) else copy.deepcopy(value)

    return [copied(arg) for arg in args], {name: copied(arg) for name, arg in kwargs.items()}


def check_eager_graph_tensor(eager_res: Any, graph_res: Any) -> bool:
    """Whether a graph's tensor is close to eager's; True for anything but two tensors."""
    options = running_options()
    if not (options.check_allclose and flow.is_tensor(eager_res) and flow.is_tensor(graph_res)):
        return True
    assert options.rtol is not None
    assert options.atol is not None
    return np.allclose(eager_res.numpy(), graph_res.numpy(), rtol=options.rtol, atol=options.atol, equal_nan=True)


def get_global_test_device(oneflow_args: Sequence[Any]) -> str:
    """The device type of the first argument's placement."""
    first = oneflow_args[0]
    return str((first if flow.is_tensor(first) else first[0]).placement.type)


def get_oneflow_eager_res(
    oneflow: Callable[..., Any],
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    verbose: bool,
    is_tesnor_method: bool = False,
) -> Any:
    """Call an op eagerly."""
    if verbose:
        get_fake_program_more_detail(oneflow, "Eager", "get_oneflow_eager_res", oneflow_args, oneflow_kwargs)
    return oneflow(*oneflow_args, **oneflow_kwargs)


def get_functional_graph_res(
    graph_functional_oneflow: Callable[..., Any],
    oneflow: Callable[..., Any],
    oneflow_res: Any,
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    verbose: bool,
    *graph_args: Any,
    **graph_kwargs: Any,
) -> Any:
    """The result of one call in a graph of its own; raises OneFlowGraphBuildOrRunError."""
    return get_tensor_graph_res(graph_functional_oneflow, oneflow, verbose, *graph_args, **graph_kwargs)


def get_tensor_graph_res(
    graph_tensor_oneflow: Callable[..., Any],
    oneflow: Any,
    verbose: bool,
    *tensor_graph_args: Any,
    **tensor_graph_kwargs: Any,
) -> Any:
    """The result of one call in a graph of its own; raises OneFlowGraphBuildOrRunError."""
    if verbose:
        get_fake_program_more_detail(oneflow, "nn.Graph", "get_tensor_graph_res", tensor_graph_args)

    class OneCall(flow.nn.Graph):  # type: ignore[misc]
        def build(self) -> Any:
            return graph_tensor_oneflow(*tensor_graph_args, **tensor_graph_kwargs)

    return _guarded(lambda: OneCall()())


def get_module_graph_test(
    graph_train_oneflow: Any, oneflow: Any, verbose: bool, oneflow_args: Sequence[Any], *args: Any
) -> Any:
    """A graph of one module, which trains it by one step where it has parameters and a backward is asked for."""
    if verbose:
        get_fake_program_more_detail(oneflow, "nn.Graph", "get_module_graph_test", oneflow_args)
    parameters = list(graph_train_oneflow.parameters())
    trains = running_options().auto_backward and bool(parameters)

    class OneModule(flow.nn.Graph):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.test_module = graph_train_oneflow
            if trains:
                self.add_optimizer(flow.optim.SGD(parameters, lr=0.001, momentum=0.9))

        def build(self, *inputs: Any) -> Any:
            result = self.test_module(*inputs)
            if trains:
                _sum(result).backward()
            return result

    return _guarded(OneModule)


def oneflow_eager_run_with_graph_check(
    oneflow: Any,
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    testing_graph: bool,
    verbose: bool,
    *args: Any,
) -> Any:
    """The eager result of one call, once it has run in a graph, too."""
    if not testing_graph:
        return get_oneflow_eager_res(oneflow, oneflow_args, oneflow_kwargs, verbose)
    # Before the eager call, which may write into its arguments and its module.
    graph_args, graph_kwargs = get_args_copy(oneflow_args, oneflow_kwargs)
    module = copy.deepcopy(oneflow) if isinstance(oneflow, flow.nn.Module) else None
    result = get_oneflow_eager_res(oneflow, oneflow_args, oneflow_kwargs, verbose)
    if module is not None:
        graph = get_module_graph_test(module, oneflow, verbose, oneflow_args)
        graph_result = _guarded(lambda: graph(*graph_args))
    else:
        graph_result = get_tensor_graph_res(oneflow, oneflow, verbose, *graph_args, **graph_kwargs)
    if not check_eager_graph_tensor(result, graph_result):
        get_fake_program_more_detail(oneflow, "Eager + nn.Graph", "oneflow_eager_run_with_graph_check")
    return result


def oneflow_tensor_eager_run_with_graph_check(
    oneflow: Any,
    oneflow_method: Callable[..., Any],
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    testing_graph: bool,
    verbose: bool,
) -> Any:
    """The eager result of one method's call, once it has run in a graph, too."""
    return oneflow_eager_run_with_graph_check(oneflow_method, oneflow_args, oneflow_kwargs, testing_graph, verbose)


def get_pytorch_oneflow_res(
    pytorch: Callable[..., Any],
    oneflow: Any,
    pytorch_args: Sequence[Any],
    pytorch_kwargs: dict[str, Any],
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    name: str,
    verbose: bool,
    testing_graph: bool,
    *args: Any,
) -> tuple[Any, Any]:
    """The results of one call on both sides; raises PyTorchDoesNotSupportError, BothDoNotSupportError."""
    try:
        expected = pytorch(*pytorch_args, **pytorch_kwargs)
    except Exception as error:
        if aligns_exceptions():
            try:
                oneflow(*oneflow_args, **oneflow_kwargs)
            except Exception as other:
                raise BothDoNotSupportError(error, other) from None
        raise PyTorchDoesNotSupportError(error) from None
    return expected, oneflow_eager_run_with_graph_check(oneflow, oneflow_args, oneflow_kwargs, testing_graph, verbose)


def get_pytorch_oneflow_tensor_res(
    pytorch_method: Callable[..., Any],
    oneflow_method: Callable[..., Any],
    oneflow: Any,
    pytorch_args: Sequence[Any],
    pytorch_kwargs: dict[str, Any],
    oneflow_args: Sequence[Any],
    oneflow_kwargs: dict[str, Any],
    testing_graph: bool,
    verbose: bool,
) -> tuple[Any, Any]:
    """The results of one method's call on both sides; raises as `get_pytorch_oneflow_res` does."""
    return get_pytorch_oneflow_res(
        pytorch_method,
        oneflow_method,
        pytorch_args,
        pytorch_kwargs,
        oneflow_args,
        oneflow_kwargs,
        "",
        verbose,
        testing_graph,
    )


def _guarded(call: Callable[[], Any]) -> Any:
    """What `call` gives; its exception is one of the graph's."""
    try:
        return call()
    except Exception as error:
        raise OneFlowGraphBuildOrRunError(error) from error


def _sum(result: Any) -> Any:
    """One number of all tensors of a module's result."""
    if flow.is_tensor(result):
        return result.sum()
    first, *others = [_sum(item) for item in result]
    for other in others:
        first = first + other
    return first
