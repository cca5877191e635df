"""The rule that decides whether a number agrees."""

import pytest

from paper.verdict import AGREES, BETTER, WORSE, Comparison


@pytest.mark.parametrize(
    ("metric", "ours", "noise", "paper", "verdict"),
    [
        ("top1", 75.0, 0.0, 76.0, AGREES),
        ("top1", 74.9, 0.0, 76.0, WORSE),
        ("top1", 74.9, 0.1, 76.0, AGREES),
        ("top1", 77.1, 0.0, 76.0, BETTER),
        ("rank_loss", 0.21, 0.0, 0.20, AGREES),
        ("rank_loss", 0.22, 0.0, 0.20, WORSE),
        ("rank_loss", 0.22, 0.006, 0.20, AGREES),
        ("hamming_loss", 0.18, 0.0, 0.20, BETTER),
    ],
)
def test_verdicts(metric, ours, noise, paper, verdict):
    assert Comparison(metric, ours, noise, paper).verdict == verdict
