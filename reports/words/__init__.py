"""How things are put: counts with their nouns, text that is safe to print, the paper that it is printed on."""
