"""A case: how it is drawn, what it is called, and how long it may take; and the Programs that a run has stored."""
