"""A body run on the reference and recorded: dual objects, the dual namespace, the recording."""
