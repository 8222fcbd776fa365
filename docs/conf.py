"""Sphinx builds the site of the documentation from these pages and the docstrings: `make docs`, without a network."""

from __future__ import annotations

from importlib.metadata import version as installed

project = "op-autotest"
version = release = installed("op-autotest")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
# A link to a heading is its words with dashes, on the site as where the files lie.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"  # its fonts are the machine's, its scripts lie beside the pages
html_title = "op-autotest"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
