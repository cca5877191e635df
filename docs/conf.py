"""Sphinx settings."""

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import shortlist

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Shortlist"
author = "The Shortlist developers"
project_copyright = "The Shortlist developers"
version = release = shortlist.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    # our own, in _ext
    "bundled_mathjax",
    "drawn_figures",
    "loss_facts",
    "recorded_results",
]
autosummary_generate = True
numpydoc_show_class_members = False
default_role = "autolink"
rst_prolog = ".. currentmodule:: shortlist\n"  # so that `TopKClassifier` is a link on every page
exclude_patterns = ["_build", "recorded/*.md", "gallery/*.ipynb"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class

# The gallery: all examples run in the build, and one that fails, or warns of a gap, fails it.
warnings.simplefilter("error", ConvergenceWarning)
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery_order.TeachingOrder",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # its page would load scripts from a network
    "doc_module": ("shortlist",),
    "backreferences_dir": None,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "Shortlist"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("start", "choose", "changes", "benchmarks")}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
mathjax3_config = {"svg": {"fontCache": "global"}}
