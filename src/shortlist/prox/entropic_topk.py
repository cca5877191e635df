r"""Entropic projections onto the top-k simplex: the step of the top-k entropy losses.

.. math::

    \min_x \tfrac{\alpha}{2} (\|x\|^2 + s^2) - \langle b, x \rangle
        + \langle x, \log x \rangle + (1 - s) \log(1 - s),
    \qquad s = \langle 1, x \rangle,

over :math:`0 \le x_j \le s/k` (variant :math:`\alpha`) or :math:`0 \le x_j \le 1/k`
(variant :math:`\beta`), with :math:`s \le 1`, which is never active.

The solution is :math:`x_j = \min\{V(b_j - t)/\alpha, hi\}`
[LHS17, prop. "solve top-k entropy update"]. The paper goes through the sizes of
:math:`U = \{j : x_j = hi\}` and solves a system in `s` and `t` for each. Here `t`
alone is sought: for *any* `t` the cap `hi` follows from :math:`\langle 1, x \rangle
= s = k\,hi`, and so does `U`, by looking at the `k` largest elements. What is left
is the optimality condition for `s`,

.. math::

    V\bigl(\alpha - t - \tfrac1k \textstyle\sum_U \nu_j\bigr) + \alpha s = \alpha,
    \qquad \nu_j = b_j - t - V^{-1}(\alpha\,hi),

whose left side is continuous and decreasing in `t`, also where `U` changes (the
:math:`\nu_j` that comes or goes is 0 there). In variant :math:`\beta` the cap is
fixed and the multipliers :math:`\nu` do not enter. Newton's method with a bracket
needs a handful of evaluations, each one pass over `b`.

At :math:`\alpha = 0`, :math:`x_j = \min\{e^{b_j - t}, hi\}` in closed form
[LHS17, prop. "solve top-k entropy primal"]: with :math:`q` the softmax of `b`
capped at :math:`1/k`, variant :math:`\alpha` has :math:`x = s q`.
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel, summing_kernel
from shortlist.prox.entropic import bounded_step, correct, newton_tolerance
from shortlist.special.elementary import exp, like, log, log1p, offset, softplus
from shortlist.special.omega import omega, omega_slope
from shortlist.special.roots import newton_step
from shortlist.special.select import gather_from, sort_descending, top_bound

_MAX_STEPS = 100


@kernel
def top_values(b, k, work):
    """Sort the `k` largest of ``b - max(b)`` to the front of `work`; return the maximum."""
    shift, bound = top_bound(b, k, work)
    n = gather_from(b, bound, work)
    sort_descending(work[:n])
    for j in range(k):  # rounded as the passes over b round it
        work[j] = np.float64(like(b[0], work[j]) - like(b[0], shift))
    return shift


@kernel
def _ties(b, shift, top):
    """Return how many elements equal to the last of `top` are not in `top`."""
    ties = 0
    last = top[top.size - 1]
    bound, shift = like(b[0], last), like(b[0], shift)
    for j in range(b.size):
        ties += b[j] - shift == bound
    for j in range(top.size):
        ties -= top[j] == last
    return ties


@kernel
def _add_logs(x, y):
    r"""Return :math:`\log(e^x + e^y)`; one of the two is finite."""
    return max(x, y) + log1p(exp(-abs(x - y)))


@summing_kernel
def _log_mass_of_rest(b, shift, top, ties):
    r"""Return :math:`\log \sum e^{b_j - shift}` over the elements that are not in `top`."""
    total = np.float64(ties)  # in units of the last of `top`, so that it does not underflow
    last = top[top.size - 1]
    bound, shift = like(b[0], last), like(b[0], shift)
    for j in range(b.size):
        relative = offset(b[j], shift, bound)
        value = np.float64(exp(relative))
        total += value if relative < like(b[0], 0.0) else 0.0
    return last + log(total)


@kernel
def _uncapped(log_rest, top):
    r"""Return `u`, the number of capped elements, and the log of the others' sum.

    The `u` largest are at the cap when the others, in proportion to
    :math:`e^{b_j}`, stay below it: :math:`(k - u) e^{b_{[u+1]}} \le \sum_{j > u} e^{b_{[j]}}`.
    """
    u = top.size - 1
    log_sum = _add_logs(log_rest, top[u])
    while u > 0 and top[u - 1] + np.log(top.size - u) <= log_sum:
        u -= 1
        log_sum = _add_logs(log_sum, top[u])
    return u, log_sum


@kernel
def _closed_form_alpha(top, log_rest, shift):
    """Solve variant alpha at alpha = 0; return `t` and the logarithm of the cap."""
    k = top.size
    u, log_sum = _uncapped(log_rest, top)
    rho = u / k
    tau = log_sum - np.log1p(-rho)  # the threshold of q
    v = shift + top[:u].sum() / k + rho * np.log(k) + (1.0 - rho) * tau  # the loss is softplus(v)
    log_s = -softplus(-v)
    return tau - log_s, log_s - np.log(k)


@kernel
def _closed_form_beta(top, log_rest, shift):
    r"""Solve variant beta at alpha = 0: :math:`e^{-t} + \sum_j \min\{e^{b_j - t}, 1/k\} = 1`."""
    u, log_sum = _uncapped(_add_logs(log_rest, -shift), top)
    return log_sum - np.log1p(-u / top.size), -np.log(top.size)


@kernel
def _write_exp(b, shift, t, log_cap, out):
    r"""Write :math:`\min\{e^{b - shift - t}, cap\}` to `out`."""
    shift, t, log_cap = like(b[0], shift), like(b[0], t), like(b[0], log_cap)
    for j in range(b.size):
        value = (b[j] - shift) - t
        out[j] = exp(value if value < log_cap else log_cap)


@summing_kernel
def _omega_of_rest(b, shift, t, last, out):
    """Write V to `out`; return its sum, and that of its slope, over the elements below `last`."""
    total, slope = 0.0, 0.0
    bound, shift, t = like(b[0], last), like(b[0], shift), like(b[0], t)
    for j in range(b.size):
        relative = b[j] - shift
        value = omega(offset(b[j], shift, t))
        out[j] = value
        total += np.float64(value) if relative < bound else 0.0
        slope += np.float64(omega_slope(value)) if relative < bound else 0.0
    return total, slope


@kernel
def _evaluate_alpha(b, shift, t, top, ties, alpha, out):
    """Return the condition at `t`, minus its derivative, the sum of V, the cap, its slope."""
    k = top.size
    below, slope = _omega_of_rest(b, shift, t, top[k - 1], out)
    value = omega(top[k - 1] - t)
    below += (ties + 1) * value
    slope += (ties + 1) * omega_slope(value)
    u = k - 1
    while u > 0:
        value = omega(top[u - 1] - t)
        if value * (k - u) > below:
            break
        u -= 1
        below += value
        slope += omega_slope(value)
    rho = u / k
    cap = below / (k - u)
    cap_slope = slope / (k - u)
    argument = (alpha - shift) - (1.0 - rho) * t - top[:u].sum() / k
    argument_slope = 1.0 - rho
    if u > 0:
        argument += rho * (cap + np.log(cap))
        argument_slope += rho * (1.0 + 1.0 / cap) * cap_slope
    own = omega(argument)
    slope = omega_slope(own) * argument_slope + k * cap_slope
    return own + k * cap - alpha, slope, k * cap, cap, cap_slope


@summing_kernel
def _evaluate_beta(b, shift, t, k, alpha, out):
    """The same with the cap 1/k."""
    cap = alpha / k
    own = omega((alpha - shift) - t)
    total, slope, n_capped = 0.0, omega_slope(own), 0
    shift, t, bound = like(b[0], shift), like(b[0], t), like(b[0], cap)
    for j in range(b.size):
        value = omega(offset(b[j], shift, t))
        out[j] = value
        total += np.float64(value) if value < bound else 0.0
        slope += np.float64(omega_slope(value)) if value < bound else 0.0
        n_capped += value >= bound
    total += n_capped * cap
    return own + total - alpha, slope, total, cap, 0.0


@kernel
def entropic_topk(b, k, alpha, fixed_cap, out, work):
    r"""Write the solution to `out`; return `shift`, `t` and `hi`.

    Variant beta where `fixed_cap`, else alpha:
    :math:`x = \min\{V(b - shift - t) / \alpha, hi\}`. `b` has at least `k` elements.
    At :math:`\alpha = 0`, and where it is too small to be told from it,
    :math:`x = \min\{e^{b - shift - t}, hi\}`.
    """
    shift = top_values(b, k, work[0])
    top = work[0][:k]
    ties = _ties(b, shift, top)
    log_rest = _log_mass_of_rest(b, shift, top, ties)
    if fixed_cap:
        t, log_cap = _closed_form_beta(top, log_rest, shift)
    else:
        t, log_cap = _closed_form_alpha(top, log_rest, shift)
    tolerance = newton_tolerance(b[0])
    if alpha < tolerance * tolerance:
        _write_exp(b, shift, t, log_cap, out)
        return shift, t, np.exp(log_cap)
    t -= np.log(alpha) + alpha * np.exp(min(-t, log_cap))
    low, high = -np.inf, np.inf
    step, cap, cap_slope = 0.0, 0.0, 0.0
    for _ in range(_MAX_STEPS):
        t = np.float64(like(b[0], t))
        if fixed_cap:
            value, slope, total, cap, cap_slope = _evaluate_beta(b, shift, t, k, alpha, out)
        else:
            value, slope, total, cap, cap_slope = _evaluate_alpha(
                b, shift, t, top, ties, alpha, out
            )
        step = bounded_step(value, slope, total, alpha, tolerance)
        if abs(step) < tolerance:
            break
        t, low, high = newton_step(t, value, slope, low, high)
        rounded = like(b[0], t)
        if rounded == like(b[0], low) or rounded == like(b[0], high):
            step = 0.0  # no number of this precision lies between them
            break
    cap -= step * cap_slope
    correct(out, step, cap, 1.0 / alpha)
    return shift, t + step, cap / alpha
