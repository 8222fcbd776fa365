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
    #: Whether it is a class of the user's, which has to be found, and whose tensors are read by it.
    adapted: bool = False


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

#: A class of the user's as a module: what the printed Program asks of one, asked of the class as the harness asks it.
_ADAPTED = """\
import inspect

import torch
from {module} import {root} as Adapter

adapter = Adapter{rest}()
dtypes = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()

def from_numpy(values, dtype=None):
    return adapter.tensor(values, dtype or values.dtype.name)[0]

def tensor(values, dtype, requires_grad=False):
    name = next(name for name in dtypes if adapter.resolve(name) == dtype)
    made = from_numpy(np.array(values, "float32" if name == "bfloat16" else name), name)
    if requires_grad:
        made.requires_grad = True
    return made

def backward(outputs, cotangents, **more):
    return adapter.backward(outputs, adapter.read(cotangents), **more)

own = {{"tensor": tensor, "from_numpy": from_numpy, "autograd.backward": backward}}

class Framework:
    def __init__(self, path=""):
        self.path, self.adapter = path, adapter
        self.__name__, self.__version__ = "target", adapter.info().name

    def __getattr__(self, name):
        path = f"{{self.path}}.{{name}}".lstrip(".")
        if path in own:
            return own[path]
        known = torch
        for part in path.split("."):
            known = getattr(known, part, None)
        return Framework(path) if inspect.ismodule(known) else adapter.resolve(path)

return Framework()"""

RECIPES = {
    "oneflow": Recipe("oneflow", tuple(_ONEFLOW.split("\n")), graph="nn.Graph"),
    "torch": Recipe("torch", ("import torch", "", "return torch")),
}


def recipe(target: str) -> Recipe | None:
    """How a script imports a target of this name, or a class `package.module:Class`; None where it does not know."""
    module, _, name = target.partition(":")
    if not name:
        return RECIPES.get(target)
    root, dot, rest = name.partition(".")
    return Recipe(target, tuple(_ADAPTED.format(module=module, root=root, rest=dot + rest).split("\n")), adapted=True)


__all__ = ["RECIPES", "Recipe", "recipe"]
