"""Functions that stand for ops of PyTorch: what they are called with, and what is watched while they run."""
