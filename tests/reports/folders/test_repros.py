"""Repros in reports: what became of each is kept as plain data, and told where its divergence is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports import RecordError, Summary, failure_text, junit_xml, markdown_text, render
from reports.findings.finding import findings
from reports.folders.repros import VERIFIED, ReproResult, join_repros, load_repros, save_repros, script_path, texts
from reports.page.index import detail_data

ID = "0a1b2c3d"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with one repro."""
    script = script_path(tmp_path, ID)
    script.parent.mkdir(parents=True)
    script.write_text("import torch\n")
    (script.parent / "issue.md").write_text("# relu\n")
    save_repros(
        tmp_path, {ID: ReproResult(True, VERIFIED), "ffffffff": ReproResult(False, "no script: it runs inline")}
    )
    return tmp_path


@pytest.fixture
def summary(run: Path, summed: Callable[..., Summary], case: Any, row: Any, ended: Any) -> Summary:
    """The summary of a run whose only divergence has a repro."""
    return summed(*case(verdict="divergent", divergences=[row()]), ended(outcome="failed"))


def test_what_became_of_each_repro_is_read_again(run: Path) -> None:
    """Its folder where there is a script, else the reason; none at all where none was kept."""
    found = load_repros(run)
    assert found[ID].sentence == f"repro: {run / 'repros' / ID / 'repro.py'} (verified: exits 1)"
    assert found["ffffffff"].sentence == "repro: no script: it runs inline"
    assert texts(found[ID]) == {
        "words": "verified: exits 1",
        "path": str(run / "repros" / ID / "repro.py"),
        "script": "import torch\n",
        "issue": "# relu\n",
    }
    nothing = {"words": "no script: it runs inline", "path": None, "script": None, "issue": None}
    assert texts(found["ffffffff"]) == nothing
    assert load_repros(run / "elsewhere") == {}


def test_repros_that_cannot_be_read_are_named(run: Path) -> None:
    """A damaged file, and a script that has gone, are sentences and no tracebacks."""
    found = load_repros(run)
    script_path(run, ID).unlink()
    with pytest.raises(RecordError) as refused:
        texts(found[ID])
    assert str(refused.value).startswith(f"{run / 'repros' / ID} cannot be read: [Errno 2] No such file or directory")
    path = run / "repros" / "repros.json"
    for damaged in ("{", '{"0a1b2c3d": 1}', "[]"):
        path.write_text(damaged)
        with pytest.raises(RecordError) as refused:
            load_repros(run)
        assert str(refused.value).startswith(f"{path} cannot be read: ")
        assert str(refused.value).endswith("; remove it, or run the tests again")


def test_summary_terminal_markdown_and_page_tell_of_repros(summary: Summary, run: Path) -> None:
    """Each says where the script lies, or what can be copied."""
    line = f"  repro: {run / 'repros' / ID / 'repro.py'} (verified: exits 1)"
    assert line in render(summary, width=60).splitlines()
    assert "Scripts and issues to copy lie in `repros/` of the run: 1 verified." in markdown_text(summary)
    assert summary.to_json()["repros"] == {ID: "verified: exits 1", "ffffffff": "no script: it runs inline"}
    assert line.strip() in junit_xml(summary)
    [finding] = findings(summary.divergences)
    assert json.loads(json.dumps(detail_data(finding, summary)["repro"])) == texts(summary.repros[ID])
    without = replace(summary, repros={})
    assert "repro" not in render(without)
    assert "Scripts" not in markdown_text(without)
    assert "repros" not in without.to_json()


def test_joined_runs_keep_the_first_script_of_each(run: Path, tmp_path: Path) -> None:
    """A script goes before a reason why there is none."""
    merged = tmp_path / "merged"
    save_repros(merged, {ID: ReproResult(False, "no script: it runs inline")})
    join_repros(run, merged)
    join_repros(run, merged)
    assert load_repros(merged)[ID].words == VERIFIED
    assert script_path(merged, ID).read_text() == "import torch\n"
    assert load_repros(merged)["ffffffff"].folder is None


def test_failure_names_where_its_script_will_lie(row: Any, tmp_path: Path) -> None:
    """A red test tells the path, unbroken, of those that will have one."""
    path = script_path(tmp_path, ID)
    assert failure_text([row()], cases=1, width=40, repros={ID: path}).splitlines()[-1] == f"  repro: {path}"
    assert "repro" not in failure_text([row()], cases=1, repros={"ffffffff": path})
