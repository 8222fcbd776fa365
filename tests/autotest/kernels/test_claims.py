"""Which function says to be which op: as people write it, and what is no such thing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autotest.errors import UsageError
from autotest.kernels.claims import claimed, kernel_at, op_path, shapes_of
from autotest.kernels.judge import Kernel
from dual_object.replay.adapter import load_reference

RELUS = Path(__file__).parents[2] / "support" / "kernels" / "relus.py"


def own(input):  # noqa: D103
    return input


def test_a_file_and_a_module() -> None:
    """Both are found without being imported."""
    assert kernel_at(f"{RELUS}:sound") == Kernel(RELUS, "sound")
    found = kernel_at("autotest.exits:main", delegates=True)
    assert (found.file.name, found.function, found.delegates) == ("exits.py", "main", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("softmax", "KERNEL='softmax', but should be FILE.py:function or package.module:function"),
        ("x.py:a b", "KERNEL='x.py:a b', but should be FILE.py:function or package.module:function"),
        ("nosuch.py:f", "KERNEL='nosuch.py:f', but nosuch.py is no file"),
        ("no.such:f", "KERNEL='no.such:f', but there is no module no.such: put its folder on PYTHONPATH"),
    ],
)
def test_what_is_no_kernel(text: str, message: str) -> None:
    """It is said whole."""
    with pytest.raises(UsageError) as refused:
        kernel_at(text)
    assert str(refused.value) == message


def test_functions_and_sources() -> None:
    """A function is found by its file and name; of a source the last function is meant."""
    with claimed(own) as found:
        assert (found.file, found.function) == (Path(__file__), "own")
    with claimed("def helper():\n    pass\n\ndef relu(input):\n    return input\n") as written:
        assert (written.function, written.file.read_text().count("def")) == ("relu", 2)
    assert not written.file.parent.exists()


def test_no_package_is_imported_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kernel's package does when it is imported, it does in its own process alone."""
    package = tmp_path / "loud"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit")
    (package / "kernels.py").write_text("def relu(input):\n    return input\n")
    monkeypatch.chdir(tmp_path)
    assert kernel_at("loud.kernels:relu") == Kernel(package / "kernels.py", "relu")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("def f(:\n  pass", "the kernel's source is no Python: invalid syntax (<unknown>, line 1)"),
        ("x = 1\n", "the kernel's source has no function"),
    ],
)
def test_sources_that_are_none(kernel: str, message: str) -> None:
    """It is said whole."""
    with pytest.raises(UsageError) as refused, claimed(kernel):
        pass
    assert str(refused.value) == message


def test_a_function_that_no_file_has() -> None:
    """Another process could not find it."""
    with (
        pytest.raises(UsageError, match="but should be a function that a file has by name"),
        claimed(lambda x: x),
    ):
        pass


def test_the_op() -> None:
    """By its name, whole or short, by itself, or by the function's name."""
    reference, kernel = load_reference(), Kernel(RELUS, "relu")
    for like in ("torch.relu", "relu", torch.relu, None):
        assert op_path(reference, like, kernel) == "relu"
    assert op_path(reference, "layer_norm", kernel) == "layer_norm"
    assert op_path(reference, torch.nn.functional.gelu, kernel) == "nn.functional.gelu"
    assert op_path(reference, "gelu", kernel) == "nn.functional.gelu"
    for like, message in (
        (
            "torch.nosuch",
            "like='torch.nosuch', but torch.nosuch is no function of PyTorch: name the op, as torch.softmax",
        ),
        (own, "but should be a public function of PyTorch, or its name"),
    ):
        with pytest.raises(UsageError) as refused:
            op_path(reference, like, kernel)
        assert message in str(refused.value)
    with pytest.raises(UsageError) as refused:
        op_path(reference, None, Kernel(RELUS, "sound"))
    assert str(refused.value) == (
        "sound comes without like, but torch.sound is no function of PyTorch: name the op, as torch.softmax [--like]"
    )


def test_shapes() -> None:
    """A number is that size, a letter any size."""
    assert shapes_of(["n,128", "m , n,64", "7"]) == ((None, 128), (None, None, 64), (7,))


@pytest.mark.parametrize("text", ["", "n,", "n,-1", "0", "rows,128", "1.5"])
def test_shapes_that_are_none(text: str) -> None:
    """It is said whole."""
    with pytest.raises(UsageError) as refused:
        shapes_of([text])
    assert str(refused.value) == (
        f"shapes={text!r}, but should be a number or a letter for each dimension, as n,128 [--shapes]"
    )
