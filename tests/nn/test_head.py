"""The head of a network, trained to a proven optimum."""

import nn.needs_torch  # noqa: F401, I001

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris

from shortlist import TopKClassifier


def test_a_certified_model_becomes_a_layer():
    X, y = load_iris(return_X_y=True)
    model = TopKClassifier().fit(X, y)
    layer = model.to_torch()
    assert isinstance(layer, torch.nn.Linear)
    with torch.no_grad():
        scores = layer(torch.from_numpy(X).to(layer.weight.dtype)).numpy()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-5, atol=1e-5)
    with pytest.raises(AttributeError, match="a kernel is no linear layer"):
        TopKClassifier(kernel="rbf").fit(X, y).to_torch()
