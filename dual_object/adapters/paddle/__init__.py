"""Paddle behind the adapter Protocol; the framework is imported in `adapter` alone. Its dialect is two tables."""
