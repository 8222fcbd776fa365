"""`autotest diff` compares two runs, and its exit status says whether the second is worse."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autotest.cli import main
from autotest.commands.diff import diff_runs
from reports import RecordError, RecordWriter, read_run, save_summary, summarize

TEST = "test_x.py::test_a"


def made_run(folder, *levels):
    """Write a run whose one test shows one divergence of each level, and its summary."""
    header = {"seed": 0, "target": "oneflow", "environment": {}, "command": "pytest", "commit": None, "path": None}
    with RecordWriter(folder, "main", **header) as writer:
        texts = {"id": "0" * 8, "target": "oneflow", "test": TEST, "op": "relu", "phase": "eager_forward"}
        texts |= {"kind": "value", "case_key": f"{TEST}#0", "message": "m", "replay": "r"}
        rows = [
            {**texts, "fingerprint": f"oneflow/{i}", "level": level, "reason": None, "evidence": None}
            for i, level in enumerate(levels)
        ]
        writer.start(TEST, f"{TEST}#0", 0)
        writer.end(TEST, f"{TEST}#0", "divergent" if rows else "aligned", seconds=0.1, divergences=rows)
        writer.test(TEST, 0.1, "failed" if rows else "passed", 1)
    save_summary(folder, summarize(read_run(folder)))
    return folder


def called(*arguments):
    """Run the command and return its exit status, output and errors."""
    answer = CliRunner().invoke(main, ["diff", *map(str, arguments)])
    return answer.exit_code, answer.stdout, answer.stderr


def test_nothing_new(tmp_path):
    """What is no longer there, or known, is nothing to fail for."""
    before, after = made_run(tmp_path / "a", "known", "wrong"), made_run(tmp_path / "b", "known")
    status, out, err = called(before, after)
    assert (status, err) == (0, "")
    assert out.startswith("not worse: 1 gone; 1 the same\n")


def test_runs_by_name(tmp_path, monkeypatch):
    """The runs of the usual report folder go by their names, and by the first digits of them."""
    monkeypatch.chdir(tmp_path)
    made_run(tmp_path / "autotest-report" / "runs" / "20261128-120000-0-7", "known")
    made_run(tmp_path / "autotest-report" / "runs" / "20261129-120000-0-8", "known", "wrong")
    assert called("20261128", "20261129-120000-0-8")[0] == 1
    assert called("20261129", "20261128-120000-0-7")[0] == 0
    shown = CliRunner().invoke(main, ["report", "20261129"])
    assert shown.exit_code == 0
    assert [path.parent.name for path in tmp_path.rglob("runs/*/index.html")] == ["20261129-120000-0-8"]


def test_something_new(tmp_path):
    """A new red divergence is status 1, and so is a known one that is red now."""
    before, after = made_run(tmp_path / "a", "known"), made_run(tmp_path / "b", "wrong", "refuses")
    status, out, _ = called(before, after)
    assert status == 1
    assert out.startswith("WORSE by 2 divergences: 1 new, 1 changed; 0 the same\n")


def test_cannot_compare(tmp_path):
    """A folder that is none, or a run without a summary, is status 2 and one sentence."""
    run = made_run(tmp_path / "a")
    status, out, err = called(run, tmp_path / "none")
    assert (status, out) == (2, "")
    assert err == (
        f"there is no report folder '{tmp_path / 'none'}' in {Path.cwd()}: "
        "run the tests first, or name the folder that was given with --report, or a run in it\n"
    )
    (run / "summary.json").unlink()
    status, _, err = called(run, run)
    assert status == 2
    assert err == (
        f"folder='{run}', but should be a run folder with a summary.json [load_saved]; "
        f"write it anew with: autotest report {run}\n"
    )


def test_report_folder_means_its_latest_run(tmp_path):
    """A report folder stands for its latest run, even where the copy of a summary in it is of another."""
    made_run(tmp_path / "runs" / "20260101-120000-0-1", "wrong")
    latest = made_run(tmp_path / "runs" / "20260101-120001-0-2")
    (tmp_path / "summary.json").write_text("{}")
    status, out, _ = called(tmp_path, latest)
    assert status == 0
    assert out.startswith("the same: 0 divergences\n")


def test_summary_without_records(tmp_path):
    """A folder of which only summary.json was kept can be compared."""
    run = made_run(tmp_path / "a", "wrong")
    (run / "records-main.jsonl").unlink()
    status, out, _ = called(run, run)
    folded = out.replace("\n        ", "")  # as far as the folder's name is long
    assert (status, folded) == (0, f"the same: 1 divergence\n\nbefore  {run}\nafter   {run}\n\n")


def test_page(tmp_path):
    """--html writes the page; where it cannot, that is told and nothing else."""
    run = made_run(tmp_path / "a")
    page = tmp_path / "d.html"
    status, out, _ = called(run, run, "--html", page)
    assert status == 0
    assert out.startswith("the same")
    assert "the same" in page.read_text(encoding="utf-8")
    with pytest.raises(RecordError) as caught:
        diff_runs(run, run, run / "none" / "d.html")
    assert str(caught.value) == (
        f"{run / 'none' / 'd.html'} cannot be written: No such file or directory; give --html another file"
    )
