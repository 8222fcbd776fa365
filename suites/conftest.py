"""Makes `rows` and `forms` importable from the folders below: pytest puts a conftest's folder on the path."""
