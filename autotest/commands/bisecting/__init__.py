"""`autotest bisect`: under which version of its target a divergence came or went."""
