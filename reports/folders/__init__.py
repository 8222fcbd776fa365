"""Where a run lies on disk: its folder among others, and the scripts in it."""
