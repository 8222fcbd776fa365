"""What a kernel does besides computing is watched: whom it calls, what it looks at, and what it leaves behind."""
