"""Data sets of all kinds for the tests of formats, and how each format reads back its own."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse
from hypothesis import strategies as st

from shortlist.datasets import Dataset

needs_pyarrow = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed: no Parquet"
)

VALUES = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 5e-324, -1.7976931348623157e308, 2.0**53 + 2]),
    st.floats(allow_nan=False, allow_infinity=False),
)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=6
).filter(lambda name: name == name.strip() and name.replace(" ", "x").isprintable())


@st.composite
def datasets(draw, labels=("one", "sets", "none"), sparse=(False, True), numbered=False):
    """A data set; `numbered` classes are called 0, 1, ..., and features have no names."""
    n, d, m = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(VALUES, min_size=n * d, max_size=n * d))).reshape(n, d)
    if draw(st.booleans()):
        X *= np.array(draw(st.lists(st.booleans(), min_size=n * d, max_size=n * d))).reshape(n, d)
    if draw(st.sampled_from(sparse)):
        X = scipy.sparse.csr_array(X)
    kind = draw(st.sampled_from(labels))
    y = None
    if kind == "one":
        y = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
    elif kind == "sets":
        marks = draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
        y = scipy.sparse.csr_array(np.array(marks).reshape(n, m))
    if numbered:
        return Dataset(X, y, tuple(map(str, range(m))) if kind != "none" else ())
    names = draw(st.lists(NAMES, min_size=d + m, max_size=d + m, unique=True))
    class_names = tuple(names[d:]) if kind != "none" else ()
    return Dataset(X, y, class_names, tuple(names[:d]) if draw(st.booleans()) else None)


def as_dense(matrix):
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)


def assert_same(found, expected, names=True):
    """The same numbers and labels, and the same names where the format keeps them."""
    np.testing.assert_array_equal(as_dense(found.X), as_dense(expected.X))
    if expected.y is None:
        assert found.y is None
    else:
        assert found.multilabel == expected.multilabel
        np.testing.assert_array_equal(as_dense(found.y), as_dense(expected.y))
        assert found.m == expected.m
    if names:
        assert found.class_names == expected.class_names
        if expected.feature_names is not None:
            assert found.feature_names == expected.feature_names
