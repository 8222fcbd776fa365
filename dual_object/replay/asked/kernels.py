"""Kernels in the place of ops: how a process is told of them, and by which names its answers tell of what they did."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: The variable that names kernels that are judged: JSON, by the op's path below `torch` the file, the function, and
#: whether it may call the op itself, and the way it is called, `{"relu": ["/home/me/kernels.py", "relu", false, ""]}`.
KERNELS = "AUTOTEST_KERNELS"
#: The variable that names those of a run: JSON, a list of lists of an op, a file, a function, dtypes, gaps, and whether
#: it may call the op itself.
OVERRIDES = "AUTOTEST_OVERRIDES"
#: The variable that names a module that is judged: JSON, the file, the class, and whether it may draw random numbers.
MODULE = "AUTOTEST_MODULE"
#: The variable that names the device that a judged kernel is asked on; by default `cpu`.
DEVICE = "AUTOTEST_KERNEL_DEVICE"
#: What makes the C library fill fresh memory with one byte, 8.457e+37 as float32; what a thread keeps for itself it
#: does not fill.
POISON: Mapping[str, str] = MappingProxyType(
    {"MALLOC_PERTURB_": "129", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
)
#: The byte: all bits of 129 the other way round.
POISONED = 0x7E
#: The classes by which a call tells that a kernel did what none may, that it has no parameter for an argument, and that
#: PyTorch's compiler does not capture it whole.
MISCONDUCT, NOT_TAKEN, NOT_CAPTURED = "Misconduct", "NotTaken", "NotCaptured"
#: In these calls PyTorch may use several threads: a kernel that wants one alone is seen to leave it so. Their last
#: digits may be others for it.
SEVERAL_THREADS = range(2, 5)
#: On so many threads at once a kernel is called that claims to be right so.
THREADS = 5

__all__ = [
    "DEVICE",
    "KERNELS",
    "MISCONDUCT",
    "MODULE",
    "NOT_CAPTURED",
    "NOT_TAKEN",
    "OVERRIDES",
    "POISON",
    "POISONED",
    "SEVERAL_THREADS",
    "THREADS",
]
