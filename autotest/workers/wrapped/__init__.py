"""A target as another: under one configuration of its graphs, or for modules that it has not."""
