"""Repro scripts of what an executor of PyTorch captured wrong: they need PyTorch and NumPy alone."""

from autotest.repro.executors.script import executor_script

__all__ = ["executor_script"]
