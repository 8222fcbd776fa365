"""Exit statuses, stable and documented in docs/command-line.md."""

ALIGNED = 0
DIVERGED = 1
USAGE = 2
HARNESS_FAULT = 3
NOTHING_COLLECTED = 5

#: `autotest replay`, so that `git bisect run autotest replay ID` works.
GONE = 0
STANDS = 1
CANNOT_RUN = 125

#: `autotest bisect`: there is a version with which a divergence came or went, or none.
CHANGED = 0
UNCHANGED = 1
