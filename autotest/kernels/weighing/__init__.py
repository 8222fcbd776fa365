"""What an answer is weighed by: how it differs, what wrong ones have in common, how exact it is, what is promised."""
