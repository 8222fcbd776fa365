"""A run for other programs: JUnit, Markdown, annotations."""
