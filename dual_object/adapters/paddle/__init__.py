"""Paddle behind the adapter Protocol; the framework is imported in `adapter` alone, its dialect is a table beside it."""
