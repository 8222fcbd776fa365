"""PyTorch behind the adapter Protocol: the reference of every case, and a target to prove the harness with."""

from dual_object.adapters.torch.adapter import Adapter

__all__ = ["Adapter"]
