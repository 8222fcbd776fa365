"""OneFlow with a fault on one rank alone: `--target rank_faults:Adapter`, the fault named by RANK_FAULT."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from dual_object.adapters.oneflow.graph import Adapter as OneFlow

FAULT = os.environ.get("RANK_FAULT", "")
#: The rank that has the fault.
CULPRIT = "1"


def here() -> bool:
    """Whether this process is the rank that has the fault; a worker that replays a Program is none."""
    return os.environ.get("RANK") == CULPRIT


class Adapter(OneFlow):
    """The real OneFlow; relu is what the fault shows in."""

    def __init__(self) -> None:
        if FAULT == "import" and here():
            os.write(2, b"Fatal Python error: planted at import\n")
            os._exit(7)
        super().__init__()
        #: Kept, or another tensor would have the identity of one that is gone.
        self._of_relu: dict[int, Any] = {}
        if FAULT and here():
            self._plant()

    def _plant(self) -> None:
        relu = self.flow.relu

        def planted(x: Any) -> Any:
            if FAULT == "raise":
                raise ValueError("planted on one rank")
            if FAULT == "die":
                os.write(2, b"F20260101 00:00:00.000000     1 planted.cpp:1] Check failed: a == b (1 vs. 2)\n")
                os.abort()
            if FAULT == "hang":
                time.sleep(1000)
            result = relu(x)
            self._of_relu[id(result)] = result
            return result

        self.flow.relu = planted

    def read(self, tensors: Sequence[Any]) -> list[Any]:
        """What relu gave is one more where this rank reads it: no collective call runs on it alone."""
        found = super().read(tensors)
        if FAULT != "wrong" or not here():
            return found
        return [data + 1 if id(t) in self._of_relu else data for t, data in zip(tensors, found, strict=True)]
