"""OpInfo's entries as sources of arguments: which samples of an entry are cases, and how its op is called."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch as pytorch

from autotest import dual_tensor, torch
from dual_object.adapters.torch.kernels.given import sample_inputs, seeded

#: So many samples of an entry run in the static graph as well, spread over them.
IN_GRAPH = 3
#: What the values of all samples are drawn from, whatever the run's seed: a ledger holds for all of them.
SEED = 0
#: Elements of all tensors of a sample.
MOST_ELEMENTS = 4096
DTYPES = (pytorch.float32, pytorch.int64, pytorch.bool)

#: What PyTorch leaves undefined, so that no two runs need agree.
UNDEFINED = {
    "empty": "its values are whatever memory held",
    "empty_like": "its values are whatever memory held",
    "empty_permuted": "its values are whatever memory held",
    "empty_strided": "its values are whatever memory held",
    "new_empty": "its values are whatever memory held",
    "new_empty_strided": "its values are whatever memory held",
    "resize_": "the values that it adds are whatever memory held",
    "resize_as_": "the values that it adds are whatever memory held",
}
#: Operators that PyTorch has under a name that Python no longer asks for.
RENAMED = {"__rdiv__": "__rtruediv__"}
#: Ops whose second argument is the sample's input: OpInfo wants a tensor to come first.
SWAPPED = {
    "einsum",
    "nn.functional.embedding",
    "nn.functional.embedding_bag",
    "polygamma",
    "special.polygamma",
    "where",
}

STORABLE = (type(None), bool, int, float, complex, str, type(Ellipsis), pytorch.dtype, pytorch.device)
STORABLE += (pytorch.layout, pytorch.memory_format)


@dataclass(frozen=True)
class Plan:
    """The samples that are cases, by their position, in the graph and only eagerly; none, and the `reason`, where no
    sample can be compared. `left_out` counts the others by why they are none.
    """

    dtype: pytorch.dtype | None
    in_graph: tuple[int, ...] = ()
    eager: tuple[int, ...] = ()
    reason: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry of `op_db`; its id is the op's full name."""

    info: Any

    @property
    def id(self) -> str:
        """The op's name below `torch`, with the entry's variant."""
        return str(self.info.full_name)

    @property
    def name(self) -> str:
        """The op's name below `torch` or `torch.Tensor`."""
        name = str(self.info.name).removeprefix("torch.")
        return RENAMED.get(name, name)

    @property
    def is_public(self) -> bool:
        """Whether users can call the op as a function or as a method."""
        return public(pytorch, self.name) is not None or hasattr(pytorch.Tensor, self.name)

    @functools.cached_property
    def plan(self) -> Plan:
        """The samples that are used, chosen once, on PyTorch alone."""
        return _plan(self)

    def sample(self, index: int) -> Any:
        """The sample at `index`."""
        assert self.plan.dtype is not None
        return samples(self, self.plan.dtype)[index]

    def call(self, root: Any, sample: Any, change: Callable[[Any], Any]) -> Any:
        """Call the op below `root` by its public path with a sample whose tensors `change` has replaced."""
        first, args = change(sample.input), change(tuple(sample.args))
        kwargs = change(dict(sample.kwargs))
        if self.name in SWAPPED:
            first, args = args[0], (first, *args[1:])
        if self.name.endswith("_") and not self.name.endswith("__"):
            first = first.clone()  # PyTorch refuses to write to a leaf that needs a gradient
        function = public(root, self.name)
        if function is None:
            member = getattr(first, self.name)
            return member(*args, **kwargs) if callable(getattr(pytorch.Tensor, self.name)) else member
        return function(first, *args, **kwargs)

    def run(self, index: int) -> Any:
        """Call the op through the dual root, on sample `index` as the running case's inputs."""
        return self.apply(torch, self.sample(index))

    def apply(self, root: Any, sample: Any) -> Any:
        """Call the op through the dual `root`, with the tensors of a sample as the running case's inputs."""
        return self.call(root, sample, as_inputs())


@functools.lru_cache(maxsize=1)  # the cases of one test follow each other
def samples(entry: Entry, dtype: pytorch.dtype) -> tuple[Any, ...]:
    """All of OpInfo's samples of an entry, the same each time."""
    gradient = entry.info.supports_autograd and dtype in entry.info.supported_backward_dtypes("cpu")
    with seeded(SEED):
        return tuple(sample_inputs(entry.info, dtype, differentiable=gradient))


def public(root: Any, name: str) -> Any:
    """The function at `name` below `root`; None where only tensors have it."""
    for member in (pytorch, root):
        for part in name.split("."):
            member = getattr(member, part, None)
            if member is None:
                return None
        if not callable(member):
            return None
    return member


def replaced(leaf: Callable[[Any], Any], tree: Any) -> Any:
    """`tree` with `leaf` applied to whatever is no tuple, list, dict or slice."""
    if isinstance(tree, dict):
        return {key: replaced(leaf, item) for key, item in tree.items()}
    if isinstance(tree, (tuple, list)):
        made = [replaced(leaf, item) for item in tree]
        return made if isinstance(tree, list) else tuple(made)
    if isinstance(tree, slice):
        return slice(*(replaced(leaf, part) for part in (tree.start, tree.stop, tree.step)))
    return leaf(tree)


def _plan(entry: Entry) -> Plan:
    if entry.name in UNDEFINED:
        return Plan(None, reason=UNDEFINED[entry.name])
    if not entry.is_public:
        return Plan(None, reason="PyTorch has no such function or method in public")
    supported = entry.info.supported_dtypes("cpu")
    dtype = next((dtype for dtype in DTYPES if dtype in supported), None)
    if dtype is None:
        return Plan(None, reason="it supports neither float32 nor int64 nor bool on the CPU")
    given = samples(entry, dtype)
    return planned(dtype, [obstacle(entry, sample) for sample in given], [*map(_form, given)])


def planned(
    dtype: pytorch.dtype, obstacles: Sequence[str], forms: Sequence[Hashable], most_in_graph: int = IN_GRAPH
) -> Plan:
    """The plan for samples of which each has an obstacle, or none, and a form: one of each form comes first, so that a
    target which that ends is spared the rest.
    """
    left_out = Counter(reason for reason in obstacles if reason)
    usable = [index for index, reason in enumerate(obstacles) if not reason]
    if not usable:
        reason = left_out.most_common(1)[0][0] if left_out else "PyTorch has no sample for it"
        return Plan(dtype, reason=reason, left_out=left_out)
    in_graph = {usable[i] for i in np.linspace(0, len(usable) - 1, min(most_in_graph, len(usable))).round().astype(int)}
    eager = [index for index in usable if index not in in_graph]
    first = {*{forms[index]: index for index in reversed(eager)}.values()}
    eager.sort(key=lambda index: (index not in first, index))
    return Plan(dtype, tuple(sorted(in_graph)), tuple(eager), left_out=left_out)


def told(plans: Iterable[Plan]) -> str:
    """How many samples are no cases, by why: `145 x it is random; 27 x its samples ...`, the commonest first."""
    counts = Counter[str]()
    for plan in plans:
        counts.update(plan.left_out)
    return "; ".join(f"{count} x {reason}" for reason, count in counts.most_common())


def form(given: Sequence[Any]) -> Hashable:
    """What is given but for sizes and values: the dimensions of tensors, and the types of all else."""
    return tuple(leaf.dim() if isinstance(leaf, pytorch.Tensor) else type(leaf) for leaf in given)


def _form(sample: Any) -> Hashable:
    return form(_given(sample)), tuple(sample.kwargs)


def _given(sample: Any) -> list[Any]:
    return leaves([sample.input, tuple(sample.args), dict(sample.kwargs)])


def obstacle(entry: Entry, sample: Any) -> str:
    """Why a sample cannot be compared; empty where it can."""
    given = _given(sample)
    tensors = [leaf for leaf in given if isinstance(leaf, pytorch.Tensor)]
    for leaf in given:
        if not isinstance(leaf, (*STORABLE, pytorch.Tensor)):
            return f"its samples hold a {type(leaf).__name__}, which no Program can"
    for tensor in tensors:
        if tensor.layout != pytorch.strided or tensor.is_nested:
            return "its samples hold a tensor that is not strided"
    if sum(tensor.numel() for tensor in tensors) > MOST_ELEMENTS:
        return f"its samples have more than {MOST_ELEMENTS} elements"
    before = pytorch.random.get_rng_state()
    try:
        runs = [leaves(entry.call(pytorch, sample, functools.partial(replaced, copied))) for _ in range(2)]
    except Exception as error:
        return f"PyTorch refuses its samples by the public path with {type(error).__name__}"
    if not pytorch.equal(before, pytorch.random.get_rng_state()):
        return "it is random"
    results = [leaf for leaf in runs[0] if isinstance(leaf, pytorch.Tensor)]
    if any(result.dtype == pytorch.complex32 for result in results):
        return "its result is complex32, which NumPy lacks"
    starts = [result for result in results if result.requires_grad]
    try:
        if starts:
            pytorch.autograd.backward(starts, [pytorch.rand_like(start) for start in starts])
    except Exception as error:
        return f"PyTorch refuses its backward with {type(error).__name__}"
    if len(runs[0]) != len(runs[1]) or not all(map(_same, *runs)):
        return "it gives other values each time"
    return ""


def as_inputs() -> Callable[[Any], Any]:
    """Gives a tree with its tensors as the running case's inputs; a tensor given twice stays one."""
    known: dict[int, Any] = {}

    def leaf(item: Any) -> Any:
        if not isinstance(item, pytorch.Tensor):
            return item
        if id(item) not in known:
            known[id(item)] = dual_tensor(item)
        return known[id(item)]

    return functools.partial(replaced, leaf)


def copied(item: Any) -> Any:
    """A tensor as a leaf of its own; anything else as it is."""
    return item.detach().clone().requires_grad_(item.requires_grad) if isinstance(item, pytorch.Tensor) else item


def leaves(tree: Any) -> list[Any]:
    """Whatever of a tree is no tuple, list, dict or slice."""
    items: list[Any] = []
    replaced(items.append, tree)
    return items


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, pytorch.Tensor) and left.layout == pytorch.strided and not left.is_nested:
        return bool(pytorch.isclose(left, right, equal_nan=True).all())
    return True
