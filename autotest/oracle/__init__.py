"""What PyTorch itself says when it is asked again: whether an answer is defined, and which side is wrong."""
