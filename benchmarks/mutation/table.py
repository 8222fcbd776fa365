"""All planted faults."""

from __future__ import annotations

from benchmarks.mutation import calling, derivatives, forward, states, training

FAULTS = (*forward.FAULTS, *calling.FAULTS, *derivatives.FAULTS, *states.FAULTS, *training.FAULTS)
