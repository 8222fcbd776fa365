"""PyTorch's own ways of capturing and running a graph, one `Executor` each."""

from dual_object.adapters.torch.executors.executor import Compiled, Executor, NotCaptured
from dual_object.adapters.torch.executors.making import make_executor

__all__ = ["Compiled", "Executor", "NotCaptured", "make_executor"]
