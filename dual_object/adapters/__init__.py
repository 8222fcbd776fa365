"""One adapter module per framework; a framework is imported here and nowhere else."""
