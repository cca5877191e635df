r"""Projection onto the bipartite simplex.

.. math::

    \min_{x, y \ge 0} \tfrac12 \|x - b\|^2 + \tfrac12 \|y - c\|^2
    \quad \text{s.t.} \quad \langle 1, x \rangle = \langle 1, y \rangle \le r.

The solution is :math:`x = \max\{0, b - t\}`, :math:`y = \max\{0, c - s\}`. First
each side alone, with its sum equal to `r`: if :math:`t + s \ge 0` that is it.
Otherwise :math:`s = -t`, what was zero stays zero, and variable fixing on the
rest finds `t` [LHS17, section 5.3], in expected time :math:`O(m)`. (Step 5 of
the algorithm as printed there has the two sides exchanged.)
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel
from shortlist.prox.clip import Clip
from shortlist.prox.variable_fixing import simplex, tails
from shortlist.special.select import gather_from


@kernel
def bipartite_simplex(b, c, radius, work):
    """Return the `Clip` of `x` and that of `y`."""
    clip_x = simplex(b, radius, True, work)
    clip_y = simplex(c, radius, True, work)
    both = clip_x.shift + clip_y.shift
    if both + (clip_x.t + clip_y.t) >= 0.0:
        return clip_x, clip_y

    # Now s = -t: relative to the shifts, the two thresholds add up to -both.
    x, y = _shifted(b, clip_x, work[0]), _shifted(c, clip_y, work[1])
    floor_x, floor_y = clip_x.t, clip_y.t  # the free variables are above
    _, _, n_x, sum_x = tails(x, 0.0, 0.0, floor_x, np.inf)
    _, _, n_y, sum_y = tails(y, 0.0, 0.0, floor_y, np.inf)
    t = floor_x
    while n_x + n_y > 0:
        t = (sum_x - sum_y - n_y * both) / (n_x + n_y)
        s = -both - t
        n_x_under, under_x, _, _ = tails(x, floor_x, t, np.inf, np.inf)
        n_y_under, under_y, _, _ = tails(y, floor_y, s, np.inf, np.inf)
        shortfall_x = max(n_x_under * t - under_x, 0.0)
        shortfall_y = max(n_y_under * s - under_y, 0.0)
        if shortfall_x < shortfall_y:
            n_y, sum_y, floor_y = n_y - n_y_under, sum_y - under_y, s
        elif shortfall_y < shortfall_x:
            n_x, sum_x, floor_x = n_x - n_x_under, sum_x - under_x, t
        else:
            break
    # Once more for the groups that t makes, from sums that no subtraction has touched.
    _, _, n_x, sum_x = tails(x, 0.0, 0.0, t, np.inf)
    _, _, n_y, sum_y = tails(y, 0.0, 0.0, -both - t, np.inf)
    if n_x + n_y > 0:
        t = (sum_x - sum_y - n_y * both) / (n_x + n_y)
    return Clip(clip_x.shift, t, 0.0, np.inf), Clip(clip_y.shift, -both - t, 0.0, np.inf)


@kernel
def _shifted(a, clip, work):
    """Gather the elements, minus the shift, that the clip leaves positive."""
    kept = work[: gather_from(a, clip.shift + clip.t, work)]
    kept -= clip.shift
    return kept
