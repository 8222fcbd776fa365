"""What of PyTorch an expression may reach: its ops, and nothing that runs code, opens files or changes the process.

Lists of calls come from other people: `torch.os.system(...)` in one would run with the rights of whoever checks it.
"""

from __future__ import annotations

from generators import DTYPES

#: The parts of PyTorch that have ops.
PARTS = (
    *("amp", "aten", "attention", "autograd", "fft", "func", "functional", "init", "linalg", "masked", "nested", "nn"),
    *("ops", "parametrizations", "rnn", "signal", "sparse", "special", "utils", "windows"),
)
#: What is no op, in any of them or of a result.
_ACTS = frozenset({"compile", "dump", "from_file", "load", "load_library", "save", "tofile"})


def no_part(name: str) -> str | None:
    """Why a name is none that has others behind a dot; None where it is one: a part, a class or a dtype."""
    if name in PARTS or name in DTYPES or name[:1].isupper():
        return None
    return f"{name} is no part of PyTorch that has ops, but should be one of {', '.join(PARTS)}"


def no_op(name: str) -> str | None:
    """Why a name is none of an op; None where it may be one, as PyTorch will tell."""
    if name in _ACTS or name.startswith("import_") or "File" in name or (name.startswith("set_") and name != "set_"):
        return f"{name} does more than compute, but should be an op"
    return None


__all__ = ["PARTS", "no_op", "no_part"]
