"""Compiled loops over the rows of a matrix of scores."""

from __future__ import annotations

import numpy as np

from shortlist._jit import keep_alive, kernel, part, uncounted
from shortlist.losses.labels import from_front, to_front
from shortlist.losses.operations import conjugate, derivative, gradient, step, value
from shortlist.prox.maps import workspace


@kernel
def step_rows(loss, q, offsets, indices, a, out):
    """Write the step of every row of `q`, with the curvature of its own in `a`, to `out`."""
    owned = workspace(q.shape[1]), np.empty(q.shape[1], q.dtype)
    (work, row), q, indices, out = uncounted((owned, q, indices, out))
    for i in range(q.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = q[i]
        to_front(row, labels)
        step(loss, row, labels.size, a[i], out[i], work)
        from_front(out[i], labels)
    keep_alive(owned)


@kernel
def gradient_rows(loss, u, offsets, indices, out, conjugates):
    """Write the gradient at every row of scores to `out`, and the conjugate there."""
    owned = workspace(u.shape[1]), np.empty(u.shape[1], u.dtype)
    (work, row), u, indices, out = uncounted((owned, u, indices, out))
    for i in range(u.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = u[i]
        to_front(row, labels)
        conjugates[i] = gradient(loss, row, labels.size, out[i], work)
        from_front(out[i], labels)
    keep_alive(owned)


@kernel
def value_rows(loss, u, offsets, indices, out):
    """Write the loss of every row of scores to `out`."""
    m = u.shape[1]
    owned = workspace(m), np.empty(m, u.dtype), np.empty(m, u.dtype)
    (work, row, scratch), u, indices = uncounted((owned, u, indices))
    for i in range(u.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = u[i]
        to_front(row, labels)
        out[i] = value(loss, row, labels.size, scratch, work)
    keep_alive(owned)


@kernel
def conjugate_rows(loss, v, offsets, indices, out):
    """Write the conjugate at every row of duals to `out`."""
    owned = np.empty(v.shape[1], v.dtype)
    row, v, indices = uncounted((owned, v, indices))
    for i in range(v.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = v[i]
        to_front(row, labels)
        out[i] = conjugate(loss, row, labels.size)
    keep_alive(owned)


@kernel
def centred_step_rows(loss, u, centre, a, offsets, indices, out):
    r"""Write the gradients at the scores `u` of the losses smoothed about the duals `centre`.

    These are the steps of :math:`u_i + a v_i`: with :math:`\tfrac{a}{2} \|v - v_i\|^2` added
    to the conjugate, any loss is smooth. `out` may be `centre`.
    """
    m = u.shape[1]
    owned = workspace(m), np.empty(m, u.dtype), np.empty(m, u.dtype)
    (work, row, v), indices, out = uncounted((owned, indices, out))
    weight = row.dtype.type(a)
    for i in range(u.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        for j in range(row.size):
            row[j] = u[i, j] + weight * centre[i, j]
        to_front(row, labels)
        step(loss, row, labels.size, a, v, work)
        from_front(v, labels)
        out[i] = v
    keep_alive(owned)


@part
def describe(loss, v, labels, a, row, h, p, work):
    """Describe the derivative at the duals `v` of one example, its labels in their places."""
    row[:] = v
    to_front(row, labels)
    taus = derivative(loss, row, labels.size, a, h, p, work)
    from_front(h, labels)
    for r in range(2):
        if taus[r] != 0.0:
            from_front(p[r], labels)
    return taus


@kernel
def derivative_times_rows(loss, v, offsets, indices, a, directions, out):
    """Write the derivative of every example's step at `v`, times its direction, to `out`."""
    m = v.shape[1]
    owned = workspace(m), np.empty(m, v.dtype), np.empty(m), np.empty((2, m))
    (work, row, h, p), v, indices, directions = uncounted((owned, v, indices, directions))
    for i in range(v.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        taus = describe(loss, v[i], labels, a, row, h, p, work)
        direction = directions[i]
        for j in range(m):
            out[i, j] = h[j] * direction[j]
        for r in range(2):
            if taus[r] != 0.0:
                along = 0.0
                for j in range(m):
                    along += p[r, j] * direction[j]
                along *= taus[r]
                for j in range(m):
                    out[i, j] += along * p[r, j]
    keep_alive(owned)


@kernel
def derivative_rows(loss, v, offsets, indices, a, c, h, p, taus, diagonal):
    """Write the derivative of every example's step at `v`, times its weight in `c`.

    As `operations.derivative` does, and its diagonal; a vector of `p` that does not count is 0.
    """
    m = v.shape[1]
    owned = workspace(m), np.empty(m, v.dtype), np.empty(m), np.empty((2, m))
    (work, row, flat, vectors), v, indices = uncounted((owned, v, indices))
    for i in range(v.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        signs = describe(loss, v[i], labels, a, row, flat, vectors, work)
        for r in range(2):
            taus[i, r] = c[i] * signs[r]
            if signs[r] == 0.0:
                vectors[r] = 0.0
        for j in range(m):
            first, second = vectors[0, j], vectors[1, j]
            h[i, j], p[i, 0, j], p[i, 1, j] = c[i] * flat[j], first, second
            of_vectors = signs[0] * first * first + signs[1] * second * second
            diagonal[i, j] = c[i] * max(flat[j] + of_vectors, 0.0)
    keep_alive(owned)


@kernel
def slope_rows(loss, u, along, t, centre, a, offsets, indices, c):
    r"""Return the derivative by `t` of the sum of `centred_step_rows`' losses at `u + t along`."""
    m, total = u.shape[1], 0.0
    owned = workspace(m), np.empty(m, u.dtype), np.empty(m, u.dtype)
    (work, row, v), indices = uncounted((owned, indices))
    weight, t = row.dtype.type(a), row.dtype.type(t)
    for i in range(u.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        for j in range(row.size):
            row[j] = u[i, j] + t * along[i, j] + weight * centre[i, j]
        to_front(row, labels)
        step(loss, row, labels.size, a, v, work)
        from_front(v, labels)
        slope = 0.0
        for j in range(row.size):
            slope += np.float64(v[j]) * np.float64(along[i, j])
        total += c[i] * slope
    keep_alive(owned)
    return total
