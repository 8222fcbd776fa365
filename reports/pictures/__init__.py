"""A run as one picture."""
