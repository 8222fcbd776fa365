"""The `autotest` command. Imports no framework before it must: `autotest --help` answers at once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from autotest.exits import CANNOT_RUN, USAGE

_DIR = "The report folder, or one of its runs, that names ID."
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
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder for records and summary.json."
)
@click.option(
    "--case-timeout",
    default="60",
    show_default=True,
    metavar="SECONDS",
    help="A case that takes longer is ended as timed out; 0: no deadline.",
)
@click.option(
    "--isolate",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether the target runs in its own process.",
)
def run(
    paths: tuple[str, ...],
    target: str,
    workers: str,
    cases: int | None,
    seed: str,
    report: str,
    case_timeout: str,
    isolate: str,
) -> None:
    """Run tests under PATHS (files, folders, node ids); what follows -- goes to pytest.

    Exit status: 0 aligned, 1 divergence or failed test, 2 usage or environment, 3 fault of the harness,
    5 no test collected.
    """
    from autotest.launch import run_pytest

    options = {
        "target": target,
        "seed": seed,
        "report": report,
        "case-timeout": case_timeout,
        "isolate": isolate,
    }
    if cases is not None:
        options["cases"] = str(cases)
    sys.exit(run_pytest(paths, workers, options))


@main.command()
@click.argument("id_", metavar="ID")
@click.option(
    "--report",
    default="autotest-report",
    show_default=True,
    metavar="DIR",
    help=_DIR,
)
@click.option("--target", help=f"{_TARGET} Default: the target that diverged.")
@click.option("--case-timeout", type=click.FloatRange(min=0), default=60.0, show_default=True, metavar="SECONDS")
def replay(id_: str, report: str, target: str | None, case_timeout: float) -> None:
    """Run the stored Program of divergence ID again, on PyTorch and on the target.

    Exit status: 0 gone, 1 stands, 125 cannot run here; `git bisect run autotest replay ID` works.
    """
    from autotest.replaying import ReplayError, replay_id

    try:
        status, text = replay_id(id_, Path(report), target, case_timeout or None)
    except ReplayError as error:
        click.echo(f"cannot replay: {error}", err=True)
        sys.exit(CANNOT_RUN)
    click.echo(text)
    sys.exit(status)


@main.command("report")
@click.argument("folder", metavar="DIR", default="autotest-report")
def show_report(folder: str) -> None:
    """Print the summary of a run, finished or not; DIR is a report folder (its latest run) or one run in it."""
    from reports import ReportError, read_run, render, resolve_run, save_summary, summarize

    try:
        run_folder = resolve_run(Path(folder))
        summary = summarize(read_run(run_folder))
        save_summary(run_folder, summary)
    except ReportError as error:
        click.echo(str(error), err=True)
        sys.exit(USAGE)
    encoding = sys.stdout.encoding or "utf-8"
    width = shutil.get_terminal_size().columns
    click.echo(render(summary, width=width, color=sys.stdout.isatty(), encoding=encoding))


@main.command()
@click.option("--target", default="oneflow", show_default=True, help=_TARGET)
@click.option(
    "--report", default="autotest-report", show_default=True, metavar="DIR", help="Folder that a run would write."
)
def doctor(target: str, report: str) -> None:
    """Check that a run can work here: versions, devices, memory, the target's start, the report folder."""
    from autotest.doctor import examine

    healthy = True
    for finding in examine(target, Path(report)):
        click.echo(f"{'ok ' if finding.ok else 'BAD'}  {finding.what}: {finding.said}")
        healthy = healthy and finding.ok
    sys.exit(0 if healthy else USAGE)
