"""The kernel judge: whether a function really is a given op of PyTorch."""
