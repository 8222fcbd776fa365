"""What a test file gets of the harness's module `util`."""

import pickle

import oneflow as flow

from autotest.dropin.lacking import refuse
from autotest.dropin.placements import broadcast

__getattr__ = refuse(__name__)

__all__ = ["broadcast", "flow", "pickle"]
