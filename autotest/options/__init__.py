"""What a test asks of the harness (`TestOptions`) and what a run is asked for (`RunOptions`); both frozen.

The plugin reads this in every pytest session, and the command before each answer: nothing heavy is imported here.
"""

from autotest.options.run import Coverage, Inputs, Isolate, RunOptions
from autotest.options.shard import Shard
from autotest.options.table import OPTIONS, Face, Kind, Option
from autotest.options.test import GradOrder, GraphBackward, Lacking, Refusals, TestOptions

__all__ = [
    "OPTIONS",
    "Coverage",
    "Face",
    "GradOrder",
    "GraphBackward",
    "Inputs",
    "Isolate",
    "Kind",
    "Lacking",
    "Option",
    "Refusals",
    "RunOptions",
    "Shard",
    "TestOptions",
]
