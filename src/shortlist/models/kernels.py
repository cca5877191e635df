"""What a kernel's scores rest on, as a header and arrays, and back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from shortlist._arrays import as_finite
from shortlist.models.container import Arrays
from shortlist.models.errors import ModelError
from shortlist.rows import KernelRows
from shortlist.rows.convert import as_csr, as_matrix

_FUNCTIONS: dict[str, Callable[..., Any]] = {"rbf": rbf_kernel, "poly": polynomial_kernel}


def encode(rows: KernelRows) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays."""
    header = {"dtype": np.dtype(rows.dtype).str, "intercept": float(rows.intercept)}
    if rows.function is None:
        return {"function": "precomputed", **header}, {}
    if not isinstance(rows.function, functools.partial):
        raise ModelError(
            "the kernel is a function of yours, which a model file cannot hold; choose 'rbf', "
            "'poly' or 'precomputed'."
        )
    names = {function: name for name, function in _FUNCTIONS.items()}
    keywords = {key: float(value) for key, value in rows.function.keywords.items()}
    header |= {"function": names[rows.function.func], "keywords": keywords}
    if not scipy.sparse.issparse(rows.points):
        return header, {"points": rows.points}
    points = rows.points
    return header, {
        "points_data": points.data,
        "points_indices": points.indices,
        "points_indptr": points.indptr,
    }


def decode(header: dict[str, Any], arrays: Arrays, size: int, d: int) -> KernelRows:
    """Return the kernel of `size` examples of `d` features."""
    dtype = np.dtype({"<f4": np.float32, "<f8": np.float64}[header["dtype"]])
    points, function = _points(header, arrays, size, d), None
    if header["function"] != "precomputed":
        keywords = {key: as_finite(value, key) for key, value in header["keywords"].items()}
        function = functools.partial(_FUNCTIONS[header["function"]], **keywords)
    intercept = as_finite(header["intercept"], "intercept")
    return KernelRows(points, function, None, np.empty(0), dtype, intercept)


def _points(header: dict[str, Any], arrays: Arrays, size: int, d: int) -> Any:
    if header["function"] == "precomputed":
        return np.empty((size, 0))
    if "points" in arrays:
        points = as_matrix(arrays["points"], "points")
        if points.shape != (size, d):
            raise ValueError(f"there are support vectors of shape {points.shape}")
        return points
    parts = tuple(arrays[f"points_{part}"] for part in ("data", "indices", "indptr"))
    return as_csr(scipy.sparse.csr_array(parts, (size, d)), "points")
