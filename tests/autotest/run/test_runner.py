"""The life of a test's cases over a target without a process: a verdict for each, whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
import torch as pytorch

from autotest import (
    DivergenceError,
    RejectionError,
    UsageError,
    autotest,
    each,
    globaltest,
    oneof,
    random,
    random_tensor,
    torch,
)
from autotest.cases.drawer import Drawer
from autotest.judge.consensus import Consensus
from autotest.ledger.entries import Entry, Ledger, store
from autotest.options import RunOptions
from autotest.run.replayers import CHUNK
from autotest.run.session import Session, current_session
from autotest.workers.inline import InlineTarget
from autotest.workers.protocol import Death
from dual_object.adapters.torch.adapter import Adapter
from dual_object.replay.observation import Failure, Observation
from reports import read_run
from support.fake_target import FakeTarget, lacking
from support.programs import one_call

DEATH = Death("crash", "killed by SIGSEGV", 0, 0, "")
Run = Callable[..., tuple[list[tuple[int, str]], Session]]


def wrong(seen: Observation) -> Observation:
    """The observation with other values."""
    for output in seen.outputs.values():
        output.data = output.data + 1
    return seen


@pytest.fixture
def target() -> FakeTarget:
    """A fake that agrees with PyTorch unless told otherwise."""
    return FakeTarget(Adapter())


@pytest.fixture
def run(target: FakeTarget, tmp_path: Path) -> Iterator[Run]:
    """Runs a body as a test on the fake; gives its cases' numbers and verdicts in the order of the records."""
    opened: list[Session] = []

    def run_body(
        body: Callable[[], Any],
        n: int,
        raises: Any = None,
        mark: Any = None,
        own_seed: int | None = None,
        missing: Any = "fail",
        **options: Any,
    ) -> Any:
        session = Session(
            RunOptions(
                target="torch",
                folder=tmp_path / f"run{len(opened)}",
                root=tmp_path,
                shrink=0,
                blame_total=0,
                **{"inputs": "plain", **options},
            ),
            lambda name: (InlineTarget(Adapter()), Consensus()),
        )
        session.supervisor = target  # type: ignore[assignment]
        session.nodeid = "test_a.py::test_b"
        opened.append(session)
        token = current_session.set(session)
        try:
            test = autotest(n=n, check_graph=False, seed=own_seed, missing=missing)(lambda: body())
            test = test if mark is None else mark(test)
            if raises is None:
                test()
            else:
                with pytest.raises(raises):
                    test()
        finally:
            current_session.reset(token)
        return [(_number(end["key"]), end["verdict"]) for end in ends(session)], session

    yield run_body
    for session in opened:
        session.close()


def _number(key: str) -> int | str:
    """3 for a drawn case, `3@laid` for a laid-out one."""
    number = key.rpartition("#")[2]
    return int(number) if number.isdecimal() else number


def ends(session: Session) -> list[Any]:
    """The records of the cases that have ended, in their order."""
    return lines(session, "end")


def lines(session: Session, kind: str) -> list[dict[str, Any]]:
    """The records of one type of a run."""
    assert session.options.folder is not None
    return [line for _, line in read_run(session.options.folder).lines() if line["type"] == kind]


class Body:
    """A body whose case `at` does something else than square."""

    def __init__(self, at: int, other: Callable[[Any], Any]) -> None:
        self.drawn = -1
        self._at = at
        self._other = other

    def __call__(self) -> Any:
        """One case."""
        self.drawn += 1
        x = random_tensor(ndim=1)
        return self._other(x) if self.drawn == self._at else torch.square(x)


def test_what_was_reached_is_recorded_at_the_end(run: Run, target: FakeTarget, tmp_path: Path) -> None:
    """A test that has ended, whatever it came to, has one record of the cells of its cases and refused draws."""
    target.answers = {"neg": wrong}
    run(Body(1, lambda x: torch.neg(torch.linalg.cholesky(x))), 2)
    run(Body(1, torch.neg), 2, DivergenceError)
    run(Body(1, lambda x: 1 / 0), 3, ZeroDivisionError)
    found = []
    for number in range(3):
        [record] = [line for _, line in read_run(tmp_path / f"run{number}").lines() if line["type"] == "reached"]
        sums = [
            (group["ops"], [sum(counts) for counts in zip(*group["cells"].values(), strict=True)])
            for group in record["groups"]
        ]
        found.append((record["test"], record["laid_out"]["cases"], sums))
    square, neg = (["square"], [1, 1, 0, 0, 0, 0]), (["neg"], [1, 1, 0, 0, 0, 0])
    refused = (["cholesky"], [0, 0, 0, 0, 1, 0])
    name = "test_a.py::test_b"
    assert found == [
        (name, 0, [refused, (["square"], [2, 2, 0, 0, 0, 0])]),
        (name, 0, [square, neg]),
        (name, 0, [square]),
    ]


def test_laid_out_cases_are_counted(run: Run, tmp_path: Path) -> None:
    """Of the record of what was reached, laid-out cases are those that stand."""
    run(lambda: torch.square(random_tensor(ndim=1, dim0=3, dtype="float32")), 1, inputs="standard")
    lines = [line for _, line in read_run(tmp_path / "run0").lines()]
    [record] = [line for line in lines if line["type"] == "reached"]
    ends = [line for line in lines if line["type"] == "end" and "@laid" in line["key"]]
    assert record["laid_out"]["cases"] == len(ends) > 5


@pytest.mark.parametrize(
    ("asked", "drawn"),
    [
        ({"drawn": 2}, 2),
        ({"drawn": 2, "cases": 1}, 1),
        ({"drawn": 9}, 4),
        ({"drawn": 2, "coverage": "none"}, 4),
        ({"drawn": 2, "inputs": "plain"}, 4),
    ],
)
def test_fewer_drawn_cases_beside_laid_out_ones(run: Run, asked: dict[str, Any], drawn: int) -> None:
    """A test that lays cases out draws no more than the run asks for; one that lays out none draws its own n."""
    found, session = run(
        lambda: torch.square(random_tensor(ndim=1, dim0=3, dtype="float32")), 4, **{"inputs": "standard", **asked}
    )
    laid = [number for number, _ in found if isinstance(number, str)]
    assert len(found) - len(laid) == drawn
    assert bool(laid) == (session.options.inputs == "standard" and session.options.coverage is None)


def test_laid_out_cases_run_a_part_at_a_time(run: Run, tmp_path: Path) -> None:
    """The parts have a whole run's cases, each once, and their counts add up; drawn ones are so many fewer."""

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=3, dtype="float32")
        return torch.linalg.cholesky(x) if random(0, 4).to(int).value() == 3 else torch.square(x)

    parts = [None, *((start, start + 20) for start in range(0, 140, 20))]
    for part in parts:
        run(body, 6, inputs="standard", coverage="pairs", laid_out=part)
    keys, drawn, sums = [], [], []
    for number in range(len(parts)):
        held = [line for _, line in read_run(tmp_path / f"run{number}").lines()]
        laid_out = [line["key"] for line in held if line["type"] == "start" and line["key"].endswith("@laid")]
        keys.append(laid_out)
        stood = [line for line in held if line["type"] == "end" and line["verdict"] == "aligned"]
        drawn.append((len(laid_out), sum("@" not in line["key"] for line in stood), len(stood)))
        [record] = [line["laid_out"] for line in held if line["type"] == "reached"]
        sums.append(record)
    assert keys[0] == [key for part in keys[1:] for key in part]
    assert {name: sum(part[name] for part in sums[1:]) for name in sums[0]} == sums[0]
    assert min(sums[0]["refused"], sums[0]["covered"]) > 0, sums[0]
    assert drawn[0][1] == 6
    for laid_out, own, stood in drawn[1:]:
        assert own == max(0, 6 - (stood - own)), (laid_out, own, stood)


@pytest.mark.parametrize("n", [1, CHUNK, CHUNK + 1, 2 * CHUNK + 3])
def test_each_case_has_one_verdict(run: Run, target: FakeTarget, n: int) -> None:
    """Cases are judged in order, chunk by chunk, and every answer is waited for."""
    verdicts, _ = run(lambda: torch.square(random_tensor(ndim=1)), n)
    assert verdicts == [(index, "aligned") for index in range(n)]
    assert [len(asked) for asked in target.asked] == [CHUNK] * (n // CHUNK) + [n % CHUNK] * (n % CHUNK > 0)
    assert target.sent == 0


@pytest.mark.parametrize("prompt", [False, True])
def test_next_chunk_is_drawn_before_the_last_is_waited_for(
    run: Run, target: FakeTarget, monkeypatch: pytest.MonkeyPatch, prompt: bool
) -> None:
    """While the worker replays a chunk, the pytest process draws the next one; what is answered is judged at once."""
    target.prompt = prompt
    outstanding: list[int] = []
    draw = Drawer.draw

    def noting(drawer: Drawer, *arguments: Any, **keywords: Any) -> Any:
        outstanding.append(target.sent)
        return draw(drawer, *arguments, **keywords)

    monkeypatch.setattr(Drawer, "draw", noting)
    run(lambda: torch.square(random_tensor(ndim=1)), 3 * CHUNK)
    assert outstanding == [0] * CHUNK + [0 if prompt else 1] * (2 * CHUNK)


def test_divergence_is_its_own_cases(run: Run, target: FakeTarget) -> None:
    """A wrong answer makes its own case red."""
    target.answers = {"neg": wrong}
    verdicts, _ = run(Body(2, torch.neg), 5, DivergenceError)
    assert verdicts == [(index, "divergent" if index == 2 else "aligned") for index in range(5)]


def test_death_is_its_own_cases(run: Run, target: FakeTarget) -> None:
    """A death is the verdict of its own case; those sent with it and after it keep theirs."""
    target.answers = {"neg": lambda seen: DEATH}
    verdicts, _ = run(Body(3, torch.neg), CHUNK + 5, DivergenceError)
    assert verdicts == [(index, "crashed" if index == 3 else "aligned") for index in range(CHUNK + 5)]


@pytest.mark.parametrize("at", [3, CHUNK + 3])
@pytest.mark.parametrize("error", [ValueError, SkipTest])
def test_cases_before_an_exception_have_verdicts(run: Run, error: type[Exception], at: int) -> None:
    """A body that raises or skips ends its test; what was drawn before is judged, in whichever chunk it lies."""

    def fail(x: Any) -> Any:
        raise error("planted")

    verdicts, _ = run(Body(at, fail), 2 * CHUNK, error)
    assert verdicts == [(index, "aligned") for index in range(at)]


def test_interrupt_leaves_the_chunks_that_were_sent(run: Run) -> None:
    """Who presses Ctrl-C has the verdicts of all chunks that were full."""

    def interrupt(x: Any) -> Any:
        raise KeyboardInterrupt

    verdicts, _ = run(Body(CHUNK + 3, interrupt), 2 * CHUNK, KeyboardInterrupt)
    assert verdicts == [(index, "aligned") for index in range(CHUNK)]


@pytest.mark.parametrize("at", [0, CHUNK + 3])
def test_raw_object_turns_the_test_inline(run: Run, target: FakeTarget, at: int) -> None:
    """From the chunk on in which a body reaches for the target's own object, its test runs inline; what has ended
    before stands.
    """

    def reach(x: Any) -> Any:
        assert isinstance(x.torch, pytorch.Tensor)
        return torch.square(x)

    # The body is run again from the key of the first case that has no verdict.
    verdicts, session = run(Body(at, reach), CHUNK + 6)
    assert verdicts == [(index, "aligned") for index in range(CHUNK + 6)]
    assert list(session.inline_tests) == ["test_a.py::test_b"]
    assert [len(asked) for asked in target.asked] == ([CHUNK] if at else [])


def test_remembered_case_comes_first_and_counts_among_the_n(run: Run, target: FakeTarget) -> None:
    """A case beyond n that diverged before is drawn first, by a judge of its own."""
    target.answers = {"neg": wrong}
    run(Body(4, torch.neg), 6, DivergenceError, memory=True)
    body = Body(0, torch.neg)  # the remembered one is drawn first
    verdicts, _ = run(body, 3, DivergenceError, memory=True)
    assert verdicts == [(4, "divergent"), (0, "aligned"), (1, "aligned"), (2, "aligned")]
    target.answers = {}
    verdicts, _ = run(Body(0, torch.neg), 3, memory=True)
    assert verdicts == [(4, "aligned"), (0, "aligned"), (1, "aligned"), (2, "aligned")]
    verdicts, _ = run(Body(-1, torch.neg), 3, memory=True)
    assert verdicts == [(0, "aligned"), (1, "aligned"), (2, "aligned")]


def test_case_that_lacks_a_capability_is_skipped(run: Run, target: FakeTarget) -> None:
    """What the target cannot be asked about is told so, and the target is not asked."""
    verdicts, _ = run(lambda: torch.relu(random_tensor(ndim=1)), 2, SkipTest, globaltest)
    assert verdicts == [(0, "skipped"), (1, "skipped")]
    assert [asked for asked in target.asked if asked] == []


def matrix() -> Any:
    """An op with corners, of which PyTorch refuses one: dim=2 of a matrix."""
    return torch.sum(random_tensor(ndim=2), dim=random(0, 3).to(int))


def test_corners_come_before_the_drawn_cases(run: Run) -> None:
    """Whatever the seed, eagerly, each once: what PyTorch refuses, and what is an earlier one again, is left out."""
    verdicts, session = run(matrix, 2, inputs="standard", seed=5)
    assert verdicts[-2:] == [(0, "aligned"), (1, "aligned")]
    laid = [name for name, _ in verdicts[:-2]]
    assert laid[:2] == ["0@laid", "1@laid"]
    assert len(laid) > 30
    assert {end["graph"]["forward"] for end in ends(session)} == {"off"}
    reasons = [line["reason"] for line in lines(session, "left_out")]
    assert any("Dimension out of range" in reason for reason in reasons)
    assert "it is an earlier one again" in reasons
    ended = {line["key"] for kind in ("end", "left_out") for line in lines(session, kind)}
    assert ended == {line["key"] for line in lines(session, "start")}
    others, _ = run(matrix, 2, inputs="standard", seed=6)
    assert [one for one in others if str(one[0]).endswith("@laid")] == verdicts[:-2]


@pytest.mark.parametrize("isolate", ["always", "never"])
def test_one_case_alone(run: Run, isolate: str) -> None:
    """A run that is asked for one case has that alone, wherever the target runs."""
    verdicts, _ = run(matrix, 5, isolate=isolate, case="test_a.py::test_b#2")
    assert [name for name, _ in verdicts] == [2]


def test_coverage_of_a_run_goes_before_that_of_a_test(run: Run) -> None:
    """None at all, or all pairs."""
    assert run(matrix, 2, inputs="standard", coverage="none")[0] == [(0, "aligned"), (1, "aligned")]
    pairs, _ = run(matrix, 2, inputs="standard", coverage="pairs")
    assert len(pairs) > 60


def test_corner_that_diverges_is_red_and_not_remembered(run: Run, target: FakeTarget) -> None:
    """The next run has it anyway."""

    def long(seen: Observation) -> Observation:
        return wrong(seen) if any(output.shape == (129,) for output in seen.outputs.values()) else seen

    target.answers = {"sum": long}
    verdicts, session = run(matrix, 2, raises=DivergenceError, inputs="standard")
    red = [str(name) for name, verdict in verdicts if verdict == "divergent"]
    assert red
    assert all(name.endswith("@laid") for name in red)
    assert not [*(session.options.root / ".autotest").glob("**/*.json")]  # type: ignore[operator]


def test_dtype_that_the_target_lacks_is_skipped_where_nobody_asked_for_it(run: Run, target: FakeTarget) -> None:
    """The test has left its dtype open: it does not fail, and the reason is told."""

    def unsupported(seen: Observation) -> Observation:
        [output] = seen.outputs.values()
        if output.dtype != "int16":
            return seen
        seen.failures.append(Failure(0, "unsupported", ("NotImplementedError",), "no kernel"))
        seen.ended = True
        return seen

    target.answers = {"square": unsupported}
    verdicts, session = run(lambda: torch.square(random_tensor(ndim=1)), 2, inputs="standard")
    assert [verdict for _, verdict in verdicts if verdict != "aligned"] == ["skipped"]
    [skipped] = [end for end in ends(session) if end["verdict"] == "skipped"]
    assert skipped["reason"] == "fake says that it does not support int16 there"


def test_corner_shows_no_fault_anew_that_the_ordinary_case_has(run: Run, target: FakeTarget) -> None:
    """An op that gives too much does so at a NaN and in each dtype: that is one fingerprint, not twenty."""
    target.answers = {"square": wrong}
    body = lambda: torch.square(random_tensor(ndim=1, requires_grad=False))  # noqa: E731
    _, session = run(body, 1, raises=DivergenceError, inputs="standard")
    divergent = [row["fingerprint"] for end in ends(session) for row in end["divergences"]]
    assert {name for name in divergent if "/value/" in name} == {"torch/eager_forward/value/square/float32"}
    assert len(divergent) > 20


def test_a_corner_with_another_call_shares_no_call_of_the_ordinary_case(run: Run, target: FakeTarget) -> None:
    """What the third such case takes over is the number of a call: `square` is the first of the ordinary case."""

    def body() -> Any:
        x = random_tensor(ndim=1, requires_grad=False)
        moved = x + 1 if oneof(False, True).value() else x
        return torch.square(moved) * oneof(1.0, 2.0, 3.0, 4.0).value()

    target.answers = {"square": wrong}
    _, session = run(body, 1, raises=DivergenceError, inputs="standard", coverage="arguments")
    rows = [row for end in ends(session) for row in end["divergences"] if "/value/" in row["fingerprint"]]
    assert {row["fingerprint"] for row in rows} == {"torch/eager_forward/value/square/float32"}
    assert len(rows) > 20


def test_a_part_of_the_corners_knows_what_the_ordinary_case_has(run: Run, target: FakeTarget, tmp_path: Path) -> None:
    """Also where another run has recorded it."""
    target.answers = {"square": wrong}
    body = lambda: torch.square(random_tensor(ndim=1, requires_grad=False))  # noqa: E731
    _, session = run(body, 1, raises=DivergenceError, inputs="standard", laid_out=(4, 24))
    corners = [end for end in ends(session) if end["key"].endswith("@laid")]
    assert len(corners) > 10
    found = {row["fingerprint"] for end in corners for row in end["divergences"] if row["kind"] == "value"}
    assert found == {"torch/eager_forward/value/square/float32"}
    assert "test_a.py::test_b#0@laid" not in {end["key"] for end in corners}
    assert lines(session, "reached")[0]["laid_out"]["cases"] == len(corners)


def test_a_part_of_the_corners_is_left_out_where_the_ordinary_case_ends_the_target(
    run: Run, target: FakeTarget
) -> None:
    """It is tried once, whoever has recorded it; the drawn cases run."""
    target.answers = {"square": lambda seen: DEATH}
    body = lambda: torch.square(random_tensor(ndim=1, requires_grad=False))  # noqa: E731
    verdicts, session = run(body, 1, raises=DivergenceError, inputs="standard", laid_out=(4, 24))
    assert [verdict for _, verdict in verdicts] == ["crashed"]
    reasons = {line["reason"] for line in lines(session, "left_out")}
    assert "the ordinary case test_a.py::test_b#0@laid ends the target" in reasons


def listed(*ops: Callable[[Any], Any]) -> Callable[[], Any]:
    """A body whose case k applies the k-th op to a tensor of one dimension."""
    return lambda: each(*ops).value()(random_tensor(ndim=1))


def test_what_is_listed_is_the_tests_cases(run: Run) -> None:
    """Each item is one case, whatever n; a run may ask for fewer."""
    body = listed(*[torch.square] * 7)
    assert run(body, 2)[0] == [(index, "aligned") for index in range(7)]
    assert run(body, 20)[0] == [(index, "aligned") for index in range(7)]
    assert run(body, 20, cases=3)[0] == [(index, "aligned") for index in range(3)]


def test_refused_item_costs_its_own_case_only(run: Run) -> None:
    """What PyTorch refuses of what is listed is not drawn again, and the others count; refused altogether it is an
    error.
    """
    verdicts, _ = run(listed(torch.square, torch.inverse, torch.neg), 20)
    assert sorted(verdicts) == [(0, "aligned"), (1, "rejected"), (2, "aligned")]
    with pytest.raises(RejectionError) as caught:
        run(listed(torch.inverse, torch.inverse), 20)
    assert str(caught.value).partition(": it says so of every draw: correct")[0] == (
        "test_a.py::test_b: the reference refused 2 of 2 draws, so only 0 of n=2 cases could run; the commonest reason "
        "(2 times) is RuntimeError: linalg.inv: The input tensor A must have at least 2 dimensions."
    )


def test_deadly_form_is_met_once(run: Run, target: FakeTarget) -> None:
    """What has ended the target is not laid before it again in the same form: counted as skipped, with the reason."""
    target.answers = {"neg": lambda seen: DEATH}
    ops = [torch.neg, *[torch.square] * (CHUNK - 1), torch.neg, torch.square]
    verdicts, session = run(listed(*ops), 20, DivergenceError)
    assert sorted(verdicts) == [
        (0, "crashed"),
        *((index, "aligned") for index in range(1, CHUNK)),
        (CHUNK, "skipped"),
        (CHUNK + 1, "aligned"),
    ]
    assert {end["reason"] for end in ends(session) if end["verdict"] == "skipped"} == {
        "a call of this form has ended the target in case #0"
    }


def test_what_the_target_lacks_is_met_once(run: Run, target: FakeTarget) -> None:
    """Of a list, where that is only counted: in the first case, which goes alone. It lacks it for every dtype."""
    target.answers = {"neg": lacking}

    def body() -> Any:
        op, dtype = each((torch.neg, "float32"), (torch.neg, "int64"), (torch.square, "float32")).value()
        return op(random_tensor(ndim=1, dtype=dtype))

    verdicts, session = run(body, 20, missing="count")
    assert sorted(verdicts) == [(0, "divergent"), (1, "skipped"), (2, "aligned")]
    assert target.asked == [[["neg"]], [["square"]]]
    assert {end["reason"] for end in ends(session) if end["verdict"] == "skipped"} == {
        "the target lacks what case #0 calls, too"
    }


def test_what_the_ledger_knows_of_a_list_is_not_run(
    run: Run, target: FakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its items are the same in each run; `autotest ledger check` proves that one of them ends the target."""
    fingerprint = "torch/eager_forward/crash/neg/float32"
    entry = Entry(Path("l.toml"), fingerprint, "r", ">=0", ("t",), "m", "p", store(one_call("neg"), {}))
    monkeypatch.setattr(Session, "ledger", lambda self: Ledger(Path("l.toml"), {fingerprint: entry}))
    target.answers = {"neg": lambda seen: DEATH}
    verdicts, session = run(listed(torch.neg, torch.square), 20)
    assert sorted(verdicts) == [(0, "skipped"), (1, "aligned")]
    assert [end["reason"] for end in ends(session) if end["verdict"] == "skipped"] == [
        f"the ledger knows that it ends the target: {fingerprint}"
    ]


def test_form_that_is_drawn_is_met_each_time(run: Run, target: FakeTarget) -> None:
    """A test that draws its cases gets the verdict of every one."""
    target.answers = {"neg": lambda seen: DEATH}
    n = 2 * CHUNK + 1  # the first chunk is judged when the third is sent
    verdicts, _ = run(lambda: torch.neg(random_tensor(ndim=1)), n, DivergenceError)
    assert verdicts == [(index, "crashed") for index in range(n)]


def test_own_seed_of_a_test_goes_before_the_runs(run: Run) -> None:
    """With a seed of its own a test draws the same in runs of any seed, and its cases' keys name none."""
    seen: list[list[float]] = []

    def body() -> Any:
        x = random_tensor(ndim=1, dim0=3)
        seen.append([float(value) for value in x.tolist()])
        return x * 1

    for seed in (0, 7):
        verdicts, session = run(body, 1, own_seed=3, seed=seed)
        assert verdicts == [(0, "aligned")]
    assert seen[0] == seen[1]
    assert [end["key"] for end in ends(session)] == ["test_a.py::test_b#0"]


@pytest.mark.parametrize("ndim", [0, 1])
def test_memory_that_nobody_wrote_is_judged_without_a_warning(run: Run, target: FakeTarget, ndim: int) -> None:
    """A signalling NaN, which a kernel leaves that writes nothing, is a NaN, and no error of NumPy's."""

    def unwritten(seen: Observation) -> Observation:
        for output in seen.outputs.values():
            output.data = np.full(output.shape, 0x7F800001, np.uint32).view(np.float32)
        return seen

    target.answers = {"square": unwritten}
    found, session = run(lambda: torch.square(random_tensor(ndim=ndim)), 1, DivergenceError)
    assert found[-1] == (0, "divergent")
    kinds = {divergence["kind"] for end in ends(session) for divergence in end["divergences"]}
    assert kinds == {"nonfinite"}


def test_the_body_hears_of_numpys_errors(run: Run) -> None:
    """The harness looks at any values; what a body divides by zero, its author is told."""

    def body() -> Any:
        assert not np.isfinite(np.float32(1) / np.float32(0))
        return torch.square(random_tensor(ndim=1))

    with pytest.warns(RuntimeWarning, match="divide by zero encountered"):
        run(body, 1)


def test_part_of_a_sequential_is_blamed_in_each_case(run: Run, target: FakeTarget) -> None:
    """Later cases share what was found in the first ones, in which Sequentials were taken apart."""

    def body() -> Any:
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
        return torch.neg(module(random_tensor(ndim=2, dim0=3, dim1=2)))

    target.answers = {"Sequential": wrong, "Tanh": wrong}
    _, session = run(body, 6, DivergenceError)
    assert [divergence["op"] for end in ends(session) for divergence in end["divergences"]] == ["Tanh"] * len(
        ends(session)
    )


def past_its_calls() -> Any:
    """Writes where no call tells of it."""
    y = torch.exp(random_tensor(ndim=1, requires_grad=False))
    y.numpy()[:] = 4
    return y


def test_nothing_decided(run: Run) -> None:
    """A test fails whose body does what no call tells; in one case it may be chance."""
    with pytest.raises(UsageError) as caught:
        run(past_its_calls, 3)
    assert str(caught.value).startswith(
        "test_a.py::test_b: 3 of its 3 drawn cases come out otherwise when PyTorch runs their recorded calls again, so "
        "the body does what no call tells: write to dual objects, and call PyTorch by autotest's `torch` "
        "[tests/autotest/run/test_runner.py:"
    )
    run(past_its_calls, 1)


def test_some_cases_decided(run: Run) -> None:
    """A test passes most of whose cases could be decided."""
    drawn = iter(range(5))
    run(lambda: torch.square(random_tensor(ndim=1)) if next(drawn) < 3 else past_its_calls(), 5)
