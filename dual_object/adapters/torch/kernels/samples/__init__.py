"""What an op is called with: PyTorch's own samples, and these with one thing changed."""
