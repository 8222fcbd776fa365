"""The global random numbers of Python, NumPy and PyTorch while a body runs: they start from the case's key."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dual_object.replay.adapter import Reference
from generators import words


@contextmanager
def seeded(key: str, reference: Reference, stream: np.random.MT19937 | None = None) -> Iterator[None]:
    """Inside, `random`, `numpy.random` and the reference's own generator start from `key`; afterwards they go on from
    where they stood. What a body makes for itself, such as `numpy.random.default_rng()`, is out of reach.

    `stream` stands in for NumPy's own meanwhile, wherever it stands: making one takes 80 microseconds, as long as to
    read and write the state of NumPy's own.
    """
    digest = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "little")
    [word] = words(digest, 1).tolist()
    python, numpy = random.getstate(), np.random.get_bit_generator()
    with reference.random_apart():
        random.seed(word)
        np.random.set_bit_generator(stream or np.random.MT19937(0))
        np.random.seed(word & 0xFFFFFFFF)
        reference.seed(word >> 1)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_bit_generator(numpy)


__all__ = ["seeded"]
