"""What wrong answers have in common that no right one has: the arguments that they were given, or their dimensions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from math import comb

from autotest.kernels.questions import Question
from dual_object.program.values import refs

#: Chance gives all wrong calls a feature at most so often; else it is what makes them wrong.
_CHANCE = 0.01
#: Roles whose tensors are ordinary, so that the call is what differs from one to the next.
ORDINARY = frozenset({"plain", "arguments"})

#: What stands for a tensor: which one it is, is no matter of the call.
_TENSOR = "a tensor"

Feature = Hashable


def in_common(path: str, wrong: Sequence[Question], right: Sequence[Question]) -> str:
    """`arguments` or `shape`; empty where every sort of call is wrong, or none."""
    if not wrong or not right:
        return ""
    names = {name for question in (*wrong, *right) for name, _ in _arguments(path, question)}
    told = [_features(path, question, names) for question in wrong]
    others = [_features(path, question, names) for question in right]
    if _apart([features for features, _ in told], [features for features, _ in others]):
        return "arguments"
    return "shape" if _apart([{rank} for _, rank in told], [{rank} for _, rank in others]) else ""


def _apart(wrong: Sequence[set[Feature]], right: Sequence[set[Feature]]) -> bool:
    """Whether all that are wrong share a feature, or two, that none has that is right."""
    shared = set.intersection(*wrong)
    pairs = [*((one,) for one in shared), *combinations(sorted(shared, key=repr), 2)]
    if any(not any(other.issuperset(pair) for other in right) for pair in pairs):
        return True
    # Of calls with `ceil_mode` some may be right by luck: where windows fit, it makes no difference.
    known = len(set().union(*wrong, *right))
    return any(known * _by_chance(feature, wrong, right) <= _CHANCE for feature in shared)


def _by_chance(feature: Feature, wrong: Sequence[set[Feature]], right: Sequence[set[Feature]]) -> float:
    """How likely all that are wrong have a feature if being wrong has nothing to do with it."""
    having = len(wrong) + sum(feature in other for other in right)
    return comb(having, len(wrong)) / comb(len(wrong) + len(right), len(wrong))


def _arguments(path: str, question: Question) -> Iterable[tuple[str, object]]:
    call = next((call for call in question.program.calls if call.op == path), None)
    if call is None:
        return []
    given = [*enumerate(call.args), *call.kwargs.items()]
    return [(str(name), _TENSOR if refs(value) else value) for name, value in given]


def _features(path: str, question: Question, names: set[str]) -> tuple[set[Feature], Feature]:
    given = dict(_arguments(path, question))
    features: set[Feature] = {(name, "left out") for name in names - given.keys()}
    for name, value in given.items():
        features |= {(name, repr(value)), (name, type(value).__name__)}
        if isinstance(value, int) and not isinstance(value, bool):
            features.add((name, "negative" if value < 0 else "not negative"))
    first = question.program.inputs[:1]
    return features, ("rank", first[0].data.ndim if first else 0)


__all__ = ["ORDINARY", "in_common"]
