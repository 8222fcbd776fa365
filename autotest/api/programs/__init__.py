"""Random programs: chains of calls that fit their tensors' dtypes, shapes and ranges."""
