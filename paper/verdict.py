"""When a number of ours agrees with the paper's.

The paper's number is one draw: of the data, of a cut or of folds. Ours comes with the standard
deviation of such a draw, measured (over seeds or splits; where the paper's cut is published, over
redrawn choices of the parameters). A cell agrees if the two differ by no more than twice that and
one point, or if ours is better by more.
"""

from __future__ import annotations

from typing import NamedTuple

#: Standard deviations that count as noise.
SPREADS = 2.0

AGREES, BETTER, WORSE = "agrees", "better", "worse"


class Comparison(NamedTuple):
    """A number of ours beside the paper's, both in the paper's units."""

    metric: str
    ours: float
    noise: float  # a standard deviation
    paper: float
    largest_gap: float = 0.0  # of all fits behind it
    missed: int = 0  # how many fits did not reach the tolerance
    gap: float = 0.0  # of the fit that is tested

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours - self.paper

    @property
    def allowed(self) -> float:
        """By how much they may differ."""
        return SPREADS * self.noise + point(self.metric)

    @property
    def verdict(self) -> str:
        """Whether they agree."""
        if abs(self.difference) <= self.allowed + 1e-9:
            return AGREES
        return BETTER if (self.difference > 0) != is_loss(self.metric) else WORSE


def is_loss(metric: str) -> bool:
    """Return whether less is better."""
    return metric.endswith("loss")


def point(metric: str) -> float:
    """Return one point of a metric in the paper's units: losses are shares, the rest percents."""
    return 0.01 if is_loss(metric) else 1.0
