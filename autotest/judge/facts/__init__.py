"""Facts of a divergence: what of its inputs and arguments it needs in order to show."""
