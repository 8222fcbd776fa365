"""What a row of the dialect cannot say: functions that call Paddle as PyTorch would be called."""

from __future__ import annotations
