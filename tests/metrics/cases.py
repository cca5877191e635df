"""Ugly problems for metrics: ties, constant rows, empty and full label sets, zero weights."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def problems(draw, one_label=False):
    """Scores (n, m), label sets, and weights of which one is positive."""
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    whole = st.integers(-2, 2).map(float)
    ends = st.sampled_from([-np.inf, np.inf, 0.0, -0.0])
    anything = st.one_of(whole, whole, st.floats(-1e6, 1e6, width=32), ends)
    row = st.lists(draw(st.sampled_from([whole, anything])), min_size=m, max_size=m)
    scores = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    scores = scores.astype(draw(st.sampled_from([np.float32, np.float64])))
    label = st.integers(0, m - 1)
    sets = st.sets(label, min_size=1, max_size=1) if one_label else st.sets(label)
    labels = draw(st.lists(sets, min_size=n, max_size=n))
    weight = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5])
    weights = draw(st.lists(weight, min_size=n, max_size=n).filter(any))
    return scores, labels, weights


def indicators(sets, m):
    return np.array([[j in labels for j in range(m)] for labels in sets], dtype=int)
