"""The folder with the paper's data sets: tests say so where it is absent."""

import os
from pathlib import Path

import pytest

_ABSENT = "SHORTLIST_DATA is not set: the folder with the paper's data sets"

#: Marks a test that needs the folder.
needed = pytest.mark.skipif(not os.environ.get("SHORTLIST_DATA"), reason=_ABSENT)


def folder():
    """Return the folder, or skip the test that asks for it."""
    if not os.environ.get("SHORTLIST_DATA"):
        pytest.skip(_ABSENT)
    return Path(os.environ["SHORTLIST_DATA"])
