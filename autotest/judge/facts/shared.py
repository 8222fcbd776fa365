"""What the divergences of one test were found to need, and which later ones need just that."""

from __future__ import annotations

from dataclasses import replace

from autotest.compare.divergence import Divergence
from autotest.compare.fingerprint import UNSTEADY, Fingerprint
from autotest.judge.facts.conditions import Facts

#: In the place of the target's name, which is the same for all divergences of a test.
_TARGET = ""


class Shared:
    """The facts that experiments have found in a test, once each.

    A later divergence of the same op, phase, kind and dtype, which has all that exactly one of those needs, is the same
    again: experiments would take away what else it has, and leave that. Where it could be two of them, they decide.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[Fingerprint, Divergence] = {}

    def note(self, found: Divergence) -> None:
        """Take in a divergence with its facts. Of what no single call shows, or not in each run, they say nothing about
        another.
        """
        if found.call is not None and UNSTEADY not in found.facts:
            self._found[Fingerprint.parse(found.fingerprint(_TARGET))] = found

    def told(self, found: Divergence) -> Divergence | None:
        """A divergence that is the same again, with the facts and the kind of the first: a wrong number of huge values
        is none at all as soon as it overflows. None where it is not known to be.
        """
        if found.call is None or not self._found:
            return None
        shown = Fingerprint.parse(found.fingerprint(_TARGET)).having(self._facts.present(found))
        alike = [first for one, first in self._found.items() if one.covers(shown)]
        if len(alike) != 1:
            return None
        difference = replace(found.difference, kind=alike[0].difference.kind)
        return replace(found, difference=difference, facts=alike[0].facts)


__all__ = ["Shared"]
