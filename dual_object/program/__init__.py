"""The Program: what a body did, as plain data."""
