"""The pytest plugin: thin and import-light. A session without an `@autotest` test imports no framework, prints and
writes nothing.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from autotest.options.table import OPTIONS
from autotest.run.lending import lending
from autotest.run.unrecorded import MOST_TRACE, USAGE, Uncalled, is_outside
from autotest.state import STATE, State, is_autotest, refuse_given

if TYPE_CHECKING:
    from autotest.run.session import Session

#: Seconds in which xdist's workers must end after Ctrl-C; they have got it as well.
PATIENCE = 1.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; `autotest run` offers the same without the prefix."""
    group = parser.getgroup("autotest", "op alignment against PyTorch")
    for option in OPTIONS.values():
        if option.pytest is None:
            continue
        shape = {"action": "store_true"} if option.kind.flag else {"metavar": option.pytest.metavar}
        shape |= {"action": "append"} if option.kind.often else {}
        group.addoption(option.typed_for_pytest, default=option.default, help=option.pytest.help, **shape)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Answer for OneFlow's harness, before a conftest.py imports it."""
    from autotest.dropin import asked

    if asked(early_config):
        from autotest.dropin.plugin import DropIn

        early_config.pluginmanager.register(DropIn(lambda: early_config.stash[STATE].session()))


def pytest_configure(config: pytest.Config) -> None:
    """Keep the state; check the options at once where this process was started by a person."""
    state = State(config)
    config.stash[STATE] = state
    config.pluginmanager.register(Uncalled())
    if state.worker is None:
        config.pluginmanager.register(state.unrecorded)
    if state.rank is not None:
        from autotest.ranks.plugin import RankPlugin

        config.pluginmanager.register(RankPlugin(state.session, state.rank))
    if state.slot is not None:
        from autotest.campaign.slot import SlotPlugin

        config.pluginmanager.register(SlotPlugin(state.session, state.slot))
    if config.getoption("--autotest-conformance") is not None and state.worker is None:
        from autotest.conformance import collected

        named = config.args_source is pytest.Config.ArgsSource.ARGS
        config.args[:] = [*(config.args if named else ()), collected(config)]
    if _asked(config):
        from autotest.errors import UsageError

        try:
            _ = state.options
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None


def _asked(config: pytest.Config) -> bool:
    """Whether any of our options was typed: only then are they checked before a test runs."""
    return any("--autotest-" in str(arg) for arg in config.invocation_params.args)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In a worker of xdist, which does not hand it on, keep what pytest says of a test that is not there."""
    try:
        return (yield)
    except pytest.UsageError as error:
        state = session.config.stash[STATE]
        if state.worker is not None:
            state.problems += [f"{USAGE}{sentence}" for sentence in error.args]
        raise


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the cases to come; where they run in this process, show how far they are."""
    state = session.config.stash[STATE]
    tests = [item for item in session.items if _is_ours(item)]
    if tests and not session.config.option.collectonly:
        options = [getattr(item, "function").autotest_options for item in tests if is_autotest(item)]  # noqa: B009 - pytest.Item has none
        state.planned = sum(of_test.count(state.options) for of_test in options)
        state.collected = tests
        state.show_progress()


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Leave the terminal to the debugger."""
    config.stash[STATE].hide_progress()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give every xdist worker the run's folder and seed, and the width of the terminal, which it does not see."""
    from reports import reading_width

    node.config.stash[STATE].show_progress()
    options = node.config.stash[STATE].options
    node.workerinput["autotest_folder"] = str(options.folder)
    node.workerinput["autotest_seed"] = options.seed
    node.workerinput["autotest_command"] = options.command
    node.workerinput["autotest_commit"] = options.commit
    node.workerinput["autotest_width"] = reading_width()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what an xdist worker found wrong with the ledgers."""
    output = getattr(node, "workeroutput", None) or {}
    node.config.stash[STATE].problems += output.get("autotest_problems", [])


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport) -> None:
    """Say which case an xdist worker began last before it ended. No target ends it: each has a process of its own."""
    from autotest.cases.case import case_test_name
    from reports import last_ahead, last_begun

    node: Any = vars(report)["node"]
    state: Any = node.config.stash[STATE]
    folder, worker = state.options.folder, node.gateway.id
    whose = "the test's body"
    if (ahead := last_ahead(folder, worker)) is not None:
        whose = "the body of that case's test"
        told = f"it was drawing {ahead} ahead, to run it in one graph with cases of this test"
    elif (case := last_begun(folder, worker)) is not None and case.startswith(f"{case_test_name(crashitem)}#"):
        told = f"the last case that it began is {case}"
    else:
        return
    report.longrepr = (
        f"worker {worker!r} of pytest ended; {told}. PyTorch has ended it, "
        f"or {whose}, or somebody from elsewhere: the target runs in a process of its own"
    )
    state.unrecorded.ended[crashitem] = worker, report.longrepr


def _is_ours(item: pytest.Item) -> bool:
    """Whether a test is, or may call, an @autotest test; in a drop-in run any may."""
    return is_autotest(item) or bool(item.config.getoption("--autotest-drop-in"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep this shard's share of the tests."""
    if config.getoption("--autotest-shard") is None:
        return
    from autotest.cases.case import case_test_name

    shard = config.stash[STATE].options.shard
    assert shard is not None
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        test = case_test_name(item.nodeid) if _is_ours(item) else None
        (kept if shard.holds(test) else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """No test of ours runs while another is set up."""
    with lending(partial(_refuse, item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Nor while it is torn down."""
    with lending(partial(_refuse, item)):
        return (yield)


def _refuse(item: pytest.Item, running: Session | None, function: Callable[..., Any] | None) -> NoReturn:
    from autotest.cases.places import bracketed, defined_at
    from autotest.errors import UsageError

    raise UsageError(
        f"a function that is decorated by @autotest is called before or after {item.nodeid}, as by a fixture, but it "
        "should be a test, or be called by one: take @autotest off the fixture, and draw in the body of the test"
        f"{bracketed(None if function is None else defined_at(function))}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run a test inside this process's session, if it is one of ours or calls one, and end the run where the
    surroundings cannot carry it.
    """
    state = item.config.stash[STATE]
    state.item = None
    try:
        with lending(partial(state.lend, item)):
            if _is_ours(item):
                state.turn_to(item)
                refuse_given(item)
            return (yield)
    except Exception as error:
        if state.item is not None:
            from autotest.errors import EnvironmentFault
            from reports import RecordError

            if isinstance(error, (EnvironmentFault, RecordError)):
                item.session.shouldstop = str(error)
        raise
    finally:
        if state.ran(item):
            from reports import junit_property, worst_errors

            session = state.session()
            item.user_properties.append(junit_property({**session.counts, **worst_errors(session.worst)}))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the sentence of our own errors instead of a traceback through our internals; record how the test ended."""
    report = yield
    state = item.config.stash[STATE]
    ours = _is_ours(item) or state.ran(item)
    if report.failed and (call.when != "call" if ours else is_outside(call.excinfo)):  # a fixture's, or undecorated
        state.turn_to(item).calls += not ours
        _record_test(item, call, report)
    if call.when != "call" or not ours:
        if call.excinfo is not None and report.failed:
            _hide_ours(item.config, call.excinfo, report)
        return report
    if call.excinfo is not None:
        from autotest.errors import is_sentence

        if is_sentence(call.excinfo.value):
            shown = call.excinfo.getrepr(style="value", chain=False)
            if shown.reprcrash is not None:
                # On CI pytest's list of failures has whole messages, and ours are a page long: it stands above already.
                shown.reprcrash.message = shown.reprcrash.message.partition("\n")[0]
            report.longrepr = shown
        elif state.ran(item) and (case := _case_of(call, state)):
            report.sections.append(("autotest", _raised_in(case, state, item)))
    _record_test(item, call, report)
    return report


def _hide_ours(config: pytest.Config, raised: pytest.ExceptionInfo[BaseException], report: pytest.TestReport) -> None:
    """Of a sentence of ours, show the user's lines, where a test lacks its `@autotest`, say; without any, it alone."""
    from autotest.cases.places import is_users
    from autotest.errors import is_sentence

    users = raised.traceback.filter(lambda entry: is_users(str(entry.path)))
    if not is_sentence(raised.value) or config.getoption("fulltrace"):
        return
    style = config.getoption("tbstyle")
    if users:
        report.longrepr = raised.getrepr(style="long" if style == "auto" else style, tbfilter=lambda _: users)
    else:
        report.longrepr = raised.getrepr(style="value", chain=False)


def _case_of(call: pytest.CallInfo[None], state: State) -> str:
    """The key of the case in which a test's body raised what has ended the test; empty where something else has."""
    raised = state.session().raised
    ended = None if call.excinfo is None else call.excinfo.value
    return raised[1] if raised is not None and raised[0] is ended else ""


def _raised_in(case: str, state: State, item: pytest.Item) -> str:
    """In which case a test's body raised, and how to draw that again."""
    from autotest.options import OPTIONS

    again = ["autotest", "replay", case, item.location[0], "--seed", str(state.options.seed)]
    if state.options.target != OPTIONS["target"].default:
        again += ["--target", state.options.target]
    if state.options.inputs != "standard":
        again += ["--inputs", state.options.inputs]
    return f"the body raised in case {case}\n{shlex.join(again)}"


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
    """Where pytest is about to stop at a divergence, in frames of ours, say how to stop at the call that diverges."""
    if not node.config.getoption("usepdb") or call.excinfo is None:
        return
    from autotest.errors import DivergenceError

    error = call.excinfo.value
    reporter = node.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(error, DivergenceError) and reporter is not None:
        reporter.ensure_newline()
        for replay in error.replays:
            reporter.write_line(f"{replay} --pdb stops before the call that diverges, with both sides in scope")


def _record_test(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Record how pytest says that a test has ended; one that was interrupted has no report and stays open."""
    if not (state := item.config.stash[STATE]).ran(item):
        return
    from autotest.errors import EnvironmentFault
    from reports import RecordError

    _, line, _ = item.location
    fault = None if call.excinfo is None else call.excinfo.value
    try:
        session = state.session()
        if isinstance(fault, EnvironmentFault):
            session.record_stop(item.nodeid, str(fault))
        first = None if line is None else line + 1
        error = _error(call, report)
        if error is not None and (case := _case_of(call, state)):
            error += f" [in case #{case.rpartition('#')[2]}]"
        trace = None if error is None else _trace(call, report)
        session.record_test(item.nodeid, report.duration, report.outcome, first, error, trace)
    except RecordError as error:
        item.session.shouldstop = str(error)


def _error(call: pytest.CallInfo[None], report: pytest.TestReport) -> str | None:
    """What a failed test raised, in words that name no divergence: those have records of their own."""
    from autotest.errors import DivergenceError

    if not report.failed or call.excinfo is None or isinstance(call.excinfo.value, DivergenceError):
        return None
    error = call.excinfo.value
    said = f"no fixture {error.argname}" if isinstance(error, pytest.FixtureLookupError) else call.excinfo.exconly()
    return said if call.when == "call" else f"at {call.when}: {said}"


def _trace(call: pytest.CallInfo[None], report: pytest.TestReport) -> str | None:
    """The end of the traceback, as pytest shows it, of what is no sentence of ours."""
    from autotest.errors import is_sentence

    if call.excinfo is None or is_sentence(call.excinfo.value):
        return None
    shown = report.longreprtext
    return shown if len(shown) <= MOST_TRACE else f"...{shown[-MOST_TRACE:]}"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Show the sentence alone where a test file cannot be imported for a reason of ours, such as a shadowed package."""
    report = yield
    call = getattr(report, "call", None)
    if report.failed and call is not None and call.excinfo is not None:
        from autotest.cases.places import name_place, raised_at
        from autotest.errors import AutotestError
        from autotest.names import displacing

        error = call.excinfo.value
        # Asked of their modules, which may be shadowed, only where they are there already.
        if isinstance(error, AutotestError) or type(error).__module__ in ("dual_object.errors", "generators.errors"):
            name_place(error, raised_at(error))
            report.longrepr = str(error)
        elif (sentence := displacing(error)) is not None:
            report.longrepr = f"{report.longrepr}\n{sentence}"
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Close this process's session; where the whole run ends, sum it up once its workers have ended."""
    state = session.config.stash.get(STATE, None)
    if state is not None and session.exitstatus == pytest.ExitCode.INTERRUPTED:
        _hurry(session.config)
        if _failed_enough(session.config):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    result = yield
    if state is not None:
        _finish(session, state)
    return result


def _hurry(config: pytest.Config) -> None:
    """Let xdist wait no longer for workers that import or collect: whoever has typed Ctrl-C waits for them as well. Of
    those that run tests, the records are whole at any time.
    """
    manager = getattr(config.pluginmanager.get_plugin("dsession"), "nodemanager", None)
    if manager is not None:
        manager.EXIT_TIMEOUT = PATIENCE


def _failed_enough(config: pytest.Config) -> bool:
    """Whether xdist has ended the run after `--maxfail` failures, which it tells as if somebody had typed Ctrl-C."""
    session = config.pluginmanager.get_plugin("dsession")
    return session is not None and 0 < (session.maxfail or 0) <= session.countfailures


def _finish(session: pytest.Session, state: State) -> None:
    state.close()
    try:
        _sum_up(session, state)
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        state.text = f"interrupted while the report was written: autotest report {state.options.folder} writes it"
    finally:
        state.hide_progress()


def _sum_up(session: pytest.Session, state: State) -> None:
    """Sum up where this process ends the whole run, and see to its exit status."""
    from autotest.exits import HARNESS_FAULT

    if state.rank is not None or state.slot is not None:  # who started them sums up
        state.heed_problems(session)
        return
    if state.worker is not None:
        session.config.workeroutput["autotest_problems"] = state.problems  # type: ignore[attr-defined]
        return
    if not (state.started or session.config.pluginmanager.hasplugin("dsession")):
        state.text = _of_an_earlier_run(state)
        return
    if state.problems and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR  # as without workers
    folder = state.options.folder
    interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
    if folder is None or not folder.is_dir():
        early = interrupted and not session.shouldstop  # which a folder that cannot be written has set
        state.text = "interrupted before a test had begun" if early else _of_an_earlier_run(state)
        return
    from autotest.commands.summary import sum_up
    from reports import RecordError, save_status

    with contextlib.suppress(RecordError):  # a folder that cannot be written is told of below
        state.unrecorded.record(folder, state.options, list(dict.fromkeys(state.problems)))
    try:
        summary = sum_up(folder, session.config, 0.0 if interrupted else state.options.repro_total, state.ticker)
    except KeyboardInterrupt:  # all tests have run: whoever does not want to wait for scripts has a report without them
        summary = sum_up(folder, session.config, 0.0, state.ticker)
    state.text, state.annotations = summary.text, summary.annotations
    # A run that a full disk has stopped already ended with a sentence and a status of its own.
    if summary.faulty or not (summary.written or session.shouldstop):
        session.exitstatus = HARNESS_FAULT
    else:
        state.heed_problems(session)
    try:
        save_status(folder, int(session.exitstatus))
    except RecordError as error:
        # A folder that cannot be written was told of already, where there was more to write.
        state.text += "" if not summary.written else f"\n{error}"
        session.exitstatus = HARNESS_FAULT


def _of_an_earlier_run(state: State) -> str:
    """What is said where no test began, for a file could not be imported: the report is there, and may be green."""
    if not state.unrecorded.uncollected:
        return ""
    from autotest.errors import UsageError

    page = None
    with contextlib.suppress(UsageError):  # it is told where a test asks for them
        page = state.options.folder and state.options.folder.parent.parent / "index.html"
    if page is None or not page.is_file():
        return ""
    return f"no @autotest test began, so {os.path.relpath(page)} is about an earlier run"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int
) -> Generator[None, object, object]:
    """Print the summary of the run below all that pytest and other plugins have to say, its short summary included."""
    result = yield
    state = terminalreporter.config.stash[STATE]
    if state.text:
        terminalreporter.section("autotest")
        for line in (state.text, *state.annotations):
            terminalreporter.write_line(line)
    shard = terminalreporter.config.getoption("--autotest-shard")
    if shard is not None and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        terminalreporter.write_line(f"shard {shard} holds no test of those selected", red=True)
    for problem in dict.fromkeys(state.problems):
        terminalreporter.write_line(problem, red=True)
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close whatever an interrupted session left open."""
    state = config.stash.get(STATE, None)
    if state is not None:
        state.hide_progress()
        state.close()
