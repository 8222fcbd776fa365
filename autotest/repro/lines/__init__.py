"""The lines that a script is made of: its arrays, its program, its graph, and what it asks of a run."""
