"""Dual objects as OneFlow's harness has them: all that a call gives answers `.pytorch` and `.oneflow`."""
