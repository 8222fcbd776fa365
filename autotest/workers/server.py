"""The target worker: `python -m autotest.workers.server TARGET`, spawned by the supervisor, one per pytest worker.

It reads requests from its standard input and answers on what was its standard output; everything that the target prints
goes to standard error, which the supervisor keeps for a crash's last words. Before each call it notes case and call in
a small shared file, so that a death is blamed on its call.
"""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import importlib
import mmap
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from dual_object.program.values import Array

if TYPE_CHECKING:
    from dual_object.replay.adapter import GraphRequest

PROGRESS = struct.Struct("<ii")
AFTER_CALLS = -1
#: Seconds of work on a batch after which the supervisor is told that its deadline may move.
SIGN_OF_LIFE = 0.25

#: Each with its arrays.
Requests = Iterator[tuple[dict[str, Any], list[Array]]]


class Channel:
    """Frames in, frames out; the process's own standard streams are taken away from the target."""

    def __init__(self) -> None:
        self._requests = os.dup(0)
        self._responses = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)  # OneFlow prints at import, partly on stdout

    def requests(self) -> Requests:
        """Requests until the supervisor closes the pipe."""
        from autotest.workers import wire

        while True:
            try:
                yield wire.read(self._receive)
            except EOFError:
                return

    def _receive(self, count: int) -> bytearray:
        buffer = bytearray(count)
        view = memoryview(buffer)
        while view:
            got = os.readv(self._requests, [view])
            if not got:
                raise EOFError
            view = view[got:]
        return buffer

    def send(self, message: dict[str, Any], arrays: list[Array]) -> None:
        """Answer with one frame."""
        from autotest.workers import wire

        view = memoryview(wire.pack(message, arrays))
        while view:
            view = view[os.write(self._responses, view) :]


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies: a target that hangs in C++ never sees its pipe close."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def schedule_in_batches() -> None:
    """Use Linux's batch scheduling policy: OneFlow's main thread waits busily, which costs 13 times more under the
    default one.
    """
    if hasattr(os, "sched_setscheduler") and os.environ.get("AUTOTEST_SCHEDULER") != "default":
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


@dataclasses.dataclass(frozen=True)
class Joined:
    """A worker that has heard from its supervisor what it is to be, in the supervisor's folder and with its path.
    `progress` is the descriptor of the file that both share; `failure` is what the import of the target has raised
    already.
    """

    channel: Channel
    requests: Requests
    setup: dict[str, Any]
    progress: int
    failure: Exception | None = None


def join(progress: int | None = None) -> Joined | None:
    """Take the standard streams away from the target, and hear what the supervisor wants; None where it is gone.
    `progress` is the descriptor of the shared file where the supervisor cannot know its number.
    """
    die_with_parent()
    channel = Channel()
    requests = channel.requests()
    try:
        setup, _ = next(requests)
    except StopIteration:
        return None
    os.chdir(setup["folder"])
    if setup["path"] is not None:
        sys.path[:] = setup["path"]
    return Joined(channel, requests, setup, setup["progress"] if progress is None else progress)


def main() -> None:
    """Serve until the supervisor goes away."""
    joined = join()
    if joined is not None:
        serve(joined)


def serve(joined: Joined) -> None:
    """Import the target, tell of it and answer requests until the supervisor goes away."""
    channel, setup = joined.channel, joined.setup
    from autotest.workers.fault_injection import plant
    from dual_object.errors import TargetError
    from dual_object.replay.adapter import not_imported, set_default_dtype
    from dual_object.replay.stages import load_stages, stages_info

    try:
        if joined.failure is not None:
            raise not_imported(setup["target"], joined.failure)
        stages = load_stages(setup["target"])
        for adapter in stages.values():
            if setup["default_dtype"] is not None:
                set_default_dtype(adapter, setup["default_dtype"])
            plant(adapter)
        info = stages_info(setup["target"], [*stages.values()])
    except TargetError as error:
        channel.send({"refused": str(error)}, [])
        return
    schedule_in_batches()
    gc.freeze()  # what the import made lives as long as the process: no collection need look at it again
    channel.send({**dataclasses.asdict(info), "pid": os.getpid()}, [])
    with (
        os.fdopen(joined.progress, "r+b") as file,
        mmap.mmap(file.fileno(), PROGRESS.size) as noted,
    ):
        server = Server(stages, channel, noted)
        for message, arrays in joined.requests:
            try:
                server.answer(message, arrays)
            except (MemoryError, SystemError) as error:  # as of a size that the target has written over
                end_as_crash(error)
            except Exception as error:  # no call of the target's: those are answered for one by one
                end_without_device(server.adapter, error)
                channel.send({"fault": traceback.format_exc()}, [])
                return


def end_without_device(adapter: Any, error: Exception) -> None:
    """End the process, as a crash, where its device is lost: what fails on a GPU, such as an index beyond a tensor, is
    told of later, and takes the GPU from the process for good.
    """
    try:
        adapter.synchronize()
    except Exception:
        end_as_crash(error)


def end_as_crash(error: Exception) -> NoReturn:
    """End the process as if the target had, which has left it unusable; the error is its last words."""
    sys.stderr.write(f"{type(error).__name__}: {error}\n")
    sys.stderr.flush()
    os.abort()


class Server:
    """Answers requests with the adapters of a target's stages: with the first one where none is named."""

    def __init__(self, stages: Mapping[str, Any], channel: Channel, progress: mmap.mmap) -> None:
        import psutil

        self._process = psutil.Process()
        self.stages = stages
        self.adapter = next(iter(stages.values()))
        self.channel = channel
        self.progress = progress
        self.graphs = 0
        self.reported: set[str] = set()

    def answer(self, message: dict[str, Any], arrays: list[Array]) -> None:
        """Run one request. `eager` sends a frame per case, the others one for all; a frame `done` ends each, with the
        op types that have run for the first time.
        """
        if message["do"] == "surface":
            self.surface(message["paths"])
        elif message["do"] == "hazard":
            self.hazard(message["file"], message["name"], self.stages[message["stage"]])
        elif message["do"] == "contract":
            self.contract(message["file"], message["name"], message["arguments"])
        else:
            self.run(message, arrays)
        touched = sorted(self.adapter.touched - self.reported)
        self.reported.update(touched)
        rss = self._process.memory_info().rss
        self.channel.send({"done": True, "graphs": self.graphs, "rss": rss, "touched": touched}, [])

    def surface(self, paths: list[str]) -> None:
        """Tell what the target has registered, and which of these ops."""
        from dual_object.replay.adapter import surface

        registered = surface(self.adapter, paths)
        self.channel.send({"registry": registered.registry, "names": registered.names}, [])

    def hazard(self, file: str, name: str, adapter: Any) -> None:
        """Judge the function that a test poses; what it raises of itself, without an executor, is told, too."""
        from autotest.workers.posed import NotFoundError, posed
        from dual_object.adapters.torch.hazards import Hazard, judge

        self._noting(0)
        try:
            verdict = judge(Hazard(*posed(file, name, "hazard")), adapter.executor)
        except NotFoundError as error:
            self.channel.send({"unfound": str(error)}, [])
        except Exception as error:
            self.channel.send({"raised": f"{type(error).__name__}: {error}"}, [])
        else:
            self.channel.send({"verdict": [verdict.outcome, verdict.detail]}, [])

    def contract(self, file: str, name: str, arguments: dict[str, Any]) -> None:
        """Try the sentence that a test has for the target, and wait for what that has begun."""
        from autotest.workers.contracts import answer
        from autotest.workers.posed import NotFoundError, posed

        self._noting(0)
        try:
            contract = posed(file, name, "contract")
        except NotFoundError as error:
            self.channel.send({"unfound": str(error)}, [])
            return
        framework = importlib.import_module(contract.target)
        # What others have left behind ends before, not in the middle: an nn.Graph of OneFlow that is collected while
        # another one is built takes that one's parameters away.
        gc.collect()
        gc.disable()
        try:
            given = answer(contract, framework, arguments)
        finally:
            gc.enable()
        self.adapter.synchronize()
        self.channel.send({"answer": [given.outcome, given.detail, given.line]}, [])

    def run(self, message: dict[str, Any], arrays: list[Array]) -> None:
        """Run the Programs of a request."""
        from dual_object.program.program import Program
        from dual_object.replay.adapter import GraphRequest

        programs = [Program.from_json(data, arrays) for data in message["programs"]]
        if message["do"] == "graph":
            again = message.get("again")
            if again is not None:
                again = [None if own is None else [arrays[position] for position in own] for own in again]
            adapter = self.stages[message["stage"]] if "stage" in message else self.adapter
            self.graph(adapter, GraphRequest(programs, message["gradients"], again, message.get("configuration", "")))
        elif message["do"] == "together":
            self.together(programs)
        elif message["do"] == "time":
            self.time(programs[0], message["rounds"])
        else:
            self.eager(programs)

    def eager(self, programs: list[Any]) -> None:
        """Replay each Program and wait for each call, so that an asynchronous abort is blamed on its own."""
        from dual_object.replay.reading import observe
        from dual_object.replay.replay import Replay

        for index, program in enumerate(programs):
            started = Replay(self.adapter, program).start(self._noting(index, wait=True))
            self.adapter.synchronize()
            self._send(observe([started], self.adapter))

    def together(self, programs: list[Any]) -> None:
        """Replay all programs, then read all results at once: waiting once costs half of what waiting for each does."""
        from dual_object.replay.reading import observe
        from dual_object.replay.replay import Replay

        started = []
        last_sign = time.monotonic()
        for index, program in enumerate(programs):
            started.append(Replay(self.adapter, program).start(self._noting(index)))
            if time.monotonic() - last_sign > SIGN_OF_LIFE:
                self.channel.send({"alive": index}, [])
                last_sign = time.monotonic()
        self._noting(len(programs))
        self.adapter.synchronize()
        self._send(observe(started, self.adapter))

    def time(self, program: Any, rounds: int) -> None:
        """Time a kernel in the call of a Program; what it raises is told."""
        from dual_object.adapters.torch.kernels.timed import timed

        self._noting(0)
        kernel, own = self.adapter.unwatched(program.calls[0].op)
        try:
            found = timed(self.adapter, kernel, own, program, rounds)
        except Exception as error:
            self.channel.send({"raised": f"{type(error).__name__}: {error}"}, [])
            return
        arrays: list[Array] = []
        outputs = []
        for turn, tensors in found.outputs:
            outputs.append([turn, [*range(len(arrays), len(arrays) + len(tensors))]])
            arrays += self.adapter.read(tensors)
        frame = {"seconds": found.seconds, "outputs": outputs, "uncompiled": found.uncompiled}
        self.channel.send(frame, arrays)

    def _send(self, observations: list[Any]) -> None:
        from dual_object.replay import observation

        arrays: list[Array] = []
        rows = [observation.to_json(item, arrays) for item in observations]
        self.channel.send({"seen": rows}, arrays)

    def _noting(self, case: int, *, wait: bool = False) -> Callable[[int], None]:
        progress, note = self.progress, PROGRESS.pack_into

        def before(call: int) -> None:
            if wait:
                self.adapter.synchronize()
            note(progress, 0, case, call)

        note(progress, 0, case, AFTER_CALLS)
        return before

    def graph(self, adapter: Any, request: GraphRequest) -> None:
        """Run all programs of a request in one static graph."""
        from dual_object.replay import observation
        from dual_object.replay.adapter import GraphError, GraphRefusal

        PROGRESS.pack_into(self.progress, 0, 0, AFTER_CALLS)
        self.graphs += 1
        try:
            results = adapter.graph(request)
        except GraphError as error:
            self.channel.send({"error": [error.classes, error.message], "poisoned": error.poisoned}, [])
            return
        arrays: list[Array] = []
        rows: list[dict[str, Any]] = []
        for result in results:
            if isinstance(result, GraphRefusal):
                rows.append({"refusal": dataclasses.astuple(result)})
            else:
                rows.append({"seen": observation.to_json(result, arrays)})
        self.channel.send({"results": rows}, arrays)


if __name__ == "__main__":
    main()
