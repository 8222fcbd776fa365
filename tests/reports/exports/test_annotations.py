"""GitHub gets one annotation per red divergence, and the summary of the step."""

from __future__ import annotations

import pytest

from reports import RecordError
from reports.exports.annotations import append_step_summary, github_annotations
from reports.exports.markdown import markdown_text


def test_one_divergence(summed, case, row, ended):
    """An error stands at its test's file and line, with the fingerprint as title."""
    records = []
    for test in ("suites/test_y.py::test_b", "suites/test_x.py::test_a"):
        for index in range(2):
            records += case(test, index, verdict="divergent", divergences=[row(test=test)])
        records.append(ended(test, outcome="failed"))
    assert github_annotations(summed(*records)) == [
        "::error file=suites/test_x.py,line=12,title=oneflow/eager_forward/value/relu/float32::"
        "out[0]=2.0, but should be 1.0 [relu(float32)]%0A4 cases of 2 tests%0Aautotest replay 0a1b2c3d"
    ]


def test_line_is_not_known(summed, case, row):
    """A test whose line is not known is annotated at its file."""
    [command] = github_annotations(summed(*case(verdict="divergent", divergences=[row()])))
    assert command.startswith("::error file=test_x.py,title=oneflow/")


def test_only_red_ones(summed, case, row, ended):
    """What is known, counted or stricter gives no annotation, nor does an aligned run."""
    rows = [row(fingerprint=level, level=level) for level in ("known", "counted", "stricter")]
    assert github_annotations(summed(*case(verdict="divergent", divergences=rows), ended())) == []
    assert github_annotations(summed(*case(), ended())) == []


def test_ten_errors_and_a_notice(summed, case, row, ended):
    """The ten worst are errors, and a notice tells how many more there are."""
    rows = [row(fingerprint=f"f/{i:02}") for i in range(11)]
    rows.append(row(fingerprint="g", kind="crash"))

    def told(count):
        return github_annotations(summed(*case(verdict="divergent", divergences=rows[-count:]), ended()))

    assert len(told(10)) == 10
    commands = told(12)
    assert [command.partition("title=")[2].partition("::")[0] for command in commands[:3]] == ["g", "f/00", "f/01"]
    assert len(commands) == 11
    assert commands[-1] == "::notice title=op-autotest::2 more divergences, see the summary of this step"
    assert told(11)[-1] == "::notice title=op-autotest::1 more divergence, see the summary of this step"


def test_escapes(summed, case, row, ended):
    """Text from outside can neither end a command, nor its properties, nor begin another line."""
    name = "a:b,c%0A::error::x\r\n\x1b"
    divergence = row(test=name, fingerprint=name, message=name, replay=name)
    [command] = github_annotations(
        summed(*case(name, verdict="divergent", divergences=[divergence]), ended(name, outcome="failed"))
    )
    safe = "a%3Ab%2Cc%250A%3A%3Aerror%3A%3Ax\\r\\n\\x1b"
    assert command == (
        f"::error file=a%3Ab%2Cc%250A,line=12,title={safe}::"
        "a:b,c%250A::error::x\\r%0A\\x1b%0A1 case of 1 test%0Aa:b,c%250A::error::x\\r\\n\\x1b"
    )


def test_long_message_is_cut(summed, case, row, ended):
    """Twelve lines of a message are told, and four thousand characters."""

    def told(message):
        [command] = github_annotations(summed(*case(verdict="divergent", divergences=[row(message=message)]), ended()))
        return command.partition("float32::")[2].removesuffix("%0A1 case of 1 test%0Aautotest replay 0a1b2c3d")

    lines = [f"line {i}" for i in range(14)]
    assert told("\n".join(lines)) == "%0A".join([*lines[:12], "and 2 more lines, see summary.json"])
    assert told("\n".join(lines[:12])) == "%0A".join(lines[:12])
    assert told("x" * 4001) == f"{'x' * 3997}..."


def test_step_summary_is_appended(summed, case, ended, tmp_path):
    """The Markdown of a run follows what others wrote into the file."""
    summary = summed(*case(), ended())
    path = tmp_path / "step.md"
    append_step_summary(path, summary)
    assert path.read_text(encoding="utf-8") == markdown_text(summary)
    path.write_text("before\n")
    append_step_summary(path, summary)
    assert path.read_text(encoding="utf-8") == f"before\n\n{markdown_text(summary)}"


def test_step_summary_keeps_to_the_limit(summed, case, row, ended, tmp_path):
    """What others wrote counts against the limit, past which GitHub would show nothing at all."""
    rows = [row(fingerprint=f"f/{i:05}", message="x" * 300) for i in range(3000)]
    summary = summed(*case(verdict="divergent", divergences=rows), ended())
    path = tmp_path / "step.md"
    path.write_text("x" * 600_000 + "\n")
    append_step_summary(path, summary)
    assert 890_000 < path.stat().st_size <= 900_100
    append_step_summary(path, summary)
    assert path.stat().st_size <= 902_000


def test_step_summary_that_cannot_be_written(summed, tmp_path):
    """A file that cannot be written is named, with the system's reason."""
    with pytest.raises(RecordError) as caught:
        append_step_summary(tmp_path, summed())
    assert str(caught.value) == (
        f"{tmp_path} cannot be written: Is a directory; unset GITHUB_STEP_SUMMARY or mend its path"
    )
    assert caught.value.errno == 21
