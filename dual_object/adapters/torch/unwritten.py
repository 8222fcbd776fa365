"""Memory of a traced graph that nothing wrote.

What PyTorch's own C++ code fills by hand is no op, so a tracer does not see it: the gradient of `affine_grid` over one
row makes its place as an empty tensor and writes a 0 through a pointer; the graph has the empty tensor alone.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

_EMPTY = frozenset({"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"})


def reads_unwritten(graph: torch.fx.Graph) -> bool:
    """Whether a node of a graph of ATen ops takes values out of an empty tensor that no node before it wrote."""
    return any(_read_first(node) for node in graph.nodes if _name(node) in _EMPTY and _has_elements(node))


def _read_first(empty: torch.fx.Node) -> bool:
    """Whether the first node that looks into what an empty tensor holds reads it; a view of it does not look."""
    same_memory = {empty}
    node = empty.next
    while node.op != "root":
        if same_memory & set(node.all_input_nodes):
            use = _use(node, same_memory)
            if use != "view":
                return use == "read"
            same_memory.add(node)
        node = node.next
    return False


def _use(node: torch.fx.Node, memory: set[torch.fx.Node]) -> Literal["view", "write", "read"]:
    """What a node does with tensors of `memory`, which it takes."""
    op: Any = node.target
    if not isinstance(op, torch._ops.OpOverload):
        return "read"
    arguments = op._schema.arguments
    given = dict(zip((argument.name for argument in arguments), node.args, strict=False)) | node.kwargs
    taken = [argument for argument in arguments if given.get(argument.name) in memory]
    shared = [argument.alias_info for argument in taken if argument.alias_info is not None]
    if not taken or len(shared) < len(taken):
        return "read"
    # `unsqueeze_` writes a shape, and no value.
    writes = any(alias.is_write for alias in shared) and torch.Tag.inplace_view not in op.tags
    return "write" if writes else "view"


def _name(node: torch.fx.Node) -> str:
    return node.target._schema.name if isinstance(node.target, torch._ops.OpOverload) else ""


def _has_elements(node: torch.fx.Node) -> bool:
    """Whether there is anything to read, as far as the graph says it."""
    shape = node.args[0] if node.args else ()
    return not isinstance(shape, (list, tuple)) or 0 not in shape
