"""The blame bench: which faults can be planted on both sides, what is right, and what makes it red."""

from __future__ import annotations

from benchmarks.blame.judging import Answer, complaints, share, table, wrong
from benchmarks.blame.planting import ONE_SIDED, fits
from benchmarks.mutation.fault import CATEGORIES
from benchmarks.mutation.table import FAULTS


def test_faults_of_every_category_that_has_two_sides() -> None:
    """Faults that reach for what only OneFlow has are left out, and what PyTorch as the reference cannot have."""
    found = [fault for fault in FAULTS if fits(fault)]
    assert {fault.category for fault in found} == set(CATEGORIES) - set(ONE_SIDED)
    assert len(found) > 100
    lost = {fault.id for fault in FAULTS if not fits(fault) and fault.category not in ONE_SIDED}
    assert lost == {"sin-once", "tril-layout", "max_pool2d-zero-padding", "Dropout-always"}


def test_an_undecidable_program_is_ill_conditioned() -> None:
    """A case that is no divergence at all is right for its class, and for no other."""
    assert Answer("ill_conditioned", "p", "w", "undecidable").right
    assert not Answer("ill_conditioned", "p", "w", "aligned").right
    assert not Answer("target", "p", "w", "undecidable").right


def test_table_and_complaints() -> None:
    """Each class has a row; one below the bar, or without an answer, makes the bench red; what is wrong is listed."""
    answers = [Answer("target", "a", "f", "target")] * 8 + [Answer("target", "b", "g", "undecided", "why")] * 2
    answers += [Answer("reference", "a", "f", "reference")]
    assert share(answers[:10]) == 0.8
    assert list(table(answers, markdown=False)) == [
        "class                right    of    share",
        "target                   8    10    80.0%",
        "reference                1     1   100.0%",
    ]
    assert list(table(answers, markdown=True))[1:3] == ["|---|---:|---:|---:|", "| target | 8 | 10 | 80.0% |"]
    assert list(wrong(answers)) == ["target: b [g] undecided: why"] * 2
    assert list(complaints(answers, ("target", "reference", "nondeterministic"))) == [
        "target: right=80.0% of 10, but should be at least 90%",
        "nondeterministic: right=0.0% of 0, but should be at least 90%",
    ]
    assert list(complaints(answers[3:9], ("target",))) == []
