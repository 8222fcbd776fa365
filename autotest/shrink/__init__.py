"""Divergences made minimal: by their choices, then by steps on the Program."""
