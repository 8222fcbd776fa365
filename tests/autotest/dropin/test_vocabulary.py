"""The vocabulary of the drop-in against the names of OneFlow's own harness, measured on the installed one."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from autotest.dropin.finder import PACKAGE
from autotest.dropin.lacking import computed, refuse
from support.runs import BODIES, environment

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="OneFlow is not installed"),
    pytest.mark.slow,
]

MODULES = ("", ".generators", ".torch_flow_dual_object", ".global_scope", ".util", ".profiler")
#: What versions of OneFlow after 0.9.0 export, too.
LATER = {"all_cpu_placement", "all_cuda_placement", "random_dtype", "random_pytorch_dtype"}
ASK = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
from autotest.dropin.finder import install
from dual_object.adapters.oneflow.eager import import_oneflow

def shown(name):
    module = importlib.import_module(name)
    star = {}
    exec(f"from {name} import *", star)
    return module, {
        "star": sorted(set(star) - {"__builtins__"}),
        "public": sorted(other for other in vars(module) if not other.startswith("_")),
        "file": module.__file__,
    }

import_oneflow()
theirs = {name: shown(name)[1] for name in sys.argv[1:]}
for name in [name for name in sys.modules if name.startswith(sys.argv[1])]:
    del sys.modules[name]
install()
ours = {}
for name in sys.argv[1:]:
    module, ours[name] = shown(name)
    ours[name]["lacks"] = [other for other in theirs[name]["public"] if not hasattr(module, other)]
print(json.dumps([theirs, ours]))
"""


@pytest.fixture(scope="module")
def both() -> list[dict[str, dict[str, Any]]]:
    """What the modules of the installed harness have, and those of the drop-in: star names, public names, and which of
    theirs are not there. In one process, which takes seconds to import OneFlow.
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", ASK, *(f"{PACKAGE}{module}" for module in MODULES)],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def theirs(both: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The installed harness."""
    return both[0]


@pytest.fixture(scope="module")
def ours(both: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The drop-in."""
    return both[1]


@pytest.mark.parametrize("module", MODULES)
def test_star_names(module: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """`import *` gives what it gives there, and what later versions have added."""
    name = f"{PACKAGE}{module}"
    later = LATER if module in ("", ".generators") else set()
    assert set(ours[name]["star"]) == set(theirs[name]["star"]) | later


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name(module: str, ours: dict[str, Any]) -> None:
    """Each public name of each module is there, and the module is ours."""
    shown = ours[f"{PACKAGE}{module}"]
    assert shown["lacks"] == []
    assert "autotest/dropin/vocabulary" in shown["file"]


def test_every_name_is_used(theirs: dict[str, Any]) -> None:
    """Each public name occurs in our own drop-in files, which run."""
    text = "\n".join(path.read_text() for path in (BODIES / "dropin").glob("*.py"))
    words = set(re.findall(r"\w+", text))
    names = {other for module in theirs.values() for other in (*module["public"], *module["star"])} | LATER
    assert sorted(names - words) == []


def test_lacking_name() -> None:
    """A name that nobody has is refused by a sentence, a dunder without."""
    missing = refuse("m")
    with pytest.raises(AttributeError) as caught:
        missing("brand_new")
    assert str(caught.value) == (
        "m.brand_new is not part of the drop-in for OneFlow's harness: "
        "run this file without --drop-in, or use what docs/migrating.md names instead"
    )
    with pytest.raises(AttributeError) as caught:
        missing("__path__")
    assert str(caught.value) == "__path__"


def test_computed_name() -> None:
    """A computed name is asked for each time."""
    counts = iter(range(9))
    found = computed("m", {"count": lambda: next(counts)})
    assert (found("count"), found("count")) == (0, 1)
    with pytest.raises(AttributeError):
        found("other")
