"""Estimators to files and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import shortlist
from shortlist.estimators import MultilabelClassifier, TopKClassifier
from shortlist.estimators.base import ShortlistClassifier
from shortlist.estimators.free_intercept import InterceptCertificate
from shortlist.models import container, kernels
from shortlist.models.container import Arrays, Header, PathLike, is_model
from shortlist.models.errors import ModelError
from shortlist.models.values import decode, encode
from shortlist.solvers import result
from shortlist.solvers.result import Certificate, Evaluation, History, Status

__all__ = ["describe", "is_model", "load", "save"]

_ESTIMATORS = {kind.__name__: kind for kind in (TopKClassifier, MultilabelClassifier)}
#: Not kept, and not taken from a file: functions, and a path that a stranger could aim at.
_FORGOTTEN = ("callbacks", "checkpoint")
_DAMAGE = (
    *(ArithmeticError, AttributeError, IndexError, KeyError, RecursionError),
    *(TypeError, ValueError),
)


def save(
    model: ShortlistClassifier, path: PathLike, *, trained_on: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to a file, which appears when it is whole.

    What a prediction needs is kept to the bit, with the parameters, the certificate and the
    history without its metrics. The coefficients of a linear model's examples, ``dual_coef_``,
    are not: its weights are. Neither are the parameters `callbacks`, `checkpoint` and, unless it
    is a number, `random_state`.

    Parameters
    ----------
    model : TopKClassifier or MultilabelClassifier
        Fitted, with a loss and a kernel of this package.
    path : path
        The file.
    trained_on : mapping, optional
        What is worth knowing of the data: anything that JSON can hold. `describe` returns it.

    Raises
    ------
    ModelError
        If the loss or the kernel is a function of the user's own.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import TopKClassifier, models
    >>> model = TopKClassifier("svm").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.shortlist")
    ...     models.save(model, path, trained_on={"source": "three numbers"})
    ...     path.stat().st_size < 10_000
    True
    """
    if _ESTIMATORS.get(type(model).__name__) is not type(model):
        raise ModelError(
            f"a {type(model).__name__} cannot be saved; pass a {' or a '.join(_ESTIMATORS)}."
        )
    check_is_fitted(model)
    parameters = model.get_params(deep=False)
    if not isinstance(parameters["random_state"], int | np.integer):
        parameters["random_state"] = None
    for name in _FORGOTTEN:
        del parameters[name]
    kernel, arrays = _weights(model)
    if kernel is not None:
        parameters["kernel"] = kernel["function"]
    names = getattr(model, "feature_names_in_", None)
    header = {
        "written_by": f"shortlist {shortlist.__version__}",
        "estimator": type(model).__name__,
        "parameters": {name: encode(value, name) for name, value in parameters.items()},
        "classes": encode(model.classes_, "classes_"),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else encode(names, "feature_names_in_"),
        "target": model._target_form,
        "kernel": kernel,
        "cut": encode(getattr(model, "cut_", None), "cut_"),
        **_certificate(model),
        "status": model.status_,
        "epochs": int(model.n_iter_),
        "history": [_line(evaluation) for evaluation in model.history_],
        "trained_on": encode(dict(trained_on or {}), "trained_on"),
    }
    container.write(path, header, arrays)


def load(path: PathLike) -> Any:
    """Return the fitted estimator that a file holds.

    Parameters
    ----------
    path : path
        A file that `save` or the command ``shortlist train`` has written; it may come from
        anyone.

    Returns
    -------
    TopKClassifier or MultilabelClassifier

    Raises
    ------
    ModelError
        If the file is damaged, of a newer version, or no model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import TopKClassifier, models
    >>> model = TopKClassifier("svm").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.shortlist")
    ...     models.save(model, path, trained_on={"source": "three numbers"})
    ...     again = models.load(path)
    >>> again.predict([[2.5]]), again.certificate_ == model.certificate_
    (array(['c'], dtype='<U1'), True)
    """
    return _read(path)[1]


def describe(path: PathLike) -> dict[str, Any]:
    """Return what is known of the model in a file: plain values, ready for JSON.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        The estimator and its parameters, sizes, classes, the certificate, what ended the fit,
        and what the model was trained on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import TopKClassifier, models
    >>> model = TopKClassifier("svm").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.shortlist")
    ...     models.save(model, path, trained_on={"source": "three numbers"})
    ...     about = models.describe(path)
    >>> about["estimator"], about["trained_on"]
    ('TopKClassifier', {'source': 'three numbers'})
    """
    header, model = _read(path)
    return {
        "version": header["version"],
        "written_by": header["written_by"],
        "estimator": header["estimator"],
        "parameters": {name: _plain(getattr(model, name)) for name in header["parameters"]},
        "n_features": model.n_features_in_,
        "n_classes": model.classes_.size,
        "classes": model.classes_.tolist(),
        "feature_names": None if header["feature_names"] is None else list(model.feature_names_in_),
        "support_vectors": model.support_.size if hasattr(model, "_kernel") else None,
        "certificate": result.describe(model.certificate_),
        "status": model.status_,
        "epochs": model.n_iter_,
        "seconds": float(model.history_.seconds[-1]) if model.history_ else None,
        "trained_on": decode(header["trained_on"]),
    }


def _plain(value: Any) -> Any:
    """Return a value that strict JSON can hold, or its text."""
    plain = value is None or isinstance(value, bool | int | str)
    return value if plain or (isinstance(value, float) and math.isfinite(value)) else str(value)


def _read(path: PathLike) -> tuple[Header, Any]:
    header, arrays = container.read(path)
    try:
        return header, _model(header, arrays)
    except _DAMAGE as error:
        raise ModelError(f"{path} is not a model that can be used ({error}).") from None


def _weights(model: Any) -> tuple[dict[str, Any] | None, Arrays]:
    if not hasattr(model, "_kernel"):
        return None, {"coef_": model.coef_, "intercept_": model.intercept_}
    header, points = kernels.encode(model._kernel)
    support = {"support_": model.support_.astype(np.int64), "dual_coef_": model.dual_coef_}
    return header, {**support, "intercept_": model.intercept_, **points}


def _certificate(model: Any) -> Header:
    certificate = model.certificate_
    radius = getattr(certificate, "radius", None)  # of an intercept that is not regularised
    return {
        "certificate": encode(_plain_certificate(certificate), "certificate_"),
        "radius": encode(radius, "radius"),
    }


def _plain_certificate(certificate: Any) -> Any:
    """Return bounds without what else an `InterceptCertificate` knows."""
    is_more = isinstance(certificate, InterceptCertificate)
    return Certificate(*certificate) if is_more else certificate


def _line(line: Evaluation) -> list[Any]:
    certificate = _plain_certificate(line.certificate)
    seconds = line.seconds_solving, line.seconds_evaluating
    values = [int(line.epoch), certificate, *map(float, seconds), line.method, line.note]
    return [encode(value, "history_") for value in values]


def _model(header: Header, arrays: Arrays) -> Any:
    parameters = {name: decode(value) for name, value in header["parameters"].items()}
    for name in _FORGOTTEN:
        parameters.pop(name, None)
    model: Any = _ESTIMATORS[header["estimator"]](**parameters)
    model.classes_ = decode(header["classes"])
    model.n_features_in_ = int(header["n_features"])
    if header["feature_names"] is not None:
        model.feature_names_in_ = decode(header["feature_names"])
    forms = (
        ("single", "dense", "sparse") if isinstance(model, MultilabelClassifier) else ("single",)
    )
    if header["target"] not in forms:
        raise ValueError(f"the target is {header['target']!r}")
    model._target_form = header["target"]
    _set_weights(model, header["kernel"], arrays)
    _set_cut(model, decode(header["cut"]))
    _set_history(model, header)
    return model


def _set_weights(model: Any, kernel: dict[str, Any] | None, arrays: Arrays) -> None:
    m, d = model.classes_.size, model.n_features_in_
    shapes: dict[str, tuple[int, ...]] = {"intercept_": (m,)}
    if kernel is None:
        shapes["coef_"] = (m, d)
    else:
        size = arrays["support_"].size
        shapes |= {"support_": (size,), "dual_coef_": (size, m)}
        model._kernel = kernels.decode(kernel, arrays, size, d)
        if size and not 0 <= arrays["support_"].min() <= arrays["support_"].max():
            raise ValueError("an example of the support has no number")
        if kernel["function"] == "precomputed" and size and arrays["support_"].max() >= d:
            raise ValueError("the support is not among the examples")
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape} and not {shape}")
        setattr(model, name, arrays[name])
    model._duals = None


def _set_cut(model: Any, cut: Any) -> None:
    if (model._target_form != "single") != (cut is not None):
        raise ValueError("label sets need a threshold, and nothing else has one")
    if cut is not None:
        cut.label_sets(np.zeros((1, model.classes_.size)))  # refuses a cut that does not fit
        model.cut_ = cut


def _set_history(model: Any, header: Header) -> None:
    certificate, radius = decode(header["certificate"]), decode(header["radius"])
    if radius is not None:
        certificate = InterceptCertificate(*certificate)
        certificate.radius = float(radius)
    status = Status(header["status"])
    model.certificate_ = certificate
    model.status_, model.converged_ = status.value, status is Status.CONVERGED
    model.n_iter_ = int(header["epochs"])
    model.history_ = History()
    for line in header["history"]:
        epoch, reached, solving, evaluating, method, note = map(decode, line)
        model.history_.append(
            Evaluation(epoch, reached, solving, evaluating, method=method, note=note)
        )
