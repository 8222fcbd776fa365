"""Which call is to blame for what a whole case shows, or which part of its training."""
