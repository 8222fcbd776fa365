"""MLX behind the adapter Protocol, on the CPU: the target that docs/new-target.md writes."""

import platform
from pathlib import Path

import mlx
import mlx.core as mx
import mlx.nn  # the table names what is in it
import numpy as np

from dual_object.adapters.dialect import Dialect
from dual_object.program.values import Device, Name
from dual_object.replay import tracing
from dual_object.replay.adapter import DTYPES, TargetInfo

#: MLX's dtypes by PyTorch's names.
KINDS = {name: getattr(mx, {"bool": "bool_"}.get(name, name)) for name in DTYPES if name != "complex128"}
UNKNOWN = "mx.compile refuses what depends on values: they are not known while it traces"


def to(tensor, kind):  # the row of `Tensor.to` names it: there is one device
    return tensor.astype(kind) if isinstance(kind, mx.Dtype) else tensor


class Adapter:
    """MLX."""

    name = "mlx"
    tensor_type = mx.array
    module_type = type("NoModule", (), {})
    touched = frozenset()
    lacks = frozenset({"layout", "sharing", "standing", "modules", "second", "random", "exceptions"})

    def __init__(self):
        mx.set_default_device(mx.cpu)
        self.dialect = Dialect.load("mlx", Path(__file__).with_name("mlx.json"), mlx, globals())

    def info(self):
        environment = {"mlx": mx.__version__, "python": platform.python_version()}
        return TargetInfo("mlx", environment, ("cpu",), tuple(KINDS), translations=self.dialect.translations())

    def registry(self):
        return ()

    def resolve(self, path):
        return KINDS.get(path) or self.dialect.resolve(path)

    def attribute(self, receiver, name):
        return self.dialect.attribute(receiver, name) if isinstance(receiver, mx.array) else getattr(receiver, name)

    def tensor(self, data, dtype):
        return mx.array(data, KINDS[dtype]), False

    def device(self, spec):
        return Device(spec)

    def encode(self, value):
        return Name(str(value).removeprefix("mlx.core.")) if isinstance(value, mx.Dtype) else value

    def describe(self, tensor):
        return str(tensor.dtype).removeprefix("mlx.core."), tuple(tensor.shape), "cpu", False

    def place(self, tensor):
        return None, 0, True

    def storage(self, tensor):
        return None

    def read(self, tensors):
        return [np.array(x.astype(mx.float32) if x.dtype == mx.bfloat16 else x) for x in tensors]

    def parameters(self, module, state=None):
        return {}  # there are no modules

    load_state = buffers = saved = parameters

    def synchronize(self):
        mx.synchronize()

    def gradients(self, program, keys, order):
        trace = tracing.Trace(self, program, keys)
        return pulled(trace, trace.placed())

    def graph(self, request):
        return tracing.run(self, request, compiled)


def pulled(trace, tensors):
    """Gradients by one `mx.vjp` of all calls; a leaf that no output is made of has none."""
    program, inputs = trace.program, {x.id: y for x, y in zip(trace.program.inputs, tensors, strict=True)}
    playing = set(program.cotangents)
    for call in reversed(program.calls):
        if call.op != "detach" and playing & {*call.results()}:
            playing.update(call.operands())
    leaves = {id_: y for id_, y in inputs.items() if str(id_) in trace.keys and id_ in playing}

    def outputs(*given):
        copies = {id_: mx.array(y) for id_, y in inputs.items()}  # the body may write to them
        trace.body([*{**copies, **dict(zip(leaves, given, strict=True))}.values()])
        return [trace.replay.values.by_id[id_] for id_ in program.cotangents]

    _, gradients = mx.vjp(outputs, [*leaves.values()], [mx.array(dy) for dy in program.cotangents.values()])
    return {str(id_): gradient for id_, gradient in zip(leaves, gradients, strict=True)}


def compiled(trace):
    """One `mx.compile` of all calls, and of their gradients."""

    @mx.compile
    def whole(tensors):
        gradients = pulled(trace, tensors) if trace.keys else {}
        return trace.body([mx.array(y) for y in tensors]), gradients

    def graph(tensors):
        try:
            return whole(tensors)
        except tracing.TraceRefused as refused:
            raise tracing.NotTraced(UNKNOWN) if "compile or vmap" in str(refused) else refused from None

    return graph
