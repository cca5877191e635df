"""Losses that only torch has, and batches to try all of them on."""

import nn.needs_torch  # noqa: I001

import numpy as np
import torch

from losses.cases import ALL, examples
from shortlist import losses, nn

BEYOND = {
    "calibrated": nn.CalibratedTopKSvm(k=2),
    "smooth k=1": nn.SmoothTopKSvm(k=1),
    "smooth k=3": nn.SmoothTopKSvm(k=3, temperature=0.5),
    "lapsum k=1": nn.LapSum(k=1),
    "lapsum k=3": nn.LapSum(k=3, scale=0.5),
    "lsep": nn.Lsep(),
}


def every_loss():
    """Yield every loss in torch with one k, rough and smooth, and the name of its kind."""
    for name, parameters in ALL:
        if parameters.get("k", 2) == 2 and parameters.get("smoothing") != 2.0:
            yield name, losses.make(name, **parameters)
    for name, loss in BEYOND.items():
        yield ("multilabel" if name == "lsep" else "one"), loss


EVERY = list(every_loss())
IDS = [str(loss) for _, loss in EVERY]


def batch(name, dtype=torch.float64, **kwargs):
    """The examples of `losses.cases` as tensors."""
    u, labels = examples(name, **kwargs)
    return torch.tensor(u, dtype=dtype), torch.tensor(labels)


def off_kinks(u):
    """The scores moved a little, where a subgradient at a tie would be a choice."""
    return u + 1e-3 * torch.tensor(np.random.default_rng(9).normal(size=u.shape))


def value_and_gradient(loss, u, labels):
    scores = u.clone().requires_grad_()
    values = nn.value(loss, scores, labels, reduction="none")
    (gradient,) = torch.autograd.grad(values.sum(), scores)
    return values.detach(), gradient


def as_numpy(*tensors):
    return [np.asarray(tensor) for tensor in tensors]
