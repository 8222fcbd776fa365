"""Looks: what a script sees of a training after a part of its step, as functions that both frameworks take."""

from __future__ import annotations

from collections.abc import Mapping

#: The looks at a training, as functions of a script.
LOOKS: Mapping[str, str] = {
    "trained": '''def trained(optimizer):
    """The parameters that an optimizer updates."""
    groups = optimizer.param_groups
    return [leaf for group in groups for leaf in (group["params"] if isinstance(group, dict) else group.parameters)]''',
    "gradients": '''def gradients(optimizer):
    """Copies of the gradients of an optimizer's parameters."""
    return [None if leaf.grad is None else leaf.grad.detach().clone() for leaf in trained(optimizer)]''',
    "parameters": '''def parameters(optimizer):
    """Copies of an optimizer's parameters."""
    return [leaf.detach().clone() for leaf in trained(optimizer)]''',
    "states": '''def states(optimizer):
    """Copies of what an optimizer keeps for each parameter, by names in order."""
    held = optimizer.state if hasattr(optimizer, "state") else optimizer._state
    kept = [{} if leaf.grad is None else dict(held[leaf]) for leaf in trained(optimizer)]
    return [[state[name].detach().clone() for name in sorted(state) if name != "step"] for state in kept]''',
    "rates": '''def rates(optimizer):
    """The learning rates of an optimizer's groups."""
    return [float(group["lr"]) for group in optimizer.param_groups]''',
}

__all__ = ["LOOKS"]
