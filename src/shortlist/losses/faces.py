r"""The face of a top-k simplex that a dual vector lies on, and the curvature of a loss along it.

Let `x` be the other classes' part of a dual vector, `s` its sum, and the label's part `-s`.
Elements are at 0, at their cap (:math:`s/k`, or :math:`1/k` where that is fixed or
:math:`s = 1`), or free; say `F` are the free ones and `U` those at the cap. Moving on the
face means to choose the free elements `z`: with :math:`e = k - |U|`, where the cap follows
the sum,

.. math::  v = z + w \langle 1, z \rangle, \qquad w = \tfrac1e 1_U - \tfrac{k}{e} e_y,

and :math:`w = -e_y` where it does not. If the curvature is :math:`1/h_j` for a free element,
`at_cap` for each at the cap and `of_sum` for `s`, it is :math:`diag(1/h) + \beta 1 1'` in `z`
with :math:`\beta = at\_cap\, |U| / e^2 + of\_sum\, k^2 / e^2`. Inverted, and taken to `v`,

.. math::

    diag(h) - \tfrac{1}{\sigma} h h' + \bigl(\tfrac{1}{\sigma} - \tfrac{\beta}{1 + \beta \sigma}
    \bigr) p p', \qquad \sigma = \langle 1, h \rangle, \quad p = h + \sigma w.

At :math:`s = 1` the sum does not move, and the last term is not there.
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel
from shortlist.losses.operations import face_tolerance


@kernel
def describe_topk_face(v, k, fixed_cap, at_cap, of_sum, h, p):
    """Turn `h`, given for free elements, into the derivative; see `operations.derivative`."""
    total, near = -np.float64(v[0]), face_tolerance(v[0])
    full = total >= 1.0 - near
    cap = 1.0 / k if fixed_cap or full else total / k
    lowest_at_cap = cap * (1.0 - near) if k > 1 else np.inf
    p[:] = 0.0
    if total <= 0.0:  # a corner
        h[:] = 0.0
        return 0.0, 0.0
    h[0] = 0.0
    n_free, n_cap, sigma = 0, 0, 0.0
    for j in range(1, v.size):
        x = np.float64(v[j])
        if x >= lowest_at_cap:
            p[1, j] = 1.0
            n_cap += 1
        free = 0.0 < x < lowest_at_cap
        h[j] = h[j] if free else 0.0
        sigma += h[j]
        n_free += free
    moves = not (fixed_cap or full) and n_cap > 0
    if moves and n_cap >= k:  # all that is left to move is the sum
        for j in range(1, v.size):
            h[j] = 0.0
            p[1, j] /= k
        p[1, 0] = -1.0
        return 0.0, 1.0 / (at_cap / k + of_sum)
    if sigma == 0.0:
        return 0.0, 0.0
    rest = k - n_cap if moves else 1
    beta = of_sum * (k / rest) ** 2 + at_cap * n_cap / rest**2 if moves else of_sum
    for j in range(1, v.size):
        p[0, j] = h[j]
        p[1, j] = h[j] + (sigma * p[1, j] / rest if moves else 0.0)
    p[1, 0] = -sigma * (k / rest if moves else 1.0)
    if n_free == 1:  # two terms cancel exactly
        h[:] = 0.0
    along = 0.0 if full else 1.0 / (sigma * (1.0 + beta * sigma))
    return (-1.0 / sigma if n_free > 1 else 0.0), along
