"""What is moved in the reruns that the oracle asks for."""

from __future__ import annotations

import numpy as np

from autotest.oracle.perturbation import Reruns
from dual_object.adapters.torch.adapter import Adapter
from support.programs import one_call


def test_scattered_runs_start_their_backward_elsewhere(reference: Adapter) -> None:
    """Inputs and cotangents move by a few of their last digits: the gradient of `positive` follows nothing else."""
    program = one_call("positive", np.linspace(1, 2, 8), backward=True)
    runs = Reruns(reference, program, several=False).scattered
    gradients = [seen.data for run in runs for seen in run.gradients.values() if seen is not None]
    assert len(gradients) == len({gradient.tobytes() for gradient in gradients}) == 6
    off = np.abs(np.stack(gradients) - 1)
    assert 0 < off.max() <= 4 * 2.0**-23
