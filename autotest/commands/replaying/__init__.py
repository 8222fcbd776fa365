"""`autotest replay`: what has diverged, run again."""
