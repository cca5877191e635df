"""A trained linear model as the last layer of a network."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

from shortlist._arrays import as_floats


def linear_head(coef: ArrayLike, intercept: ArrayLike | None = None) -> torch.nn.Linear:
    """Return a linear layer with given weights, to put on a network and train on.

    Parameters
    ----------
    coef : array_like, shape (m, d)
        One row of weights a class.
    intercept : array_like, shape (m,), optional
        The biases; without them the layer has none.

    Returns
    -------
    torch.nn.Linear

    Examples
    --------
    >>> from shortlist import nn
    >>> nn.linear_head([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]], [0.5, -0.5])
    Linear(in_features=3, out_features=2, bias=True)
    """
    weights = as_floats(coef, "coef")
    if weights.ndim != 2:
        raise ValueError(f"coef has shape {weights.shape}; pass one row of weights a class.")
    m, d = weights.shape
    dtype = torch.float32 if weights.dtype == np.float32 else torch.float64
    layer = torch.nn.Linear(d, m, bias=intercept is not None, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weights))
        if intercept is not None:
            biases = as_floats(intercept, "intercept")
            if biases.shape != (m,):
                raise ValueError(
                    f"intercept has shape {biases.shape}; coef has rows for {m} classes."
                )
            layer.bias.copy_(torch.tensor(biases))
    return layer
