"""What the processes of a run write while it goes on: one JSON object per line, its shape, and how it is read again."""
