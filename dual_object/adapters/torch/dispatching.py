"""What sees the operators that PyTorch dispatches."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """A mode of PyTorch's dispatcher, for what is not compiled.

    PyTorch's own keeps its compiler from looking into `__torch_dispatch__`, and for that imports Dynamo, and SymPy with
    it, when the mode first sees an operator: some seconds.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PyTorch's class has no annotations

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()  # type: ignore[no-untyped-call]  # for the same reason

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


__all__ = ["DispatchMode"]
