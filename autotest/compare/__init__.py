"""What two sides show, held against each other: values, metadata, tolerances, and the evidence of a difference."""
