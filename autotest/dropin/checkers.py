"""Equality checks on raw objects of both sides: OneFlow's own, and those that test files register for their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autotest.dropin.options import ATOL, RTOL
from autotest.dropin.state import state
from autotest.errors import AutotestError
from dual_object.errors import RawTargetNeeded
from dual_object.record.dual import DualObject

if TYPE_CHECKING:
    from autotest.dropin.options import DropInOptions
    from dual_object.record.recording import Recording

Checker = Callable[..., bool]


class UncheckedError(AutotestError, AssertionError):
    """No checker is registered for a pair of types."""


class UnequalError(AutotestError, AssertionError):
    """A checker that a test file registered finds both sides unequal."""


def equality_checker(torch_type: type, flow_type: type) -> Callable[[Checker], Checker]:
    """Register a checker `(pytorch, oneflow, rtol, atol, check_dtype) -> bool` for a pair of types."""

    def register(checker: Checker) -> Checker:
        state().checkers[torch_type, flow_type] = checker
        return checker

    return register


def built_in() -> Mapping[tuple[type, type], Checker]:
    """The pairs of types that OneFlow's harness compares."""
    import oneflow as flow
    import torch

    return {
        (torch.Tensor, flow.Tensor): check_tensor_equality,
        (torch.Tensor, flow._oneflow_internal.Tensor): check_tensor_equality,
        (int, int): check_basetype_equality,
        (bool, bool): check_basetype_equality,
        (tuple, tuple): check_basetype_equality,
        (list, list): check_basetype_equality,
        (type(None), type(None)): check_nonetype_equality,
    }


def check_equality(dual_object: Any, rtol: float = RTOL, atol: float = ATOL, check_dtype: bool = False) -> bool:
    """Whether both sides of a dual object are equal; raises UncheckedError for types without a checker."""
    if not isinstance(dual_object, DualObject):  # a plain value: the replay compares what the target gives
        return True
    return check_pair(dual_object.pytorch, dual_object.target, rtol, atol, check_dtype)


def check_pair(pytorch: Any, oneflow: Any, rtol: float, atol: float, check_dtype: bool) -> bool:
    """As `check_equality`, on both sides' own objects."""
    checkers = {**built_in(), **state().checkers}
    check = checkers.get((type(pytorch), type(oneflow)))
    for (left, right), checker in checkers.items():
        if check is None and isinstance(pytorch, left) and isinstance(oneflow, right):
            check = checker
    if check is None:
        raise UncheckedError(
            f"types={type(pytorch).__name__} and {type(oneflow).__name__}, but should be types with a checker: "
            "register one with @equality_checker(torch_type, flow_type)"
        )
    return bool(check(pytorch, oneflow, rtol, atol, check_dtype))


def check_tensor_equality(
    torch_tensor: Any, flow_tensor: Any, rtol: float = RTOL, atol: float = ATOL, check_dtype: bool = False
) -> bool:
    """Whether values and gradients of two tensors are close; raises AssertionError where only OneFlow's has none."""
    if torch_tensor.grad is not None:
        if flow_tensor.grad is None:
            raise AssertionError("the target's tensor has no gradient, but should have one [check_tensor_equality]")
        if not _close(torch_tensor.grad, flow_tensor.grad, rtol, atol, check_dtype=False):
            return False
    return _close(torch_tensor, flow_tensor, rtol, atol, check_dtype)


def check_basetype_equality(a: Any, b: Any, rtol: float = RTOL, atol: float = ATOL, check_dtype: bool = False) -> bool:
    """Whether two numbers are equal, or two sequences of tensors close, element by element."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(
            _close(left, right, rtol, atol, check_dtype) for left, right in zip(a, b, strict=True)
        )
    return bool(a == b) and (not check_dtype or type(a) is type(b))


def check_nonetype_equality(
    a: Any, b: Any, ignored1: Any = None, ignored2: Any = None, check_dtype: bool = False
) -> bool:
    """True: None is None."""
    return True


def _close(left: Any, right: Any, rtol: float, atol: float, check_dtype: bool) -> bool:
    expected, actual = left.detach().cpu().numpy(), right.detach().cpu().numpy()
    same = np.allclose(expected, actual, rtol=rtol, atol=atol, equal_nan=True)
    return same and (not check_dtype or expected.dtype == actual.dtype)


def check_returned(recording: Recording, returned: Any, options: DropInOptions) -> None:
    """Run the checkers that a test file registered on returned objects of their types.

    Raises RawTargetNeeded where the target is in another process, UnequalError where a checker finds a difference.
    """
    own = state().checkers
    if not own or not options.check_allclose:
        return
    for item in returned if isinstance(returned, (tuple, list)) else [returned]:
        if isinstance(item, DualObject) and any(isinstance(item.pytorch, left) for left, _ in own):
            if recording.stepper is None:
                raise RawTargetNeeded("a checker of the test file compares raw objects")
            assert options.rtol is not None
            assert options.atol is not None
            if not check_pair(item.pytorch, item.target, options.rtol, options.atol, options.check_dtype):
                raise UnequalError(
                    f"the target gives {item.target!r:.200}, but should give the like of {item.pytorch!r:.200}, "
                    "says the checker that the test file registered"
                )
