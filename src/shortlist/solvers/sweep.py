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

from shortlist._jit import kernel, part
from shortlist.losses.labels import from_front, to_front
from shortlist.losses.operations import step
from shortlist.prox.maps import workspace
from shortlist.rows.operations import add_outer, add_scores, squared_norm
from shortlist.special.elementary import like


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


@kernel
def sweep_block(loss, S, G, block, c, offsets, indices, V, change):
    """Update the examples `block` in order; write their changes, return which moved.

    `S` (scores) is corrected in place; `c` and `V` are those of all examples.
    """
    m = S.shape[1]
    work, q, v = workspace(m), np.empty(m, S.dtype), np.empty(m, S.dtype)
    moved = np.zeros(block.size, np.bool_)
    for i in range(block.size):
        e = block[i]
        for j in range(i):
            g = G[i, j]
            if moved[j] and g != 0.0:
                for k in range(m):
                    S[i, k] += g * change[j, k]
        labels = indices[offsets[e] : offsets[e + 1]]
        moved[i] = _update(loss, S[i], labels, c[e], G[i, i], V[e], q, v, change[i], work)
    return moved


@kernel
def sweep_rows(loss, rows, order, c, norms, offsets, indices, V, W):
    """Update the examples in the given order, one at a time, and the weights `W`."""
    m = W.shape[1]
    work = workspace(m)
    scores, q = np.empty(m, W.dtype), np.empty(m, W.dtype)
    v, change = np.empty(m, W.dtype), np.empty(m, W.dtype)
    for e in order:
        scores[:] = 0.0
        add_scores(rows, e, W, scores)
        labels = indices[offsets[e] : offsets[e + 1]]
        if _update(loss, scores, labels, c[e], norms[e], V[e], q, v, change, work):
            add_outer(rows, e, change, W)


@kernel
def squared_norms(rows, out):
    """Write the squared lengths of all rows to `out`."""
    for i in range(out.size):
        out[i] = squared_norm(rows, i)


@kernel
def scores_of(rows, first, W, out):
    """Write the scores of rows `first`, `first` + 1, ... to the rows of `out`."""
    out[:] = 0.0
    for i in range(out.shape[0]):
        add_scores(rows, first + i, W, out[i])


@kernel
def weights_from_duals(rows, c, V, W):
    r"""Write :math:`W(v) = -\sum_i c_i x_i v_i'` to `W`."""
    W[:] = 0.0
    change = np.empty(V.shape[1], V.dtype)
    for i in range(V.shape[0]):
        for k in range(change.size):
            change[k] = -c[i] * V[i, k]
        add_outer(rows, i, change, W)
