"""Tests written as one expression, for the shell: the grammar, the test file made of them, a Program as one of them."""

from __future__ import annotations

from autotest.expressions.grammar import Expression, ExpressionError, parse
from autotest.expressions.spelling import command
from autotest.expressions.writing import UNNAMED, test_file

__all__ = ["UNNAMED", "Expression", "ExpressionError", "command", "parse", "test_file"]
