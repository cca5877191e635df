"""A loss of one's own: the squared error of scores that should be 1 for labels and 0 for others.

With it, training is ridge regression on indicators; the certificate, the list, and everything else
comes with it.
"""

from __future__ import annotations

from typing import NamedTuple

from shortlist import losses
from shortlist.losses import operations


# [value] A loss is an immutable value: its parameters, and nothing else.
class SquaredError(NamedTuple):
    """Half the squared distance of the scores from the indicators of the labels, times `weight`."""

    weight: float


# [step] The labels are the first `n_labels` scores; write the minimiser to v.
@operations.step.register(SquaredError)
def _(loss, q, n_labels, a, v, work):
    for j in range(q.size):
        target = 1.0 if j < n_labels else 0.0
        v[j] = (q[j] - target) / (1.0 / loss.weight + a)


# [conjugate] Half the squared length of v, by the weight, and the sum over the labels.
@operations.conjugate.register(SquaredError)
def _(loss, v, n_labels):
    return 0.5 * operations.dot(v, v) / loss.weight + operations.total_of(v[:n_labels])


# [loss] The value follows from the other two; a closed form may be faster.
@operations.value.register(SquaredError)
def _(loss, u, n_labels, v, work):
    return operations.value_by_duality(loss, u, n_labels, v, work)


# [derivative] Of the step, for Newton's method: a diagonal, and two outer products.
@operations.derivative.register(SquaredError)
def _(loss, v, n_labels, a, h, p, work):
    h[:] = 1.0 / (1.0 / loss.weight + a)
    p[:] = 0.0
    return 0.0, 0.0


# [traits] What one must know before calling it.
@operations.traits.register(SquaredError)
def _(loss):
    return operations.Traits(
        smallest_m=1, multilabel=True, convex=True, smoothing=1.0 / loss.weight, separable=True
    )


# [register] A name makes it known to estimators and the command; types are normalised here.
@losses.register("squared_error")
def squared_error(weight: float = 1.0) -> SquaredError:
    """Return the loss."""
    return SquaredError(float(weight))


# [end]
