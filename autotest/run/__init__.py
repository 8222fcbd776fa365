"""The run of a test: its cases drawn, judged, recorded, made minimal and told."""
