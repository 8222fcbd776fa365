"""The `autotest` command. Imports no framework before it must: `autotest --help` answers at once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotest.exits import CANNOT_RUN, USAGE

if TYPE_CHECKING:
    from reports import Summary

_DIR = "The report folder, or one of its runs, that names ID."
_INPUTS = click.Choice(["plain", "standard", "edge"])
_TARGET = "Target framework: oneflow, torch, or package.module:Class."


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="op-autotest", prog_name="autotest")
def main() -> None:
    """Check that a framework's ops behave like PyTorch's: eagerly and in a static graph, forward and backward."""


@main.command(context_settings={"ignore_unknown_options": False})
@click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS] [-- PYTEST_ARGS]")
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option(
    "-n",
    "workers",
    default="auto",
    show_default=True,
    metavar="N|auto",
    help="Processes; auto: what cores and free memory carry.",
)
@click.option("--cases", type=click.IntRange(min=1), help="Cases per test, instead of each test's own n.")
@click.option("--seed", default="0", show_default=True, metavar="S|random", help="Seed of all draws; random explores.")
@click.option(
    "--inputs",
    type=_INPUTS,
    default="standard",
    show_default=True,
    help="How wild drawn tensors are: values, layouts, sizes, gradients.",
)
@click.option(
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder for records and summary.json."
)
@click.option(
    "--case-timeout",
    default="60",
    show_default=True,
    metavar="SECONDS",
    help="A case for which the target takes longer is ended as timed out; 0: no deadline.",
)
@click.option(
    "--isolate",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether the target runs in its own process.",
)
@click.option(
    "--shrink",
    default="10",
    show_default=True,
    metavar="SECONDS",
    help="Make each new divergence minimal in at most so many seconds; 0: do not.",
)
@click.option(
    "--shrink-total",
    default="120",
    show_default=True,
    metavar="SECONDS",
    help="Seconds for all divergences of the run, shared evenly among its processes.",
)
@click.option(
    "--blame-total",
    default="60",
    show_default=True,
    metavar="SECONDS",
    help="Seconds for finding out which side of each divergence is wrong, shared as above; 0: do not.",
)
@click.option("--no-memory", is_flag=True, help="Neither draw again what diverged in earlier runs nor remember it.")
@click.option("--shard", metavar="I/N", help="Share I of N of the tests, chosen by name; `autotest merge` joins them.")
@click.option("--ranks", type=click.IntRange(min=1), metavar="N", help="Run as N ranks, for global tensors.")
@click.option(
    "--repro-total",
    default="120",
    show_default=True,
    metavar="SECONDS",
    help="Time to run the scripts that repeat divergences, worst first; 0: none is run.",
)
@click.option("--drop-in", is_flag=True, help="Run files that import OneFlow's own AutoTest harness on this one.")
@click.option("--strict", is_flag=True, help="With --drop-in: what that harness would not have failed is red, too.")
def run(
    paths: tuple[str, ...],
    target: str,
    workers: str,
    cases: int | None,
    seed: str,
    inputs: str,
    report: str,
    case_timeout: str,
    isolate: str,
    shrink: str,
    shrink_total: str,
    blame_total: str,
    no_memory: bool,
    shard: str | None,
    ranks: int | None,
    repro_total: str,
    drop_in: bool,
    strict: bool,
) -> None:
    """Run tests under PATHS (files, folders, node ids); what follows -- goes to pytest.

    Exit status: 0 aligned, 1 divergence or failed test, 2 usage or environment, 3 fault of the harness,
    5 no test collected.
    """
    from autotest.commands.run import run_pytest

    options = {
        "target": target,
        "seed": seed,
        "inputs": inputs,
        "report": report,
        "case-timeout": case_timeout,
        "isolate": isolate,
        "shrink": shrink,
        "shrink-total": shrink_total,
        "blame-total": blame_total,
        "repro-total": repro_total,
    }
    if cases is not None:
        options["cases"] = str(cases)
    if shard is not None:
        options["shard"] = shard
    given_flags = (("drop-in", drop_in), ("strict", strict), ("no-memory", no_memory))
    flags = [name for name, given in given_flags if given]
    if ranks is not None:
        from autotest.ranks.launcher import run_ranks

        sys.exit(run_ranks(paths, ranks, workers, options, flags))
    sys.exit(run_pytest(paths, workers, options, flags))


@main.command()
@click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS] [-- PYTEST_ARGS]")
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option("-n", "workers", default="auto", show_default=True, metavar="N|auto", help="Processes.")
@click.option("--cases", type=click.IntRange(min=1), help="Cases per test, instead of each test's own n.")
@click.option("--seed", default="0", show_default=True, metavar="S|random", help="Seed of all draws; random explores.")
@click.option("--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder for the records.")
def tolerances(paths: tuple[str, ...], target: str, workers: str, cases: int | None, seed: str, report: str) -> None:
    """Run tests under PATHS and survey the errors they accept: what each op, dtype and device needs.

    Prints a table and writes it as tolerances.json into the run's folder: the largest error in ULP and as a share of
    the tolerance table, the rtol and atol that would do, how far PyTorch and the target are off a float64 run, and the
    case that shows it. Exit status: that of `autotest run`.
    """
    from autotest.commands.tolerances import survey

    options = {"target": target, "seed": seed, "report": report, **({"cases": str(cases)} if cases else {})}
    status, text = survey(paths, workers, options, Path(report), shutil.get_terminal_size().columns)
    click.echo(text, nl=False)
    sys.exit(status)


@main.command()
@click.argument("id_", metavar="ID|CASE")
@click.argument("path", metavar="[PATH]", required=False)
@click.option(
    "--report",
    default="autotest-report",
    show_default=True,
    metavar="DIR",
    help=_DIR,
)
@click.option("--seed", help="With CASE: the seed of its run.  [default: 0]")
@click.option(
    "--inputs",
    type=_INPUTS,
    help="With CASE: the inputs of its run.  [default: standard]",
)
@click.option("--pdb", is_flag=True, help="Stop in pdb before the target runs the diverging call; in this process.")
@click.option(
    "--float64", is_flag=True, help="All that is floating in float64, on both sides: does it stand there too?"
)
@click.option("--target", help=f"{_TARGET} Default: the target that diverged.")
@click.option("--case-timeout", type=click.FloatRange(min=0), default=60.0, show_default=True, metavar="SECONDS")
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
    report: str,
    seed: str | None,
    inputs: str | None,
    pdb: bool,
    float64: bool,
    target: str | None,
    case_timeout: float,
    graph_debug: int | None,
    graph_debug_ranks: tuple[int, ...],
    original: bool,
) -> None:
    """Run the stored Program of divergence ID again, on PyTorch and on the target; or draw CASE, such as
    test_x.py::test_y#3, of the tests under PATH again.

    Exit status: 0 gone, 1 stands, 125 cannot run here; `git bisect run autotest replay ID` works.
    """
    from autotest.cases.store import ReplayError
    from autotest.commands.replay import graph_log, replay_id

    case = "#" in id_
    if case != (path is not None) or (not case and (seed is not None or inputs is not None)):
        raise click.UsageError(
            "PATH, --seed and --inputs belong to a case: "
            "autotest replay 'test_x.py::test_y#3' PATH --seed S --inputs MODE"
        )
    try:
        if path is not None:
            from autotest.commands.replay_case import replay_case

            if pdb or float64 or graph_debug is not None:
                raise click.UsageError("--pdb, --float64 and --graph-debug need the ID of a divergence, not a case")
            timeout = case_timeout or None
            where = Path(report)
            status, text = replay_case(
                id_, path, seed or "0", inputs or "standard", where, target or "oneflow", timeout
            )
            click.echo(text)
            sys.exit(status)
        if pdb:
            from autotest.commands.replay_pdb import step_through

            step_through(id_, Path(report), target)
        status, text = replay_id(id_, Path(report), target, case_timeout or None, original=original, float64=float64)
        if graph_debug is not None:
            text += f"\n\n{graph_log(id_, Path(report), target, case_timeout or None, graph_debug, graph_debug_ranks)}"
    except ReplayError as error:
        click.echo(f"cannot replay: {error}", err=True)
        sys.exit(CANNOT_RUN)
    click.echo(text)
    sys.exit(status)


@main.command("repro")
@click.argument("id_", metavar="ID")
@click.option("--report", default="autotest-report", show_default=True, metavar="DIR", help=_DIR)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write into. Default: repros/ID of the run that stored the divergence.",
)
def write_repro(id_: str, report: str, output: Path | None) -> None:
    """Write the script and the issue of divergence ID again, from its stored Program.

    The script needs PyTorch and the target alone; it exits with 1 while the divergence stands, 0 when it is gone, 125
    where it cannot run.
    """
    from autotest.errors import AutotestError
    from autotest.repro.rewrite import repro_again
    from reports import ReportError

    try:
        click.echo(repro_again(id_, Path(report), output))
    except (AutotestError, ReportError) as error:
        click.echo(f"no repro: {error}", err=True)
        sys.exit(USAGE)


@main.command("report")
@click.argument("folder", metavar="DIR", default="autotest-report")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown", "junit"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)
def show_report(folder: str, form: str) -> None:
    """Print what a run found, finished or not, and write its summary.json and index.html anew.

    DIR is a report folder (its latest run) or one run in it.
    """
    from reports import ReportError, junit_xml, markdown_text, read_run, resolve_run, save_site, save_summary, summarize

    try:
        run_folder = resolve_run(Path(folder))
        summary = summarize(read_run(run_folder))
        save_summary(run_folder, summary)
        page = save_site(run_folder, summary)
    except ReportError as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    if form == "markdown":
        click.echo(markdown_text(summary), nl=False)
    elif form == "junit":
        click.echo(junit_xml(summary), nl=False)
    else:
        _print_summary(summary, page)


def _print_summary(summary: Summary, page: Path) -> None:
    from reports import render

    encoding = sys.stdout.encoding or "utf-8"
    width = shutil.get_terminal_size().columns
    click.echo(render(summary, width=width, color=sys.stdout.isatty(), encoding=encoding, page=page))


@main.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder that gets the joined run."
)
def merge(folders: tuple[str, ...], report: str) -> None:
    """Join the runs of several shards into one run; each DIR is a report folder (its latest run) or one run in it.

    Exit status: the worst of the shards'; 2 where they do not belong together, or one of them never ended.
    """
    from reports import ReportError, join_status, merge_runs, read_run, save_site, save_summary, summarize

    try:
        merged = merge_runs([Path(folder) for folder in folders], Path(report))
        summary = summarize(read_run(merged.folder))
        save_summary(merged.folder, summary)
        page = save_site(merged.folder, summary)
        status = join_status(merged, summary)
    except ReportError as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    _print_summary(summary, page)
    for folder in merged.unended:
        click.echo(f"{folder} never ended: its tests that did not run are not in this report", err=True)
    sys.exit(status)


@main.command("diff")
@click.argument("before", metavar="RUN_A", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN_B", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the comparison as one HTML file.")
def diff(before: Path, after: Path, html: Path | None) -> None:
    """Tell what RUN_B has otherwise than RUN_A; each is a report folder (its latest run) or one run in it.

    Exit status: 0 nothing red is new or worse, 1 something is, 2 the runs cannot be compared.
    """
    from autotest.commands.diff import diff_runs
    from reports import ReportError

    width, encoding = shutil.get_terminal_size().columns, sys.stdout.encoding or "utf-8"
    try:
        status, text = diff_runs(before, after, html, width=width, color=sys.stdout.isatty(), encoding=encoding)
    except ReportError as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    click.echo(text)
    sys.exit(status)


@main.command()
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option(
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder that a run would write."
)
def doctor(target: str, report: str) -> None:
    """Check that a run can work here: versions, devices, memory, the target's start, the report folder."""
    from autotest.commands.doctor import examine

    healthy = True
    for finding in examine(target, Path(report)):
        click.echo(f"{'ok ' if finding.ok else 'BAD'}  {finding.what}: {finding.said}")
        healthy = healthy and finding.ok
    sys.exit(0 if healthy else USAGE)


@main.command("accept")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--reason", required=True, help="Why this is known and accepted; never without.")
@click.option("--where", metavar="'FIELD=PATTERN ...'", help="Accept what matches, such as 'kind=dtype op=arg*'.")
@click.option(
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="The report to accept from."
)
@click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Default: known_divergences.toml nearest to the test, else in the first folder of its path.",
)
@click.option(
    "--strict",
    type=click.Choice(["proof", "seen"]),
    default="proof",
    show_default=True,
    help="proof: the stored program must go on diverging; seen: only counted.",
)
def accept_divergences(
    ids: tuple[str, ...], reason: str, where: str | None, report: str, ledger: Path | None, strict: str
) -> None:
    """Write divergences of the latest run, by ID or by what they are, into a ledger of known divergences."""
    from autotest.errors import AutotestError
    from autotest.ledger.accept import accept
    from reports import ReportError

    try:
        done = accept(ids, where, reason, Path(report), ledger, strict)
    except (AutotestError, ReportError) as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    for sentence in done.refused:
        click.echo(sentence, err=True)
    click.echo(f"{len(done.written)} accepted into {', '.join(map(str, done.paths)) or 'no ledger'}")
    sys.exit(USAGE if done.refused else 0)


@main.group("ledger")
def ledger_commands() -> None:
    """Look after a ledger of known divergences."""


_LEDGER = click.argument("ledger", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@ledger_commands.command("check")
@_LEDGER
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option("--case-timeout", type=click.FloatRange(min=0), default=60.0, show_default=True, metavar="SECONDS")
def check_ledger(ledger: Path, target: str, case_timeout: float) -> None:
    """Replay the Program of every entry, those that crash the target included.

    Exit status: 0 all still diverge, 1 some no longer do, 2 the ledger or the target cannot be used.
    """
    from autotest.errors import AutotestError
    from autotest.ledger.check import check
    from reports.quantities import counted

    try:
        count, sentences, problems = check(ledger, target, case_timeout or None)
    except AutotestError as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    for sentence in (*problems, *sentences):
        click.echo(sentence)
    gone = len(sentences)
    click.echo(f"{counted(count, 'entry', 'entries')} replayed, {gone} no longer diverge{'s' * (gone == 1)}")
    sys.exit(USAGE if problems else 1 if sentences else 0)


@ledger_commands.command("document")
@_LEDGER
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: standard output.")
def document_ledger(ledger: Path, target: str, output: Path | None) -> None:
    """Write every known divergence as Markdown: its one-line program and what each side gives."""
    from autotest.ledger.document import document

    text = document(ledger, target)
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
