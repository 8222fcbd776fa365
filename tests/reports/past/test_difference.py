"""Two runs are compared by fingerprint: new, gone, changed, and what cannot be known."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from reports import FolderError, RecordError, read_run, save_summary, summarize
from reports.page.difference import difference_html
from reports.past.difference import Fact, compare_runs
from reports.past.saved import load_saved, saved_of
from reports.text.difference import render_difference

A, B, C = "test_x.py::test_a", "test_x.py::test_b", "test_x.py::test_c"
NEW = "oneflow/eager_forward/value/relu/float32"
OLD = "oneflow/eager_forward/crash/lgamma/float32"
UNSEEN = "which before did not run, or failed without a divergence"
PAGE = Path("two.html")
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e[red]x[/red]"


@pytest.fixture
def run(lay, header, case, ended, row):
    """Give a function which makes a saved run: rows are (test, index, fields of the row), outcomes are by test."""

    def make(*rows, outcomes=None, **fields):
        records = []
        for test, index, parts in rows:
            key = f"{test}#{index}"
            divergence = row(**{"test": test, "case_key": key, **parts})
            records += case(test, index, verdict="divergent", divergences=[divergence])
        tests = {test: "failed" for test, _, _ in rows} if outcomes is None else outcomes
        records += [ended(test, outcome=outcome) for test, outcome in tests.items()]
        return saved_of(summarize(read_run(lay(header(**fields), *records))))

    return make


def words(changes):
    """Return fingerprint and words of each change."""
    return [(change.finding.fingerprint, list(change.words)) for change in changes]


def test_alike(run):
    """Two runs that show the same have no difference."""
    found = compare_runs(run((A, 0, {})), run((A, 0, {})))
    assert (found.facts, found.new, found.gone, found.changed, found.not_run) == ((), (), (), (), ())
    assert (found.same, found.worse) == (1, 0)
    assert found.headline == "the same: 1 divergence"


def test_new_and_gone(run):
    """What only the second run has is new, what only the first has is gone where its test ran."""
    before = run((A, 0, {"fingerprint": OLD, "kind": "crash"}), outcomes={A: "failed", B: "passed"})
    after = run((B, 0, {"fingerprint": NEW}), outcomes={A: "passed", B: "failed"})
    found = compare_runs(before, after)
    assert words(found.new) == [(NEW, [])]
    assert words(found.gone) == [(OLD, [])]
    assert (found.changed, found.not_run, found.same, found.worse) == ((), (), 0, 1)
    assert found.headline == "WORSE by 1 divergence: 1 new, 1 gone; 0 the same"


@pytest.mark.parametrize("outcomes", [{}, {A: "skipped"}, {A: "failed"}])
def test_not_run_is_not_gone(run, outcomes):
    """A test that did not run, was skipped, or failed without a divergence says nothing of what it showed."""
    found = compare_runs(run((A, 0, {"level": "known"})), run(outcomes=outcomes))
    assert found.gone == ()
    assert words(found.not_run) == [(NEW, ["its test did not run, or failed without a divergence"])]
    assert found.headline == "not worse: 1 not run; 0 the same"


def test_gone_from_some_of_its_tests(run):
    """One test that ran and is silent makes a divergence gone; the others are told."""
    before = run((A, 0, {}), (B, 0, {}), (C, 0, {}))
    found = compare_runs(before, run(outcomes={B: "passed"}))
    assert words(found.gone) == [(NEW, ["2 of its 3 tests did not run, or failed without a divergence"])]
    assert compare_runs(before, run()).not_run[0].words == ("its tests did not run, or failed without a divergence",)


def test_new_in_a_test_that_did_not_run_before(run):
    """Where no test of a new divergence ran before, that is told."""
    found = compare_runs(run(), run((A, 0, {})))
    assert words(found.new) == [(NEW, ["before, its test did not run, or failed without a divergence"])]


@pytest.mark.parametrize(
    ("level", "worse"), [("wrong", 1), ("refuses", 1), ("known", 0), ("counted", 0), ("stricter", 0)]
)
def test_only_red_is_worse(run, level, worse):
    """A new divergence is worse where it makes a run red; the others are new all the same."""
    found = compare_runs(run(outcomes={A: "passed"}), run((A, 0, {"level": level})))
    assert [change.finding.level for change in found.new] == [level]
    assert found.worse == worse


@pytest.mark.parametrize(
    ("was", "now", "worse"),
    [
        ("known", "wrong", 1),
        ("wrong", "known", 0),
        ("refuses", "wrong", 1),
        ("wrong", "refuses", 0),
        ("counted", "stricter", 0),
    ],
)
def test_level_changed(run, was, now, worse):
    """Another level is told; it is worse where it is red and worse than before."""
    found = compare_runs(run((A, 0, {"level": was})), run((A, 0, {"level": now})))
    assert words(found.changed) == [(NEW, [f"{was} -> {now}"])]
    assert (found.worse, found.same) == (worse, 0)


def test_level_changed_in_one_test(run):
    """A test which alone changes its level is named, although the worst level stays."""
    before = run((A, 0, {}), (B, 0, {"level": "known"}))
    found = compare_runs(before, run((A, 0, {}), (B, 0, {})))
    assert words(found.changed) == [(NEW, [f"known -> wrong in {B}"])]
    assert found.worse == 1


def test_level_of_disjoint_tests(run):
    """The level is compared even where no test is in both runs."""
    found = compare_runs(run((A, 0, {"level": "known"})), run((B, 0, {})))
    assert words(found.changed) == [(NEW, ["known -> wrong", f"also in {B}, {UNSEEN}"])]


def test_cases_changed(run):
    """Another number of cases is told; more red ones are worse at one seed, and tell nothing at another."""
    few, many = [(A, i, {}) for i in range(3)], [(A, i, {}) for i in range(20)]
    found = compare_runs(run(*few), run(*many))
    assert words(found.changed) == [(NEW, ["3 -> 20 cases"])]
    assert found.worse == 1
    assert compare_runs(run(*many), run(*few)).worse == 0
    assert compare_runs(run(*few), run(*many, seed=8)).worse == 0


def test_cases_of_tests_that_ran_in_both(run):
    """A run of fewer tests has not fewer cases of a divergence."""
    both, one = run((A, 0, {}), (B, 0, {})), run((A, 0, {}))
    assert compare_runs(both, one).changed == ()
    assert words(compare_runs(one, both).changed) == [(NEW, [f"also in {B}, {UNSEEN}"])]


def test_tests_changed(run):
    """Tests that show a divergence as well, or no longer, are named where they ran in both runs."""
    ran = dict.fromkeys((A, B), "passed")
    found = compare_runs(run((A, 0, {}), outcomes={**ran, A: "failed"}), run((B, 0, {}), outcomes={**ran, B: "failed"}))
    assert words(found.changed) == [(NEW, [f"also in {B}", f"no longer in {A}"])]
    assert found.worse == 1


def test_many_tests(run):
    """Three tests are named, the others counted."""
    tests = {f"t::{i}": "passed" for i in range(6)}
    rows = [(test, 0, {"level": "known"}) for test in tests]
    found = compare_runs(run(rows[0], outcomes=tests), run(*rows, outcomes=tests))
    assert found.changed[0].words == ("1 -> 6 cases", "also in t::1, t::2, t::3 and 2 more tests")
    assert found.worse == 0


def test_message_changed(run):
    """The same case at the same seed says the same; otherwise its first line is told, and nothing is worse."""
    before = run((A, 0, {"message": "one"}))
    found = compare_runs(before, run((A, 0, {"message": "two\nthree"})))
    assert words(found.changed) == [(NEW, ["now says: two..."])]
    assert found.worse == 0
    long = compare_runs(before, run((A, 0, {"message": "x" * 300})))
    assert long.changed[0].words == (f"now says: {'x' * 197}...",)
    assert compare_runs(before, run((A, 0, {"message": "two"}), seed=8)).changed == ()
    assert compare_runs(before, run((A, 1, {"message": "two"}))).changed == ()


def test_facts(run):
    """Target, versions, seed, inputs, commit and command are told where they differ; `-` is what is unknown."""
    before = run(environment={"torch": "2.1", "cuda": "no"}, commit=None)
    after = run(
        environment={"torch": "2.2", "numpy": "1.26"}, seed=8, inputs="edge", target="torch", command="pytest -n 2"
    )
    assert compare_runs(before, after).facts == (
        Fact("target", "oneflow", "torch"),
        Fact("cuda", "no", "-"),
        Fact("numpy", "-", "1.26"),
        Fact("torch", "2.1", "2.2"),
        Fact("seed", "7", "8"),
        Fact("inputs", "-", "edge"),
        Fact("commit", "-", "0123456789ab"),
        Fact("command", "pytest", "pytest -n 2"),
    )


def test_unfinished_run(run, lay, header, case):
    """A run that did not finish is told."""
    broken = saved_of(summarize(read_run(lay(header(), case()[0]))))
    assert compare_runs(run(), broken).facts == (Fact("finished", "yes", "no"),)


def test_other_target(run):
    """Runs of two targets are compared by what follows the target, and not by their messages."""
    before = run((A, 0, {"message": "one"}))
    after = run((A, 0, {"fingerprint": NEW.replace("oneflow", "other"), "message": "two"}), target="other")
    found = compare_runs(before, after)
    assert (found.same, found.new, found.gone) == (1, (), ())


def test_target_of_several_executors(run):
    """A run that lists executors tells its divergences under their names: they are compared as they are."""
    mine, others = ({"fingerprint": f"torch:{name}/graph_forward/value/relu/float32"} for name in ("a", "b"))
    before = run((A, 0, mine), (A, 1, others), target="torch:a,torch:b")
    after = run((A, 0, mine), target="torch:a")
    found = compare_runs(before, after)
    assert found.same == 1
    assert [change.finding.fingerprint for change in found.gone] == [others["fingerprint"]]
    assert compare_runs(before, before).same == 2


def test_worst_first(run):
    """Changes stand by level, kind and number of tests."""
    rows = [
        (A, 0, {"fingerprint": "f/known", "level": "known"}),
        (A, 1, {"fingerprint": "f/one"}),
        (A, 2, {"fingerprint": "f/two"}),
        (B, 0, {"fingerprint": "f/two"}),
        (A, 3, {"fingerprint": "f/crash", "kind": "crash"}),
        (A, 4, {"fingerprint": "f/refuses", "kind": "missing", "level": "refuses"}),
    ]
    found = compare_runs(run(), run(*rows))
    order = ["f/crash", "f/two", "f/one", "f/refuses", "f/known"]
    assert [change.finding.fingerprint for change in found.new] == order


def test_saved_is_what_was_summed(lay, header, case, ended, row):
    """A summary read back from summary.json compares as the summary itself, whatever the level of its rows."""
    levels = ("wrong", "refuses", "stricter", "counted", "known")
    rows = [row(fingerprint=f"oneflow/{level}", level=level) for level in levels]
    folder = lay(header(), *case(verdict="divergent", divergences=rows), ended(outcome="failed"), ended(B))
    summary = summarize(read_run(folder))
    save_summary(folder, summary)
    loaded, summed = load_saved(folder), saved_of(summary)
    found = compare_runs(summed, loaded)
    assert (found.same, found.facts, found.changed) == (5, (), ())
    assert (loaded.ran, loaded.command, loaded.commit) == ({A, B}, "pytest", "0123456789ab")
    assert (loaded.folder, loaded.complete) == (folder, True)


@pytest.fixture
def content(lay, header, case, ended, row):
    """Give the folder of a saved run and its summary.json as plain data."""
    folder = lay(header(), *case(verdict="divergent", divergences=[row()]), ended(outcome="failed"))
    path = save_summary(folder, summarize(read_run(folder)))
    return folder, json.loads(path.read_text())


def test_missing_summary(tmp_path):
    """A folder without a summary.json is named, with the command that writes it."""
    with pytest.raises(FolderError) as caught:
        load_saved(tmp_path / "a b")
    folder = tmp_path / "a b"
    assert str(caught.value) == (
        f"folder='{folder}', but should be a run folder with a summary.json [load_saved]; "
        f"write it anew with: autotest report '{folder}'"
    )


def test_truncated_summary(content):
    """A summary.json cut short is named, with the place where it ends."""
    folder, _ = content
    path = folder / "summary.json"
    path.write_text('{"cases": 1,')
    with pytest.raises(RecordError) as caught:
        load_saved(folder)
    assert str(caught.value) == (
        f"{path} cannot be read as a summary: Expecting property name enclosed in double quotes: "
        f"line 1 column 13 (char 12); write it anew with: autotest report {folder}"
    )


@pytest.mark.parametrize("text", [b"\xff\xfe", b"[" * 100_000])
def test_garbage(content, text):
    """Bytes that are no text, and nesting without end, are refused like any other damage."""
    folder, _ = content
    (folder / "summary.json").write_bytes(text)
    with pytest.raises(RecordError, match=r"summary\.json cannot be read as a summary: "):
        load_saved(folder)


def test_unreadable_summary(tmp_path):
    """A summary.json which the system does not give is named with the system's reason."""
    (tmp_path / "summary.json").mkdir()
    with pytest.raises(RecordError) as caught:
        load_saved(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'summary.json'} cannot be read: Is a directory; check its permissions"
    assert caught.value.errno == 21


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c.pop("divergences"), "divergences=None, but should be a list"),
        (lambda c: c.pop("outcomes"), "outcomes=None, but should be an object"),
        (lambda c: c.update(outcomes={"t": 1}), "outcomes.t=1, but should be a string"),
        (lambda c: c.update(known=[1]), "known[0]=1, but should be an object"),
        (lambda c: c.update(counted={}), "counted={}, but should be a list"),
        (lambda c: c["divergences"][0].pop("level"), "divergences[0].level=None, but should be a string"),
        (lambda c: c["divergences"][0].update(count=True), "divergences[0].count=True, but should be an integer"),
        (lambda c: c.update(seed="7"), "seed='7', but should be an integer"),
        (lambda c: c.update(complete=1), "complete=1, but should be true or false"),
        (lambda c: c.update(commit="x" * 9, command=["x" * 99]), f"command=['{'x' * 55}..., but should be a string"),
    ],
)
def test_foreign_summary(content, change, sentence):
    """A part that is missing or of another kind is named, with its place and the repair."""
    folder, told = content
    change(told)
    path = folder / "summary.json"
    path.write_text(json.dumps(told))
    with pytest.raises(RecordError) as caught:
        load_saved(folder)
    assert str(caught.value) == f"{sentence} [{path}]; write it anew with: autotest report {folder}"


def test_foreign_document(content):
    """JSON that is no object is no summary."""
    folder, _ = content
    path = folder / "summary.json"
    path.write_text("[]")
    with pytest.raises(RecordError) as caught:
        load_saved(folder)
    assert str(caught.value) == (
        f"summary=[], but should be an object [{path}]; write it anew with: autotest report {folder}"
    )


def test_summary_of_another_version(content, run):
    """Levels and keys of other versions do not disturb; an unknown level is as bad as the worst."""
    folder, told = content
    for name in ("counted", "stricter", "commit", "command", "target"):
        del told[name]
    told["divergences"][0]["level"] = "error"
    told["further"] = {"a": 1}
    (folder / "summary.json").write_text(json.dumps(told))
    saved = load_saved(folder)
    assert (saved.target, saved.commit, saved.command) == ("oneflow", None, None)
    empty = compare_runs(saved, saved)
    assert (empty.same, empty.facts) == (1, ())
    assert compare_runs(run(), saved).worse == 1


@pytest.fixture
def pair(run):
    """Give a difference with something in every list."""
    before = run(
        (A, 0, {"fingerprint": OLD, "level": "known", "kind": "crash"}),
        (A, 1, {"fingerprint": "oneflow/gone", "level": "wrong"}),
        (B, 0, {"fingerprint": "oneflow/not-run", "level": "refuses"}),
        (A, 2, {"fingerprint": "oneflow/same"}),
    )
    after = run(
        (A, 0, {"fingerprint": OLD, "kind": "crash"}),
        (A, 1, {"fingerprint": NEW}),
        (C, 0, {"fingerprint": NEW}),
        (A, 2, {"fingerprint": "oneflow/same"}),
        environment={"torch": "2.14.1", "oneflow": "0.9.1"},
    )
    return compare_runs(before, after)


def test_whole_text(pair, tmp_path):
    """Every line of the text."""
    assert render_difference(pair, 80) == (
        f"""\
WORSE by 2 divergences: 1 new, 1 changed, 1 gone, 1 not run; 1 the same

before  {tmp_path}
after   {tmp_path}

The runs differ
           before  after
  oneflow  0.9.0   0.9.1

New: 1
  oneflow/eager_forward/value/relu/float32  wrong, 2 cases of 2 tests
    test_x.py::test_a
    out[0]=2.0, but should be 1.0 [relu(float32)]
    autotest replay 0a1b2c3d

Changed: 1
  oneflow/eager_forward/crash/lgamma/float32  wrong, 1 case of 1 test
    known -> wrong

Gone: 1
  oneflow/gone  was wrong, 1 case of 1 test

Not run: 1, whose tests did not run after, or failed without a divergence
  oneflow/not-run
"""
    )


def test_text_of_runs_alike(run, tmp_path):
    """Without a difference there is the verdict and the two folders."""
    found = compare_runs(run(), run())
    assert render_difference(found, 80) == f"the same: 0 divergences\n\nbefore  {tmp_path}\nafter   {tmp_path}\n"


def test_text_is_cut(run):
    """Twenty changes of each list are shown, ten of those not run, three lines of a message."""
    rows = [(A, i, {"fingerprint": f"f/{i:02}", "message": "1\n2\n3\n4"}) for i in range(23)]
    text = render_difference(compare_runs(run(), run(*rows)), 80)
    assert text.count("f/") == 20
    assert "  and 3 more, see --html\n" in text
    assert "    3\n    and 1 more line, see summary.json\n    autotest replay" in text
    text = render_difference(compare_runs(run(*rows), run()), 80)
    assert text.count("f/") == 10
    assert text.endswith("  and 13 more, see --html\n")


@pytest.mark.parametrize("width", [40, 80])
def test_hostile_text(run, width):
    """Markup and control sequences are shown as typed, and no line is too wide."""
    rows = [(HOSTILE, i, {"fingerprint": f"{HOSTILE}{i}", "message": HOSTILE, "replay": HOSTILE}) for i in range(2)]
    before = run(rows[0], environment={HOSTILE: "1"})
    found = compare_runs(before, run(rows[1], environment={}, commit=HOSTILE))
    text = render_difference(found, width)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]x[/red]" in text.replace("\n", "").replace(" ", "")
    lines = [line for line in text.splitlines() if not line.startswith(("before", "after"))]
    assert max(map(len, lines)) <= width


def test_color_and_encoding(run):
    """Colour and characters are those that were asked for."""
    found = compare_runs(run(), run((A, 0, {"message": "\u4f60"})))
    assert render_difference(found, color=True).startswith("\x1b[1;31mWORSE by 1 divergence")
    assert render_difference(found, encoding="ascii").isascii()
    assert render_difference(compare_runs(run(), run()), color=True).startswith("\x1b[1;32mthe same")


def elements(page, tag):
    """Return the texts of a page's elements; the page is XML too, apart from its void elements."""
    body = page[page.index("<body") : page.index("</html>")].replace("<br>", "<br/>")
    return [" ".join(" ".join(found.itertext()).split()) for found in ET.fromstring(body).iter(tag)]  # noqa: S314


def test_page(pair):
    """The page has the verdict, the facts, and a row for each change."""
    page = difference_html(pair, PAGE)
    assert page.startswith("<!doctype html>")
    assert elements(page, "h1") == ["WORSE by 2 divergences 1 new, 1 changed, 1 gone, 1 not run; 1 the same"]
    assert elements(page, "h2") == ["The runs", "New: 1", "Changed: 1", "Gone: 1", "Not run: 1"]
    folder = str(pair.before.folder)
    assert elements(page, "tr") == [
        "before after",
        f"folder {folder} {folder}",
        "oneflow 0.9.0 0.9.1",
        "divergence level cases tests message",
        f"{NEW} autotest replay 0a1b2c3d wrong 2 {A} {C} out[0]=2.0, but should be 1.0 [relu(float32)]",
        "divergence level cases what changed",
        f"{OLD} autotest replay 0a1b2c3d wrong 1 worse known -> wrong",
        "divergence was cases tests how sure",
        f"oneflow/gone wrong 1 {A} all its tests ran",
        "divergence was cases tests how sure",
        f"oneflow/not-run refuses 1 {B} its test did not run, or failed without a divergence",
    ]


def test_page_of_runs_alike(run):
    """A page without a difference has no empty tables."""
    page = difference_html(compare_runs(run(), run()), PAGE)
    assert elements(page, "h1") == ["the same 0 divergences"]
    assert elements(page, "h2") == ["The runs"]


def test_page_cuts_long_messages(run):
    """Forty lines of a message are on the page, and the number of the others."""
    page = difference_html(compare_runs(run(), run((A, 0, {"message": "\n".join(map(str, range(42)))}))), PAGE)
    assert "<br>39<br>and 2 more lines, see summary.json<br>" in page


def test_page_is_self_contained(pair):
    """The page loads nothing, not even where a style sheet or a picture would."""
    page = difference_html(pair, PAGE)
    assert "default-src 'none'" in page
    assert re.findall(r"<script|src=|@import|url\((?!#)|https?://", page) == []


def test_page_of_hostile_text(run):
    """Names with markup are text on the page, in every place where a name may stand."""
    fields = {"fingerprint": HOSTILE, "message": HOSTILE, "replay": HOSTILE}
    many = [(f"{HOSTILE}{i}", 0, {**fields, "level": "known"}) for i in range(23)]
    before = run(*many, environment={HOSTILE: HOSTILE}, command=HOSTILE)
    after = run((HOSTILE, 0, fields), (HOSTILE, 1, {**fields, "fingerprint": f"2{HOSTILE}"}))
    for found in (compare_runs(before, after), compare_runs(run(), before), compare_runs(before, run())):
        page = difference_html(found, PAGE)
        assert "<script" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e" in page
    assert "<br>and 3 more" in difference_html(compare_runs(run(), before), PAGE).replace("\n", "")


def programs(page):
    """Return the lines of each program on the page, by its title; one alone has none."""
    body = page[page.index("<body") : page.index("</html>")].replace("<br>", "<br/>")
    return {
        figure.findtext("figcaption"): ["".join(line.itertext()) for line in figure.find("div/pre")]
        for figure in ET.fromstring(body).iter("figure")  # noqa: S314
    }


@pytest.mark.parametrize(
    ("old", "new", "shown", "title"),
    [
        ("x = 1\ny", "x = 2\ny", {"before": ["-x = 1", " y"], "after": ["+x = 2", " y"]}, "programs before and after"),
        ("x\ny", "x\ny", {None: [" x", " y"]}, "program in both runs"),
        (None, "x", {None: [" x"]}, "program after"),
        ("x", None, {None: [" x"]}, "program before"),
        (None, None, {}, None),
    ],
    ids=["other", "same", "only after", "only before", "none"],
)
def test_page_has_programs_beside_each_other(run, old, new, shown, title):
    """A divergence that has changed shows the program of both runs, with the lines marked that only one has."""
    sides = (run((A, 0, {"level": level})) for level in ("known", "wrong"))
    before, after = (
        replace(side, programs={} if text is None else {NEW: text})
        for side, text in zip(sides, (old, new), strict=True)
    )
    page = difference_html(compare_runs(before, after), PAGE)
    assert programs(page) == shown
    assert elements(page, "summary") == ([] if title is None else [title])


@pytest.mark.parametrize("place", ["new", "gone"])
def test_page_has_the_program_of_what_one_run_lacks(run, place):
    """What is new has the program of its run, and so has what is gone."""
    shows = replace(run((A, 0, {})), programs={NEW: "x"})
    lacks = run(outcomes={A: "passed"})
    pair = (lacks, shows) if place == "new" else (shows, lacks)
    page = difference_html(compare_runs(*pair), PAGE)
    assert programs(page) == {None: [" x"]}
    assert elements(page, "summary") == [f"program {'after' if place == 'new' else 'before'}"]


def test_fingerprints_lead_to_the_page_of_their_run(run, tmp_path):
    """From where the page is written, each leads to the run that shows it; a run without a page has no link."""
    after = replace(run((A, 0, {})), folder=tmp_path / "runs" / "second")
    lost = run((A, 0, {"fingerprint": OLD, "kind": "crash"}))
    after.folder.mkdir(parents=True)
    (after.folder / "index.html").write_text("the page")
    page = difference_html(compare_runs(lost, after), after.folder.parent / "two.html")
    link = 'href="second/index.html#view=divergences&amp;all=1&amp;open=0a1b2c3d"'
    assert re.findall("href=[^>]*index[^>]*", page) == [link]


def test_programs_outlive_a_run(lay, header, case, ended, row, evidence):
    """A saved run has its programs with their inputs; one of an older version has none."""
    shown = evidence(program="def program(torch, x):\n    pass\n", inputs=["x = 1"])
    found = row(test=A, case_key=f"{A}#0", evidence=shown)
    summary = summarize(read_run(lay(header(), *case(A, 0, verdict="divergent", divergences=[found]), ended(A))))
    save_summary(summary.folder, summary)
    expected = {NEW: "x = 1\n\ndef program(torch, x):\n    pass"}
    assert saved_of(summary).programs == load_saved(summary.folder).programs == expected
    path = summary.folder / "summary.json"
    content = json.loads(path.read_text())
    del content["programs"]
    path.write_text(json.dumps(content))
    assert load_saved(summary.folder).programs == {}
