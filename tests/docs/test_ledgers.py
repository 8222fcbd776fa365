"""What README and the pages of known divergences say of the suites' ledgers."""

import re
from pathlib import Path

import pytest

from autotest.ledger.document import document
from autotest.ledger.entries import read

ROOT = Path(__file__).parents[2]
SUITES = Path("suites")


@pytest.mark.parametrize(
    ("ledger", "target", "page"),
    [
        ("known_divergences.toml", "oneflow", "oneflow-0.9.0.md"),
        ("known_divergences.toml", "torch:*", "torch-2.14.1.md"),
        ("known_divergences.paddle.toml", "paddle", "paddle-3.3.1.md"),
        ("known_divergences.jax.toml", "jax", "jax-0.12.0.1.md"),
    ],
)
def test_pages_are_of_the_ledgers(ledger: str, target: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is what `autotest ledger document` writes today."""
    monkeypatch.chdir(ROOT)
    assert document(SUITES / ledger, target) == (ROOT / "docs" / page).read_text()


@pytest.mark.parametrize("target", ["oneflow", "paddle", "jax"])
def test_counts_of_the_readme(target: str) -> None:
    """README's table has the number of entries of each target's ledger."""
    [row] = re.findall(rf"^\| `{target}` \|.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    own = ROOT / SUITES / f"known_divergences.{target}.toml"
    entries = read(own if own.exists() else ROOT / SUITES / "known_divergences.toml", target).entries
    assert row.rpartition(" | ")[2] == f"{len(entries):,} |"
