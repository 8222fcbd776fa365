"""Workers that are forked from a process that has imported what they need."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest

from autotest.errors import EnvironmentFault
from autotest.options.targets import launch as launch_of
from autotest.workers.forking import forks as forking
from autotest.workers.forking.forks import Forked, Forks
from autotest.workers.launch import Launch
from autotest.workers.protocol import Death
from autotest.workers.supervisor import Supervisor
from dual_object.replay.observation import Observation
from support.preloaded import ROOT
from support.programs import one_call
from support.runs import SUPPORT

SQUARE = one_call("square", np.full(2, 3.0))
COS = one_call("cos", np.ones(2))
TORCH = "dual_object.adapters.torch.adapter"
SERVER = forking._Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_interpreter")]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """What forks workers that have PyTorch."""
    made = Forks((TORCH,))
    yield made
    made.close()


@pytest.fixture
def supervisor(forks: Forks) -> Iterator[Supervisor]:
    """A supervisor whose workers are forked."""
    made = Supervisor(Launch("torch", forks=forks), 60.0)
    yield made
    made.close()


def process(supervisor: Supervisor) -> Forked:
    """The worker's process, which has been forked."""
    assert supervisor._worker is not None
    found = supervisor._worker._process
    assert isinstance(found, Forked)
    return found


def test_a_forked_worker_answers(supervisor: Supervisor, forks: Forks) -> None:
    """As one that was started, from a session of its own; the next is another process of the same parent."""
    [seen] = supervisor.eager([SQUARE])
    assert isinstance(seen, Observation)
    assert seen.outputs[1].data.tolist() == [9.0, 9.0]
    first = process(supervisor)
    assert os.getsid(first.pid) == first.pid
    parent = psutil.Process(first.pid).ppid()
    supervisor.close()
    assert first.poll() == -signal.SIGKILL
    supervisor.eager([SQUARE])
    second = process(supervisor)
    assert second.pid != first.pid
    assert psutil.Process(second.pid).ppid() == parent


def test_it_holds_no_descriptor_of_others(supervisor: Supervisor, forks: Forks) -> None:
    """Beside others it has what one has that was started by itself."""
    started, other = Supervisor("torch", 60.0), Supervisor(Launch("torch", forks=forks), 60.0)
    for one in (supervisor, started, other):
        one.eager([SQUARE])
    assert started._worker is not None
    held = [psutil.Process(pid).num_fds() for pid in (process(other).pid, started._worker._process.pid)]
    for one in (started, other):
        one.close()
    assert held[0] == held[1]


def test_a_death_is_told_as_of_any(forks: Forks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """How it ended and its last words; the worker after it answers. A launch's environment is that worker's alone."""
    monkeypatch.syspath_prepend(SUPPORT)
    deadly = {"AUTOTEST_FAULT": "faults:deadly", "AUTOTEST_ONCE": str(tmp_path)}
    told = []
    for way in (Launch("torch", environment=deadly, forks=forks), Launch("torch", environment=deadly)):
        supervisor = Supervisor(way, 60.0)
        told.append(supervisor.eager([COS, SQUARE]))
        supervisor.close()
    (forked, square), (started, _) = told
    assert isinstance(forked, Death)
    assert forked.how == "killed by SIGSEGV"
    assert isinstance(square, Observation)
    assert forked == started
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    [seen] = supervisor.eager([COS])
    supervisor.close()
    assert isinstance(seen, Observation)


def test_hangs_are_killed(forks: Forks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A deadline holds for a forked worker."""
    monkeypatch.setenv("AUTOTEST_FAULT", "faults:deadly")
    monkeypatch.setenv("AUTOTEST_ONCE", str(tmp_path))
    monkeypatch.syspath_prepend(SUPPORT)
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    supervisor.info()
    supervisor.timeout = 0.3
    hung = process(supervisor)
    [answer] = supervisor.eager([one_call("tan", np.ones(2))])
    assert isinstance(answer, Death)
    assert answer.how == "did not answer within 0.3 s and was killed"
    assert hung.wait(5) == -signal.SIGKILL


def test_waiting_for_one_that_runs(supervisor: Supervisor) -> None:
    """It has no status yet, and waiting takes no longer than it may; the message names its process."""
    supervisor.info()
    running = process(supervisor)
    assert running.poll() is None
    with pytest.raises(subprocess.TimeoutExpired) as late:
        running.wait(0.1)
    assert str(late.value) == f"Command 'worker {running.pid}' timed out after 0.1 seconds"


def test_when_their_parent_is_killed(supervisor: Supervisor) -> None:
    """Its workers end with it, and the next request has a new one."""
    supervisor.info()
    running = process(supervisor)
    parent = psutil.Process(psutil.Process(running.pid).ppid())
    parent.kill()
    assert running.wait(10) == -signal.SIGKILL
    until = time.monotonic() + 10
    while time.monotonic() < until and _runs(running.pid):
        time.sleep(0.05)
    assert not _runs(running.pid)
    [seen] = supervisor.eager([SQUARE])
    assert isinstance(seen, Observation)
    assert psutil.Process(process(supervisor).pid).ppid() != parent.pid


def test_several_threads_at_once(forks: Forks) -> None:
    """Each has a worker of its own, and its own answer."""

    def asked(value: float) -> list[float]:
        supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
        [seen] = supervisor.eager([one_call("square", np.full(2, value))])
        supervisor.close()
        assert isinstance(seen, Observation)
        found: list[float] = seen.outputs[1].data.tolist()
        return found

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(asked, range(8))] == [[value**2.0] * 2 for value in range(8)]


def test_what_cannot_be_imported_beforehand() -> None:
    """Then nothing is forked: a worker by itself says what is wrong, or works."""
    forks = Forks(("nowhere.at.all",))
    supervisor = Supervisor(Launch("nowhere", "nowhere.at.all:Adapter", forks=forks), 60.0)
    with pytest.raises(EnvironmentFault) as caught:
        supervisor.info()
    forks.close()
    assert str(caught.value) == (
        "target 'nowhere.at.all:Adapter' cannot be imported: ModuleNotFoundError: No module named 'nowhere'"
        "; put the folder that holds nowhere on the import path, as PYTHONPATH=. does for this one"
    )


def test_an_environment_that_is_too_long(forks: Forks) -> None:
    """No message takes it, so the worker is started by itself."""
    with tempfile.TemporaryFile() as file:
        assert forks.process({"LONG": "x" * (4 << 20)}, file.fileno()) is None
        forked = forks.process({**os.environ}, file.fileno())
    assert isinstance(forked, Forked)
    for stream in (forked.stdin, forked.stdout, forked.stderr):
        assert stream is not None
        stream.close()
    assert forked.wait(10) == 0  # nobody can ask it


def test_on_other_systems(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process ends with its parent, none is forked."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with tempfile.TemporaryFile() as file:
        assert forks.process({**os.environ}, file.fileno()) is None


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path) -> None:
    """Neither what forks nor what it has forked outlives whoever asked for it."""
    code = f"""
    import os, psutil, signal
    from autotest.workers.forking.forks import Forks
    from autotest.workers.launch import Launch
    from autotest.workers.supervisor import Supervisor
    supervisor = Supervisor(Launch("torch", forks=Forks(("{TORCH}",))), 60.0)
    supervisor.info()
    print([child.pid for child in psutil.Process().children(recursive=True)], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    children = json.loads(done.stdout)
    assert len(children) == 2
    until = time.monotonic() + 10
    while time.monotonic() < until and any(map(_runs, children)):
        time.sleep(0.05)
    assert not any(map(_runs, children))


#: Begins what a fork would lack in the middle of its import, as OneFlow does; what follows is done in each worker.
THREADED = """
import os
from threaded import parts

parts.begin()
{then}

def adapter():
    from dual_object.adapters.torch.adapter import Adapter
    return Adapter()
"""
PARTS = """
import threading

begun = 0

def begin():
    global begun
    begun += 1
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


@pytest.fixture
def threaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Launch]]:
    """Give a function which writes a framework that starts a thread while it is imported, and then does more."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[Forks] = []

    def write(then: str = "", before: str = "threaded.parts:begin") -> Launch:
        (tmp_path / "threaded").mkdir()
        (tmp_path / "threaded" / "parts.py").write_text(PARTS)
        (tmp_path / "threaded" / "__init__.py").write_text(THREADED.format(then=then))
        made.append(Forks(("threaded",), before))
        return Launch("threaded:adapter", forks=made[0])

    yield write
    for forks in made:
        forks.close()


def test_in_the_middle_of_an_import(threaded: Callable[..., Launch]) -> None:
    """Each worker makes the call before which it was forked, and has the threads that the call starts."""
    supervisor = Supervisor(threaded(""), 60.0)
    for _ in range(2):
        [seen] = supervisor.eager([SQUARE])
        assert isinstance(seen, Observation)
        worker = psutil.Process(process(supervisor).pid)
        assert worker.num_threads() > psutil.Process(worker.ppid()).num_threads() == 1
        supervisor.close()


def test_what_fails_in_a_worker_alone(threaded: Callable[..., Launch]) -> None:
    """After the call, in the rest of the import: the worker says so in the words of one that was started by itself. It
    is not imported once more, which may fail otherwise.
    """
    launch = threaded("raise OSError('no device' if parts.begun == 1 else 'again')")
    supervisor = Supervisor(launch, 60.0)
    with pytest.raises(EnvironmentFault) as caught:
        supervisor.info()
    assert launch.forks is not None
    assert launch.forks._servers[0].has_forked
    assert str(caught.value) == "target 'threaded:adapter' cannot be imported: OSError: no device"
    supervisor.close()


def test_what_an_import_sets(threaded: Callable[..., Launch], monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have the variables that it has set before the call, as one that is started by itself has, and all that
    they are given.
    """
    monkeypatch.setenv("GIVEN", "by us")
    launch = threaded("raise OSError(os.environ['SET'] + ', ' + os.environ['GIVEN'])")
    parts = Path(sys.path[0]) / "threaded" / "parts.py"
    parts.write_text("import os\n\nos.environ['SET'] = 'by the import'\nos.environ.pop('GIVEN')\n" + PARTS)
    supervisor = Supervisor(launch, 60.0)
    with pytest.raises(EnvironmentFault) as caught:
        supervisor.info()
    assert str(caught.value) == "target 'threaded:adapter' cannot be imported: OSError: by the import, by us"
    supervisor.close()


def test_a_worker_that_is_not_wanted_after_all(forks: Forks) -> None:
    """One that has just been forked, and has no session of its own yet, is ended like any."""
    for _ in range(20):
        supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
        supervisor.start()
        forked = process(supervisor)
        supervisor.close()
        assert forked.poll() == -signal.SIGKILL


def test_nobody_tells_of_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the process that forks is stopped, a worker is killed, and not waited for without end."""
    monkeypatch.setattr("autotest.workers.worker.ENDED_WITHIN", 0.3)
    forks = Forks((TORCH,))
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    supervisor.info()
    running = process(supervisor)
    parent = psutil.Process(psutil.Process(running.pid).ppid())
    parent.suspend()
    supervisor.close()
    assert not _runs(running.pid)
    parent.resume()
    assert running.wait(10) == -signal.SIGKILL
    forks.close()


def test_after_an_interruption(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork that nobody waited for is not taken for the next one: each has its own process, which answers."""
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    supervisor.info()
    supervisor.close()

    def interrupted(server: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SERVER, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        supervisor.start()
    monkeypatch.undo()
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    supervisor.info()
    assert supervisor._worker is not None
    assert process(supervisor).pid == supervisor._worker._memory._looked_at.pid
    os.kill(process(supervisor).pid, signal.SIGSEGV)
    [answer] = supervisor.eager([SQUARE])
    assert isinstance(answer, Death)
    assert answer.how == "killed by SIGSEGV"
    supervisor.close()


def test_other_children_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a process that an imported module has started is no worker's."""
    (tmp_path / "parenting.py").write_text("import subprocess\n\nchild = subprocess.Popen(['sleep', '0.5'])\n")
    monkeypatch.syspath_prepend(tmp_path)
    forks = Forks(("parenting", TORCH))
    supervisor = Supervisor(Launch("torch", forks=forks), 60.0)
    supervisor.info()
    time.sleep(1)
    [seen] = supervisor.eager([SQUARE])
    assert isinstance(seen, Observation)
    ended = process(supervisor)
    supervisor.close()
    assert ended.poll() == -signal.SIGKILL
    forks.close()


REFUSING = """
import os

real, asked = os.fork, []

def fork():
    asked.append(1)
    if len(asked) == 2:
        raise BlockingIOError("too many")
    return real()

os.fork = fork
"""


def test_a_system_that_forks_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That worker is started by itself, those that run go on, and the next is forked again."""
    (tmp_path / "refusing.py").write_text(REFUSING)
    monkeypatch.syspath_prepend(tmp_path)
    forks = Forks(("refusing", TORCH))
    supervisors = [Supervisor(Launch("torch", forks=forks), 60.0) for _ in range(3)]
    for supervisor in supervisors:
        supervisor.info()
    for supervisor, kind in zip(supervisors, (Forked, subprocess.Popen, Forked), strict=True):
        [seen] = supervisor.eager([SQUARE])
        assert isinstance(seen, Observation)
        assert supervisor._worker is not None
        assert isinstance(supervisor._worker._process, kind)
        supervisor.close()
    forks.close()


def test_a_fork_of_our_own_ends_nothing(supervisor: Supervisor, forks: Forks) -> None:
    """What has the same sockets, as a test that was forked has, may close them: our workers run on."""
    supervisor.info()
    running = process(supervisor)
    child = os.fork()
    if child == 0:
        forks.close()
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.5)  # in which what has been told to end would have ended
    [seen] = supervisor.eager([SQUARE])
    assert isinstance(seen, Observation)
    assert process(supervisor) is running


def test_a_path_that_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`''`, with which `python -c` begins its path, is our folder, not that of the process which forks."""
    (tmp_path / "here_alone.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    forks = Forks(("here_alone",))
    with tempfile.TemporaryFile() as file:
        forked = forks.process({**os.environ}, file.fileno())
    assert isinstance(forked, Forked)
    for stream in (forked.stdin, forked.stdout, forked.stderr):
        assert stream is not None
        stream.close()
    forked.wait(10)
    forks.close()


def test_too_late_to_fork(threaded: Callable[..., Launch], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the call is never made, as in another version of a framework, workers are started by themselves; that is
    found out once.
    """
    launch = threaded(before="threaded.parts:renamed")
    begun = []
    monkeypatch.setattr(forking, "_Server", lambda *given: begun.append(given) or SERVER(*given))
    supervisor = Supervisor(launch, 60.0)
    for _ in range(3):
        [seen] = supervisor.eager([SQUARE])
        assert isinstance(seen, Observation)
        assert supervisor._worker is not None
        assert isinstance(supervisor._worker._process, subprocess.Popen)
        supervisor.close()
    assert len(begun) == 1


def test_other_threads_are_not_lost(threaded: Callable[..., Launch]) -> None:
    """A process that has threads already forks nothing: they would be missing."""
    launch = threaded(then="parts.again()")
    parts = Path(sys.path[0]) / "threaded" / "parts.py"
    parts.write_text(PARTS + "\n\nagain = begin\nbegin()\n")
    supervisor = Supervisor(launch, 60.0)
    [seen] = supervisor.eager([SQUARE])
    assert isinstance(seen, Observation)
    assert supervisor._worker is not None
    assert isinstance(supervisor._worker._process, subprocess.Popen)
    supervisor.close()


@pytest.mark.parametrize("asked", [True, False], ids=["asked for a worker", "asked to end"])
def test_an_import_that_hangs(asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for as long as an import may take, or as an end may: then the process is killed. Nothing is forked
    from then on.
    """
    (tmp_path / "hanging.py").write_text("import time\n\ntime.sleep(600)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(forking, "IMPORTED_WITHIN" if asked else "ENDED_WITHIN", 0.5)
    begun = time.monotonic()
    if asked:
        forks = Forks(("hanging",))
        with tempfile.TemporaryFile() as file:
            assert [forks.process({**os.environ}, file.fileno()) for _ in range(2)] == [None, None]
        forks.close()
    else:
        SERVER(("hanging",), "", {**os.environ}).close()
    assert time.monotonic() - begun < 60


def test_oneflow_computes_in_a_forked_worker() -> None:
    """All workers but the first are forked: most runs need no other. What their graphs give is there when it is read:
    OneFlow takes none for a process that loads data.
    """
    launched = launch_of("oneflow")
    with closing(Supervisor(launched, 60.0)) as first:
        first.info()
        assert first._worker is not None
        assert isinstance(first._worker._process, subprocess.Popen)
    supervisor = Supervisor(launched, 60.0)
    programs = [one_call("square", np.full(2, float(value))) for value in range(20)]
    for program in programs:
        [seen] = supervisor.graph([program], None)
        assert isinstance(seen, Observation)
        assert seen.outputs[1].data.tolist() == [program.inputs[0].data[0] ** 2] * 2
    assert isinstance(process(supervisor), Forked)
    supervisor.close()
    assert launched.forks is not None
    launched.forks.close()


def test_oneflow_imports_nothing_of_others_after_the_fork() -> None:
    """What each worker imports costs each death of one: of what is not OneFlow's own nothing is left."""
    code = """
    import json, sys
    from autotest.workers.forking.halt import halted
    from autotest.workers.forking.server import OURS, import_all
    from autotest.workers.launch import FORKED
    imports, before = FORKED["oneflow"]
    there = set()
    with halted(before, lambda: there.update(sys.modules)):
        import_all([*OURS, *imports])
    print(json.dumps(sorted({name.partition(".")[0] for name in {*sys.modules} - there})))
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == ["oneflow"]


def test_they_end_with_what_forks_them(threaded: Callable[..., Launch]) -> None:
    """With the last that knows of it, the process ends that they are forked from, and they with it."""
    forks = Forks((TORCH,))
    with tempfile.TemporaryFile() as file:
        forked = forks.process({**os.environ}, file.fileno())
    assert isinstance(forked, Forked)
    parent = psutil.Process(forked.pid).ppid()
    del forks
    for stream in (forked.stdin, forked.stdout, forked.stderr):
        assert stream is not None
        stream.close()
    forked.wait(10)
    assert not _runs(parent)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
