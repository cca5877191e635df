r"""One pass of stochastic dual coordinate ascent, compiled.

For one example the dual is maximised exactly: with :math:`a = c_i \langle x_i, x_i
\rangle` and :math:`q = W' x_i + a v_i`, the new dual is `step(q, a)`. `W` changes by
:math:`-c_i x_i (v_i^{new} - v_i)'`.

`sweep_block` does that for a block of examples of which only the scores `S` and the inner
products `G` are known: it corrects the scores of each by what the earlier ones of the
block have changed, so the iterates are those of one example at a time, for any size of
block. Reading a matrix of weights once a block and not twice an example is what makes it
run at the speed of matrix products. `sweep_rows` goes one example at a time, for sparse
rows and for few columns.
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import inlined, keep_alive, kernel, part, uncounted
from shortlist._vectors import prefetch
from shortlist.losses.labels import from_front, to_front
from shortlist.losses.operations import step
from shortlist.prox.maps import workspace
from shortlist.rows.operations import add_outer, add_scores, prefetch_row
from shortlist.special.elementary import like
from shortlist.special.padding import padded

#: Weights, padding included, that are copied for the sake of it.
_WORTH_A_COPY = 1 << 16
#: How many visits before its own an example is fetched.
_AHEAD = 2


@part
def _update(loss, scores, labels, c, kappa, duals, q, v, change, work):
    r"""Maximise over one example; write :math:`-c (v^{new} - v)` and return whether it is not 0.

    `scores` are those of the example; `duals`, its row of dual variables, is updated.
    """
    a = c * kappa
    curvature, weight = like(q[0], a), like(q[0], -c)
    for k in range(q.size):
        q[k] = scores[k] + curvature * duals[k]
    to_front(q, labels)
    step(loss, q, labels.size, a, v, work)
    from_front(v, labels)
    moved = False
    for k in range(q.size):
        difference = v[k] - duals[k]
        moved |= difference != 0.0
        change[k] = weight * difference
        duals[k] = v[k]
    return moved


@inlined
def _correct(scores, g, change, movers, n_movers):
    """Add ``g[j] * change[j]`` for all `movers` to the scores, four of them in one go.

    The vectors are padded to whole vector registers: a rest of a few classes would take
    longer than all others together.
    """
    m = scores.size
    first = 0
    while first + 4 <= n_movers:
        j0, j1, j2, j3 = movers[first], movers[first + 1], movers[first + 2], movers[first + 3]
        g0, g1, g2, g3 = g[j0], g[j1], g[j2], g[j3]
        for k in range(m):
            scores[k] += (g0 * change[j0, k] + g1 * change[j1, k]) + (
                g2 * change[j2, k] + g3 * change[j3, k]
            )
        first += 4
    for i in range(first, n_movers):
        j = movers[i]
        for k in range(m):
            scores[k] += g[j] * change[j, k]


@kernel
def sweep_block(loss, S, G, block, c, offsets, indices, V, change):
    """Update the examples `block` in order; write their changes, return which moved.

    `c` and `V` are those of all examples.
    """
    m = S.shape[1]
    width = padded(m)
    owned = (
        np.zeros((block.size, width), S.dtype),
        np.zeros(width, S.dtype),
        workspace(m),
        np.empty(m, S.dtype),
        np.empty(m, S.dtype),
    )
    changes, scores, work, q, v = uncounted(owned)
    S, G, indices, V, change = uncounted((S, G, indices, V, change))
    movers, n_movers = np.empty(block.size, np.int64), 0
    for i in range(block.size):
        e = block[i]
        scores[:m] = S[i]
        _correct(scores, G[i], changes, movers, n_movers)
        labels = indices[offsets[e] : offsets[e + 1]]
        if _update(loss, scores, labels, c[e], G[i, i], V[e], q, v, changes[i], work):
            movers[n_movers] = i
            n_movers += 1
        change[i] = changes[i, :m]
    keep_alive(owned)
    moved = np.zeros(block.size, np.bool_)
    moved[movers[:n_movers]] = True
    return moved


@kernel
def sweep_rows(loss, rows, at, block, c, norms, offsets, indices, V, W):
    """Update the examples `block` one at a time, and the weights `W`; return which moved.

    The examples are the rows `at` of the storage.
    """
    d, m = W.shape
    width, weights = m, W
    if m < padded(m) and d * padded(m) <= _WORTH_A_COPY:
        width = padded(m)
        weights = np.zeros((d, width), W.dtype)
        weights[:, :m] = W
    owned = (
        weights,
        np.zeros(width, W.dtype),
        np.zeros(width, W.dtype),
        workspace(m),
        np.empty(m, W.dtype),
        np.empty(m, W.dtype),
    )
    weights, scores, change, work, q, v = uncounted(owned)
    rows, indices, V = uncounted((rows, indices, V))
    moved = np.zeros(block.size, np.bool_)
    for i in range(block.size):
        if i + _AHEAD < block.size:
            prefetch(V[block[i + _AHEAD]])
            prefetch_row(rows, at[i + _AHEAD])
        e = block[i]
        scores[:] = 0.0
        add_scores(rows, at[i], weights, scores)
        labels = indices[offsets[e] : offsets[e + 1]]
        moved[i] = _update(loss, scores, labels, c[e], norms[e], V[e], q, v, change, work)
        if moved[i]:
            add_outer(rows, at[i], change, weights)
    if width > m:
        W[:] = weights[:, :m]
    keep_alive(owned)
    return moved
