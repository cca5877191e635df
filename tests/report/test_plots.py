"""Plots draw the values that they are given, on the axes that they are given."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib.colors
from matplotlib.figure import Figure
from matplotlib.patches import Wedge

from report import cases
from shortlist import report
from shortlist.report import palette
from shortlist.report.plots import runs


@pytest.fixture
def ax():
    return Figure().add_subplot()


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_topk_curves(ax):
    fits = {fit.name: fit for fit in cases.study_of_digits().fits}
    assert report.plot_topk_curves(fits, ax=ax) is ax
    assert list(lines(ax)) == list(fits)
    for name, line in lines(ax).items():
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 11))
        np.testing.assert_allclose(line.get_ydata(), 100 * np.array(fits[name].topk))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(fits)


def test_a_model_without_a_curve_keeps_its_colour(ax):
    report.plot_topk_curves({"none": [], "some": [0.5, 1.0]}, ax=ax, legend=False)
    (line,) = ax.get_lines()
    assert line.get_color() == palette.SERIES[1].light
    assert line.get_gid() == "series-1"
    assert ax.get_legend() is None


def test_many_classes_are_on_a_logarithmic_axis(ax):
    report.plot_topk_curves({"x": np.linspace(0.1, 1.0, 500)}, ax=ax)
    assert ax.get_xscale() == "log"


def test_eighteen_lines_differ():
    styles = [str(palette.line_style(at)) for at in range(18)]
    assert len(set(styles)) == 18


def test_convergence(ax):
    models, _ = cases.digits()
    history = models["softmax"].history_
    nothing = report.Convergence()  # of a loss that is not convex
    assert report.plot_convergence({"x": nothing, "y": history}, tol=1e-3, ax=ax) is ax
    np.testing.assert_array_equal(lines(ax)["y"].get_xdata(), history.seconds)
    np.testing.assert_array_equal(lines(ax)["y"].get_ydata(), history.gaps)
    assert "x" not in lines(ax)
    assert ax.get_lines()[-1].get_ydata()[0] == 1e-3
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_validation(ax):
    tried, *_ = cases.search()
    assert report.plot_validation(tried.cv_results_, "top1", best=0.1, ax=ax) is ax
    results = cases.study_of_search().search.cv_results
    for k, line in zip((1, 2), ax.get_lines(), strict=False):
        own = [at for at, params in enumerate(results["params"]) if params["k"] == k]
        np.testing.assert_array_equal(line.get_xdata(), [0.01, 0.1, 1.0])
        np.testing.assert_array_equal(
            line.get_ydata(), [results["mean_test_top1"][at] for at in own]
        )
        assert line.get_label() == f"k = {k}"
    assert ax.get_lines()[-1].get_xdata()[0] == 0.1
    assert len(ax.collections) == 2  # the spread over the folds


def test_thresholds_sizes_and_cardinality():
    sets = cases.study_of_sets().fits[0].label_sets
    ax = report.plot_thresholds(sets, ax=Figure().add_subplot())
    for name, values in sets.metrics.items():
        np.testing.assert_array_equal(lines(ax)[name].get_xdata(), sets.thresholds)
        np.testing.assert_array_equal(lines(ax)[name].get_ydata(), values)
    assert ax.get_lines()[-1].get_xdata()[0] == sets.chosen
    ax = report.plot_sizes(sets, ax=Figure().add_subplot())
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), sets.sizes)
    assert ax.get_lines()[1].get_ydata()[0] == sets.cardinality
    ax = report.plot_cardinality(sets, ax=Figure().add_subplot())
    true, predicted = ax.containers
    assert tuple(bar.get_height() for bar in true) == sets.true_histogram
    assert tuple(bar.get_height() for bar in predicted) == sets.predicted_histogram


def test_a_circle_has_points_inside_and_rings_around(ax):
    model, data = cases.circle()
    found = report.regions(model, data.X, data.y)
    assert report.plot_regions(found, ax=ax) is ax
    for at, name in enumerate(found.classes):
        points = np.column_stack(lines(ax)[name].get_data())
        assert len(points) == (data.y == at).sum()
        assert np.linalg.norm(points, axis=1).max() < 1.0
        own = data.X[data.y == at]
        np.testing.assert_allclose(np.arctan2(*points.T), np.arctan2(*own.T))
    wedges = [patch for patch in ax.patches if isinstance(patch, Wedge)]
    for rank in (0, 1):
        radius = sorted({wedge.r for wedge in wedges})[rank]
        for degrees in (10.3, 123.4, 256.7, 359.5):
            turn = np.radians(degrees)
            expected = model.predict_topk([[np.cos(turn), np.sin(turn)]], 2)[0][0, rank]
            (wedge,) = [
                each for each in wedges
                if each.r == radius and (degrees - each.theta1) % 360 < each.theta2 - each.theta1
            ]  # fmt: skip
            colour = matplotlib.colors.to_hex(wedge.get_facecolor())
            assert colour == palette.class_colour(expected)


def test_the_plane_has_regions_and_points(ax):
    grid = np.zeros((96, 96), int)
    grid[:, 48:] = 1
    found = report.Regions(
        "plane", ("a", "b", "c"), ((0.1, 0.2), (0.8, 0.3)), (0, 1), (tuple(grid.ravel().tolist()),),
        (0.0, 1.0, 0.0, 1.0),
    )  # fmt: skip
    report.plot_regions(found, ax=ax)
    regions = [tuple(each.get_facecolor()[0][:3]) for each in ax.collections]
    assert regions == [matplotlib.colors.to_rgb(palette.class_colour(at)) for at in (0, 1)]
    box = ax.collections[1].get_paths()[0].get_extents()
    assert (box.x0, box.x1) == pytest.approx((0.5, 0.995), abs=0.01)
    np.testing.assert_array_equal(lines(ax)["b"].get_data(), [[0.8], [0.3]])


@pytest.mark.parametrize("values", [(1,), (1, 1), (0, 1, 1), (1, 0, 1), (2, 2, 0, 1, 2), (0, 1)])
def test_runs_go_round_the_circle(values):
    told = [None] * len(values)
    for start, stop, what in runs(values):
        for at in range(start, stop):
            assert told[at % len(values)] is None
            told[at % len(values)] = what
    assert tuple(told) == values


def test_without_axes_a_figure_is_made():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = report.plot_topk_curves({"x": [0.5, 1.0]})
    assert ax.figure.number in plt.get_fignums()
    plt.close("all")
