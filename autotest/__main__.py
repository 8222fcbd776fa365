"""`python -m autotest` is the `autotest` command."""

from autotest.cli import main

main()
