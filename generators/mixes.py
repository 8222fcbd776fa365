"""How wild the drawn tensors are: the share of each fill, layout and size that nobody asked for."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of what a tensor leaves open; a share of 0 takes no choice.

    Attributes:
        fills: a weight for each of `FILLS`.
        bounded: the same for a tensor whose range was given.
        wild: a given range does not keep NaN and infinities out of a floating tensor.
        layouts: a weight for each of `LAYOUTS`; None leaves every tensor contiguous.
        empty, single: the share of size 0, and of size 1, among the sizes that were left out.
        scalar: the share of rank 0 among the ranks that were left out.
        without_gradient: the share of differentiable tensors that do not require a gradient.
        laid_out: a design decides, not chance: values, layouts and sizes are each of those there are, at equal shares.
        dtype: of the tensors that leave it open.
    """

    fills: tuple[float, ...]
    bounded: tuple[float, ...]
    wild: bool = False
    layouts: tuple[float, ...] | None = None
    empty: float = 0.0
    single: float = 0.0
    scalar: float = 0.0
    without_gradient: float = 0.0
    laid_out: bool = False
    dtype: str = "float32"


PLAIN: Final = Mix(
    #      zeros ones integers uniform ties halves sprinkled edge
    fills=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    bounded=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
)
# A test of 20 cases with one `random_tensor()` meets each corner with more than 95 %, if a case meets it with at
# least 1 - 0.05 ** (1 / 20) = 13.9 %. Shares that 20,000 draws of default shape have:
#   NaN or infinite   18.4 % = 0.17 sprinkled x 0.84 + 0.045 edge x 0.92
#   -0.0              17.6 %
#   zero or kink      27 %
#   ties              28 %
# `test_a_test_of_20_cases_meets_every_corner` draws them.
STANDARD: Final = Mix(
    fills=(0.01, 0.01, 0.05, 0.55, 0.075, 0.09, 0.17, 0.045),
    bounded=(0.01, 0.01, 0.05, 0.55, 0.10, 0.12, 0.16, 0.0),
    layouts=(0.71, 0.06, 0.10, 0.04, 0.08, 0.01),
    empty=0.03,
    single=0.03,
    scalar=0.04,
    without_gradient=0.12,
)
EDGE: Final = Mix(
    fills=(0.02, 0.02, 0.06, 0.20, 0.10, 0.15, 0.30, 0.15),
    bounded=(0.02, 0.02, 0.06, 0.20, 0.15, 0.20, 0.35, 0.0),
    wild=True,
    layouts=(0.50, 0.10, 0.15, 0.10, 0.12, 0.03),
    empty=0.10,
    single=0.10,
    scalar=0.08,
    without_gradient=0.12,
)
#: For laid-out cases. The first of the equal shares, and the greatest of the others, is the ordinary one.
LAID_OUT: Final = Mix(
    fills=PLAIN.fills,
    bounded=PLAIN.bounded,
    layouts=STANDARD.layouts,
    scalar=0.1,
    without_gradient=0.1,
    laid_out=True,
)
MIXES: Final = MappingProxyType({"plain": PLAIN, "standard": STANDARD, "edge": EDGE})
