"""The judge of the kernels of one op: the questions, and the process that a kernel runs in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from autotest.errors import EnvironmentFault
from autotest.kernels.findings import Verdict
from autotest.kernels.judging import ASKING, Judging
from autotest.kernels.questions import Asking, questions
from autotest.kernels.sandbox import sandbox_command, sandbox_environment
from autotest.kernels.timing import Times, programs, times
from autotest.kernels.ways import CLAIMS
from autotest.kernels.weighing.precision import Rounding
from autotest.workers.forking.forks import Forks
from autotest.workers.launch import START_TIMEOUT, Launch
from autotest.workers.supervisor import Supervisor
from dual_object.adapters.torch.kernels.devices import require
from dual_object.errors import TargetError
from dual_object.replay.adapter import Reference
from dual_object.replay.asked.kernels import DEVICE, KERNELS, POISON

#: What is loaded in the process that runs kernels.
ADAPTER = "dual_object.adapters.torch.kernels.adapter:Adapter"
#: What such a process comes to import.
IMPORTS = (ADAPTER.partition(":")[0],)
#: What nothing in that process reads any more, so that a kernel that sets it is seen to.
_UNUSED = {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "3", "CUBLAS_WORKSPACE_CONFIG": ":0:0"}
#: What a process that runs kernels has in its environment.
ENVIRONMENT = {**POISON, **_UNUSED}
#: What a file names that compiles code, and seconds in which that must be done while it is imported, and in a call.
_COMPILERS, _COMPILED_WITHIN, _COMPILED_IN_A_CALL = (b"cpp_extension", b"triton"), 600.0, 120.0
#: Seconds in which one size must be timed: PyTorch's compiler takes most of them.
_TIMED_WITHIN = 300.0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function that says to be an op.

    Attributes:
        file, function: where it is.
        delegates: whether it may call the op itself.
        sandbox: whether its process has no network, and no files that it may write to but temporary ones of its own.
        device: what it is asked on, `cpu` or `cuda`.
        claims: in which ways it is right besides, of `autotest.kernels.ways.CLAIMS`.
    """

    file: Path
    function: str
    delegates: bool = False
    sandbox: bool = False
    device: str = "cpu"
    claims: tuple[str, ...] = ()


def start(supervisor: Supervisor, file: Path) -> None:
    """Start the process that is to import `file`. Raises EnvironmentFault, which names the file and, where it is late,
    the option that gives it longer.
    """
    try:
        supervisor.start()
        supervisor.info()  # it waits until the file is imported
    except EnvironmentFault as fault:
        words = str(fault)
        late = " [--case-timeout gives it longer]" if "did not start" in words else ""
        raise EnvironmentFault(words if file.name in words else f"{file}: {words}{late}") from None


class KernelJudge:
    """Judges kernels of one op; what PyTorch answers is asked once.

    `timeout` is the seconds of one question, `memory` the bytes of a kernel's process, as of a `Supervisor`; `forks`
    forks these processes, for the judges of all ops: by default each is started by itself.
    """

    def __init__(
        self,
        reference: Reference,
        asking: Asking,
        *,
        timeout: float | None = 20.0,
        memory: int | None = None,
        forks: Forks | None = None,
    ) -> None:
        self._reference = reference
        self._asking = asking
        self._timeout = timeout
        self._memory = memory
        self._forks = forks
        self._rounding = Rounding(reference)
        with ASKING:
            self.questions = questions(reference, asking)

    def launch(self, kernel: Kernel, folder: Path | None = None, *, timed: bool = False, way: str = "") -> Supervisor:
        """The process that the kernel runs in, started; with a folder, in a sandbox that may write there; to be timed,
        without poison in its memory; with a way, called so. Raises EnvironmentFault where there is no sandbox.
        """
        place = {self._asking.path: [str(kernel.file.resolve()), kernel.function, kernel.delegates, way]}
        poisoned = not (timed or way)
        environment = {**ENVIRONMENT} if poisoned else {}
        environment[DEVICE] = kernel.device
        environment[KERNELS] = json.dumps(place)
        source = kernel.file.read_bytes()
        compiles = any(compiler in source for compiler in _COMPILERS)
        within = max(_COMPILED_WITHIN if compiles else START_TIMEOUT, self._timeout or 0.0)
        timeout = _TIMED_WITHIN if timed else self._timeout
        if compiles and timeout is not None:
            timeout = max(timeout, _COMPILED_IN_A_CALL)
        behind: tuple[str, ...] = ()
        if folder is not None:
            behind = sandbox_command(folder)
            environment.update(sandbox_environment(folder))
        forks = self._forks if poisoned and folder is None else None
        launch = Launch("kernel", ADAPTER, None, environment, within, behind, forks)
        supervisor = Supervisor(launch, timeout, memory=self._memory)
        start(supervisor, kernel.file)
        return supervisor

    def judge(self, kernel: Kernel, budget: float | None = None) -> Verdict:
        """Ask everything, or what can be asked in so many seconds, and say what was found. May be called by several
        threads at once: kernels run side by side, each in a process of its own.

        Raises EnvironmentFault where the kernel cannot be loaded, or there is no sandbox or device for it.
        """
        try:
            require(kernel.device)
        except TargetError as error:
            raise EnvironmentFault(str(error)) from None
        with self._process(kernel) as supervisor:
            until = None if budget is None else time.monotonic() + budget
            judging = Judging(
                self._reference,
                self.questions,
                supervisor,
                self._asking.path,
                until,
                rounding=self._rounding,
                device=kernel.device,
            )
            judging.ask()
            for way in (way for claim in kernel.claims for way in CLAIMS[claim]):
                if judging.goes_on:
                    with self._process(kernel, way=way.name) as besides:
                        judging.ask_in(way, besides)
            return judging.verdict()

    def times(self, kernel: Kernel) -> list[Times] | str:
        """How long the kernel takes, in another process than that in which it was judged; or why that is not known.

        Raises EnvironmentFault as `judge`.
        """
        with ASKING:
            asked = programs(self._reference, self.questions, self._asking.shapes)
        if not asked:
            return f"not timed: no single call of torch.{self._asking.path} with floating numbers can be grown"
        with self._process(kernel, timed=True) as supervisor, ASKING:
            return times(self._reference, supervisor, asked)

    @contextmanager
    def _process(self, kernel: Kernel, *, timed: bool = False, way: str = "") -> Iterator[Supervisor]:
        """The process that the kernel runs in, while it is needed."""
        with ExitStack() as stack:
            folder = None
            if kernel.sandbox:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="autotest-sandbox-")))
            supervisor = self.launch(kernel, folder, timed=timed, way=way)
            stack.callback(supervisor.close)
            yield supervisor


__all__ = ["ENVIRONMENT", "IMPORTS", "Kernel", "KernelJudge"]
