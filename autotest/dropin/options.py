"""The options of a drop-in `@autotest`: OneFlow's defaults, and what its harness would have compared."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from autotest.compare.difference import Rules
from autotest.options import TestOptions

RTOL, ATOL = 1e-4, 1e-5


@dataclass(frozen=True, slots=True)
class DropInOptions(TestOptions):
    """As `TestOptions`, with OneFlow's defaults. `auto_backward` is off, on, or `starts_where_it_can`: only from
    results that have a gradient.
    """

    __test__ = False  # pytest: no test class

    rtol: float | None = RTOL
    atol: float | None = ATOL
    check_dtype: bool = False
    check_layout: bool = False
    starts_where_it_can: bool = False

    @property
    def own_tolerance(self) -> None:
        """None: its tolerances are the harness's defaults."""
        return

    @property
    def rules(self) -> Rules:
        """Everything but strides is compared; `levels` tells afterwards what the test has asked for."""
        return Rules(self.rtol, self.atol, check_layout=self.check_layout)


#: The options of the `@autotest` that runs, for test files that ask for its tolerances.
current_options: ContextVar[DropInOptions] = ContextVar("current_options")


def running_options() -> DropInOptions:
    """The options of the `@autotest` that runs; the defaults while none does."""
    return current_options.get(DropInOptions())
