"""What a test file gets of the harness's module `global_scope`."""

from autotest.dropin.lacking import refuse
from autotest.dropin.placements import GlobalScope, is_global

__getattr__ = refuse(__name__)

__all__ = ["GlobalScope", "is_global"]
