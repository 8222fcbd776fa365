"""`pytest --pdb` at a divergence, and `autotest replay ID --pdb`, which it names, in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from support.forks import forks
from support.runs import environment, run_pytest

CHAIN = """
from autotest import autotest, random_tensor, torch

@autotest(n=2, check_graph=False)
def test_chain():
    x = random_tensor(ndim=1, dim0=3)
    return torch.relu(torch.abs(x) + 1)
"""
PLANTED = """
import torch

def relu(adapter):
    plain = torch.relu
    torch.relu = lambda x: plain(x) + 1
"""


def typed(line: list[str], folder: Path, env: dict[str, str], *answers: str) -> str:
    """What a command prints in a terminal in which a person types these answers."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(  # noqa: S603 - our own interpreter
        line, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=subprocess.STDOUT
    )
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    printed = b""
    try:
        while read := os.read(ours, 4096):
            printed += read
    except OSError:  # a terminal whose last process has gone cannot be read
        pass
    os.close(ours)
    running.wait()
    return printed.decode().replace("\r\n", "\n")


def test_from_pytest_to_the_call(tmp_path: Path) -> None:
    """`pytest --pdb` says how to stop at the call; there, both sides and the program have names that pdb has not."""
    env = {"AUTOTEST_FAULT": "planted:relu", "PYTHONPATH": str(tmp_path)}
    outcome = run_pytest(tmp_path, {"test_chain.py": CHAIN, "planted.py": PLANTED}, "--pdb", env=env)
    [row, *_] = outcome.ends("test_chain")[0]["divergences"]
    stop = f"autotest replay {row['id']} --pdb"
    said = f"{stop} stops before the call that diverges, with both sides in scope"
    assert [line for line in outcome.out.splitlines() if "--pdb" in line] == [said]
    assert outcome.out.index(said) < outcome.out.index("entering PDB")

    line = [str(forks().python), "-m", *stop.split()]
    answers = ("p sorted(reference), sorted(target)", "p len(program.calls)", "p sorted(run_call())", "q")
    shown = typed(line, tmp_path, environment(env), *answers)
    assert (
        "\nin scope: reference and target (values by name), program, and run_call(), which runs it on the target\n"
        in shown
    )
    assert "before: t2 = torch.relu(t1)\n" in shown
    for value in ("(['t0', 't1', 'x'], ['t0', 't1', 'x'])", "3", "['t0', 't1', 't2', 'x']"):
        assert f"\n{value}\n" in shown
