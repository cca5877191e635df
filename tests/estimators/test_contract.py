"""scikit-learn's contract, and code written for scikit-learn's estimators, with another import."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from shortlist import MultilabelClassifier, TopKClassifier

# The check of sample weights compares scores to 1e-7, so the gap must be far below the default; and
# it repeats examples, which changes the variance of X, and with it gamma="scale".
VARIANTS = [
    TopKClassifier(),
    TopKClassifier(kernel="rbf", gamma=0.5, tol=1e-12),
    TopKClassifier(regularize_intercept=False),
    TopKClassifier("topk_svm_alpha", k=1, tol=1e-12),
    MultilabelClassifier(tol=1e-12),
]

#: All exceptions: checks that a variant is known to fail, and why.
EXCEPTIONS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a free intercept is proven to about 1e-8, "
    "and the check compares scores to 1e-7: test_models.py compares them as the gap allows"
    for kind in ("dense", "sparse")
}


@pytest.mark.parametrize("estimator", VARIANTS, ids=str)
def test_check_estimator(estimator):
    expected = EXCEPTIONS if not estimator.regularize_intercept else {}
    results = check_estimator(estimator, on_skip=None, expected_failed_checks=expected)
    skipped = {line["check_name"] for line in results if line["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
    assert len(results) > 50


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_pipeline_and_cross_validation(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), TopKClassifier("svm"))
    assert cross_val_score(model, X, y).mean() > 0.93
    proba = cross_val_predict(TopKClassifier(), X, y, method="predict_proba")
    assert proba.shape == (150, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_grid_search_over_losses(iris):
    X, y = iris
    grid = {"loss": ["softmax", "svm", "topk_entropy"], "k": [2], "C": [0.01, 1.0, 100.0]}
    search = GridSearchCV(TopKClassifier(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert set(search.best_params_) == set(grid)


def test_calibration_of_scores_without_probabilities(iris):
    X, y = iris
    model = TopKClassifier("svm")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "CalibratedClassifierCV" in str(error.value.__cause__)
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    assert calibrated.predict_proba(X).shape == (150, 3)


TEXTS = ["the sea is blue", "blue waves at sea", "a cat sleeps", "the cat and a dog", "stocks fall",
         "the price of stocks"]  # fmt: skip
TOPICS = ["sea", "sea", "pets", "pets", "money", "money"]


def test_text_as_sparse_data():
    model = make_pipeline(TfidfVectorizer(), TopKClassifier("svm", C=10.0)).fit(TEXTS, TOPICS)
    assert model.predict(["sea and waves", "a dog", "price"]).tolist() == ["sea", "pets", "money"]


def test_inspection(iris):
    X, y = iris
    model = TopKClassifier().fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0)
    assert found.importances_mean.argmax() in (2, 3)
    average = partial_dependence(model, X, [2], kind="average")["average"]
    assert average.shape[0] == 3


def test_one_vs_rest_over_it(iris):
    X, y = iris
    model = OneVsRestClassifier(TopKClassifier("svm")).fit(X, y)
    assert model.score(X, y) > 0.9


def test_metadata_routing(iris):
    X, y = iris
    weights = np.where(y == 0, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = TopKClassifier().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=weights)
    assert (pipeline.predict(X)[y == 0] != 0).all()


def test_parameters_are_kept_untouched_and_cloned():
    model = TopKClassifier("svm", C=3, class_weight={0: 2.0}, callbacks=[print])
    assert model.get_params()["C"] == 3
    other = clone(model)
    assert other.get_params()["class_weight"] == {0: 2.0}
    assert other is not model


def test_names_of_features_and_of_classes(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = TopKClassifier().fit(frame, pandas.Series(names))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.predict(frame)[0] == "setosa"
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="3 features"):
        TopKClassifier().fit(X, y).predict(X[:, :3])


def test_polars_frames(iris):
    polars = pytest.importorskip("polars")
    X, y = iris
    frame = polars.DataFrame(X, schema=list("abcd"))
    model = TopKClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.score(frame, y) > 0.9


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"regularize_intercept": False}])
def test_models_survive_pickle_and_joblib(iris, tmp_path, options):
    X, y = iris
    model = TopKClassifier(**options).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert other.certificate_ == model.certificate_
        assert getattr(other.certificate_, "radius", 0) == getattr(model.certificate_, "radius", 0)
        assert other.history_.notes == model.history_.notes


def test_grid_search_of_label_sets():
    X, Y = make_multilabel_classification(100, 10, n_classes=4, random_state=0)
    search = GridSearchCV(MultilabelClassifier(), {"C": [0.1, 1.0]}, cv=3, scoring="f1_micro")
    assert search.fit(X, Y).best_score_ > 0.65
    assert search.fit(scipy.sparse.csr_array(X), Y).best_score_ > 0.65


def test_fits_in_processes_do_not_fight_for_cores():
    X, y = load_digits(return_X_y=True)
    scores = cross_val_score(TopKClassifier(max_epochs=50), X[:300] / 16, y[:300], cv=2, n_jobs=2)
    assert scores.min() > 0.8
