"""The `autotest` command. Imports no framework before it must: `autotest --help` answers at once.

Over 500 lines, for what each command takes and says of itself stands in one flat list; what it does is in `commands/`.
"""

from __future__ import annotations

import errno
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from autotest.commands.options import run_option, run_options
from autotest.exits import CANNOT_RUN, USAGE
from autotest.options.table import OPTIONS

_PATHS = click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS] [-- PYTEST_ARGS]")
_LEDGER = click.argument("ledger", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_PATH = click.Path(path_type=Path)
_REPORT = run_option("report", type=_PATH, help="The report folder, or one of its runs, that names ID.")
#: Unlike `autotest run`, which hands the text on to pytest, these commands take the number itself.
_CASE_TIMEOUT = run_option("case_timeout", type=click.FloatRange(min=0), default=60.0, help=None)


def _read_size(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    from autotest.errors import UsageError

    try:
        size: int | None = OPTIONS["memory_limit"].read(text, "--memory-limit")
    except UsageError as error:
        raise click.UsageError(str(error), context) from None
    return size


_MEMORY_LIMIT = run_option("memory_limit", callback=_read_size)


@contextmanager
def _refusals(lead: str = "") -> Iterator[None]:
    """End with the status of a wrong usage, and say what an error of ours says."""
    from autotest.errors import AutotestError
    from reports import ReportError

    try:
        yield
    except (AutotestError, ReportError) as error:
        click.echo(f"{lead}{error}", err=True)
        sys.exit(USAGE)


def _shown(path: Path) -> str:
    """A path as a person would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _screen() -> dict[str, Any]:
    """What is known of where the output goes."""
    width, encoding = shutil.get_terminal_size().columns, sys.stdout.encoding or "utf-8"
    return {"width": width, "color": sys.stdout.isatty(), "encoding": encoding}


class _Pytest(click.Command):
    """A command that hands on to pytest what stands behind `--`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Say where pytest's options belong, where one of them stands among ours."""
        try:
            return super().parse_args(context, arguments)
        except click.NoSuchOption as error:
            if error.possibilities:  # one of ours was meant
                raise
            way = f"Options of pytest go behind --, as in {context.command_path} tests -- -k relu"
            raise click.UsageError(f"{error.format_message()} {way}", context) from None


class _Expressions(click.Command):
    """A command whose arguments may begin with a minus: `-x[2, 3]` is no option."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Let click see a blank before such a minus; an expression is read without it."""
        marked = [f" {text}" if re.match(r"-[^=]*[\[(]", text) else text for text in arguments]
        return super().parse_args(context, marked)


class _Campaign(click.Group):
    """A group whose command need not be said: what begins with none of their names is for the `implied` one."""

    implied = "run"

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Let `autotest campaign night.toml` be `autotest campaign run night.toml`."""
        named = arguments and (arguments[0] in self.commands or arguments[0] in context.help_option_names)
        return super().parse_args(context, arguments if named else [self.implied, *arguments])


class _Autotest(click.Group):
    """The command."""

    def invoke(self, context: click.Context) -> Any:
        """Ctrl-C is no divergence, whose status click would give it, nor is a file that cannot be read or written."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
        except OSError as error:
            if error.filename is None and error.errno != errno.ENOSPC:
                raise
            place = "standard output" if error.filename is None else error.filename
            click.echo(f"{place} cannot be used: {error.strerror}, but should be a file that can be", err=True)
        sys.exit(USAGE)


@click.group(cls=_Autotest, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="op-autotest", prog_name="autotest")
def main() -> None:
    """Check that a framework's ops behave like PyTorch's: eagerly and in a static graph, forward and backward."""


@main.command(cls=_Pytest)
@_PATHS
@run_options
def run(paths: tuple[str, ...], n: str, ranks: int | None, suites: bool, **options: str | int | bool | None) -> None:
    """Run tests under PATHS (files, folders, node ids); what follows -- goes to pytest.

    Exit status: 0 aligned, 1 divergence or failed test, 2 usage or environment, 3 fault of the harness,
    5 no test collected.
    """
    from autotest.commands.run import run_pytest

    if suites:
        from autotest.commands.suites import suite_arguments

        paths = suite_arguments(paths)
    if ranks is not None:
        from autotest.ranks.launcher import run_ranks

        sys.exit(run_ranks(paths, ranks, n, options))
    sys.exit(run_pytest(paths, n, options))


@main.command(cls=_Expressions)
@click.argument("expressions", nargs=-1, metavar="EXPRESSION...")
@click.option(
    "--calls",
    multiple=True,
    type=_PATH,
    metavar="FILE",
    help="Those that autotest trace has written, too; several files are one.",
)
@run_option("target")
@run_option("target_python")
@click.option("-n", "--cases", type=click.IntRange(min=1), metavar="N", help="Cases of each; default 20.")
@run_option("seed")
@run_option("inputs")
@run_option("report")
@run_option("ledger")
@run_option("case_timeout")
@run_option("memory_limit")
@run_option("shrink")
@run_option("shrink_total")
@run_option("blame_total")
@run_option("no_memory")
@run_option("repro_total")
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Leave the test file that was run: a new file, such as test_x.py.",
)
def check(
    expressions: tuple[str, ...], calls: tuple[Path, ...], cases: int | None, write: Path | None, **options: Any
) -> None:
    """Draw, judge, shrink and report each EXPRESSION, without a test file.

    \b
    autotest check 'torch.softmax(x[2, 3], dim=-1)'         a tensor of 2 x 3
    autotest check 'nn.Conv2d(3, 8, 3)(x[2, 3, n, n])'      n is one size per case, 1 to 7
    autotest check 'x[1:6, 3] + y[3]'                       a size of 1 to 5
    autotest check 'torch.lgamma(x[4](low=0.5, high=4, dtype=float64))'
    autotest check 'torch.sum(x[...], dim=oneof(0, -1))'    any shape; a drawn argument
    autotest check 'torch.relu(tensor([1.0, nan]))'         these very values
    autotest check '-x[2, 3]'                               a minus in front is no option

    Exit status: that of `autotest run`.
    """
    from autotest.commands.check import check
    from autotest.commands.tracing.corpus import read

    if not (expressions or calls):
        raise click.UsageError("Missing argument 'EXPRESSION...'.")
    with _refusals():
        status = check([*expressions, *read(calls).calls()], cases, write, options)
    sys.exit(status)


@main.group("campaign", cls=_Campaign)
def campaign_commands() -> None:
    """Search for hours, by rounds of tests; `autotest campaign night.toml` runs or goes on."""


@campaign_commands.command("run")
@click.argument("config", required=False, type=_PATH, metavar="[CONFIG.toml]")
@click.option("--time", metavar="TIME", help="Stop after so long, all sittings together: 8h, 30m, 90 (seconds).")
@click.option("--cases", metavar="N", help="Stop after so many drawn cases.")
@click.option("--folder", metavar="DIR", help="The campaign's folder.  [default: autotest-campaign]")
@click.option("--processes", "-n", metavar="N|auto", help="Processes.  [default: auto]")
@click.option("--ray", metavar="ADDRESS|local", help="Run them on a Ray cluster, or on one that is started here.")
@click.option(
    "--sources",
    multiple=True,
    metavar="NAME",
    help="suites, programs, calls or mutations; may be given often; default: all.",
)
@click.option("--tests", multiple=True, metavar="PATH", help="Tests of your own; may be given often.")
@click.option("--calls", multiple=True, metavar="FILE", help="Calls that autotest trace wrote; may be given often.")
@click.option("--steering", metavar="HOW", help="finds, cells or uniform.  [default: finds]")
@click.option("--look", metavar="SHARE", help="Of the time, for shrinking, blame and scripts.  [default: 0.2]")
@run_option("target", default=None, show_default=False)
@run_option("target_python")
@run_option("seed", default=None, show_default=False)
@run_option("inputs", default=None, show_default=False)
@run_option("eager")
@run_option("ledger")
@run_option("case_timeout", default=None, show_default=False)
@run_option("memory_limit")
def run_campaign(config: Path | None, **options: Any) -> None:
    """Run rounds of tests, each visit of a test on new draws, until the budget is spent. Ctrl-C stops it, and the same
    command goes on where it was, after a power cut as well.

    \b
    autotest campaign night.toml
    autotest campaign --time 8h --target torch:inductor
    autotest campaign --cases 10000 --tests my_tests --sources programs

    The keys of CONFIG.toml are called as the options are, which go before them.
    Exit status: 0 aligned, 1 divergence, 2 usage or environment, or no round has ended, 3 fault of the harness.
    """
    from autotest.campaign.campaign import campaign

    screen = _screen()
    with _refusals():
        status, text = campaign(
            config, options, lambda line: click.echo(line, err=True), screen["width"], color=screen["color"]
        )
    click.echo(text)
    sys.exit(status)


@campaign_commands.command("status")
@click.argument("folder", type=_PATH, default="autotest-campaign", metavar="[FOLDER]")
def campaign_status(folder: Path) -> None:
    """Tell how far the campaign in FOLDER is, what it has found, and by which tests; it may be running."""
    from autotest.campaign.status import status

    with _refusals():
        text = status(folder)
    click.echo(text)


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- python SCRIPT [ARGS]")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    default="calls.txt",
    show_default=True,
    help="The file; what it has already is kept, and counted on.",
)
def trace(command: tuple[str, ...], output: Path) -> None:
    """Run a program and write down which calls of PyTorch it makes: op, shapes, dtypes, strides, arguments and ranges
    of values, never the data. One line for each distinct call, with its count, which autotest check --calls checks.

    \b
    autotest trace -- python train.py --epochs 1
    autotest trace -o calls.txt -- pytest tests
    autotest check --calls calls.txt --target oneflow

    Calls of the program's first thread are seen. Exit status: the program's own.
    """
    from autotest.commands.tracing.trace import trace

    with _refusals():
        status = trace(command, output, lambda line: click.echo(line, err=True))
    sys.exit(status)


@main.command()
@click.argument("kernels", nargs=-1, required=True, metavar="KERNEL...")
@click.option(
    "--like",
    multiple=True,
    metavar="OP",
    help="The op, as torch.softmax; of several kernels given once, or once for each. Default: the op that is called as "
    "the function.",
)
@click.option("--dtypes", default="", metavar="D,...", help="Dtypes that the kernel claims. Default: all of the op.")
@click.option(
    "--shapes",
    multiple=True,
    metavar="N,...",
    help="Shapes of the first tensor that the kernel claims, as n,128: a number is that size, a letter any. May be "
    "given often. Default: all of the op.",
)
@click.option("--no-grad", "--forward-only", is_flag=True, help="It is not differentiable.")
@click.option(
    "--level",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="How much is asked: some 200 questions, or about four times as many.",
)
@click.option("--budget", type=click.FloatRange(min=0), metavar="SECONDS", help="Ask no more after so long.")
@click.option("--delegates", is_flag=True, help="It may call the op itself.")
@click.option("--sandbox", is_flag=True, help="Without network, and read-only files but temporary ones; by bubblewrap.")
@click.option(
    "--devices",
    default="cpu",
    show_default=True,
    metavar="D,...",
    help="Devices that it is asked on, cpu and cuda: a verdict for each.",
)
@click.option("--vmap", is_flag=True, help="It is right under torch.func.vmap, and is asked so.")
@click.option("--compile", is_flag=True, help="It is right under torch.compile (backend aot_eager), and is asked so.")
@click.option("--threads", is_flag=True, help="It is right on several threads at once, and is asked so.")
@click.option("--time", "timed", is_flag=True, help="Time it beside the op, and that compiled; no reason for refusal.")
@run_option("case_timeout", type=click.FloatRange(min=0), default=20.0, help="Seconds that one question may take.")
@_MEMORY_LIMIT
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("autotest-kernels"),
    show_default=True,
    help="Folder for the scripts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def kernel(
    kernels: tuple[str, ...],
    like: tuple[str, ...],
    dtypes: str,
    shapes: tuple[str, ...],
    no_grad: bool,
    level: str,
    **options: Any,
) -> None:
    """Judge whether each KERNEL, FILE.py:function or package.module:function, really is the op OP.

    A folder of kernels, a kernels.toml, and a problem FILE.py with Model and ModelNew are read as well.

    \b
    autotest kernel mykernels.py:softmax --like torch.nn.functional.softmax
    autotest kernel mykernels.py:layer_norm --dtypes float32,float64 --json

    The kernel runs in a process of its own, which never has PyTorch's answers.
    Exit status: 0 accepted, 1 refused, 2 usage or environment.
    """
    from autotest.commands.kernel import judge_kernels
    from autotest.kernels.claims import shapes_of
    from autotest.kernels.questions import Asking
    from autotest.kernels.ways import CLAIMS

    timeout, memory = options.pop("case_timeout"), options.pop("memory_limit")
    devices = tuple(dict.fromkeys(options.pop("devices").split(",")))
    claims = tuple(name for name in CLAIMS if options.pop(name))
    with _refusals():
        claimed = tuple(filter(None, dtypes.split(",")))
        asking = Asking("", claimed, not no_grad, level == "full", shapes_of(shapes))
        status, text = judge_kernels(
            kernels, like, asking, devices=devices, claims=claims, timeout=timeout or None, memory=memory, **options
        )
        click.echo(text, nl=False)
    sys.exit(status)


@main.command(cls=_Pytest)
@_PATHS
@run_option("target")
@run_option("n", help="Processes.")
@run_option("cases")
@run_option("seed")
@run_option("report", help="Folder for the records.")
def tolerances(paths: tuple[str, ...], n: str, **options: str | int | None) -> None:
    """Run tests under PATHS and survey the errors they accept: what each op, dtype and device needs.

    Prints a table and writes it as tolerances.json into the run's folder: the largest error in ULP and as a share of
    the tolerance table, the rtol and atol that would do, how far PyTorch and the target are off a float64 run, and the
    case that shows it. Exit status: that of `autotest run`.
    """
    from autotest.commands.tolerances import survey

    status, text = survey(paths, n, options, shutil.get_terminal_size().columns)
    click.echo(text, nl=False)
    sys.exit(status)


@main.command()
@click.argument("id_", metavar="ID|CASE")
@click.argument("path", metavar="[PATH]", required=False)
@_REPORT
@run_option(
    "seed", default=None, metavar=None, help=f"With CASE: the seed of its run.  [default: {OPTIONS['seed'].default}]"
)
@run_option("inputs", default=None, help=f"With CASE: the inputs of its run.  [default: {OPTIONS['inputs'].default}]")
@click.option("--pdb", is_flag=True, help="Stop in pdb before the target runs the diverging call; in this process.")
@click.option(
    "--float64", is_flag=True, help="All that is floating in float64, on both sides: does it stand there too?"
)
@run_option(
    "target",
    default=None,
    help="Target framework: jax, oneflow, paddle, torch, torch:EXECUTOR, or package.module:Class. "
    "Default: the target that diverged.",
)
@run_option("target_python", help="The interpreter that runs the target. Default: the one that it diverged in.")
@_CASE_TIMEOUT
@_MEMORY_LIMIT
@click.option(
    "--graph-debug",
    type=click.IntRange(-1, 3),
    metavar="LEVEL",
    help="Show the log of graph.debug(LEVEL), 0 to 3, and the graph itself.",
)
@click.option("--original", is_flag=True, help="The program as its case recorded it, not the one it was shrunk to.")
@click.option("--graph-debug-ranks", type=int, multiple=True, metavar="R", help="Ranks that log; -1: all; default 0.")
def replay(
    id_: str,
    path: str | None,
    report: Path,
    seed: str | None,
    inputs: str | None,
    pdb: bool,
    float64: bool,
    target: str | None,
    target_python: str | None,
    case_timeout: float,
    memory_limit: int | None,
    graph_debug: int | None,
    graph_debug_ranks: tuple[int, ...],
    original: bool,
) -> None:
    """Run the stored Program of divergence ID again, on PyTorch and on the target; or draw CASE, such as
    test_x.py::test_y#3, of the tests under PATH again.

    Exit status: 0 gone, 1 stands, 125 cannot run here; `git bisect run autotest replay ID` works.
    """
    from autotest.cases.store import ReplayError, whole_id
    from autotest.commands.replaying.stored import graph_log, shown, told

    case = "#" in id_
    if case and path is None:
        raise click.UsageError(
            f"CASE={id_!r} comes without PATH, but should have the file or folder of its test behind it"
        )
    if not case and (path, seed, inputs) != (None, None, None):
        raise click.UsageError(
            "PATH, --seed and --inputs belong to a case: "
            "autotest replay 'test_x.py::test_y#3' PATH --seed S --inputs MODE"
        )
    timeout = case_timeout or None
    try:
        if path is not None:
            from autotest.commands.replaying.case import replay_case

            if pdb or float64 or graph_debug is not None:
                raise click.UsageError("--pdb, --float64 and --graph-debug need the ID of a divergence, not a case")
            asked = {"target": target, "target_python": target_python, "seed": seed, "inputs": inputs}
            status, text = replay_case(id_, path, report, timeout, asked, memory_limit)
            click.echo(text)
            sys.exit(status)
        id_ = whole_id(id_, report)
        if pdb:
            from autotest.commands.replaying.pdb import step_through

            step_through(id_, report, target, target_python)
        python, memory = target_python, memory_limit
        now = shown(id_, report, target, timeout, python=python, memory=memory, original=original, float64=float64)
        status, text = told(now)
        if graph_debug is not None:
            log = graph_log(id_, report, target, timeout, graph_debug, graph_debug_ranks, target_python)
            text += f"\n\n{log}"
    except ReplayError as error:
        click.echo(f"cannot replay: {error}", err=True)
        sys.exit(CANNOT_RUN)
    click.echo(text)
    sys.exit(status)


@main.command()
@click.argument("id_", metavar="ID")
@click.option(
    "--versions",
    metavar="NAME==V,V,...",
    help="Versions in their order, each installed into an environment of its own, which is kept: oneflow==0.8.0,0.9.0. "
    "A wheel by its path.",
)
@click.option("--with", "also", multiple=True, metavar="REQUIREMENT", help="Installed with each of them; often.")
@click.option("--pythons", metavar="PATH,PATH,...", help="Interpreters that have the versions already, in their order.")
@click.option("--every", is_flag=True, help="Ask each of them, and tell every change; else one change is searched for.")
@_REPORT
@_CASE_TIMEOUT
@_MEMORY_LIMIT
def bisect(
    id_: str,
    versions: str | None,
    also: tuple[str, ...],
    pythons: str | None,
    every: bool,
    report: Path,
    case_timeout: float,
    memory_limit: int | None,
) -> None:
    """Say between which versions of its target divergence ID came or went.

    Exit status: 0 there is such a place, 1 all are the same, 125 none can run.
    """
    from autotest.cases.store import ReplayError, whole_id
    from autotest.commands.bisecting import bisect as command
    from autotest.commands.bisecting.versions import asked_versions

    with _refusals():
        asked = asked_versions(versions, pythons, also)
        try:
            id_ = whole_id(id_, report)
            status = command.bisect(id_, report, asked, case_timeout or None, memory_limit, click.echo, every=every)
        except ReplayError as error:
            click.echo(f"cannot replay: {error}", err=True)
            sys.exit(CANNOT_RUN)
    sys.exit(status)


@main.command("repro")
@click.argument("id_", metavar="ID")
@_REPORT
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write into. Default: repros/ID of the run that stored the divergence.",
)
def write_repro(id_: str, report: Path, output: Path | None) -> None:
    """Write the script and the issue of divergence ID again, from its stored Program.

    The script needs PyTorch and the target alone; it exits with 1 while the divergence stands, 0 when it is gone, 125
    where it cannot run.
    """
    from autotest.repro.rewrite import repro_again

    with _refusals("no repro: "):
        click.echo(repro_again(id_, report, output))


@main.command("report")
@click.argument("folder", metavar="[DIR]", type=_PATH, default=OPTIONS["report"].default)
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown", "junit", "svg", "png"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)
def show_report(folder: Path, form: str) -> None:
    """Print what a run found, finished or not, and write its summary.json and index.html anew.

    DIR is a report folder (its latest run), one run in it, or the name of a run in autotest-report.
    """
    from autotest.commands.report import report_png, report_text

    with _refusals():
        if form != "png":
            click.echo(report_text(folder, form, **_screen()), nl=False)
        elif sys.stdout.isatty():
            raise click.UsageError(
                "format=png, but standard output is a terminal: autotest report --format png > run.png"
            )
        else:
            click.echo(report_png(folder), nl=False)


@main.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=_PATH)
@run_option("report", type=_PATH, help="Folder that gets the joined run.")
def merge(folders: tuple[Path, ...], report: Path) -> None:
    """Join the runs of several shards into one run; each DIR is a report folder (its latest run) or one run in it.

    Exit status: the worst of the shards'; 2 where they do not belong together, or one of them never ended.
    """
    from autotest.commands.report import merge_text

    with _refusals():
        status, text, problems = merge_text(folders, report, **_screen())
    click.echo(text, nl=False)
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(status)


@main.command()
@click.argument("ops", nargs=-1, metavar="[OP]...")
@run_option("report", type=_PATH, help="The report folder (its latest run), or one run in it.")
@click.option("--never", is_flag=True, help="Only what was never reached.")
@click.option("--json", "as_json", is_flag=True, help="All of it for programs, with the counts of every cell.")
def coverage(ops: tuple[str, ...], report: Path, never: bool, as_json: bool) -> None:
    """Tell which dtypes, ranks, layouts, values and phases the tensors of each OP, or of all, have reached in a run.

    What was never reached, what PyTorch refused, and what the target says that it does not support, is told beside.
    """
    from autotest.commands.coverage import Form, coverage_text

    if never and as_json:
        raise click.UsageError("--never and --json are two forms of the same: give one of them")
    screen = _screen()
    with _refusals():
        form: Form = "never" if never else "json" if as_json else "all"
        text = coverage_text(report, ops, form, width=screen["width"], encoding=screen["encoding"])
    click.echo(text)


@main.command()
@click.argument("reports", nargs=-1, metavar="[REPORT]...", type=_PATH)
@run_option("ledger", help="What is known to diverge; may be given often. Default: the ledgers of the suites.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file.")
@click.option("--json", "as_json", is_flag=True, help="All of it for programs, with every cell of each op.")
def census(reports: tuple[Path, ...], ledger: Any, output: Path | None, as_json: bool) -> None:
    """Tell what became of each op of PyTorch's own tables in the runs of REPORT, folders of runs or campaigns: aligned,
    wrong, refused, lacking or unknown, in which phases and cells, by whose tests, and what is known. Of one target.

    Default of REPORT: autotest-report. The page is Markdown.
    """
    from autotest.census.command import census_text

    with _refusals():
        text = census_text(reports or (Path(str(OPTIONS["report"].default)),), ledger, output, as_json=as_json)
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(_shown(output.absolute()))


@main.command("diff")
@click.argument("before", metavar="RUN_A", type=_PATH)
@click.argument("after", metavar="RUN_B", type=_PATH)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the comparison as one HTML file.")
def diff(before: Path, after: Path, html: Path | None) -> None:
    """Tell what RUN_B has otherwise than RUN_A; each is a report folder (its latest run), one run in it, or the name of
    a run in autotest-report.

    Exit status: 0 nothing red is new or worse, 1 something is, 2 the runs cannot be compared.
    """
    from autotest.commands.diff import diff_runs

    with _refusals():
        status, text = diff_runs(before, after, html, **_screen())
    click.echo(text)
    sys.exit(status)


@main.command()
@run_option("target")
@run_option("target_python")
@run_option("report", type=_PATH, help="Folder that a run would write.")
def doctor(target: str, target_python: str | None, report: Path) -> None:
    """Check that a run can work here: versions, devices, memory, the target's start, the report folder."""
    from autotest.commands.doctor import examine

    healthy = True
    for finding in examine(target, report, target_python):
        click.echo(f"{'ok ' if finding.ok else 'BAD'}  {finding.what}: {finding.said}")
        healthy = healthy and finding.ok
    sys.exit(0 if healthy else USAGE)


@main.command("accept")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--reason", required=True, help="Why this is known and accepted; never without.")
@click.option("--where", metavar="'FIELD=PATTERN ...'", help="Accept what matches, such as 'kind=dtype op=arg*'.")
@run_option("report", type=_PATH, help="The report to accept from.")
@click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Default: known_divergences.toml nearest to the test, else in the first folder of its path; after a check, in "
    "the folder where that was typed. After a run with --suites name one of your own.",
)
@click.option(
    "--strict",
    type=click.Choice(["proof", "seen"]),
    help="proof: the stored program must go on diverging; seen: only counted.  [default: proof; seen for what does not "
    "come back in each run, unsteady]",
)
@click.option(
    "--wider",
    is_flag=True,
    help="Make the entry wider that differs in the dtype or in what it needs alone, instead of adding one.",
)
def accept_divergences(
    ids: tuple[str, ...],
    reason: str,
    where: str | None,
    report: Path,
    ledger: Path | None,
    strict: str | None,
    wider: bool,
) -> None:
    """Write divergences of the latest run into a ledger of known divergences: by what they are, or by ID, which may be
    one of an older run, too.
    """
    from autotest.ledger.accept import accept

    with _refusals():
        done = accept(ids, where, reason, report, ledger, strict, wider=wider)
    for sentence in (*done.refused, *done.offers):
        click.echo(sentence, err=True)
    into = f" into {', '.join(map(_shown, done.paths))}" if done.paths else ""
    click.echo(f"{len(done.written)} accepted{into}")
    sys.exit(USAGE if done.refused else 0)


@main.group("target")
def target_commands() -> None:
    """Write a target of your own."""


@target_commands.command("new")
@click.argument("name", metavar="NAME")
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path(), show_default=True, help="Where the two files go."
)
def write_target(name: str, folder: Path) -> None:
    """Write the skeleton of an adapter: NAME.py, and NAME.json, the table of what it calls PyTorch's functions.

    Prints what to do next.
    """
    from autotest.commands.target_new import new_target

    with _refusals():
        click.echo(new_target(name, folder), nl=False)


@main.group("ledger")
def ledger_commands() -> None:
    """Look after a ledger of known divergences."""


@ledger_commands.command("check")
@_LEDGER
@run_option("target")
@run_option("target_python")
@_CASE_TIMEOUT
def check_ledger(ledger: Path, target: str, target_python: str | None, case_timeout: float) -> None:
    """Replay the Program of every entry, those that crash the target included.

    Exit status: 0 all still diverge, 1 some no longer do, 2 the ledger or the target cannot be used.
    """
    from autotest.ledger.check import check
    from reports.words.quantities import counted

    with _refusals():
        count, sentences, problems = check(ledger, target, case_timeout or None, target_python)
    for sentence in (*problems, *sentences):
        click.echo(sentence)
    gone = len(sentences)
    click.echo(f"{counted(count, 'entry', 'entries')} replayed, {gone} no longer diverge{'s' * (gone == 1)}")
    sys.exit(USAGE if problems else 1 if sentences else 0)


@ledger_commands.command("document")
@_LEDGER
@run_option("target", help="Target whose entries are written, or a pattern of several: 'torch:*'.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: standard output.")
def document_ledger(ledger: Path, target: str, output: Path | None) -> None:
    """Write every known divergence as Markdown: its one-line program and what each side gives.

    Exit status: 0 it is written, 2 the ledger has entries that cannot be used.
    """
    from autotest.ledger.document import document

    with _refusals():
        text = document(ledger, target)
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
