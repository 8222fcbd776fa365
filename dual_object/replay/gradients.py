"""How a framework differentiates: by a tape that a backward runs along, or by functions of whole Programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from dual_object.program.values import Array

if TYPE_CHECKING:
    from dual_object.program.program import Program


class Tape(Protocol):
    """Gradients accumulate in leaves, as in PyTorch."""

    def want_grad(self, tensor: Any) -> None:
        """Make a tensor a leaf whose gradient is kept."""

    def backward(self, outputs: Sequence[Any], cotangents: Sequence[Array], *, create_graph: bool = False) -> None:
        """Accumulate gradients from `outputs` into their leaves; with `create_graph`, such as can be differentiated
        again.
        """

    def gradient(self, leaf: Any) -> Any | None:
        """What has accumulated in a leaf, a tensor; None where nothing has."""

    def forget_gradient(self, leaf: Any) -> None:
        """Let a leaf's gradient be None."""


class Functional(Protocol):
    """Gradients are functions of the whole Program: no tensor holds one, and none says that it wants one."""

    def gradients(self, program: Program, keys: Sequence[str], order: Literal[1, 2]) -> Mapping[str, Any]:
        """The gradients of the leaves with these keys, tensors, by key; None, or no item, where a leaf has none.

        Of order 1: of the Program's outputs, from `program.cotangents`. Of order 2: the gradients of those of order 1,
        from `program.second_cotangents`; a leaf without the first has no second.
        """


def functional(adapter: object) -> Functional | None:
    """The adapter as one that differentiates whole Programs, None where it has a tape."""
    # Each replay asks several times; whether it is an instance of the Protocol takes Python 6 microseconds to say.
    return cast(Functional, adapter) if hasattr(adapter, "gradients") else None


__all__ = ["Functional", "Tape", "functional"]
