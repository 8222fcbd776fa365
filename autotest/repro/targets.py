"""How a script imports a target, and builds a static graph in it, without anything of ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """A target as a script needs it: its module, the lines of a function that imports and returns it, and the name of
    the recipe for a static graph (None where a script knows none).
    """

    module: str
    imports: tuple[str, ...]
    graph: str | None = None


_ONEFLOW = """\
try:
    import oneflow
except ImportError:  # CUDA libraries of the nvidia wheels, which the loader does not find by itself
    import ctypes

    import nvidia

    parts = [f"dnn/lib/libcudnn_{part}.so.8" for part in ("ops_infer", "ops_train", "cnn_infer", "cnn_train")]
    for name in ["blas/lib/libcublasLt.so.11", "blas/lib/libcublas.so.11", *parts]:
        ctypes.CDLL(f"{next(iter(nvidia.__path__))}/cu{name}", ctypes.RTLD_GLOBAL)
    import oneflow
return oneflow"""

RECIPES = {
    "oneflow": Recipe("oneflow", tuple(_ONEFLOW.split("\n")), graph="nn.Graph"),
    "torch": Recipe("torch", ("import torch", "", "return torch")),
}
