"""The pictures of a report as matplotlib functions: axes in, axes out.

Each draws on `ax`, or on the axes of a new figure. They take records, or what estimators have:
curves by name, ``history_``, ``cv_results_``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.report import palette
from shortlist.report.records import Convergence, Fit, LabelSets, Regions
from shortlist.report.studies import convergence
from shortlist.tuning import curves

#: More classes than so many are drawn on a logarithmic axis.
_MANY_CLASSES = 30
#: Accuracies that are written on an axis, and where on it an error of 0 is drawn, all in percent.
_ACCURACIES, _NO_ERROR = (0, 50, 80, 90, 95, 98, 99, 100), 0.4
#: A gap below this is rounding.
_LEAST_GAP = 1e-16
#: Inside a circle, the classes of examples are apart; around it are rings.
_FIRST_ORBIT, _BETWEEN_ORBITS, _FIRST_RING, _RING = 0.94, 0.10, 1.08, 0.13


def _axes(ax: Any, width: float = 5.2, height: float = 3.5) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: install shortlist[report].") from None
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _finish(ax: Any, legend: bool, x: str, y: str) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(True, color=palette.RULE.light, lw=0.6)
    ax.set_axisbelow(True)
    if legend:
        ax.legend(fontsize="small")
    return ax


def plot_topk_curves(
    models: Mapping[str, ArrayLike | Fit], *, ax: Any = None, legend: bool = True
) -> Any:
    """Draw the top-k accuracy for all k.

    The axis is wider towards 100%, where it is the errors that differ.

    Parameters
    ----------
    models : mapping
        By name: accuracies for k = 1, ..., m, as `shortlist.metrics.topk_accuracy_curve`
        returns them, or a `Fit`. One without a curve is left out, and keeps its colour.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the curves.

    Returns
    -------
    axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from shortlist import report
    >>> ax = report.plot_topk_curves({"svm": [0.7, 0.9, 1.0], "softmax": [0.6, 0.95, 1.0]})
    >>> [line.get_label() for line in ax.get_lines()]
    ['svm', 'softmax']
    """
    ax = _axes(ax)
    m = 1
    for at, (name, model) in enumerate(models.items()):
        accuracy = np.asarray(model.topk if isinstance(model, Fit) else model, np.float64)
        if accuracy.size:
            m = max(m, accuracy.size)
            k = np.arange(1, accuracy.size + 1)
            _series(ax, at, k, 100 * accuracy, name, marker="." if m <= _MANY_CLASSES else None)
    if m > _MANY_CLASSES:
        ax.set_xscale("log")
    elif m <= 12:
        ax.set_xticks(range(1, m + 1))
    _spread_the_top(ax)
    return _finish(ax, legend, "k, the length of the list", "top-k accuracy, %")


def _spread_the_top(ax: Any) -> None:
    """Scale accuracies by the logarithm of the errors, in percent, with room for none."""
    low = min((float(np.min(line.get_ydata())) for line in ax.get_lines()), default=0.0)

    def height(accuracy: Any) -> Any:
        return -np.log10(np.maximum(100.0 + _NO_ERROR - accuracy, 1e-3))

    def accuracy(height: Any) -> Any:
        return 100.0 + _NO_ERROR - 10.0 ** (-height)

    ax.set_yscale("function", functions=(height, accuracy))
    ax.set_yticks([tick for tick in _ACCURACIES if tick >= low] or [100])
    ax.set_ylim(accuracy(height(low) - 0.08), 100.0 + 0.3 * _NO_ERROR)


def _series(ax: Any, at: int, x: Any, y: Any, name: str, **style: Any) -> None:
    """Draw a line that can be found again by its number."""
    (line,) = ax.plot(x, y, label=curves.plain(name), **palette.line_style(at), **style)
    line.set_gid(f"series-{at}")


def _label_sparsely(axis: Any) -> None:
    """Let a logarithmic axis have few numbers, as a person would write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def plot_convergence(
    models: Mapping[str, Any], *, tol: float | None = None, ax: Any = None, legend: bool = True
) -> Any:
    """Draw relative duality gaps against time, on logarithmic axes.

    Parameters
    ----------
    models : mapping
        By name: the ``history_`` of an estimator, a `Convergence` or a `Fit`. One without
        gaps, of a loss that is not convex, is left out, and keeps its colour.
    tol : float, optional
        The tolerance, as a line.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the curves.

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    for at, (name, model) in enumerate(models.items()):
        found = model.convergence if isinstance(model, Fit) else model
        if not isinstance(found, Convergence):
            found = convergence(found)
        if found.gaps:
            gaps = np.maximum(found.gaps, _LEAST_GAP)
            _series(ax, at, found.seconds, gaps, name, marker=".")
    if tol is not None:
        ax.axhline(tol, color=palette.MUTED.light, lw=0.9, ls=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    _label_sparsely(ax.xaxis)
    return _finish(ax, legend, "seconds", "relative duality gap")


def plot_validation(
    results: Mapping[str, Any],
    metric: str,
    *,
    best: float | None = None,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw a metric against C, with its spread over the folds: a validation curve.

    Parameters
    ----------
    results : mapping
        The ``cv_results_`` of a search; ``std_test_...`` may be absent.
    metric : str
        The metric.
    best : float, optional
        The C that was chosen, as a line.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the curves, where there are several.

    Returns
    -------
    axes

    See Also
    --------
    shortlist.TopKClassifierCV.plot : all metrics of a search.
    """
    ax = _axes(ax)
    curves.draw(ax, results, metric, best, legend=legend)
    return _finish(ax, False, "C", metric)


def plot_thresholds(sets: LabelSets, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw metrics of label sets against the threshold, with a line at that of the model.

    Parameters
    ----------
    sets : LabelSets
        As `label_sets` returns it.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the curves.

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    for at, (name, values) in enumerate(sets.metrics.items()):
        ax.plot(sets.thresholds, values, label=name, **palette.line_style(at))
    _mark_threshold(ax, sets)
    return _finish(ax, legend, "threshold", "metric")


def plot_sizes(sets: LabelSets, *, ax: Any = None) -> Any:
    """Draw how many labels examples are given on average, against the threshold.

    Lines are at the number that they have, and at the threshold of the model.

    Parameters
    ----------
    sets : LabelSets
        As `label_sets` returns it.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    ax.plot(sets.thresholds, sets.sizes, **palette.line_style(0))
    ax.axhline(sets.cardinality, color=palette.MUTED.light, lw=0.9, ls=":")
    _mark_threshold(ax, sets)
    # Far more labels than examples have are of no interest.
    ax.set_ylim(0.0, min(1.05 * max(sets.sizes), 4.0 * sets.cardinality + 1.0))
    return _finish(ax, False, "threshold", "labels, on average")


def _mark_threshold(ax: Any, sets: LabelSets) -> None:
    if sets.chosen is not None and np.isfinite(sets.chosen):
        ax.axvline(sets.chosen, color=palette.MUTED.light, lw=0.9, ls=":")


def plot_cardinality(sets: LabelSets, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw how many labels examples have, and how many a model gives them.

    Parameters
    ----------
    sets : LabelSets
        As `label_sets` returns it.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the bars.

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    for at, (name, counts) in enumerate(
        {"true": sets.true_histogram, "predicted": sets.predicted_histogram}.items()
    ):
        places = np.arange(len(counts)) + 0.4 * at - 0.2
        ax.bar(places, counts, width=0.4, label=name, color=palette.SERIES[at].light)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return _finish(ax, legend, "labels of an example", "examples")


def plot_regions(regions: Regions, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw what a model says of the plane, and examples.

    For data on a circle this is the paper's figure: examples inside, those of each class on an
    orbit of their own; around it a ring with the best class in every direction, and one
    with the second. Otherwise regions of the best class, with the examples on them.

    Parameters
    ----------
    regions : Regions
        As `shortlist.report.regions` returns it.
    ax : matplotlib axes, optional
        Where to draw.
    legend : bool
        Whether to name the classes.

    Returns
    -------
    axes
    """
    ax = _axes(ax, 4.2, 4.2)
    if regions.form == "circle":
        _draw_rings(ax, regions)
    else:
        _draw_plane(ax, regions)
    if legend:
        ax.legend(fontsize="small", loc="upper right")
    return ax


def _draw_rings(ax: Any, regions: Regions) -> None:
    from matplotlib.patches import Circle, Wedge

    points, labels = np.array(regions.points), np.array(regions.labels)
    radius = float(np.linalg.norm(points[0]))
    ax.add_patch(Circle((0, 0), radius, fill=False, color=palette.INK.light, lw=1.2))
    for at, name in enumerate(regions.classes):
        orbit = _FIRST_ORBIT - _BETWEEN_ORBITS * at
        x, y = orbit * points[labels == at].T
        ax.plot(x, y, ".", ms=4.5, color=palette.class_colour(at), label=curves.plain(name))
    for rank, best in enumerate(regions.best):
        outer = radius * (_FIRST_RING + _RING * (rank + 0.8))
        for start, stop, at in runs(best):
            turn = 360.0 / len(best)
            ax.add_patch(
                Wedge(
                    (0, 0), outer, turn * start, turn * stop, width=0.8 * _RING * radius,
                    color=palette.class_colour(at), lw=0,
                )
            )  # fmt: skip
    reach = radius * (_FIRST_RING + _RING * len(regions.best) + 0.02)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set_axis_off()


def runs(values: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Return where equal neighbours on a circle begin and end, and what they are."""
    found = np.asarray(values)
    edges = (np.flatnonzero(np.diff(found)) + 1).tolist()
    if not edges:
        return [(0, found.size, int(found[0]))]
    if found[0] != found[-1]:
        edges = [0, *edges]
    stops = [*edges[1:], edges[0] + found.size]
    return [(a, b, int(found[a])) for a, b in zip(edges, stops, strict=True)]


def _draw_plane(ax: Any, regions: Regions) -> None:
    side = round(np.sqrt(len(regions.best[0])))
    grid = np.reshape(regions.best[0], (side, side))
    left, right, bottom, top = regions.extent
    share = (np.arange(side) + 0.5) / side
    across, up = left + share * (right - left), bottom + share * (top - bottom)
    points, labels = np.array(regions.points), np.array(regions.labels)
    for at, name in enumerate(regions.classes):
        colour, here = palette.class_colour(at), grid == at
        if here.all():
            ax.axvspan(left, right, color=colour, alpha=0.18, lw=0)
        elif here.any():
            ax.contourf(across, up, here.astype(float), [0.5, 1.5], colors=[colour], alpha=0.18)
        x, y = points[labels == at].T
        ax.plot(x, y, ".", ms=4.5, color=colour, label=curves.plain(name))
    ax.set(xlim=(left, right), ylim=(bottom, top))
