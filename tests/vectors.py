"""Ugly vectors for Hypothesis: ties, zeros, offsets, huge and tiny scales, short and long."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

#: Up to 40 elements are shrunk well by Hypothesis; long ones reach the filter of the kernels.
_LONG = (255, 256, 300, 1000)


@st.composite
def vectors(draw, min_size=1, largest_scale=1e8):
    """Vectors of float64, often with many equal elements."""
    exponents = st.integers(-8, int(np.log10(largest_scale)))
    if draw(st.integers(0, 9)) < 8:
        size = draw(st.integers(min_size, 40))
        whole = st.integers(-4, 4).map(float)
        element = st.one_of(whole, st.floats(-4.0, 4.0)) if draw(st.booleans()) else whole
        vector = np.array(draw(st.lists(element, min_size=size, max_size=size)))
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        vector = rng.normal(size=draw(st.sampled_from(_LONG)))
        if draw(st.booleans()):
            vector = np.round(vector, 1)
    offset = draw(st.sampled_from((0.0, 0.0, 0.0, 1.0, -3.0, 100.0)))
    return (vector + offset) * 10.0 ** draw(exponents)


dtypes = st.sampled_from((np.float32, np.float64))
radii = st.one_of(
    st.sampled_from((1.0, 10.0)),
    st.integers(-8, 8).map(lambda e: 10.0**e),
    st.floats(1e-3, 1e3),
)
biases = st.sampled_from((0.0, 1e-6, 0.1, 0.5, 1.0, 3.0))
alphas = st.one_of(st.just(0.0), st.integers(-12, 6).map(lambda e: 10.0**e), st.floats(1e-3, 1e2))


@st.composite
def vectors_and_k(draw, **kwargs):
    vector = draw(vectors(**kwargs))
    m = vector.size
    return vector, draw(st.one_of(st.integers(1, min(m, 12)), st.integers(1, m), st.just(m)))
