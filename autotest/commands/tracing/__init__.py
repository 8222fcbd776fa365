"""`autotest trace`: the calls that a program makes of PyTorch, as expressions that `autotest check` checks."""
