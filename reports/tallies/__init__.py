"""One pass over the records: a tally for each thing that is counted, and the summary that they end in."""
