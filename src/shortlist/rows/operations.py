"""What kernels ask of a storage, one row at a time: generic functions."""

from __future__ import annotations

from shortlist._generic import generic


@generic
def squared_norm(rows, i):
    """Return the squared length of row `i`, in float64."""


@generic
def add_scores(rows, i, weights, out):
    """Add the scores of row `i`, :math:`W' x_i`, to `out`."""


@generic
def add_outer(rows, i, change, weights):
    """Add :math:`x_i change'` to the weights `W`."""


@generic
def n_rows(rows):
    """Return the number of rows."""


@generic
def n_columns(rows):
    """Return the number of columns."""
