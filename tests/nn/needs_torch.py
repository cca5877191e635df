"""Import this first: tests of torch are skipped without it, but not in continuous integration."""

import os

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'shortlist[torch]'")
