"""A run as HTML: index.html, the data files beside it, the templates and the script of both."""
