"""The stages of a target: what `torch:eager,torch:aot_eager,dynamic` lists, each by the name that it has alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dual_object.errors import TargetError
from dual_object.replay.adapter import BUILT_IN, Adapter, TargetInfo, load
from dual_object.replay.asked.executors import PREFIX, asked_executor


def stages(target: str) -> tuple[str, ...]:
    """The executors of PyTorch that a target's name lists, `("torch:eager", "torch:aot_eager,dynamic")`, in its order:
    a part that begins with `torch:` names the next one, the others are its options. The name of any other target
    stands alone.

    Raises TargetError for an executor or option that there is not, for one executor twice, and for a list in which
    another target is.
    """
    parts = target.split(",")
    executors = sum(part.startswith(PREFIX) for part in parts)
    others = [part for part in parts if part in BUILT_IN or (":" in part and not part.startswith(PREFIX))]
    if executors and (others or not target.startswith(PREFIX)):
        raise TargetError(
            f"target={target!r}, but should be one target, or executors of PyTorch alone, such as "
            "torch:eager,torch:inductor [--target]"
        )
    if executors < 2:
        asked_executor(target)
        return (target,)
    names: list[str] = []
    for part in parts:
        if part.startswith(PREFIX):
            names.append(part)
        else:
            names[-1] += f",{part}"
    asked: set[tuple[str, frozenset[str]]] = set()
    for name in names:
        executor = asked_executor(name)
        assert executor is not None, "it begins with the prefix"
        if (executor.name, executor.options) in asked:
            raise TargetError(
                f"target={target!r}, but should name each executor with its options once: {name} is there twice "
                "[--target]"
            )
        asked.add((executor.name, executor.options))
    return tuple(names)


def called(target: str, info: Callable[[], TargetInfo]) -> tuple[str, ...]:
    """What the stages of a target are called where divergences are told: as they are asked for; of an adapter that is
    asked for by `package.module:Class`, by its `name`; `info` is asked for then alone.

    One that calls itself what another target is called is told by its class after all: what is known of PyTorch is not
    known of a class that was made of PyTorch's. So is one whose name would be no part of a fingerprint.
    """
    if ":" not in target or target.startswith(PREFIX):
        return stages(target)
    name = info().called
    return (name if name not in BUILT_IN and re.fullmatch(r"[\w.-]+", name) else target,)


def load_stages(target: str) -> Mapping[str, Adapter]:
    """The adapter of each stage, by its name; raises TargetError as `load`."""
    return {name: load(name) for name in stages(target)}


def stages_info(target: str, adapters: Sequence[Adapter]) -> TargetInfo:
    """What a target says of itself, of whose stages these are the adapters: all of them are one framework."""
    first, *others = [
        replace(adapter.info(), lacks=tuple(sorted(adapter.lacks)), called=adapter.name) for adapter in adapters
    ]
    if not others:
        return first
    version = first.environment.get(first.name, "")
    environment = {name: version for info in (first, *others) for name, version in info.environment.items()}
    shares = tuple(name for info in (first, *others) for name in info.shares)
    return replace(first, name=target, environment={**environment, target: version}, shares=shares)


__all__ = ["called", "load_stages", "stages", "stages_info"]
