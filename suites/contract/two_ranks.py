"""Two ranks of OneFlow, each a process of its own, that train a module together: for contracts on what ranks share."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

from graphs import linear, sgd, training, values

RANKS = 2
STEPS = 3


def trained_with(**options):
    """What each rank has at the end of a training under ZeRO with these options, or how it died."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    world = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(  # noqa: S603 - this very file
            [sys.executable, __file__, json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **world, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            text=True,
        )
        for rank in range(RANKS)
    ]
    try:
        ends = [rank.communicate(timeout=120) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    return [
        said(error) if rank.returncode else json.loads(out.splitlines()[-1])
        for rank, (out, error) in zip(ranks, ends, strict=True)
    ]


def said(error):
    """What a process that died says of it: the first of its checks that failed."""
    failed = [line.partition("Check failed: ")[2].strip() for line in error.splitlines() if "Check failed: " in line]
    return failed[0] if failed else error.splitlines()[-1]


def train(flow, **options):
    """Train as one rank, with half of the batch; the parameters afterwards."""
    everywhere, whole = flow.placement("cpu", list(range(RANKS))), flow.sbp.broadcast
    module = linear(flow).to_global(placement=everywhere, sbp=whole)
    optimizer = sgd(flow, module, momentum=0.9)
    graph = training(flow, module, optimizer, configure=lambda made: made.config.enable_zero(True, **options))
    batch = flow.ones(4, 3).to_global(placement=everywhere, sbp=whole).to_global(sbp=flow.sbp.split(0))
    for _ in range(STEPS):
        graph(batch)
    return values({name: part.to_local() for name, part in module.state_dict().items()})


if __name__ == "__main__":
    from dual_object.adapters.oneflow.eager import import_oneflow

    sys.stdout.write(json.dumps(train(import_oneflow(), **json.loads(sys.argv[1]))) + "\n")
    sys.stdout.flush()
