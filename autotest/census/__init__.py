"""The census: for each op of a reference's tables, who tests it, in which cells, and what became of it."""
