"""Fingerprints: what one covers, which classes facts are of, and the least that covers two."""

from __future__ import annotations

import pytest

from autotest.compare.fingerprint import NEEDS, Fingerprint, classes, configuration_of
from autotest.judge.facts.properties import CLASSES
from generators.layouts import LAYOUTS


def of(short: str) -> Fingerprint:
    """`kind/op/facts` of eager forward on some target."""
    return Fingerprint.parse(f"t/eager_forward/{short}")


def test_parts() -> None:
    """Needs are told from how the op was called, and in one order."""
    found = Fingerprint.parse("oneflow/eager_forward/exception/max/float32,tie,transposed,running_var,dim=,again")
    assert (found.target, found.phase, found.kind, found.op) == ("oneflow", "eager_forward", "exception", "max")
    assert (found.dtype, found.needs) == ("float32", {"strided", "tie"})
    assert found.rest == ("running_var", "dim=", "again")
    assert str(found) == "oneflow/eager_forward/exception/max/float32,strided,tie,running_var,dim=,again"


def test_arguments_are_needs() -> None:
    """Of a wrong result the arguments that it needs are told, of an exception all that were given by name."""
    found = Fingerprint.parse("t/graph_forward/value/norm/float32,p=,tie,dim=,config=fused")
    assert found.needs == {"tie", "p=", "dim="}
    assert found.rest == ("config=fused",)
    assert str(found) == "t/graph_forward/value/norm/float32,tie,dim=,p=,config=fused"
    assert Fingerprint.parse("t/eager_forward/unsupported/norm/float32,p=").rest == ("p=",)


@pytest.mark.parametrize(
    ("facts", "configuration"),
    [("float32", ""), ("float32,config=fused", "fused"), ("float32,tie,config=amp.half,again", "amp.half"),
     ("float32,config=,dim=,method", "")],
)  # fmt: skip
def test_configuration(facts: str, configuration: str) -> None:
    """The fact that names the configuration of a graph, which an argument of that name is not."""
    assert configuration_of(f"oneflow/graph_forward/value/max/{facts}") == configuration


def test_every_property_has_a_class() -> None:
    """What inputs can have, and what generators lay out, is of a class; most have numbers below zero, or one
    dimension, and a result may be wrong at times.
    """
    found = classes({*CLASSES, *LAYOUTS, "empty", "0-dim"} - {"contiguous"})
    assert found | {"close", "negative", "1-dim", "unsteady"} == set(NEEDS)


@pytest.mark.parametrize(
    ("entry", "shown", "covered"),
    [
        # What stands for one another is one class, under its older names too.
        ("value/max/float32,tie", "value/max/float32,kink", True),
        ("value/max/float32,zero", "value/max/float32,tie", True),
        ("value/max/float32,nan", "value/max/float32,nonfinite", True),
        ("value/max/float32,inf", "value/max/float32,extreme", True),
        ("value/max/float32,nonfinite", "value/max/float32,extreme", False),
        ("value/max/float32,extreme", "value/max/float32,nonfinite", False),
        ("value/max/float32,nan", "value/max/float32,tie", False),
        ("value/max/float32,special", "value/max/float32,nonfinite,tie", True),
        ("value/max/float32,special", "value/max/float32,strided", False),
        ("layout/max/float32,transposed", "layout/max/float32,offset", True),
        # Expanded memory is strided, and more.
        ("layout/max/float32,strided", "layout/max/float32,expanded", True),
        ("layout/max/float32,expanded", "layout/max/float32,strided", False),
        # What needs less covers what needs more.
        ("value/max/float32", "value/max/float32,tie", True),
        ("value/max/float32,tie", "value/max/float32,strided,tie", True),
        ("value/max/float32,nonfinite", "value/max/float32", False),
        ("value/max/float32,empty", "value/max/float32,0-dim", False),
        # The dtype, the op and how it is called count.
        ("value/max/float32,tie", "value/max/float64,tie", False),
        ("value/max/*,tie", "value/max/float64,strided,tie", True),
        ("value/*/float32,tie", "value/min/float32,kink", True),
        ("exception/max/float32", "exception/max/float32,dim=", False),
        ("exception/max/float32,dim=", "exception/max/float32,empty,dim=", True),
        ("exception/max/float32,dim=", "exception/max/float32,dim=,keepdim=", False),
        ("value/max/float32", "value/max/float32,running_var", False),
        ("exception/max/*", "exception/max/float32,dim=", True),
        ("exception/max/*,dim=", "exception/max/float32,keepdim=", False),
        # A wrong result needs its arguments as it needs anything else.
        ("value/norm/float32,p=", "value/norm/float32,p=", True),
        ("value/norm/float32,p=", "value/norm/float32,negative,dim=,p=", True),
        ("value/norm/float32,p=", "value/norm/float32", False),
        ("value/norm/float32,p=", "value/norm/float32,dim=", False),
        ("value/norm/float32", "value/norm/float32,p=", True),
        ("value/norm/*,negative", "value/norm/float64,1-dim,negative", True),
        # The configuration of a graph counts; a pattern may be about each.
        ("value/max/float32", "value/max/float32,config=fused", False),
        ("value/max/float32,config=fused", "value/max/float32", False),
        ("value/max/float32,config=fused", "value/max/float32,tie,config=fused", True),
        ("value/max/float32,config=fused", "value/max/float32,config=amp", False),
        ("value/max/float32,config=*", "value/max/float32,config=amp", True),
        # Beyond the ordinary a wrong number and one that is none are one kind.
        ("value/max/float32,nonfinite", "nonfinite/max/float32,nonfinite", True),
        ("nonfinite/max/float32", "value/max/float32,extreme", True),
        ("nonfinite/max/float32", "value/max/float32,far", True),
        ("nonfinite/max/float32,tie", "value/max/float32,tie", False),
        ("value/max/float32", "nonfinite/max/float32", False),
        ("value/max/float32,nonfinite", "sign/max/float32,nonfinite", False),
        # So it is where it is another number each time.
        ("value/max/float32", "nonfinite/max/float32,unsteady", True),
        ("value/max/float32,unsteady", "nonfinite/max/float32,unsteady", True),
        ("value/max/float32,unsteady", "value/max/float32", False),
        # Who takes an index that is not there may refuse a wrong dtype; an older entry does not say what it takes.
        ("accepts_invalid/take/float32,refusal=indices", "accepts_invalid/take/float32,refusal=indices", True),
        ("accepts_invalid/take/float32,refusal=indices", "accepts_invalid/take/float32,refusal=dtypes", False),
        ("accepts_invalid/take/float32,refusal=indices", "accepts_invalid/take/float32", False),
        ("accepts_invalid/take/float32", "accepts_invalid/take/float32,refusal=dtypes", True),
        ("accepts_invalid/take/float32", "accepts_invalid/take/float32,dim=,refusal=dtypes", False),
        ("crash/take/float32,refusal=indices", "crash/take/float32", False),
        ("crash/take/float32", "crash/take/float32,refusal=indices", True),
    ],
)
def test_covers(entry: str, shown: str, covered: bool) -> None:
    """An entry covers what needs no less than it does, and nothing else."""
    assert of(entry).covers(of(shown)) is covered


def test_shown_by_what_says_more() -> None:
    """An older entry is proved by the same divergence, which now says why PyTorch refuses the call."""
    old, new = of("accepts_invalid/take/float32"), of("accepts_invalid/take/float32,refusal=dims")
    assert (old.is_shown_by(new), new.is_shown_by(new), new.is_shown_by(old)) == (True, True, False)
    assert not old.is_shown_by(of("accepts_invalid/take/float32,method,refusal=dims"))


def test_brackets_are_no_pattern() -> None:
    """The name of a contract's test has them: it is itself, and no other."""
    [this, other] = (Fingerprint.parse(f"t/contract/broken/nn.Graph/hooks[{name}]") for name in ("a-b", "a"))
    assert this.covers(this)
    assert not this.covers(other)


@pytest.mark.parametrize("other", ["t/eager_backward/value/max/float32", "u/eager_forward/value/max/float32"])
def test_phase_and_target_count(other: str) -> None:
    """Nothing covers what another target, or the same in another phase, shows."""
    assert not of("value/*/*").covers(Fingerprint.parse(other))


@pytest.mark.parametrize(
    ("entry", "shown", "covered"),
    [
        ("max/float32", "max/float32,method", True),
        ("max/float32", "max/float32,0-dim,dim=,keepdim=,method", True),
        ("max/float32,method", "max/float32", True),
        ("max/float32,dim=", "max/float32,dim=,keepdim=,method", True),
        ("max/float32,dim=", "max/float32,keepdim=", False),
        ("max/float32", "max/float32,method,config=fused", False),
        ("max/float32,config=fused", "max/float32,method,config=fused", True),
        ("max/float32", "max/float32,method,again", False),
    ],
)
def test_in_a_graph_the_form_of_a_call_is_no_cause(entry: str, shown: str, covered: bool) -> None:
    """Eager has taken the same call before; what is given more is the same one."""
    known, found = (Fingerprint.parse(f"t/graph_forward/exception/{facts}") for facts in (entry, shown))
    assert known.covers(found) is covered


@pytest.mark.parametrize(
    ("entry", "shown", "covered"),
    [
        ("max/float32,dim=", "max/float32,method", True),
        ("max/float32,dim=", "max/float32,empty,keepdim=", True),
        ("max/float32,empty,dim=", "max/float32,dim=", False),
        ("max/float32,dim=", "max/float64,dim=", False),
        ("max/float32,dim=", "min/float32,dim=", False),
        ("max/float32,dim=,again", "max/float32,dim=", False),
    ],
)
def test_of_one_cause_the_form_of_a_call_does_not_count(entry: str, shown: str, covered: bool) -> None:
    """All else does: the op, the dtype, and what the inputs need."""
    known, found = of(f"exception/{entry}"), of(f"exception/{shown}")
    assert known.covers(found, one_cause=True) is covered


@pytest.mark.parametrize(
    ("entry", "shown", "joined"),
    [
        ("value/max/float32,tie", "value/max/float64,strided,tie", "value/max/*,tie"),
        ("value/max/float32,zero", "value/max/float32,nonfinite", "value/max/float32"),
        ("value/max/float32,nonfinite", "nonfinite/max/float64,nonfinite", "value/max/*,nonfinite"),
        ("exception/max/float32,empty,dim=", "exception/max/float32,dim=", "exception/max/float32,dim="),
        ("value/norm/float32,tie,p=", "value/norm/float64,dim=,p=", "value/norm/*,p="),
        ("exception/max/float32", "exception/max/float64", None),
        ("exception/max/float32", "exception/max/float32,dim=", None),
        ("value/max/float32,nonfinite", "nonfinite/max/float32,tie", None),
        ("value/max/float32", "value/min/float32", None),
    ],
)
def test_joined(entry: str, shown: str, joined: str | None) -> None:
    """What differs in dtype and needs alone is near; one that covers both is the least."""
    assert of(entry).near(of(shown)) is (joined is not None)
    if joined is not None:
        wide = of(entry).joined(of(shown))
        assert wide == of(joined)
        assert wide.covers(of(entry))
        assert wide.covers(of(shown))
