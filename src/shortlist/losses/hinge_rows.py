"""The top-k hinges of whole batches: values and gradients in a few passes over memory.

Solvers see one example at a time, its label moved to the front. A network's scores are a
matrix whose labels stay where they are, and both results are wanted at once: here nothing is
moved, and only the few scores that can have a share are sorted out.
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import inlined, keep_alive, kernel, summing_kernel, uncounted
from shortlist.prox.maps import workspace
from shortlist.prox.topk import topk_alpha, topk_beta
from shortlist.prox.variable_fixing import fix_variables
from shortlist.special.select import LANES, gather_from, kth_largest, lane_maxima

#: Scores below count as this one: masked classes (minus infinity), in sums that stay finite.
LOWEST = -1e30


@kernel
def hinge_rows(scores, labels, k, smoothing, beta, values, gradient):
    """Write the hinge alpha or beta of every row of scores, and its gradient.

    A row with a NaN or with plus infinity gets NaNs; one whose own label is at minus infinity
    costs infinity, and its gradient is 0.
    """
    owned = workspace(scores.shape[1]), workspace(scores.shape[1])
    (work, second), scores, gradient = uncounted((owned, scores, gradient))
    few = second[0]
    for i in range(scores.shape[0]):
        label, others = labels[i], gradient[i]
        own = np.float64(scores[i, label])
        if not _copy_scores(scores[i], others):
            values[i] = np.nan
            others[:] = np.nan
        elif own < LOWEST:
            values[i] = np.inf
            others[:] = 0.0
        else:
            others[label] = LOWEST
            if smoothing > 0.0:
                found = _smooth_hinge(others, 1.0 - own, k, smoothing, beta, few, work)
            else:
                found = _hinge(others, 1.0 - own, k, beta, few)
            values[i], others[label] = found[0], -found[1]
    keep_alive(owned)


@summing_kernel
def _copy_scores(scores, out):
    """Copy scores, none below `LOWEST`; return whether each is a number or minus infinity."""
    lowest, wrong = out.dtype.type(LOWEST), 0
    for j in range(scores.size):
        score = scores[j]
        wrong += not score < np.inf
        out[j] = lowest if score < lowest else score
    return wrong == 0


@kernel
def _lowest_threshold(others, k, radius, few):
    """Return a number that no threshold of the projection is below.

    With more elements the threshold rises, and with a smaller sum of the shares: that of the
    largest elements of columns is a lower bound, near enough to leave few above it.
    """
    if k > LANES or others.size < 4 * LANES:
        return -np.inf
    lane_maxima(others, few)
    lanes = few[:LANES]
    best = lanes.max()
    lanes -= best
    t = fix_variables(lanes, 0.0, radius / k, 1.0, radius, 0.0)
    return best + t - 1e-12 * (abs(best) + abs(t) + radius)


@kernel
def _smooth_hinge(others, offset, k, radius, beta, few, work):
    """Write the shares of the projected margins in the scores' place; return value and sum."""
    bound = max(_lowest_threshold(others, k, radius, few), 0.5 * LOWEST)
    margins = few[: gather_from(others, bound, few)]
    if margins.size < (1 if beta else k):  # of k that are to be alike, some are masked
        others[:] = 0.0
        return 0.0, 0.0
    margins += offset
    if beta:
        clip = topk_beta(margins, k, radius, 0.0, work)
    else:
        clip = topk_alpha(margins, k, radius, 0.0, work)
    return _share(others, offset, offset - clip.shift, clip.t, clip.hi, radius)


@inlined
def _clipped(score, shift, t, hi):
    x = (score + shift) - t
    x = x if x > 0.0 else 0.0
    return x if x < hi else hi


@summing_kernel
def _share(others, offset, shift, t, hi, radius):
    value, total, scale = 0.0, 0.0, 1.0 / radius
    for j in range(others.size):
        score = np.float64(others[j])
        x = _clipped(score, shift, t, hi)
        value += (score + offset - 0.5 * x) * x
        total += x
        others[j] = x * scale
    return value * scale, total * scale


@kernel
def _hinge(others, offset, k, beta, few):
    """Write 1/k for the k largest margins in the scores' place; return value and sum."""
    bound, _ = kth_largest(others, k, few)
    value, above, positive = 0.0, 0, 0
    for score in few[:k]:
        margin = score + offset
        value += max(margin, 0.0) if beta else margin
        above += score > bound
        positive += margin > 0.0
    if not beta:
        positive = k if value > 0.0 else 0
    # The largest that are positive: all above the bound, or some of those at it besides.
    ties, least = positive - above, -offset if beta else -np.inf
    share = others.dtype.type(1.0 / k)
    for j in range(others.size):
        score = others[j]
        others[j] = 0.0
        if score >= bound:  # seldom: the branch costs nothing
            tie = score == bound
            if positive > 0 and score > least and (ties > 0 or not tie):
                others[j] = share
                ties -= tie
    return max(value, 0.0) / k, positive / k
