r"""Special functions that vectorise, compiled for the CPU at hand, in float32 and float64.

For arrays: `wright_omega` and its derivative.

For kernels of your own (functions compiled with Numba): `omega`, `exp`, `log`, `log1p`,
`softplus` and `xlogx` of a number, and `logsumexp` of a vector. A loop over them becomes
vector instructions, which a loop over Numba's own ``np.exp`` does not. Their modules
state how accurate they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import FloatArray, as_floats, check_out
from shortlist.special.elementary import exp, log, log1p, softplus, xlogx
from shortlist.special.omega import omega, omega_of_all, omega_slope, omega_slope_of_all
from shortlist.special.sums import logsumexp

__all__ = [
    "exp",
    "log",
    "log1p",
    "logsumexp",
    "omega",
    "omega_slope",
    "softplus",
    "wright_omega",
    "wright_omega_derivative",
    "xlogx",
]


def wright_omega(t: ArrayLike, *, out: Any = None) -> FloatArray:
    r"""Return Wright's omega function of real numbers, :math:`V(t) = W(e^t)`.

    :math:`x = V(t)` is the solution of :math:`x + \log x = t`. The relative error is at
    most 4 eps in either precision (eps is 2.2e-16 or 1.2e-7). The limits are 0 and
    infinity; NaN stays NaN.

    Parameters
    ----------
    t : array_like
        Real numbers, of any shape. float32 is kept; other dtypes become float64.
    out : ndarray, optional
        Where to write the result; may be `t`.

    Returns
    -------
    ndarray, shape of `t`

    See Also
    --------
    scipy.special.wrightomega : The same for complex arguments.

    Examples
    --------
    >>> from shortlist import special
    >>> special.wright_omega([-1.0, 0.0, 1.0])
    array([0.27846454, 0.56714329, 1.        ])
    """
    x, flat = _flat_pair(t, out)
    omega_of_all(x.reshape(-1), flat)
    return _shaped(flat, x, out)


def wright_omega_derivative(t: ArrayLike, *, out: Any = None) -> FloatArray:
    r"""Return the derivative of `wright_omega`, :math:`V'(t) = V(t) / (1 + V(t))`.

    Parameters
    ----------
    t : array_like
        Real numbers, of any shape. float32 is kept; other dtypes become float64.
    out : ndarray, optional
        Where to write the result; may be `t`.

    Returns
    -------
    ndarray, shape of `t`

    Examples
    --------
    >>> from shortlist import special
    >>> special.wright_omega_derivative([0.0, 1.0])
    array([0.36189626, 0.5       ])
    """
    x, flat = _flat_pair(t, out)
    omega_slope_of_all(x.reshape(-1), flat)
    return _shaped(flat, x, out)


def _flat_pair(t: ArrayLike, out: Any) -> tuple[FloatArray, FloatArray]:
    """Return the argument, and a vector for the results: in the memory of `out` if it can be."""
    x = as_floats(t, "t")
    if out is None:
        return x, np.empty(x.size, x.dtype)
    check_out(out, x.shape, x.dtype, "out")
    return x, out.reshape(-1) if out.flags.c_contiguous else np.empty(x.size, x.dtype)


def _shaped(flat: FloatArray, x: FloatArray, out: Any) -> FloatArray:
    if out is None:
        return flat.reshape(x.shape)[()]
    if not out.flags.c_contiguous:
        out[...] = flat.reshape(x.shape)
    return np.asarray(out)
