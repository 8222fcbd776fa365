"""A red test tells its divergences: one block per fingerprint, the program marked, the worst elements below."""

from __future__ import annotations

import pytest

from reports import failure_text

PROGRAM = "def program(torch, x):\n    t0 = torch.relu(x)\n    return t0"


@pytest.fixture
def told(row, evidence, element):
    """Give a function which makes a divergence with its program and worst elements."""

    def make(blamed_line=2, worst=None, **fields):
        elements = [element(index=[0, 1])] if worst is None else worst
        shown = evidence(program=PROGRAM, blamed_line=blamed_line, worst=elements)
        return row(**{"evidence": shown, **fields})

    return make


def test_one_divergence(told):
    """A block has the fingerprint, the message, the program with its diverging line, the elements and the replay."""
    assert failure_text([told()], cases=1).splitlines() == [
        "1 divergence in 1 of 1 case",
        "",
        "oneflow/eager_forward/value/relu/float32  1 case",
        "  out[0]=2.0, but should be 1.0 [relu(float32)]",
        "",
        "    def program(torch, x):",
        "  >     t0 = torch.relu(x)",
        "        return t0",
        "",
        "  index    reference   oneflow   absolute   relative",
        "  [0, 1]           1         2          1          1",
        "",
        "  autotest replay 0a1b2c3d",
    ]


def test_what_the_ledger_has_stands_below_the_message(told):
    """The entry next to a new divergence is told; the reason of one that a mark excuses is the mark's to tell."""
    near = "the ledger has oneflow/eager_forward/value/relu/float32,tie: it is rounded"
    lines = failure_text([told(reason=near)], cases=1).splitlines()
    assert lines[3:6] == ["  out[0]=2.0, but should be 1.0 [relu(float32)]", f"  {near}", ""]
    excused = failure_text([told(reason="a mark's", level="known")], cases=1)
    assert "a mark's" not in excused


def test_rows_of_one_fingerprint_are_one_block(told):
    """A fingerprint is told once, by its first row, with the number of its cases, not of its rows."""
    keys = ("a#0", "a#0", "a#3")
    rows = [told(case_key=key, message=f"message {i}", worst=[]) for i, key in enumerate(keys)]
    lines = failure_text(rows, cases=1200).splitlines()
    assert lines[:4] == [
        "1 divergence in 2 of 1,200 cases",
        "",
        "oneflow/eager_forward/value/relu/float32  2 cases",
        "  message 0",
    ]
    assert "message 1" not in "\n".join(lines)


def test_three_blocks_at_most(told):
    """Three fingerprints are told in the order of their cases; the others are named, with what to type."""
    rows = [told(fingerprint=f"f{i}", case_key=f"a#{i}", worst=[]) for i in range(5)]
    lines = failure_text(rows, cases=5).splitlines()
    assert [line for line in lines if line.startswith("f")] == ["f0  1 case", "f1  1 case", "f2  1 case"]
    assert lines[0] == "5 divergences in 5 of 5 cases"
    assert lines[-4:] == [
        "",
        "and 2 more fingerprints:",
        "  f3  1 case  autotest replay 0a1b2c3d",
        "  f4  1 case  autotest replay 0a1b2c3d",
    ]


def test_ten_more_at_most(told):
    """Of very many the rest is counted."""
    rows = [told(fingerprint=f"f{i}", case_key=f"a#{i}", worst=[]) for i in range(15)]
    lines = failure_text(rows, cases=15).splitlines()
    assert lines[-2:] == ["  f12  1 case  autotest replay 0a1b2c3d", "  and 2 more, see summary.json"]
    assert lines[-12] == "and 12 more fingerprints:"


def test_one_block_more(told):
    """A fourth fingerprint is spoken of in the singular, a third not at all."""
    rows = [told(fingerprint=f"f{i}", worst=[]) for i in range(4)]
    assert failure_text(rows, cases=9).splitlines()[-2] == "and 1 more fingerprint:"
    assert failure_text(rows[:3], cases=9).splitlines()[-1] == "  autotest replay 0a1b2c3d"


def test_nothing_blamed_and_no_elements(told):
    """Without a blamed line nothing is marked; without worst elements there is no table."""
    assert failure_text([told(blamed_line=None, worst=[])], cases=2).splitlines()[5:] == [
        "    def program(torch, x):",
        "        t0 = torch.relu(x)",
        "        return t0",
        "",
        "  autotest replay 0a1b2c3d",
    ]


def test_message_of_several_lines_is_literal(told):
    """Each line of a message stands indented, control sequences and markup are shown as they are."""
    lines = failure_text([told(message="[bold]one[/bold]\n\x1b[31mtwo")], cases=1).splitlines()
    assert lines[3:5] == ["  [bold]one[/bold]", "  \\x1b[31mtwo"]


def test_long_message_is_folded(told):
    """No line is wider than asked for, and nothing of a message without blanks is lost."""
    text = failure_text([told(message="x" * 100, worst=[])], cases=1, width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.splitlines()[3:5] == ["  " + "x" * 58, "  " + "x" * 42]


def test_no_evidence(told):
    """Without evidence, or without a program in it, message and replay stand alone."""
    expected = ["  out[0]=2.0, but should be 1.0 [relu(float32)]", "", "  autotest replay 0a1b2c3d"]
    assert failure_text([told(evidence=None)], cases=1).splitlines()[3:] == expected
    bare = {**told()["evidence"], "program": None, "blamed_line": None, "worst": []}
    assert failure_text([told(evidence=bare)], cases=1).splitlines()[3:] == expected


def test_names_are_literal(told):
    """Control sequences in a fingerprint or a replay command are shown as they are."""
    lines = failure_text([told(fingerprint="f\x1b[31m", replay="r\x1b[31m")], cases=1).splitlines()
    assert lines[2] == "f\\x1b[31m  1 case"
    assert lines[-1] == "  r\\x1b[31m"


def test_shrunk_program_stands_below_the_original(told):
    """The shrunk program is shown with its size, its inputs and what is still to be said of it."""
    shrunk = {
        "program": "def program(torch, x):\n    t0 = torch.sin(x)\n    return t0",
        "blamed_line": 2,
        "values": ["x = torch.tensor(0.0, dtype=torch.float32)"],
        "calls": 1,
        "elements": 1,
        "seconds": 0.25,
        "runs": 12,
        "note": "its 10 s were spent",
        "check": "autotest check 'torch.sin(tensor(0.0))'",
    }
    shown = {**told(worst=[])["evidence"], "shrunk": shrunk}
    lines = failure_text([told(evidence=shown)], cases=2).splitlines()
    assert lines[-10:] == [
        "",
        "  shrunk to 1 call, 1 element (12 runs, 0.2 s):",
        "    def program(torch, x):",
        "  >     t0 = torch.sin(x)",
        "        return t0",
        "    x = torch.tensor(0.0, dtype=torch.float32)",
        "  its 10 s were spent",
        "  autotest check 'torch.sin(tensor(0.0))'",
        "",
        "  autotest replay 0a1b2c3d",
    ]


@pytest.mark.parametrize(
    ("values", "note", "told_of"),
    [
        (["x = 1"], None, ["  as small as it gets (12 runs, 0.2 s)"]),
        (["x = 1"], "its 2 s were spent", ["  no smaller one was found (12 runs, 0.2 s)", "  its 2 s were spent"]),
        (["x = 0"], None, ["  the same program, shrunk to 1 call, 1 element (12 runs, 0.2 s):", "    x = 0"]),
    ],
)
def test_nothing_is_shown_twice(told, values, note, told_of):
    """A program that could not become simpler stands there once, with its own inputs, and so do inputs."""
    size = {"calls": 1, "elements": 1, "seconds": 0.25, "runs": 12, "note": note}
    shrunk = {"program": PROGRAM, "blamed_line": 2, "values": values, **size}
    shown = {**told(worst=[])["evidence"], "inputs": ["x = 1"], "shrunk": shrunk}
    lines = failure_text([told(evidence=shown)], cases=2).splitlines()
    assert lines[5:] == [
        "    def program(torch, x):",
        "  >     t0 = torch.relu(x)",
        "        return t0",
        "    x = 1",
        "",
        *told_of,
        "",
        "  autotest replay 0a1b2c3d",
    ]


def test_not_shrunk(told):
    """Where nothing was shrunk, the reason stands in its place."""
    shown = {**told(worst=[])["evidence"], "shrunk": {"program": None, "note": "no seconds\x1b[31m"}}
    lines = failure_text([told(evidence=shown)], cases=2).splitlines()
    assert lines[-3:] == ["  not shrunk: no seconds\\x1b[31m", "", "  autotest replay 0a1b2c3d"]


def test_blame_stands_below_the_message(told):
    """Which side is wrong is said in one line; what it holds is literal."""
    blame = {"verdict": "target", "reason": "1.0e+07 ULP off\x1b[31m", "worst": None}
    shown = {**told(worst=[])["evidence"], "blame": blame}
    lines = failure_text([told(evidence=shown)], cases=2).splitlines()
    assert lines[4] == "  blame: target, 1.0e+07 ULP off\\x1b[31m"
