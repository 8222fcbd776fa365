"""A run in the terminal: its summary, its failed tests, its tables."""
