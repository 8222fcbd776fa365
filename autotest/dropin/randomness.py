"""Random numbers of other kinds than generators: `rng` and `random_util`, from the case's key."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from generators import Generator
from generators.source import Source


class _NumPyStream(Generator):
    """One NumPy generator per case."""

    def draw(self, source: Source) -> np.random.Generator:
        """Seeded by one choice of the source."""
        return np.random.Generator(np.random.Philox(source.integer(0, 1 << 32)))

    def __repr__(self) -> str:
        return "rng"


class _PythonStream(Generator):
    """One generator of the standard library per case."""

    def draw(self, source: Source) -> python_random.Random:
        """Seeded by one choice of the source."""
        return python_random.Random(source.integer(0, 1 << 32))

    def __repr__(self) -> str:
        return "random_util"


class Stream:
    """What a random number generator can do, from the source of the case that runs; raises OutsideCaseError."""

    def __init__(self, stream: Generator) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._stream.value(), name)

    def __repr__(self) -> str:
        return f"<{self._stream!r}, seeded by the case>"


rng = Stream(_NumPyStream())
random_util = Stream(_PythonStream())
