"""A study says of estimators what the library says of them."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from report import cases
from shortlist import TopKClassifier, losses, metrics, report


def test_fits_are_those_of_the_estimators():
    models, test = cases.digits()
    study = cases.study_of_digits()
    assert (study.test.n, study.test.d, study.test.m) == (597, 64, 10)
    for fit, (name, model) in zip(study.fits, models.items(), strict=True):
        scores = model.decision_function(test.X)
        assert fit.name == fit.loss == name
        assert fit.metrics == {
            "top1": metrics.topk_accuracy(test.y, scores),
            "top3": metrics.topk_accuracy(test.y, scores, 3),
            "rank_loss": metrics.rank_loss(test.y, scores),
        }
        assert fit.topk == tuple(metrics.topk_accuracy_curve(test.y, scores))
        assert fit.gap == model.certificate_.gap <= fit.tol
        assert fit.certificate["primal"] == model.certificate_.primal
        assert fit.convergence.gaps == tuple(model.history_.gaps)
        assert fit.convergence.seconds == tuple(model.history_.seconds)
        assert (fit.k, fit.smoothing) == ((3, 1.0) if name == "topk_svm_alpha" else (None, None))


def test_the_hardest_examples_are_those_ranked_lowest():
    models, test = cases.digits()
    scores = models["softmax"].decision_function(test.X)
    ranks = [(row > row[label]).sum() + 1 for row, label in zip(scores, test.y, strict=True)]
    hardest = cases.study_of_digits().fits[0].hardest
    assert [each.rank for each in hardest] == sorted(ranks, reverse=True)[: len(hardest)]
    lists, values = models["softmax"].predict_topk(test.X, 5)
    for each in hardest:
        assert each.rank == ranks[each.number] > 1
        assert each.labels == (str(test.y[each.number]),)
        assert [int(line.name) for line in each.shortlist] == lists[each.number].tolist()
        assert [line.value for line in each.shortlist] == values[each.number].tolist()
        np.testing.assert_allclose(each.pixels, test.X[each.number], atol=1e-4)


def test_label_sets_rank_their_lowest_label_among_the_others():
    model, data = cases.label_sets()
    scores, truth = model.decision_function(data.X), data.y.toarray()
    hardest = cases.study_of_sets().fits[0].hardest
    for each in hardest:
        row, own = scores[each.number], truth[each.number]
        assert set(each.labels) == {str(j) for j in np.flatnonzero(own)}
        assert each.rank == 1 + (row[~own] > row[own].min()).sum()
        largest = np.argsort(-np.abs(data.X[each.number]))
        assert [feature.name for feature in each.features] == [str(j) for j in largest[:6]]


def test_threshold_curves_are_those_of_the_metrics():
    model, data = cases.label_sets()
    sets = cases.study_of_sets().fits[0].label_sets
    truth, scores = data.y.toarray().astype(int), model.decision_function(data.X)
    for at in (0, 60, 120):
        predicted = (scores >= sets.thresholds[at]).astype(int)
        assert sets.metrics["f1_micro"][at] == pytest.approx(metrics.f1_score(truth, predicted))
        assert sets.sizes[at] == pytest.approx(predicted.sum() / len(truth))
    assert sets.chosen == 0.25
    assert sets.cardinality == truth.sum() / len(truth)
    assert list(sets.true_histogram) == np.bincount(truth.sum(axis=1)).tolist()
    given = model.predict(data.X).sum(axis=1)
    assert list(sets.predicted_histogram) == np.bincount(given).tolist()


def test_regions_of_a_circle_are_predictions_by_direction():
    model, data = cases.circle()
    found = report.regions(model, data.X, data.y)
    assert (found.form, found.classes) == ("circle", ("0", "1", "2"))
    turns = 2 * np.pi * (np.arange(len(found.best[0])) + 0.5) / len(found.best[0])
    X = np.column_stack([np.cos(turns), np.sin(turns)])
    np.testing.assert_array_equal(np.transpose(found.best), model.predict_topk(X, 2)[0])
    np.testing.assert_array_equal(found.points, data.X)
    np.testing.assert_array_equal(found.labels, data.y)


def test_regions_of_the_plane_are_predictions_on_a_grid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] > 0, "right", "left")
    model = TopKClassifier("softmax").fit(X, y)
    found = report.regions(model, X, y, k=1)
    assert found.form == "plane"
    assert len(found.points) == 240
    side = round(len(found.best[0]) ** 0.5)
    left, right, bottom, top = found.extent
    row, column = 10, 70
    share = (np.array([column, row]) + 0.5) / side
    place = [left, bottom] + share * [right - left, top - bottom]
    (expected,) = model.predict([place])
    assert found.classes[np.reshape(found.best[0], (side, side))[row, column]] == expected
    with pytest.raises(ValueError, match=r"X has shape \(600, 1\); regions need .* two features"):
        report.regions(model, X[:, :1], y)


def test_a_search_shows_its_winners_and_what_it_tried():
    tried, X, y = cases.search()
    study = cases.study_of_search()
    assert study.metrics == ("top1", "top2_error")
    assert [fit.name for fit in study.fits] == ["best for top1", "best for top2_error"]
    assert study.fits[0].metrics["top1"] == tried.estimator_for("top1").score(X, y)
    assert study.search.folds == 3
    np.testing.assert_array_equal(
        study.search.cv_results["mean_test_top1"], tried.cv_results_["mean_test_top1"]
    )
    assert study.search.best["top1"].params == tried.best_params_["top1"]


def test_without_examples_and_with_an_own_loss():
    X, y = np.eye(3), [0, 1, 2]
    model = TopKClassifier(losses.topk_entropy(k=2)).fit(X, y)
    study = report.study(model)
    assert study.test is None
    assert study.fits[0].name == "TopKEntropy(k=2)"
    assert study.fits[0].topk == ()
    assert "TopKEntropy(k=2)" in report.render(study)


def test_bad_input_is_one_sentence():
    model, data = cases.circle()
    with pytest.raises(ValueError, match="pass X and y together"):
        report.study(model, data.X)
    with pytest.raises(ValueError, match="models is empty"):
        report.study({})
    with pytest.raises(ValueError, match="there is nothing to report"):
        report.render([])
