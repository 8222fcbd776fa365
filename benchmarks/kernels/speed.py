"""What a verdict of `judge_kernel` costs: `python -m benchmarks.kernels.speed`.

Two threads judge sound kernels of the bank at level quick, all of them once and then once more, when the questions of
each op have been made: that is how a loop that makes kernels judges them. Processor time is that of this process and
of all that it has started; other work on the machine hardly changes it.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import click
import psutil

from autotest import judge_kernel
from benchmarks.kernels.entries import Entry, entries, loaded, public

#: The bar: processor seconds of a verdict whose questions have been made; on two cores that is 30 verdicts a minute.
MOST_SECONDS = 4.0
THREADS = 2


def judge(entry: Entry) -> None:
    """A verdict of a kernel."""
    function = public(loaded(entry.path))[0]
    dtypes = tuple(entry.domain.get("dtypes", ()))
    judge_kernel(f"{entry.path}:{function}", entry.like, dtypes=dtypes)


def processor_seconds() -> float:
    """Of this process, of those that it has started, and of those that each of them has waited for: a kernel's process
    is forked from another one.
    """
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (me, *me.children(recursive=True)))


def measured(chosen: list[Entry]) -> tuple[float, float]:
    """Seconds on the clock and of the processors that each verdict takes."""
    clock, used = time.perf_counter(), processor_seconds()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(judge, chosen))
    return (time.perf_counter() - clock) / len(chosen), (processor_seconds() - used) / len(chosen)


@click.command(help=__doc__)
@click.option("--kernels", default=12, show_default=True, help="How many.")
def main(kernels: int) -> None:
    """Judge twice; the status is 1 where the second time costs more than the bar."""
    sound = [entry for entry in entries() if entry.sound]
    chosen = sound[:: max(1, len(sound) // kernels)][:kernels]
    for what in ("questions made anew", "questions made before"):
        clock, used = measured(chosen)
        click.echo(f"{what}: {60 / clock:.0f} verdicts a minute on {THREADS} threads, {used:.2f} s of processors each")
    sys.exit(used > MOST_SECONDS)


if __name__ == "__main__":
    main()
