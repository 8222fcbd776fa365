"""How far a run is: what each process notes of that, and what is shown of it."""
