"""What a case comes to: eager and graph against the reference, which call, and what that call needs to diverge."""
