"""The part of a script that runs its program in a static graph of the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autotest.repro.lines.source import Source, alias
from dual_object.adapters.oneflow.configurations import code
from dual_object.adapters.oneflow.training import kept_name
from dual_object.program.calls import Call, op_name
from dual_object.program.printing import lines
from dual_object.program.program import Program
from dual_object.program.shortened import first_forward
from dual_object.program.training import Shown, Step, Training, clips, makes_optimizer, makes_scaler, outer_schedules
from dual_object.program.values import Ref, refs
from dual_object.replay.tracing import setup_calls


def graph_text(source: Source) -> list[str]:
    """`def run_graph(torch)` for OneFlow's nn.Graph, by the recipe of its adapter, for this one program.

    One backward, of a scalar that depends on a parameter of an optimizer; inputs require their gradients inside.
    """
    program = source.program
    if program.training is not None:
        return _training_graph_text(source, program.training)
    inputs = [source.name(x.id) for x in program.inputs]
    modules = source.module_names()
    backward = source.wanted.backward and bool(program.cotangents)
    starts = source.starts() if backward else {}
    text = ["def run_graph(torch):", '    """What a static graph of the program shows, by name."""']
    text += [f"    {line}" for line in [*source.input_lines(requires_grad=False), *source.setup_lines()]]
    if backward:
        text += _DUMMY
        for position, (id_, data) in enumerate(starts.values()):
            dtype = f"torch.{data.dtype.name}"
            made = source.cotangent(id_, data, dtype) if data.size else f"torch.zeros(1, dtype={dtype})  {_ONE}"
            text.append(f"    d{position} = {made}")
    text += _graph_class(source, modules)
    if backward:
        text.append("            self.loss = Loss()")
        text.append("            self.add_optimizer(torch.optim.SGD(self.loss.parameters(), lr=0.0))")
    taken = [*inputs, *(f"d{position}" for position in range(len(starts)))]
    text += ["", f"        def build({', '.join(['self', *taken])}):"]
    if backward:
        text += [
            f"            {source.name(x.id)} = {source.name(x.id)}.requires_grad_()"
            for x in program.inputs
            if x.requires_grad
        ]
    passed = ["torch", *source.customs(), *(f"self.{name}" for name in modules), *inputs]
    text += [f"            {name} = {alias(name, 'target')}" for name in source.customs()]
    text.append(f"            out = program({', '.join(passed)})")
    if backward:
        products = ", ".join(
            f"{path if data.size else f'{path}.sum()'} * d{position}"
            for position, (path, (_, data)) in enumerate(starts.items())
        )
        text.append(f"            self.loss({products}).backward()")
    text.append(f"            return {{{', '.join(result.item() for result in source.graph_results())}}}")
    text += ["", "    graph = Graph()"]
    called = f"graph({', '.join(taken)})"
    if source.wanted.again:
        text += [f"    {line}" for line in [called, *source.input_lines(requires_grad=False, again=True)]]
    if source.wanted.kind == "random":
        return [*text, f"    return stacked([{called} for _ in range(SAMPLES)])"]
    text.append(f"    results = {called}")
    state = "".join(f", {result.item()}" for result in source.buffers())
    return [*text, f"    return {{**results{state}}}"]


def _training_graph_text(source: Source, training: Training) -> list[str]:
    """`def run_graph(torch)` for OneFlow's nn.Graph of a training: `build` is one step, and each step a call."""
    program = source.program
    before = program.calls[: training.start]
    text = ["def run_graph(torch):", '    """What the same training in a static graph shows, by name."""']
    text += [f"    {line}" for line in source.input_lines(requires_grad=False)]
    forward, setup = range(training.start, training.forward), setup_calls(program)
    for index, line in _lines(source, range(training.forward)):
        call = program.calls[index]
        if not makes_scaler(call) and (index in setup or index < training.start):
            line = line.strip() if index in forward else line  # a module that a region makes is made before it
            text += [f"    {line}", *(f"    {loaded}" for loaded in source.load(call))]
    clipping = [call for call in program.calls[training.forward : training.steps[0].end] if clips(call)]
    text += [f"    {line}" for call in clipping for line in _clip(source, before, call)]
    if training.accumulate == 1:
        leaves = [_parameter(source, of) for of in training.steps[0].parts[1].values.values()]
        # Inside of `build` a parameter is the graph's own, which has no gradient.
        text.append(f"    leaves = [{', '.join(leaves)}]")
    modules = [source.name(id_) for made in first_forward(program).modules() for id_ in made.results()]
    text += _graph_class(source, modules)
    if training.accumulate > 1:
        text.append(f"            self.config.set_gradient_accumulation_steps({training.accumulate})")
    schedules = {optimizer: schedule for schedule, optimizer in outer_schedules(before)}
    for call in before:
        if makes_optimizer(call):
            [optimizer] = call.results()
            scheduled = f", lr_sch={source.name(schedules[optimizer])}" if optimizer in schedules else ""
            text.append(f"            self.add_optimizer({source.name(optimizer)}{scheduled})")
        if makes_scaler(call):
            options = ", ".join(f"{name}={value!r}" for name, value in call.kwargs.items())
            text.append(f"            self.set_grad_scaler(torch.amp.GradScaler({options}))")
    first = training.steps[0]
    given, returned = training.batches(first)[0], [source.name(id_) for id_ in training.returned(first)[0]]
    text += ["", f"        def build({', '.join(['self', *map(source.name, given)])}):"]
    text += [f"            {name} = self.{name}" for name in modules]
    text += [f"            {line}" for index, line in _lines(source, forward) if index not in setup]
    text.append(f"            {source.name(training.loss)}.backward()")
    if training.accumulate > 1:
        values = f"({', '.join(returned)}{',' * (len(returned) == 1)})"
        text.append(f"            numbers[:] = [value.ndim == 0 for value in {values}]")
        text += [f"            return {values}", *_cut(training.accumulate)]
        text.append("    graph, shown, numbers = Graph(), {}, []")
    else:
        text += [f"            return {', '.join(returned)}, *(leaf.grad for leaf in leaves)", ""]
        text.append("    graph, shown = Graph(), {}")
    for number, step in enumerate(training.steps):
        if number:
            text.append(f"    {_SYNC}")
        batches = [[source.name(id_) for id_ in alike] for alike in zip(*training.batches(step), strict=True)]
        inputs = [names[0] if len(names) == 1 else f"torch.cat([{', '.join(names)}])" for names in batches]
        text.append(f"    results = graph({', '.join(inputs)})")
        text += [f'    shown["{source.name(id_)}"] = {look}' for id_, look in _looks(source, training, step)]
    return [*text, "    return shown"]


def shown_in_graph(program: Program) -> Program:
    """The Program that does not return what a graph does not show: clipped gradients, for it clips inside of itself;
    where it accumulates, no gradients at all.
    """
    training = program.training
    assert training is not None, "it trains"
    hidden = ("clip",) if training.accumulate == 1 else ("clip", "backward")
    parts = [part for step in training.steps for part in step.parts if part.name not in hidden]
    return replace(program, outputs=tuple(Ref(id_) for part in parts for id_ in part.values))


def _graph_class(source: Source, modules: Sequence[str]) -> Iterator[str]:
    """The beginning of a graph that has these modules."""
    yield from ("", "    class Graph(torch.nn.Graph):", "        def __init__(self):", "            super().__init__()")
    yield from (f"            self.{name} = {name}" for name in modules)
    yield from (f"            {line}" for line in code(source.wanted.configuration, "torch", modules))


def _lines(source: Source, indices: range) -> Iterator[tuple[int, str]]:
    """The printed lines of calls, each with the index of its call."""
    for line in lines(source.program, lambda array: source.numpy(array, "array")):
        if line.call is not None and line.call in indices:
            yield line.call, line.text.removeprefix("    ")


def _clip(source: Source, before: list[Call], call: Call) -> list[str]:
    """The lines that make an optimizer's group clip as a call does."""
    given, largest, *rest = call.args
    kind = rest[0] if rest else call.kwargs.get("norm_type", 2.0)
    names = [source.name(id_) for id_ in refs(given)]
    optimizers = [source.name(id_) for made in before if makes_optimizer(made) for id_ in made.results()]
    options = f"clip_grad_max_norm={float(largest)!r}, clip_grad_norm_type={_number(float(kind))}"
    return [
        f"for group in [group for optimizer in ({', '.join(optimizers)},) for group in optimizer.param_groups]:",
        f"    if any(parameter is {names[0]} for parameter in group.parameters):",
        f"        group._options.update({options})",
        "        group._enable_clip_grad = True",
    ]


def _number(value: float) -> str:
    return f'float("{value}")' if value in (float("inf"), float("-inf")) else repr(value)


def _looks(source: Source, training: Training, step: Step) -> Iterator[tuple[int, str]]:
    """What a step of the graph shows of that which the script wants, and how it is read."""
    forward, backward, *rest = step.parts
    if training.accumulate == 1:
        wanted = {id_: f"results[{place}].clone()" for place, id_ in enumerate([*forward.values, *backward.values])}
    else:
        batches = enumerate(training.returned(step))
        wanted = {id_: f"cut(results, {place}, {of}).clone()" for of, ids in batches for place, id_ in enumerate(ids)}
    for part in rest:
        if part.name == "update" and part.call is not None:
            made = _made(source.program, part.call)
            wanted |= {id_: _look(source, made, of) for id_, of in part.values.items()}
    key = source.wanted.key
    yield from ((id_, look) for id_, look in wanted.items() if key in ("", str(id_)))


def _cut(batches: int) -> list[str]:
    """The lines that read what one batch gave out of what a graph that accumulates returned."""
    return [
        "",
        "    def cut(results, place, batch):",
        '        """What one batch gave: a number of each is stacked, their tensors stand one below the other."""',
        f"        size = len(results[place]) // {batches}",
        "        rows = slice(size * batch, size * (batch + 1))",
        "        return results[place][batch] if numbers[place] else results[place][rows]",
        "",
    ]


def _made(program: Program, update: int) -> str:
    """The class of the optimizer that an update is by."""
    given = {arg.id for arg in program.calls[update].args if type(arg) is Ref}
    return next(op_name(call) for call in program.calls if makes_optimizer(call) and given & {*call.results()})


def _look(source: Source, optimizer: str, of: Shown) -> str:
    parameter = _parameter(source, of)
    if of.what == "parameter":
        return f"{parameter}.clone()"
    return f'graph.state_dict()["{parameter}-{kept_name(optimizer, of.what)}"].clone()'


def _parameter(source: Source, of: Shown) -> str:
    """A parameter, as the module that it belongs to has it."""
    number, _, name = of.leaf.partition(".")
    module = source.name(int(number))
    return module + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in name.split("."))


#: Where a copy may wait for its turn, a graph's next call may come first.
_SYNC = "torch._oneflow_internal.eager.Sync()  # what is shown is copied before the next call writes to it"
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
