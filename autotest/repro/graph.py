"""The part of a script that runs its program in a static graph of the target."""

from __future__ import annotations

from autotest.repro.source import Source


def graph_text(source: Source) -> list[str]:
    """`def run_graph(torch)` for OneFlow's nn.Graph, by the recipe of its adapter, for this one program.

    One backward, of a scalar that depends on a parameter of an optimizer; inputs require their gradients inside.
    """
    program = source.program
    inputs = [source.name(x.id) for x in program.inputs]
    modules = source.module_names()
    backward = source.wanted.backward and bool(program.cotangents)
    starts = source.starts() if backward else {}
    lines = ["def run_graph(torch):", '    """What a static graph of the program shows, by name."""']
    lines += [f"    {line}" for line in [*source.input_lines(requires_grad=False), *source.setup_lines()]]
    if backward:
        lines += _DUMMY
        for position, (id_, data) in enumerate(starts.values()):
            dtype = f"torch.{data.dtype.name}"
            made = source.cotangent(id_, data, dtype) if data.size else f"torch.zeros(1, dtype={dtype})  {_ONE}"
            lines.append(f"    d{position} = {made}")
    lines += ["", "    class Graph(torch.nn.Graph):", "        def __init__(self):", "            super().__init__()"]
    lines += [f"            self.{name} = {name}" for name in modules]
    if backward:
        lines.append("            self.loss = Loss()")
        lines.append("            self.add_optimizer(torch.optim.SGD(self.loss.parameters(), lr=0.0))")
    taken = [*inputs, *(f"d{position}" for position in range(len(starts)))]
    lines += ["", f"        def build({', '.join(['self', *taken])}):"]
    if backward:
        lines += [
            f"            {source.name(x.id)} = {source.name(x.id)}.requires_grad_()"
            for x in program.inputs
            if x.requires_grad
        ]
    passed = ["torch", *source.customs(), *(f"self.{name}" for name in modules), *inputs]
    lines += [f"            {line}" for line in source.custom_lines()]
    lines.append(f"            out = program({', '.join(passed)})")
    if backward:
        products = ", ".join(
            f"{path if data.size else f'{path}.sum()'} * d{position}"
            for position, (path, (_, data)) in enumerate(starts.items())
        )
        lines.append(f"            self.loss({products}).backward()")
    lines.append(f"            return {{{', '.join(result.item() for result in source.graph_results())}}}")
    lines += ["", "    graph = Graph()"]
    called = f"graph({', '.join(taken)})"
    if source.wanted.again:
        lines += [f"    {line}" for line in [called, *source.input_lines(requires_grad=False, again=True)]]
    if source.wanted.kind == "random":
        return [*lines, f"    return stacked([{called} for _ in range(SAMPLES)])"]
    lines.append(f"    results = {called}")
    state = "".join(f", {result.item()}" for result in source.buffers())
    return [*lines, f"    return {{**results{state}}}"]


#: Said of a cotangent of size 0, which the graph takes as an input.
_ONE = "# one element for none: a graph aborts on an input of size 0"
_DUMMY = [
    "",
    "    class Loss(torch.nn.Module):",
    '        """A scalar that depends on a parameter of an optimizer: without one a graph has no backward."""',
    "",
    "        def __init__(self):",
    "            super().__init__()",
    "            self.p = torch.nn.Parameter(torch.zeros(1))",
    "",
    "        def forward(self, *products):",
    "            return self.p.sum() * 0 + sum(product.sum().to(torch.float32) for product in products)",
    "",
]
