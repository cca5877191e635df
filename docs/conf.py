"""Sphinx settings."""

import shortlist

project = "Shortlist"
author = "The Shortlist developers"
version = release = shortlist.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
autosummary_generate = True
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "Shortlist"
