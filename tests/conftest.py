"""Settings shared by all tests."""

import os

from hypothesis import HealthCheck, settings

# The first example of a test may compile; that is no reason to call it slow.
settings.register_profile(
    "shortlist", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow]
)
# In CI the examples are the same in every run.
settings.register_profile("ci", parent=settings.get_profile("shortlist"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "shortlist")
