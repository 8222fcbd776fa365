"""JAX: immutable arrays in cells that can be written to, gradients of whole Programs, and its compiler as static graph."""
