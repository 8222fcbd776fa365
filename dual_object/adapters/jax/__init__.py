"""JAX: immutable arrays in cells that can be written to, gradients of whole Programs, its compiler as static graph."""
