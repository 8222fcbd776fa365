"""What a target is asked for besides being itself: an executor of PyTorch, kernels. Nothing here imports PyTorch."""
