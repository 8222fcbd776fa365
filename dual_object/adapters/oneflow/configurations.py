"""The configurations of OneFlow's static graph: what `self.config` of an nn.Graph may be told, and what of its modules.

None of them changes what a graph computes, but `enable_amp` in which dtype. What changes more has no place here:
`set_gradient_accumulation_steps` belongs to a training of several batches a step. Some need several ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dual_object.replay.adapter import Configuration

#: The one that says something else to each module, where it runs, and is no line that is the same for all.
STAGES = "set_stage"


@dataclass(frozen=True, slots=True)
class _Row:
    """A method of GraphConfig, the argument that it gets, and what that does.

    `dtype` is the name of the dtype that it is given by keyword, and that the graph may compute in. What is said
    `of_modules` is no method, but an attribute of each module. `more` are other keywords with their numbers, and
    `ranks` is how many ranks it wants at least.
    """

    method: str
    does: str
    argument: bool | int | str = True
    dtype: str = ""
    of_modules: bool = False
    more: tuple[tuple[str, int], ...] = ()
    ranks: int = 1

    @property
    def name(self) -> str:
        """The method, and which argument where others mean something else: `enable_amp.float16`."""
        told = [self.dtype or ("" if self.argument is True else str(self.argument)), *(str(x) for _, x in self.more)]
        return ".".join(filter(None, (self.method, *told)))

    def code(self, framework: str, modules: Sequence[str]) -> list[str]:
        """As lines of a graph's `__init__`: `self.config.enable_amp(True, dtype=torch.float16)`."""
        if self.of_modules:
            settings = [f"self.{module}.to({framework}.nn.graph.GraphModule)" for module in modules]
            return [f"{one}.{self.method} = {self.argument!r}" for one in settings]
        named = (
            [f"dtype={framework}.{self.dtype}"] if self.dtype else [f"{name}={number}" for name, number in self.more]
        )
        return [f"self.config.{self.method}({', '.join([repr(self.argument), *named])})"]


_ROWS: Mapping[str, _Row] = MappingProxyType(
    {
        row.name: row
        for row in (
            _Row("allow_fuse_model_update_ops", "fuses the ops of an optimizer's update"),
            _Row("allow_fuse_add_to_output", "fuses an addition into the op before it"),
            _Row("allow_fuse_cast_scale", "fuses a cast and a scaling"),
            _Row("set_outputs_buffer_size", "lets calls overlap that much", 3),
            _Row("enable_straighten_algorithm", "keeps the order of the graph's ops", "Disable"),
            _Row("enable_straighten_algorithm", "orders the graph's ops for speed", "SpeedFirst"),
            _Row("enable_straighten_algorithm", "orders the graph's ops for little memory", "MemoryFirst"),
            _Row("enable_straighten_algorithm", "orders ops of CPU and GPU by turns", "OverlapCpuGpu"),
            _Row("enable_compress_memory", "searches for the least memory"),
            _Row("enable_multi_tensor_update", "updates all parameters in one op"),
            _Row("enable_fused_model_update_cast", "casts weights while it updates them"),
            _Row("enable_cudnn_conv_heuristic_search_algo", "chooses convolutions by a heuristic"),
            _Row("enable_auto_parallel", "searches for the best way to spread tensors over ranks"),
            _Row("activation_checkpointing", "computes a forward again for its backward", of_modules=True),
            _Row("enable_amp", "computes in half precision where that is safe", dtype="float16"),
            _Row("enable_amp", "computes in bfloat16 where that is safe", dtype="bfloat16"),
            *(
                _Row(
                    "enable_zero",
                    f"shards large states of optimizers, stage {stage}",
                    more=(("stage", stage),),
                    ranks=2,
                )
                for stage in (1, 2, 3)
            ),
            _Row(
                "enable_zero",
                "shards all states of optimizers, stage 2",
                more=(("stage", 2), ("shard_min_size", 1)),
                ranks=2,
            ),
        )
    }
)
NAMES = frozenset(_ROWS)


def offered(ranks: int) -> tuple[Configuration, ...]:
    """Those that a run of so many ranks has."""
    rows = (row for row in _ROWS.values() if row.ranks <= ranks)
    told = tuple(Configuration(row.name, row.does, row.dtype, row.of_modules) for row in rows)
    stages = Configuration(STAGES, "runs modules in their order on one rank after the other", of_modules=True)
    return (*told, stages) if ranks > 1 else told


def configure(flow: Any, graph: Any, modules: Iterable[Any], name: str) -> None:
    """Tell a graph and its modules what the configuration of this name says; nothing where there is no name."""
    if not name:
        return
    row = _ROWS[name]
    if row.of_modules:
        for module in modules:
            setattr(module.to(flow.nn.graph.GraphModule), row.method, row.argument)
    else:
        named = {"dtype": getattr(flow, row.dtype)} if row.dtype else dict(row.more)
        getattr(graph.config, row.method)(row.argument, **named)


def code(name: str, framework: str, modules: Sequence[str] = ()) -> list[str]:
    """The same as lines of code at the end of a graph's `__init__`; `framework` is what OneFlow is called there, and
    `modules` are the names of its attributes. Nothing where there is no name.
    """
    return _ROWS[name].code(framework, modules) if name else []


def computes_in(name: str) -> str:
    """The dtype that a graph may compute in; empty where every value has its own, as without a configuration."""
    return _ROWS[name].dtype if name else ""


__all__ = ["NAMES", "STAGES", "code", "computes_in", "configure", "offered"]
