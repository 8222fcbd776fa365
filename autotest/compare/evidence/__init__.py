"""What shows a divergence to people: facts, worst elements, maps, samples, curves."""
