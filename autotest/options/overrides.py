"""Overrides: functions that stand for ops of PyTorch in the target's process, as an option names them or a file does.

```toml
# kernels.toml
[[kernel]]
op = "torch.softmax"                      # or an operator below it: "aten._softmax.default"
implementation = "mykernels.py:softmax"   # beside this file; or "package.module:softmax"
domain = { dtypes = ["float32"] }         # by default all
known_gaps = ["no out="]
delegates = false                         # whether it may call the op itself
claims = ["vmap"]                         # or "compile", "threads": what `autotest kernel` asks of it besides
```

Nothing here imports a kernel: only the target's process does.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autotest import toml
from autotest.errors import UsageError
from autotest.workers.launch import Launch

#: What is loaded in the process of a target with overrides.
ADAPTER = "dual_object.adapters.torch.kernels.overriding:Adapter"
SHOULD = "OP=FILE.py:FUNCTION, OP=package.module:FUNCTION, or a file such as kernels.toml"
_KEYS = ("op", "implementation", "domain", "known_gaps", "delegates", "claims")
#: What a kernel may claim besides; `autotest.kernels.ways` says what is asked then.
CLAIMS = ("vmap", "compile", "threads")
_NAME = r"[A-Za-z_]\w*"


@dataclass(frozen=True, slots=True)
class Override:
    """A function that stands for an op.

    Attributes:
        op: below `torch`, such as `nn.functional.relu`; an operator of the dispatcher as `aten._softmax.default`.
        file, function: where it is.
        dtypes: those of tensors that it is called with; for others PyTorch's own op stands. Empty: all.
        gaps: what it is known not to take, in words.
        delegates: whether it may call the op itself.
        claims: in which ways of calling it is right besides; a judge asks, a run does not.
    """

    op: str
    file: Path
    function: str
    dtypes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    delegates: bool = False
    claims: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The op, as people type it."""
        return self.op if self.op.startswith("aten.") else f"torch.{self.op}"

    @property
    def text(self) -> str:
        """What names it on the command line, but for dtypes and gaps."""
        return f"{self.name}={self.file}:{self.function}"

    def to_json(self) -> list[Any]:
        """All of it that a run is about, as records and the target's process have it."""
        return [self.op, str(self.file), self.function, [*self.dtypes], [*self.gaps], self.delegates]

    @classmethod
    def from_json(cls, told: Sequence[Any]) -> Override:
        """The override that `told` tells of."""
        op, file, function, dtypes, gaps, delegates = told
        return cls(op, Path(file), function, tuple(dtypes), tuple(gaps), delegates)


def given_overrides(text: str) -> tuple[Override, ...]:
    """What `--override` means: one, or all of a file. Raises UsageError, and ValueError for what is neither."""
    if text.endswith(".toml"):
        return read_overrides(Path(text))
    op, equals, implementation = text.partition("=")
    if not equals:
        raise ValueError(text)
    return (_override(op.strip(), implementation.strip(), Path.cwd(), f"override={text!r}"),)


def read_overrides(path: Path) -> tuple[Override, ...]:
    """The kernels of a file. Raises UsageError for one that cannot be read, or says something else than it should."""
    try:
        kernels = toml.loads(path.read_text(encoding="utf-8")).get("kernel")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"override='{path}' cannot be read: {reason} [--override]") from None
    if not isinstance(kernels, list) or not kernels or not all(isinstance(table, dict) for table in kernels):
        raise UsageError(f"override='{path}', but should have tables [[kernel]] [--override]")
    return tuple(_of_table(path, number, table) for number, table in enumerate(kernels, 1))


def _of_table(path: Path, number: int, table: Mapping[str, Any]) -> Override:
    where = f"kernel {number} of {path}"
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where} has {key}, but should have {', '.join(_KEYS[:-1])} or {_KEYS[-1]} [--override]")
    for key in ("op", "implementation"):
        if not isinstance(table.get(key), str):
            raise UsageError(f"{where} has {key}={table.get(key)!r}, but should have a text [--override]")
    from dual_object.replay.adapter import DTYPES

    domain = table.get("domain", {})
    if not isinstance(domain, dict) or not domain.keys() <= {"dtypes"}:
        raise UsageError(f"{where} has domain={domain!r}, but should have {{ dtypes = [...] }} [--override]")
    dtypes, gaps, delegates = domain.get("dtypes", []), table.get("known_gaps", []), table.get("delegates", False)
    if not isinstance(dtypes, list) or not all(dtype in DTYPES for dtype in dtypes):
        raise UsageError(f"{where} has dtypes={dtypes!r}, but should have some of {', '.join(DTYPES)} [--override]")
    if not isinstance(gaps, list) or not all(isinstance(gap, str) for gap in gaps):
        raise UsageError(f"{where} has known_gaps={gaps!r}, but should have a list of texts [--override]")
    if not isinstance(delegates, bool):
        raise UsageError(f"{where} has delegates={delegates!r}, but should have true or false [--override]")
    claims = table.get("claims", [])
    if not isinstance(claims, list) or not all(claim in CLAIMS for claim in claims):
        raise UsageError(f"{where} has claims={claims!r}, but should have some of {', '.join(CLAIMS)} [--override]")
    found = _override(table["op"], table["implementation"], path.resolve().parent, where)
    return replace(found, dtypes=tuple(dtypes), gaps=tuple(gaps), delegates=delegates, claims=tuple(claims))


def _override(op: str, implementation: str, folder: Path, where: str) -> Override:
    place, _, function = implementation.rpartition(":")
    if not place or not re.fullmatch(rf"{_NAME}(\.{_NAME})*", function):
        raise UsageError(
            f"{where}, but should name a function of a file, as FILE.py:FUNCTION or package.module:FUNCTION do "
            "[--override]"
        )
    file = folder / place if place.endswith(".py") else module_file(place, folder)
    if file is None or not file.is_file():
        raise UsageError(
            f"{where}, but there is no {'file' if place.endswith('.py') else 'module'} {place} [--override]"
        )
    return Override(_op(op, where), file.resolve(), function)


def _op(op: str, where: str) -> str:
    """An op as `Override` has it."""
    below = op.removeprefix("torch.ops.").replace("::", ".")
    if re.fullmatch(rf"aten\.{_NAME}(\.{_NAME})?", below):
        return below if below.count(".") == 2 else f"{below}.default"
    path = op.removeprefix("torch.")
    if path == op or not re.fullmatch(rf"{_NAME}(\.{_NAME})*", path):
        raise UsageError(
            f"{where}, but its op should be a public function, such as torch.nn.functional.softmax, or an operator, "
            "such as aten._softmax.default [--override]"
        )
    if path.startswith("Tensor."):
        raise UsageError(
            f"{where}, but methods are reached by their operators alone, such as aten._softmax.default [--override]"
        )
    return path


def module_file(name: str, folder: Path) -> Path | None:
    """Where a module is, found as Python would, from `folder` first; nothing is imported for it, no package either."""
    parts = name.split(".")
    for place in (folder, *map(Path, sys.path)):
        path = place.joinpath(*parts)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                return file
    return None


def overridden(launch: Launch, overrides: Sequence[Override]) -> Launch:
    """The process of a target with these overrides in it. Raises UsageError where it can have none."""
    if not overrides:
        return launch
    if launch.loads != "torch" or launch.python is not None:
        where = f"target={launch.target!r}" if launch.loads != "torch" else f"target_python={launch.python!r}"
        should = "the target should be torch" if launch.loads != "torch" else "it should be left out"
        raise UsageError(f"{where}, but {should}: kernels stand for ops of PyTorch [--override]")
    names = [override.name for override in overrides]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is overridden twice, but should be once [--override]")
    from dual_object.replay.asked.kernels import OVERRIDES, POISON

    told = [override.to_json() for override in overrides]
    return replace(launch, adapter=ADAPTER, environment={**launch.environment, **POISON, OVERRIDES: json.dumps(told)})


__all__ = ["CLAIMS", "SHOULD", "Override", "given_overrides", "module_file", "overridden", "read_overrides"]
