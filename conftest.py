"""Where torch is not installed its room has no doctests; continuous integration has torch."""

import importlib.util
import os

if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["src/shortlist/nn/*"]
