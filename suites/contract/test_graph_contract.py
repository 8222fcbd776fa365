"""What the documentation of `nn.Graph` says of building, calling, printing and naming a graph: one test a sentence.

Long, for it is one flat list, in which each sentence is looked up by itself.
"""

from __future__ import annotations

import gc
import io
import re
from contextlib import redirect_stdout
from functools import partial

import pytest
from graphs import batch, linear, of_function, of_module, printed, sgd, training, values

from autotest import contract

graph = partial(contract, target="oneflow")


@graph("a graph computes what its modules compute eagerly", of="nn.Graph")
def test_as_eager(flow):
    model = linear(flow)
    assert of_module(flow, model)(batch(flow)).tolist() == model(batch(flow)).tolist()


@graph("build() runs at the first call alone, later calls execute what it made", of="nn.Graph.__call__")
def test_built_once(flow):
    calls = []

    def doubled(x):
        calls.append(x)
        return x * 2

    made = of_function(flow, doubled)
    assert [made(batch(flow) + n).tolist() for n in range(3)] == [((batch(flow) + n) * 2).tolist() for n in range(3)]
    assert len(calls) == 1


@graph("a later call computes with the values that it is given", of="nn.Graph.__call__")
def test_other_values(flow):
    made = of_function(flow, lambda x: x + 1)
    assert [made(flow.tensor([n])).item() for n in (1.0, 2.0, 5.0)] == [2.0, 3.0, 6.0]


@graph("a parameter that is changed between two calls is read anew", of="nn.Graph.__call__")
def test_parameters_are_read_anew(flow):
    model = linear(flow)
    made = of_module(flow, model)
    made(batch(flow))
    model.weight.data.copy_(model.weight * 2)
    assert made(batch(flow)).tolist() == model(batch(flow)).tolist()


@graph("what a call has given stays as it is when the graph is called again", of="nn.Graph.__call__")
def test_results_stay(flow):
    made = of_function(flow, lambda x: x * 2)
    given = [made(flow.tensor([float(n)])) for n in range(5)]
    assert [one.item() for one in given] == [0.0, 2.0, 4.0, 6.0, 8.0]


@graph("a graph cannot be nested: calling one inside of another's build() is refused", of="nn.Graph")
def test_no_nested_call(flow):
    inner = of_function(flow, lambda x: x * 2)
    outer = of_function(flow, lambda x: inner(x) + 1)
    with pytest.raises(Exception, match=r"\S"):
        outer(batch(flow))


@graph("super().__init__() must be called before a module is set", of="nn.Graph.__init__")
def test_init_before_modules(flow):
    class Early(flow.nn.Graph):
        def __init__(self):
            self.model = linear(flow)
            super().__init__()

    with pytest.raises(AttributeError, match="please call super"):
        Early()


@graph("super().__init__() must be called: a graph without is refused", of="nn.Graph.__init__")
def test_init_is_needed(flow):
    class Never(flow.nn.Graph):
        def __init__(self):
            pass

        def build(self, x):
            return x

    with pytest.raises(Exception, match=r"\S"):
        Never()(batch(flow))


@graph("an attribute that is no module may be set before super().__init__()", of="nn.Graph.__init__")
def test_plain_attributes_before_init(flow):
    class Plain(flow.nn.Graph):
        def __init__(self):
            self.factor = 3
            super().__init__()

        def build(self, x):
            return x * self.factor

    assert Plain()(flow.tensor([2.0])).item() == 6.0


@graph("build() must be overridden", of="nn.Graph.build")
def test_build_is_needed(flow):
    class Empty(flow.nn.Graph):
        pass

    with pytest.raises(NotImplementedError, match="must be overridden"):
        Empty()(batch(flow))


@graph("after eval() before the first call, a dropout does nothing", of="nn.Graph.build")
def test_eval_before_first_call(flow):
    model = flow.nn.Dropout(0.5).eval()
    assert of_module(flow, model)(batch(flow)).tolist() == batch(flow).tolist()


@graph("after train() before the first call, a dropout drops", of="nn.Graph.build")
def test_train_before_first_call(flow):
    model = flow.nn.Dropout(0.5).eval().train()
    ones = flow.ones(1000)
    assert sorted(set(of_module(flow, model)(ones).tolist())) == [0.0, 2.0]


@graph("after train(), a batch norm takes the batch's statistics and updates its own", of="nn.Graph.build")
def test_train_of_batch_norm(flow):
    def normed(called):
        norm = flow.nn.BatchNorm1d(3)
        result = (of_module(flow, norm) if called == "graph" else norm)(batch(flow)).tolist()
        return result, norm.running_mean.tolist(), norm.running_var.tolist()

    assert normed("graph") == normed("eagerly")


@graph("build() is like forward(): a batch norm in training counts its batches", of="nn.Graph.build")
def test_batch_norm_counts(flow):
    norm = flow.nn.BatchNorm1d(3)
    of_module(flow, norm)(batch(flow))
    assert norm.num_batches_tracked.item() == 1


@graph("build() takes a list, a tuple and a dict of tensors, nested", of="nn.Graph.build")
def test_nested_inputs(flow):
    def added(ones, named):
        first, (second, third) = ones
        return first + second * 10 + third * 100 + named["a"][0] * 1000

    one = flow.ones(2)
    made = of_function(flow, added)
    assert made([one, (one * 2, one * 3)], {"a": [one * 4]}).tolist() == [4321.0, 4321.0]


@graph("an input may be None", of="nn.Graph.build")
def test_none_as_input(flow):
    made = of_function(flow, lambda x, y: x * 2 if y is None else y)
    assert made(flow.ones(2), None).tolist() == [2.0, 2.0]


@graph("build()'s arguments may be given by name", of="nn.Graph.__call__")
def test_keywords(flow):
    made = of_function(flow, lambda x, *, y: x - y)
    assert made(flow.ones(2), y=flow.ones(2) * 3).tolist() == [-2.0, -2.0]


@graph("arguments by name match those of build(), in any order, at a later call, too", of="nn.Graph.__call__")
def test_keywords_in_any_order(flow):
    made = of_function(flow, lambda *, x, y: x - y)
    one, three = flow.ones(2), flow.ones(2) * 3
    assert made(x=one, y=three).tolist() == [-2.0, -2.0]
    assert made(y=three, x=one).tolist() == [-2.0, -2.0]


@graph("modules within take arguments by name, as they do eagerly", of="nn.Graph.build")
def test_keywords_of_a_module(flow):
    class Scaled(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = linear(flow)

        def forward(self, x, *, scale, shift=None):
            y = self.inner(x) * scale
            return y if shift is None else y + shift

    module, shift = Scaled(), flow.ones(2)

    class Calling(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = module

        def build(self, x, shift):
            return self.model(x, scale=2.0), self.model(x, shift=shift, scale=0.5)

    given = Calling()(batch(flow), shift)
    expected = module(batch(flow), scale=2.0), module(batch(flow), shift=shift, scale=0.5)
    assert [each.tolist() for each in given] == [each.tolist() for each in expected]


@graph("build() is like forward(): the forward hooks of modules are called in it", of="nn.Graph.build")
@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_hooks(flow, register):
    module = linear(flow)
    before = module(batch(flow)).tolist()
    hook = (lambda _, given: (given[0] * 2,)) if "pre" in register else (lambda _, given, result: result * 3)
    getattr(module, register)(hook)
    eager = module(batch(flow)).tolist()
    assert eager != before
    assert of_module(flow, module)(batch(flow)).tolist() == eager


@graph("outputs come as build() returns them: list, tuple and dict, nested, None among them", of="nn.Graph.build")
def test_nested_outputs(flow):
    given = of_function(flow, lambda x: [x, (x + 1, None), {"a": x * 2}])(flow.tensor([1.0]))
    assert type(given) is list
    first, second, third = given
    assert type(second) is tuple
    assert type(third) is dict
    assert (first.item(), second[0].item(), second[1], third["a"].item()) == (1.0, 2.0, None, 2.0)


@graph("build() may return a tuple of one tensor", of="nn.Graph.build")
def test_tuple_of_one(flow):
    given = of_function(flow, lambda x: (x,))(flow.ones(2))
    assert type(given) is tuple
    assert len(given) == 1


@graph("build() may return a list of one tensor", of="nn.Graph.build")
def test_list_of_one(flow):
    given = of_function(flow, lambda x: [x])(flow.ones(2))
    assert type(given) is list
    assert len(given) == 1


@graph("build() may return one input as it is", of="nn.Graph.build")
def test_input_as_output(flow):
    assert of_function(flow, lambda x: x)(flow.ones(2)).tolist() == [1.0, 1.0]


@graph("build() may return a tensor twice", of="nn.Graph.build")
def test_output_twice(flow):
    def twice(x):
        y = x * 2
        return y, y

    assert [one.tolist() for one in of_function(flow, twice)(flow.ones(2))] == [[2.0, 2.0], [2.0, 2.0]]


@graph("build() may return nothing", of="nn.Graph.build")
def test_no_output(flow):
    assert of_function(flow, lambda x: None)(flow.ones(2)) is None


@graph("an input that is a Python number is refused", of="nn.Graph.build")
@pytest.mark.parametrize("value", [2, 2.5, True, "text"])
def test_no_plain_input(flow, value):
    with pytest.raises(NotImplementedError, match="only support types: Tensor/None"):
        of_function(flow, lambda x, y: x * y)(flow.ones(2), value)


@graph("an output that is a Python number is refused", of="nn.Graph.build")
@pytest.mark.parametrize("value", [2, 2.5, True, "text"])
def test_no_plain_output(flow, value):
    with pytest.raises(NotImplementedError, match="only support types: Tensor/None"):
        of_function(flow, lambda x: (x, value))(flow.ones(2))


@graph("the inputs of a later call must match: another shape is refused", of="nn.Graph.__call__")
def test_no_other_shape(flow):
    made = of_function(flow, lambda x: x * 2)
    made(flow.ones(2, 3))
    with pytest.raises(Exception, match=r"\S"):
        made(flow.ones(3, 3)).tolist()


@graph("the inputs of a later call must match: another dtype is refused", of="nn.Graph.__call__")
def test_no_other_dtype(flow):
    made = of_function(flow, lambda x: x * 2)
    made(flow.ones(2))
    with pytest.raises(Exception, match=r"\S"):
        made(flow.ones(2, dtype=flow.float64)).tolist()


@graph("the inputs of a later call must match: one more, or one less, is refused", of="nn.Graph.__call__")
@pytest.mark.parametrize("count", [1, 3])
def test_no_other_number(flow, count):
    made = of_function(flow, lambda *given: given[0] * 2)
    made(flow.ones(2), flow.ones(2))
    with pytest.raises(Exception, match=r"\S"):
        made(*[flow.ones(2)] * count).tolist()


@graph("after a call that is refused, the graph still computes", of="nn.Graph.__call__")
def test_goes_on_after_a_refusal(flow):
    made = of_function(flow, lambda x: x * 2)
    made(flow.ones(2))
    with pytest.raises(Exception, match=r"\S"):
        made(flow.ones(3))
    assert made(flow.ones(2)).tolist() == [2.0, 2.0]


@graph("after a build() that raises, another graph can be made", of="nn.Graph.build")
def test_another_after_a_failed_build(flow):
    def failing(x):
        raise KeyError("own error")

    with pytest.raises(KeyError, match="own error"):
        of_function(flow, failing)(flow.ones(2))
    assert of_function(flow, lambda x: x * 2)(flow.ones(2)).tolist() == [2.0, 2.0]


@graph("an input that does not lie contiguously is taken by its values", of="nn.Graph.__call__")
def test_strided_input(flow):
    expected = (batch(flow) * 2).transpose(0, 1).tolist()
    assert of_function(flow, lambda x: x * 2)(batch(flow).transpose(0, 1)).tolist() == expected


@graph("build() is like forward(): a call changes no tensor that its input is a view of", of="nn.Graph.build")
def test_base_stays(flow):
    base = batch(flow)
    of_function(flow, lambda x: x * 2)(base.transpose(0, 1))
    assert base.tolist() == batch(flow).tolist(), "the other tensor holds its numbers in another order then"


@graph("a module becomes a block that has its name in the graph", of="nn.Graph")
def test_block(flow):
    made = of_module(flow, linear(flow))
    assert repr(made.model).startswith("(MODULE:model:Linear(in_features=3, out_features=2, bias=True)): (")


@graph("a graph without the attribute that is asked for raises AttributeError", of="nn.Graph")
def test_no_attribute(flow):
    made = of_module(flow, linear(flow))
    with pytest.raises(AttributeError, match="'Calling' object has no attribute 'nothing'"):
        _ = made.nothing


@graph("a tensor as an attribute of a graph is refused", of="nn.Graph")
def test_no_tensor_attribute(flow):
    with pytest.raises(AttributeError, match="not allowed to set Tensor attribute named 'x'"):
        of_function(flow, lambda x: x).x = flow.ones(2)


@graph("an optimizer as an attribute of a graph is refused", of="nn.Graph")
def test_no_optimizer_attribute(flow):
    with pytest.raises(AttributeError, match=r"Please use add_optimizer\(\.\.\.\) instead"):
        of_function(flow, lambda x: x).optimizer = sgd(flow, linear(flow))


@graph("a module that two attributes hold is one module", of="nn.Graph")
def test_shared_module(flow):
    model = linear(flow)

    class Twice(flow.nn.Graph):
        def __init__(self):
            super().__init__()
            self.one, self.other = model, model

        def build(self, x):
            return self.one(x) + self.other(x)

    assert Twice()(batch(flow)).tolist() == (model(batch(flow)) + model(batch(flow))).tolist()


@graph("several graphs may have the same module", of="nn.Graph")
def test_several_graphs(flow):
    model = linear(flow)
    evaluating, trained = of_module(flow, model), training(flow, model, sgd(flow, model))
    before = evaluating(batch(flow)).tolist()
    trained(batch(flow))
    assert evaluating(batch(flow)).tolist() == model(batch(flow)).tolist() != before


@graph("a graph may live and die, the next one is right", of="nn.Graph")
def test_one_after_the_other(flow):
    for n in range(1, 6):
        made = of_function(flow, lambda x, n=n: x * n)
        assert made(flow.ones(2)).tolist() == [float(n)] * 2


@graph("a graph may end while another one is built, that one is right", of="nn.Graph", alone=True)
def test_one_ends_while_another_is_built(flow):
    class Collecting(io.StringIO):
        def write(self, text):
            if "end building graph with compile passes" in text:
                gc.collect()
            return super().write(text)

    model = linear(flow)
    ended = [of_module(flow, model)]
    ended[0](batch(flow))
    ended.append(ended)  # who waits for the collector of garbage, as what a traceback holds does
    del ended
    made = of_module(flow, model)
    made.debug(1)
    with redirect_stdout(Collecting()):
        assert made(batch(flow)).tolist() == model(batch(flow)).tolist()


@graph("a graph's name is made by itself, from its class", of="nn.Graph.name")
def test_name(flow):
    class Named(flow.nn.Graph):
        pass

    assert [Named().name, Named().name] == ["Named_0", "Named_1"]


@graph("two graphs have two names, though their classes are called alike", of="nn.Graph.name")
def test_two_names(flow):
    assert of_function(flow, abs).name != of_function(flow, abs).name


@graph("is_compiled says whether the graph has been called", of="nn.Graph.is_compiled")
def test_is_compiled(flow):
    made = of_function(flow, lambda x: x)
    before = made.is_compiled
    made(flow.ones(2))
    assert (before, made.is_compiled) == (False, True)


@graph("a graph trains if it has an optimizer", of="nn.Graph.training")
def test_training(flow):
    model = linear(flow)
    given = [of_module(flow, model).training, training(flow, model, sgd(flow, model)).training]
    assert given == [False, True]


@graph("a graph can be printed before its first call: its configuration and modules", of="nn.Graph.__repr__")
def test_repr_before(flow):
    made = of_module(flow, linear(flow))
    lines = repr(made).splitlines()
    assert lines[0] == f"(GRAPH:{made.name}:Calling): ("
    assert lines[1].strip() == "(CONFIG:config:GraphConfig(training=False, ))"
    assert lines[2].strip() == "(MODULE:model:Linear(in_features=3, out_features=2, bias=True)): ("
    assert "INPUT" not in repr(made)


@graph("after the first call inputs and outputs stand in the printed graph", of="nn.Graph.__repr__")
def test_repr_after(flow):
    made = of_module(flow, linear(flow))
    made(batch(flow))
    text = repr(made)
    assert f"(INPUT:_{made.name}_input.0.0_2:tensor(..., size=(4, 3), dtype=oneflow.float32))" in text
    assert re.search(
        rf"\(OUTPUT:_{made.name}_output\.0\.0_2:tensor\(\.\.\., .*size=\(4, 2\), dtype=oneflow\.float32", text
    )


@graph("after the first call operators stand in the printed graph", of="nn.Graph.__repr__")
def test_repr_of_operators(flow):
    made = of_module(flow, linear(flow))
    made(batch(flow))
    assert "(OPERATOR: model-" in repr(made)


@graph("debug mode prints how the graph is built, at the first call", of="nn.Graph.debug")
def test_debug_is_off_at_first(flow):
    with printed() as quiet:
        of_module(flow, linear(flow))(batch(flow))
    made = of_module(flow, linear(flow))
    made.debug(0)
    with printed() as told:
        made(batch(flow))
    assert "building graph" not in quiet[0]
    assert f"(GRAPH:{made.name}:Calling) start building graph." in told[0]
    assert f"(GRAPH:{made.name}:Calling) start building plan." in told[0]


@graph("debug() without a level opens debug mode, at level 0", of="nn.Graph.debug")
def test_debug_by_default(flow):
    made = of_module(flow, linear(flow))
    made.debug()
    with printed() as told:
        made(batch(flow))
    assert "start building graph." in told[0], "nothing is printed"


@graph("a level of -1 closes debug mode", of="nn.Graph.debug")
def test_debug_closed(flow):
    made = of_module(flow, linear(flow))
    made.debug(1)
    made.debug(-1)
    with printed() as told:
        made(batch(flow))
    assert "building" not in told[0], "it prints what debug mode prints"


@graph("level 1 also prints how each module is built", of="nn.Graph.debug")
def test_debug_of_modules(flow):
    told = []
    for level in (0, 1):
        made = of_module(flow, linear(flow))
        made.debug(level)
        with printed() as one:
            made(batch(flow))
        told += one
    assert ["(MODULE:model:Linear" in one and "PARAMETER:model.weight" in one for one in told] == [False, True]


@graph("each level of debug mode prints no less than the one before", of="nn.Graph.debug")
def test_debug_levels(flow):
    told = []
    for level in (0, 1, 2, 3):
        made = of_module(flow, linear(flow))
        made.debug(level)
        with printed() as one:
            made(batch(flow))
        told += one
    lengths = [len(one.splitlines()) for one in told]
    assert lengths == sorted(lengths), f"levels 0 to 3 print {lengths} lines"


@graph("a level above 3, or below -1, is refused", of="nn.Graph.debug")
@pytest.mark.parametrize("level", [-2, 4])
def test_no_other_level(flow, level):
    with pytest.raises(AssertionError, match="verbose debug info level is"):
        of_function(flow, abs).debug(level)


@graph("debug mode can be for some ranks: another one prints nothing", of="nn.Graph.debug")
def test_debug_of_another_rank(flow):
    made = of_module(flow, linear(flow))
    made.debug(0, ranks=[1])
    with printed() as told:
        made(batch(flow))
    assert "building graph" not in told[0]


@graph("debug mode can be for all ranks, which is -1, a rank, or a list of ranks", of="nn.Graph.debug")
@pytest.mark.parametrize("ranks", ["-1", "0", "[0, 1]"])
def test_debug_of_ranks(flow, ranks):
    made = of_module(flow, linear(flow))
    made.debug(0, ranks={"-1": -1, "0": 0}.get(ranks, [0, 1]))
    with printed() as told:
        made(batch(flow))
    assert "start building graph." in told[0]


@graph("ranks that are neither a number nor a list are refused", of="nn.Graph.debug")
def test_no_other_ranks(flow):
    with pytest.raises(ValueError, match="ranks must be int or List"):
        of_function(flow, abs).debug(0, ranks="all")


@graph("the depth of the printed Python stack may be chosen, and is at least 0", of="nn.Graph.debug")
def test_debug_depth(flow):
    made = of_module(flow, linear(flow))
    made.debug(2, max_py_stack_depth=5, only_user_py_stack=False)
    assert made(batch(flow)).shape == (4, 2)
    with pytest.raises(AssertionError, match="stack depth is 0"):
        of_function(flow, abs).debug(0, max_py_stack_depth=-1)


@graph("operators can be printed with where they come from", of="nn.Graph.debug")
def test_debug_with_places(flow):
    made = of_module(flow, linear(flow))
    made.debug(0, op_repr_with_py_stack=True)
    made(batch(flow))
    assert "location=" in repr(made) or "loc=" in repr(made) or "Python stack" in repr(made)


@graph("a module of a graph has a debug mode of its own", of="nn.graph.GraphModule.debug")
def test_debug_of_a_block(flow):
    made = of_module(flow, linear(flow))
    made.model.to(flow.nn.graph.GraphModule).debug(1)
    with printed() as told:
        made(batch(flow))
    assert "(MODULE:model:Linear" in told[0]
    assert "building graph" not in told[0]


@graph("nn.Graph.trace makes a graph of a function", of="nn.Graph.trace")
def test_trace(flow):
    @flow.nn.Graph.trace
    def doubled(x):
        return x * 2

    assert doubled(flow.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert doubled.is_compiled is True


@graph("nn.Graph.trace is for functions alone", of="nn.Graph.trace")
def test_trace_of_no_function(flow):
    with pytest.raises(AssertionError, match="must be a function"):
        flow.nn.Graph.trace(linear(flow))


@graph("state_dict() of a graph that does not train has its modules by name", of="nn.Graph.state_dict")
def test_state_of_modules(flow):
    model = linear(flow)
    state = of_module(flow, model).state_dict()
    assert {name: values(part) for name, part in state.items()} == {"model": values(model)}
