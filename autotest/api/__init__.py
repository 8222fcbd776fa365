"""What a test file imports: the decorator, and the tensors and global tensors of its body."""
