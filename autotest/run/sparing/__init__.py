"""What the target is not shown, and why: what is known to end it, and what it has ended or lacked already."""
