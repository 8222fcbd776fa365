"""The script of a divergence in the words of a target that calls things otherwise than PyTorch: it needs that target
and NumPy alone, for what PyTorch gives is written into it.
"""

from __future__ import annotations

from autotest.repro.translated.script import translated_script
from autotest.repro.translated.speech import SPEECHES, Speech

__all__ = ["SPEECHES", "Speech", "translated_script"]
