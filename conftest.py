"""Shared by `tests/` and `suites/`."""

pytest_plugins = ["pytester"]
