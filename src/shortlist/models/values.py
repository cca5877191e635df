"""Parameters as JSON, and back.

Numbers, text and lists are themselves. All else is an object with one key that says what it is:
a tuple, a dictionary, an array, an infinity, or a value of one of the classes listed here. No
other class can be made from a file.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from shortlist.estimators import EarlyStopping
from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.losses.entropy import TopKEntropy, TopKEntropyBeta
from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.multilabel import MultilabelSoftmax, MultilabelSvm
from shortlist.losses.ova import OvaLogistic, OvaSvm
from shortlist.losses.truncated import TruncatedTopKEntropy
from shortlist.model_selection import thresholds
from shortlist.models.errors import ModelError
from shortlist.solvers.result import Certificate, Stationarity

_CLASSES = {
    kind.__name__: kind
    for kind in (
        *(ConsistentTopKSvm, MultilabelSoftmax, MultilabelSvm, OvaLogistic, OvaSvm),
        *(TopKEntropy, TopKEntropyBeta, TopKSvmAlpha, TopKSvmBeta, TruncatedTopKEntropy),
        *(thresholds.Cardinality, thresholds.Constant, thresholds.TopK, thresholds.Tuned),
        *(thresholds.MatchingCut, thresholds.ThresholdCut),
        *(Certificate, EarlyStopping, Stationarity),
    )
}


def encode(value: Any, name: str) -> Any:
    """Return what JSON can hold of `value`; `name` is what an error calls it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is list:
        return [encode(each, name) for each in value]
    if type(value) is tuple:
        return {"tuple": [encode(each, name) for each in value]}
    if type(value) is dict:
        pairs = [[encode(key, name), encode(each, name)] for key, each in value.items()]
        return {"dict": pairs}
    if isinstance(value, np.ndarray):
        return {"array": [_kind(value, name), encode(value.tolist(), name)]}
    if _CLASSES.get(type(value).__name__) is type(value):
        fields = {key: encode(each, name) for key, each in _fields(value).items()}
        return {"object": [type(value).__name__, fields]}
    raise ModelError(f"{name} is {value!r}, which a model file cannot hold.")


def decode(value: Any) -> Any:
    """Return the value that `encode` was given."""
    if isinstance(value, list):
        return [decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((what, inner),) = value.items()
    if what == "float":
        return float(inner)
    if what == "tuple":
        return tuple(decode(inner))
    if what == "dict":
        return {decode(key): decode(each) for key, each in inner}
    if what == "array":
        kind, items = inner
        return _array(kind, decode(items))
    if what == "object":
        name, fields = inner
        return _CLASSES[name](**{key: decode(each) for key, each in fields.items()})
    raise ValueError(f"a value is called {what!r}")


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    fields: dict[str, Any] = value._asdict()
    return fields


def _kind(array: np.ndarray[Any, Any], name: str) -> str:
    if array.dtype.kind in "fiub" and array.dtype.itemsize <= 8:
        return array.dtype.newbyteorder("=").str
    if array.dtype.kind == "U":
        return "text"
    if array.dtype.kind == "O" and all(isinstance(each, str) for each in array.flat):
        return "objects"
    raise ModelError(f"{name} has dtype {array.dtype}, which a model file cannot hold.")


def _array(kind: str, items: Any) -> np.ndarray[Any, Any]:
    if kind == "text":
        return np.array(items, dtype=str)
    if kind == "objects":
        return np.array(items, dtype=object)
    dtype = np.dtype(kind)
    if dtype.kind not in "fiub":
        raise ValueError(f"an array has dtype {kind!r}")
    return np.array(items, dtype=dtype)
