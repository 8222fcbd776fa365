"""Every public name of OneFlow's harness, in use."""

import unittest

import numpy as np
import oneflow as flow
import oneflow.test_utils.automated_test_util as autotest_util
import oneflow.unittest
from oneflow.test_utils.automated_test_util import *
from oneflow.test_utils.automated_test_util import generators as g
from oneflow.test_utils.automated_test_util import profiler as p
from oneflow.test_utils.automated_test_util import torch_flow_dual_object as d
from oneflow.test_utils.automated_test_util.generators import (
    Any,
    Dict,
    NoneType,
    Nothing,
    Optional,
    Sequence,
    Tuple,
    Union,
    add,
    constant,
    generator,
    inspect,
    mul,
    namedtuple,
    neg,
    oneof,
    pack,
    product,
    py_tuple,
    random_util,
    rng,
    tuple,
    typing,
)
from oneflow.test_utils.automated_test_util.global_scope import GlobalScope, is_global
from oneflow.test_utils.automated_test_util.util import broadcast, pickle


class Color:
    def __init__(self, shade):
        self.shade = shade


class FlowColor(Color):
    pass


@d.equality_checker(Color, FlowColor)
def check_color(left, right, rtol, atol, check_dtype=False):
    return left.shade == right.shade


class even(generator):
    def __init__(self, high):
        self.high = pack(high)
        super().__init__([self.high])

    def _calc_value(self):
        return 2 * int(rng.integers(1, self.high.value()))


@g.data_generator(Color)
class color(generator):
    def __init__(self):
        super().__init__([])

    def _calc_value(self):
        return Color(random_util.choice(["red", "blue"]))


@g.torch_to_flow_converter(Color)
def color_converter(x):
    return FlowColor(x.shade)


class TestGenerators(flow.unittest.TestCase):
    def test_arithmetic(test_case):
        a, b = random(1, 4).to(int), random(5, 9).to(int)
        test_case.assertEqual(add(a, b).value(), a.value() + b.value())
        test_case.assertEqual(mul(a, b).value(), a.value() * b.value())
        test_case.assertEqual(neg(a).value(), -a.value())
        test_case.assertEqual((2 * a + b - 1).value(), 2 * a.value() + b.value() - 1)
        test_case.assertEqual((10 - a).value(), 10 - a.value())
        test_case.assertEqual(tuple(a, b).value(), py_tuple([a.value(), b.value()]))
        test_case.assertEqual(pack(7).value(), constant(7).value())

    def test_alternatives(test_case):
        test_case.assertIn(oneof(1, 2, 3).value(), (1, 2, 3))
        test_case.assertEqual(oneof(1, 2, possibility=1.0).value(), 1)
        test_case.assertEqual(oneof(1, 2, 3, possibility=[0.0, 0.0, 1.0]).value(), 3)
        test_case.assertIsInstance(nothing().value(), Nothing)
        test_case.assertEqual((random(1, 2) | nothing() | 3).size(), 3)
        test_case.assertIn(type(random_or_nothing(1, 3).to(int).value()), (int, Nothing))
        test_case.assertIn(random_bool().value(), (True, False))
        test_case.assertIsNone(random().value())
        test_case.assertIsNone(random().to(NoneType).value())

    def test_types(test_case):
        test_case.assertIn(type(random().to(Union[int, float]).value()), (int, float))
        test_case.assertIn(type(random().to(Optional[int]).value()), (int, NoneType))
        test_case.assertEqual(len(random(1, 3).to(Tuple[int, int]).value()), 2)
        test_case.assertEqual((Any, Dict, Sequence), (typing.Any, typing.Dict, typing.Sequence))
        test_case.assertEqual((g.TEST_MODULE, g.TEST_FLOW, g.TEST_TENSOR), (0, 1, 2))
        test_case.assertTrue(inspect.isclass(g.random))
        test_case.assertEqual(namedtuple("Pair", "a b")(1, 2), (1, 2))
        test_case.assertEqual(len(list(product([1, 2], [3, 4]))), 4)

    def test_own_generators(test_case):
        one = even(random(3, 5).to(int))
        first = one.value()
        test_case.assertEqual(first % 2, 0)
        test_case.assertEqual(one.value(), first)
        test_case.assertEqual(one.eval() % 2, 0)
        test_case.assertEqual(one.children[0].value(), one.high.value())
        made = g.annotation2default_generator[Color]().value()
        test_case.assertIn(made.shade, ("red", "blue"))
        test_case.assertIn(Color, g.annotation2torch_to_flow_converter)
        test_case.assertIsInstance(g.convert_torch_object_to_flow(made), FlowColor)
        test_case.assertEqual(g.convert_torch_object_to_flow(3), 3)

    def test_tensors(test_case):
        x = random_pytorch_tensor(ndim=2, dim0=2, dim1=3).value()
        test_case.assertIsInstance(x, g.torch.Tensor)
        test_case.assertTrue(np.array_equal(g.tensor_converter(x).numpy(), x.numpy()))
        test_case.assertTrue(np.array_equal(d.torch_tensor_to_flow(x).numpy(), x.numpy()))
        test_case.assertEqual(choice_pytorch_tensor(3, (2, 2)).value().dtype, d.torch_original.int64)
        test_case.assertIs(g.flow, flow)
        test_case.assertIs(g.np, np)
        test_case.assertEqual(random_dtype(["float"]).value().is_floating_point, True)
        test_case.assertIsNone(random_pytorch_dtype(["None"]).value())

    def test_devices(test_case):
        test_case.assertEqual(cpu_device().value(), "cpu")
        test_case.assertIn(random_device().value(), ("cpu", "cuda"))

    def test_no_gpu(test_case):
        test_case.assertEqual(gpu_device().value(), "cuda")

    def test_no_pinned_memory(test_case):
        random_tensor(ndim=1, pin_memory=True)

    def test_globals(test_case):
        test_case.assertFalse(is_global())
        with GlobalScope():
            test_case.assertTrue(g.is_global())
        test_case.assertEqual(broadcast([1]), pickle.loads(pickle.dumps([1])))
        test_case.assertIs(g.GlobalScope, d.GlobalScope)
        test_case.assertEqual(g.broadcast(1), d.broadcast(1))
        for names in (
            all_placement,
            all_sbp,
            random_cpu_placement,
            random_gpu_placement,
            random_placement,
            random_sbp,
            globaltest,
            all_cpu_placement,
            all_cuda_placement,
        ):
            test_case.assertTrue(callable(names))

    def test_modules(test_case):
        test_case.assertIs(autotest_util.generators, generators)
        test_case.assertIs(autotest_util.torch_flow_dual_object, torch_flow_dual_object)
        test_case.assertIs(autotest_util.global_scope, global_scope)
        test_case.assertIs(autotest_util.util, util)
        test_case.assertIs(util.flow, profiler.flow)
        test_case.assertIs(d.auto_profiler, profiler)
        test_case.assertIs(os, d.os)
        for module in (d.collections, d.copy, d.functools, d.gc, d.inspect, d.np, d.flow, d.warnings, g.os):
            test_case.assertTrue(inspect.ismodule(module))


class TestDualObjects(flow.unittest.TestCase):
    @autotest(n=2)
    def test_what_runs(test_case):
        test_case.assertTrue(d.testing and d.testing_graph)
        test_case.assertEqual((d.global_rtol, d.global_atol), (1e-4, 1e-5))
        test_case.assertTrue(d.global_check_allclose and d.global_backward)
        d.clear_note_fake_program()
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        made = torch.zeros(2, 3)
        m = torch.nn.PReLU()
        y = m(torch.add(x, made, alpha=2).abs())
        test_case.assertEqual(d.note_pytorch_method_names[-2:], ["abs", "PReLU"])
        test_case.assertEqual(len(d.note_pytorch_args), len(d.note_pytorch_kwargs))
        test_case.assertIs(d.vis_tensor[0], x.pytorch)
        test_case.assertIs(d.extra_input_tensor[0], made.pytorch)
        test_case.assertIn("weight", d.vis_parameters)
        test_case.assertIn(id(y.pytorch), d.call_tensor_id)
        test_case.assertEqual(d.get_tensor_shape(d.call_pytorch), [2, 3])
        test_case.assertGreaterEqual(d.counter, 5)
        test_case.assertEqual(len(d.dual_modules_to_test), 1)
        test_case.assertIsInstance(d.dual_objects_to_test[0], d.DualObject)
        d.print_note_fake_program(detail=True)
        d.note_print_args("a")
        d.note_print_kwargs("k", 1, end=False)
        d.get_fake_program_more_detail(torch.add, "Eager", "test_what_runs", (1,), {"alpha": 2})
        return y

    def test_settings(test_case):
        test_case.assertFalse(d.testing or d.testing_graph or d.align_exception)
        test_case.assertEqual(d.postulate, [".rand", ".Tensor"])
        test_case.assertEqual(d.tensor_size_limit_mb, 32)
        test_case.assertIn((Color, FlowColor), d.torch_type2checker)
        test_case.assertEqual(d.profiled_method_name, [])
        test_case.assertEqual(d.to_string(1, a=2), "1, a=2")

    def test_errors(test_case):
        test_case.assertEqual(str(d.PyTorchDoesNotSupportError(ValueError("no"))), "PyTorch error: no")
        test_case.assertEqual(
            str(d.OneFlowGraphBuildOrRunError(ValueError("no"))), "OneFlow nn.Graph Build Or Run Error: no"
        )
        test_case.assertEqual(
            str(d.BothDoNotSupportError(ValueError("a"), ValueError("b"))), "PyTorch error: a\nOneFlow error: b"
        )

    def test_checks(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        test_case.assertTrue(d.check_equality(x))
        test_case.assertTrue(d.check_tensor_equality(x.pytorch, x.oneflow))
        test_case.assertFalse(d.check_tensor_equality(x.pytorch, (x + 1).oneflow))
        test_case.assertTrue(d.check_basetype_equality(3, 3, 0, 0))
        test_case.assertFalse(d.check_basetype_equality([x.pytorch], [], 0, 0))
        test_case.assertTrue(d.check_nonetype_equality(None, None, 0, 0))

    @autotest(n=2, auto_backward=False)
    def test_own_checker(test_case):
        return d.GetDualObject("c", Color("red"), FlowColor("red"))

    @autotest(n=1, auto_backward=False)
    def test_own_checker_differs(test_case):
        return d.GetDualObject("c", Color("red"), FlowColor("blue"))

    def test_arguments(test_case):
        x = random_tensor(ndim=2, dim0=2, dim1=3)
        torch_args, torch_kwargs, flow_args, flow_kwargs = d.get_args(
            torch.add.pytorch, x, 1, alpha=random(2, 3).to(int)
        )
        test_case.assertIs(torch_args[0], x.pytorch)
        test_case.assertIs(flow_args[0], x.oneflow)
        test_case.assertEqual(torch_kwargs, flow_kwargs)
        copies, named = d.get_args_copy(flow_args, {"x": x.oneflow})
        test_case.assertIsNot(copies[0], flow_args[0])
        test_case.assertEqual(list(named), ["x"])

    def test_calls_by_hand(test_case):
        x = flow.ones(2, 3)
        y = d.get_oneflow_eager_res(flow.relu, [x], {}, True)
        test_case.assertTrue(
            d.check_eager_graph_tensor(y, d.get_functional_graph_res(flow.relu, flow.relu, y, [x], {}, True, x))
        )
        test_case.assertTrue(d.check_eager_graph_tensor(y, d.get_tensor_graph_res(x.relu, x, True)))
        m = flow.nn.Linear(3, 4)
        test_case.assertEqual(tuple_of(d.get_module_graph_test(m, m, True, [x])(x).shape), (2, 4))
        test_case.assertEqual(tuple_of(d.oneflow_eager_run_with_graph_check(m, [x], {}, True, False).shape), (2, 4))
        z = d.oneflow_tensor_eager_run_with_graph_check(x, x.relu, [], {}, True, False)
        test_case.assertTrue(np.array_equal(z.numpy(), y.numpy()))
        t = d.torch_original.ones(2, 3)
        both = d.get_pytorch_oneflow_res(d.torch_original.relu, flow.relu, [t], {}, [x], {}, "relu", False, True)
        test_case.assertTrue(d.check_tensor_equality(*both))
        both = d.get_pytorch_oneflow_tensor_res(t.relu, x.relu, x, [], {}, [], {}, False, False)
        test_case.assertTrue(d.check_tensor_equality(*both))
        with test_case.assertRaises(d.PyTorchDoesNotSupportError):
            d.get_pytorch_oneflow_res(d.torch_original.relu, flow.relu, [], {}, [x], {}, "relu", False, False)
        placed = flow.ones(2, placement=flow.placement.all("cpu"), sbp=flow.sbp.broadcast)
        test_case.assertEqual(d.get_global_test_device((placed,)), "cpu")
        with test_case.assertRaises(d.OneFlowGraphBuildOrRunError):
            d.get_tensor_graph_res(lambda: [1], x, False)


def tuple_of(shape):
    return py_tuple(shape)


class TestProfiler(flow.unittest.TestCase):
    def test_names(test_case):
        test_case.assertEqual((p.WARMUP_NUM, p.RUN_NUM, p.END_TO_END), (10, 1000, "end-to-end"))
        test_case.assertFalse(p.PROF_VERBOSE)
        test_case.assertEqual(p.compose(str, len)([1, 2]), "2")
        test_case.assertEqual(p.profiled_framework, ["oneflow", "pytorch"])
        test_case.assertIs(p.dual_object_module, d)
        for module in (p.functools, p.os, p.torch, p.oneflow):
            test_case.assertTrue(inspect.ismodule(module))
        test_case.assertEqual(p.HardwareInfo, Tuple[str, Optional[int]])
        test_case.assertEqual((p.Callable, p.Iterable, p.List), (typing.Callable, typing.Iterable, typing.List))
        test_case.assertEqual((p.Any, p.Optional, p.Tuple), (Any, Optional, Tuple))

    def test_runs(test_case):
        p.set_hardware_info_list([("cpu", 1)])
        p.set_profiler_hook(lambda results: results)
        x = d.torch_original.ones(2)
        timed = p.run_torch(d.torch_original.relu, [x], {}, "cpu", 1, "relu", "x")
        test_case.assertIsInstance(timed, p.ProfResult)
        test_case.assertEqual(p.run_flow(flow.relu, [flow.ones(2)], {}, "cpu", 1, "relu", "x").kind, "OneFlow")
        test_case.assertEqual(len(p.profile_dual_object(torch.relu)(torch.ones(2))), 2)


if __name__ == "__main__":
    unittest.main()
