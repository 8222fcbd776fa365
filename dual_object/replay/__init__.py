"""A Program run on a target: the adapter Protocol, the replay, and what it shows."""
