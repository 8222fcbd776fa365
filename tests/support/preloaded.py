"""What every fork of the tests has imported: PyTorch, pytest, and this project, as pytest would rewrite it; and what
takes long the first time.

Modules of ours are left out where they import another framework, or are none that is imported.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from importlib.machinery import PathFinder
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Our packages.
OURS = ("autotest", "dual_object", "generators", "op_autotest", "reports")
#: What pytest rewrites of this: packages that have plugins.
_REWRITTEN = (*OURS, "_hypothesis_globals", "hypothesis")
#: Modules of others, which nearly every run imports. Not xdist's plugin: it keeps the path that is there meanwhile.
_OTHERS = (
    "_pytest.pytester",
    "execnet",
    "functorch.compile",
    "hypothesis.internal.observability",
    "jinja2",
    "pytest",
    "rich.progress",
    "torch._dynamo",
    "torch._inductor.compile_fx",
)
#: Rooms and modules that no fork has.
_LEFT_OUT = (
    "autotest/__main__",
    "autotest/campaign/remote/cluster",
    "autotest/campaign/remote/slot",
    "autotest/conformance",
    "autotest/dropin/raw",
    "autotest/dropin/vocabulary",
    "autotest/repro/templates",
    "autotest/workers/elsewhere",
    "dual_object/adapters/jax",
    "dual_object/adapters/oneflow",
    "dual_object/adapters/paddle",
    "dual_object/adapters/torch/executors/iree",
    "dual_object/adapters/torch/executors/onnx_runtime",
)


def preload() -> None:
    """Import it all."""
    import torch

    torch.relu(torch.empty(1, device="meta"))  # imports what shape inference needs, too
    from _pytest.assertion import install_importhook
    from _pytest.config import default_plugins, get_config

    # The project's adapter says so before it imports Dynamo, which reads it then.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    sys.path.insert(0, str(ROOT))
    hook = install_importhook(get_config())
    hook.mark_rewrite(*_REWRITTEN)
    for name in (*_OTHERS, *(f"_pytest.{plugin}" for plugin in default_plugins), *modules()):
        importlib.import_module(name)
    sys.meta_path.remove(hook)
    prepare()
    del sys.path[0]


def prepare() -> None:
    """Have the templates of pages and scripts compiled, and PyTorch's functions listed."""
    from torch.overrides import get_overridable_functions

    from autotest.repro import templating as of_scripts
    from reports.page import templating as of_pages

    for templating, folder in ((of_scripts, "autotest/repro/templates"), (of_pages, "reports/page/templates")):
        for path in (ROOT / folder).glob("*.j2"):
            templating.template(path.name)
    of_pages.script("report")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks at deprecated names
        get_overridable_functions()


def modules() -> list[str]:
    """Our modules that are imported."""
    found = []
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).with_suffix("").as_posix()
            if not f"{place}/".startswith(tuple(f"{left}/" for left in _LEFT_OUT)):
                found.append(place.replace("/", ".").removesuffix(".__init__"))
    return found


def forget_displaced() -> None:
    """Forget packages of ours in whose place others would be imported by this path."""
    for package in OURS:
        spec = PathFinder.find_spec(package, sys.path)
        if spec is None or spec.origin != str(ROOT / package / "__init__.py"):
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                del sys.modules[name]
