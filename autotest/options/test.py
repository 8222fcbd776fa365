"""What a test asks of the harness: the arguments of `@autotest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from autotest.compare.tolerance import check_pair
from autotest.errors import UsageError
from autotest.options.run import Coverage, Inputs, RunOptions

if TYPE_CHECKING:
    from autotest.compare.difference import Rules

GradOrder = Literal[1, 2]
GraphBackward = Literal["share", "all", "none"]
Lacking = Literal["fail", "count"]
Refusals = Literal["sample", "all"]

#: What stands at the end of a refusal.
_WHERE = "@autotest(...)"


class _Check(NamedTuple):
    """What an argument should be, in words, and whether a value is that."""

    should: str
    fits: Callable[[Any], bool]


def _one_of(choices: tuple[str, ...], *, or_none: bool = False) -> _Check:
    named = ", ".join(map(repr, choices))
    return _Check(
        f"one of {named}{', or None' if or_none else ''}",
        lambda value: value in choices or (or_none and value is None),
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)


_SWITCH = _Check("True or False", lambda value: isinstance(value, bool))

#: Of every argument that can be checked by itself.
_CHECKS: Mapping[str, _Check] = {
    "n": _Check(
        "a whole number of cases, at least 1 (0 with coverage='pairs')",
        _is_count,
    ),
    "auto_backward": _SWITCH,
    "check_graph": _SWITCH,
    "fullgraph": _SWITCH,
    "check_allclose": _SWITCH,
    "check_dtype": _SWITCH,
    "check_layout": _SWITCH,
    "check_grad_use_random_data": _SWITCH,
    "graph_backward": _one_of(get_args(GraphBackward)),
    "missing": _one_of(get_args(Lacking)),
    "unsupported": _one_of(get_args(Lacking)),
    "refusals": _one_of(get_args(Refusals)),
    "inputs": _one_of(get_args(Inputs), or_none=True),
    "coverage": _one_of(get_args(Coverage)),
    "seed": _Check(
        "a whole number, at least 0, or None",
        lambda value: value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0),
    ),
    "train": _Check(
        "a whole number of steps, at least 1, or None",
        lambda value: value is None or _is_count(value),
    ),
    "accumulate": _Check(
        "a whole number of batches, at least 1",
        _is_count,
    ),
    "graph_configs": _Check(
        "'all', or the name or names of configurations of the target's graphs",
        lambda value: (isinstance(value, str) and value != "") or _is_names(value),
    ),
    "grad_order": _Check("1 or 2", lambda value: not isinstance(value, bool) and value in get_args(GradOrder)),
}


@dataclass(frozen=True, slots=True)
class TestOptions:
    """The arguments of `@autotest`. Raises UsageError, naming the argument, for what cannot mean anything."""

    __test__ = False  # pytest: no test class

    n: int = 20
    auto_backward: bool = True
    rtol: float | None = None
    atol: float | None = None
    check_graph: bool = True
    check_allclose: bool = True
    check_dtype: bool = True
    check_layout: bool = True
    check_grad_use_random_data: bool = True
    graph_backward: GraphBackward = "share"
    missing: Lacking = "fail"
    unsupported: Lacking = "fail"
    refusals: Refusals = "sample"
    inputs: Inputs | None = None
    coverage: Coverage = "each"
    seed: int | None = None
    grad_order: GradOrder = 1
    because: str | None = None
    fullgraph: bool = False
    train: int | None = None
    accumulate: int = 1
    graph_configs: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every argument."""
        for name, (should, fits) in _CHECKS.items():
            value = getattr(self, name)
            # A test whose laid-out cases meet in pairs may have no others.
            alone = name == "n" and type(value) is int and value == 0 and self.coverage in ("arguments", "pairs")
            if not (alone or fits(value)):
                raise UsageError(f"{name}={value!r}, but should be {should} [{_WHERE}]")
        if self.grad_order == 2 and not self.auto_backward:
            raise UsageError(
                f"grad_order=2, but should be 1 with auto_backward=False, which takes no derivative at all [{_WHERE}]"
            )
        if self.train is not None and (self.grad_order == 2 or not self.auto_backward):
            other = "grad_order=2" if self.grad_order == 2 else "auto_backward=False"
            raise UsageError(
                f"train={self.train}, but should be None with {other}: a step differentiates its loss once [{_WHERE}]"
            )
        if self.accumulate > 1 and self.train is None:
            raise UsageError(f"accumulate={self.accumulate}, but should be 1 where nothing is trained [{_WHERE}]")
        check_pair(self.rtol, self.atol, _WHERE)
        if self.because is not None and (not isinstance(self.because, str) or not self.because or self.rtol is None):
            raise UsageError(
                f"because={self.because!r}, but should say which case needs the test's own rtol and atol: "
                f"pass all three, with a case of `autotest tolerances` [{_WHERE}]"
            )

    def count(self, run: RunOptions) -> int:
        """How many cases a run draws: of a test that has laid-out cases alone (`n=0`) none, however many the run asks
        for; of one that has them besides at most the run's `drawn`.
        """
        if not self.n:
            return 0
        n = run.cases or self.n
        lays_out = (run.coverage or self.coverage) != "none" and (self.inputs or run.inputs) != "plain"
        return n if run.drawn is None or not lays_out else min(n, run.drawn)

    @property
    def own_tolerance(self) -> tuple[float, float] | None:
        """The rtol and atol that the test's author chose for it, None where it has the dtype's."""
        return None if self.rtol is None or self.atol is None else (self.rtol, self.atol)

    @property
    def asked_configs(self) -> tuple[str, ...]:
        """The names of the configurations of graphs that the test asks for, or `all`."""
        return (self.graph_configs,) if isinstance(self.graph_configs, str) else self.graph_configs

    @property
    def rules(self) -> Rules:
        """What is compared, and how closely."""
        from autotest.compare.difference import Rules  # late: it needs the whole of dual_object

        return Rules(self.rtol, self.atol, self.check_allclose, self.check_dtype, self.check_layout)
