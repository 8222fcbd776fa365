"""The exceptions that OneFlow's harness has, for test files that name them."""

from __future__ import annotations


class PyTorchDoesNotSupportError(Exception):
    """PyTorch refuses a call; the draw is then made anew."""

    def __init__(self, exc: BaseException) -> None:
        super().__init__(exc)
        self.exc = exc

    def __str__(self) -> str:
        return f"PyTorch error: {self.exc}"

    __repr__ = __str__


def refused(error: Exception) -> Exception:
    """What a body gets for PyTorch's exception: a PyTorchDoesNotSupportError that is one of PyTorch's class, too."""
    both: type[Exception] = type(
        "PyTorchDoesNotSupportError", (PyTorchDoesNotSupportError, type(error)), {"__module__": __name__}
    )
    exception = both.__new__(both)
    exception.args = error.args
    vars(exception).update(vars(error), exc=error)
    return exception


class OneFlowGraphBuildOrRunError(Exception):
    """OneFlow's graph refuses a call."""

    def __init__(self, exc: BaseException) -> None:
        super().__init__(exc)
        self.exc = exc

    def __str__(self) -> str:
        return f"OneFlow nn.Graph Build Or Run Error: {self.exc}"

    __repr__ = __str__


class BothDoNotSupportError(Exception):
    """PyTorch and OneFlow both refuse a call."""

    def __init__(self, th_exc: BaseException, of_exc: BaseException) -> None:
        super().__init__(th_exc, of_exc)
        self.th_exc = th_exc
        self.of_exc = of_exc

    def __str__(self) -> str:
        return f"PyTorch error: {self.th_exc}\nOneFlow error: {self.of_exc}"

    __repr__ = __str__
