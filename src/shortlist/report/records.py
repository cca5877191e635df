"""What a report shows: small frozen records that survive a trip through JSON.

`to_json` and `from_json` serve every record of this module. A number that is not finite is
``null`` in a file, and NaN when it comes back; keys that a record does not know are left out, and
those that a file does not have take their defaults, so that files of other versions can be read.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass, field
from typing import Any, TypeVar

Record = TypeVar("Record")


@dataclass(frozen=True)
class DataFacts:
    """Examples: where they come from, and how many there are.

    `cardinality` is the mean number of labels of an example.
    """

    source: str
    n: int
    d: int
    m: int
    cardinality: float = 1.0


@dataclass(frozen=True)
class Convergence:
    """Evaluations during a fit; `gaps` is empty where the loss is not convex."""

    seconds: tuple[float, ...] = ()
    epochs: tuple[int, ...] = ()
    gaps: tuple[float, ...] = ()
    methods: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelSets:
    """How label sets depend on the threshold, and how large they are.

    `metrics` and `sizes`, the mean number of labels, have a value for each of `thresholds`;
    `chosen` is the model's own threshold, where it has one for all labels. The histograms
    count examples with 0, 1, 2, ... labels.
    """

    thresholds: tuple[float, ...]
    metrics: dict[str, tuple[float, ...]]
    sizes: tuple[float, ...]
    cardinality: float
    chosen: float | None = None
    true_histogram: tuple[int, ...] = ()
    predicted_histogram: tuple[int, ...] = ()


@dataclass(frozen=True)
class Regions:
    """What a model says all over the plane, and some examples to draw on it.

    `form` is ``"circle"`` where all examples lie on one around the origin, else ``"plane"``.
    ``best[r]`` has the class at rank `r` for as many directions, evenly spaced from 0, or for
    every cell of a square grid over `extent` (left, right, bottom, top), row by row.
    """

    form: str
    classes: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    labels: tuple[int, ...]
    best: tuple[tuple[int, ...], ...]
    extent: tuple[float, ...] = (-1.0, 1.0, -1.0, 1.0)


@dataclass(frozen=True)
class Scored:
    """A class on a shortlist, or a feature: its name and its number."""

    name: str
    value: float


@dataclass(frozen=True)
class Example:
    """An example with its labels and the list that a model gives it.

    `rank` is 1 and the number of other classes above its lowest label; `pixels` is there where
    examples are images, else the `features` that are largest.
    """

    number: int
    labels: tuple[str, ...]
    shortlist: tuple[Scored, ...]
    rank: int
    features: tuple[Scored, ...] = ()
    pixels: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fit:
    """A trained model: what it minimised, how near to the optimum it is, how good it is."""

    name: str
    loss: str
    C: float
    certificate: dict[str, float]
    converged: bool
    status: str
    epochs: int
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)
    k: int | None = None
    smoothing: float | None = None
    kernel: str = "linear"
    tol: float = 1e-3
    model: str = ""
    topk: tuple[float, ...] = ()
    convergence: Convergence = Convergence()
    label_sets: LabelSets | None = None
    regions: Regions | None = None
    hardest: tuple[Example, ...] = ()

    @property
    def gap(self) -> float | None:
        """The relative duality gap, where there is one."""
        return self.certificate.get("gap")


@dataclass(frozen=True)
class Best:
    """The best setting of a search for a metric."""

    params: dict[str, Any]
    score: float
    model: str = ""


@dataclass(frozen=True)
class SearchResults:
    """What a search has tried: the columns of its `cv_results_`, and the best by metric."""

    estimator: str
    metrics: tuple[str, ...]
    folds: int
    cv_results: dict[str, Any]
    best: dict[str, Best]
    seconds: float = math.nan


@dataclass(frozen=True)
class Study:
    """Models that are compared on the same examples.

    `image` is the height and width of examples that are images.
    """

    title: str
    train: DataFacts | None
    test: DataFacts | None
    metrics: tuple[str, ...]
    fits: tuple[Fit, ...]
    search: SearchResults | None = None
    image: tuple[int, int] | None = None


def to_json(record: Any) -> Any:
    """Return a record as dictionaries, lists and finite numbers, ready for `json.dumps`.

    Parameters
    ----------
    record : dataclass
        A record of this module.

    Returns
    -------
    dict

    Examples
    --------
    >>> from shortlist.report import DataFacts, from_json, to_json
    >>> facts = DataFacts("letter, train", 10500, 16, 26)
    >>> from_json(DataFacts, to_json(facts)) == facts
    True
    """
    return _plain(dataclasses.asdict(record))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_json(kind: type[Record], values: Any) -> Record:
    """Return the record that `to_json` has written.

    Parameters
    ----------
    kind : type
        The class of the record.
    values : dict
        What `json.loads` returns.

    Returns
    -------
    record : dataclass

    Raises
    ------
    ValueError
        If a value is missing, or is not of its kind; it says which.
    """
    found: Record = _decoded(kind, values, kind.__name__)
    return found


def _decoded(kind: Any, value: Any, where: str) -> Any:
    """Return a value of a type hint, or say where it is not one."""
    if kind is Any:
        return value
    if kind is float:
        return _number(value, where)
    if dataclasses.is_dataclass(kind):
        return _record(kind, value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (own,) = (each for each in inner if each is not type(None))
        return None if value is None else _decoded(own, value, where)
    if origin is tuple and isinstance(value, list | tuple):
        if inner[-1] is not Ellipsis and len(value) != len(inner):
            raise ValueError(f"{where} has {len(value)} elements; it must have {len(inner)}.")
        return tuple(_decoded(inner[0], each, f"{where}[{at}]") for at, each in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return {str(key): _decoded(inner[1], each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    wanted = getattr(kind, "__name__", str(kind))
    raise ValueError(f"{where} is {str(value)[:60]!r}; it must be of type {wanted}.")


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    raise ValueError(f"{where} is {str(value)[:60]!r}; it must be a number.")


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {str(value)[:60]!r}; it must be a {kind.__name__}.")
    hints = typing.get_type_hints(kind)
    given = {}
    for each in dataclasses.fields(kind):
        if each.name in value:
            given[each.name] = _decoded(hints[each.name], value[each.name], f"{where}.{each.name}")
        elif each.default is each.default_factory is dataclasses.MISSING:
            raise ValueError(f"{where} has no {each.name}.")
    return kind(**given)
