"""The drop-in: files that import OneFlow's own AutoTest harness run on this one, unmodified.

`finder` answers for the package of OneFlow's harness, `vocabulary` is what it gives instead. `levels` tells what
that harness would have failed.
"""
