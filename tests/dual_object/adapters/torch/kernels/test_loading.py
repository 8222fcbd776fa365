"""What is said of a file that cannot be imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from dual_object.adapters.torch.kernels.loading import load_file
from dual_object.errors import TargetError


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("short", "short"),
        ("x" * 400, "x" * 300),
        (
            "c++ " + "x" * 400 + "\nmain.cpp:3:1: error: no such type\nmore",
            "c++ " + "x" * 96 + " ... main.cpp:3:1: error: no such type",
        ),
    ],
)
def test_what_is_told_of_an_error(raised: str, told: str, tmp_path: Path) -> None:
    """Its beginning; of what a compiler says, the first error, too."""
    file = tmp_path / "k.py"
    file.write_text(f"raise RuntimeError({raised!r})\n")
    with pytest.raises(TargetError) as refused:
        load_file(str(file), "the kernel f")
    assert str(refused.value) == f"{file} cannot be imported: RuntimeError: {told}"
