"""The runs before: what is kept of them, how two of them differ, how several become one."""
