"""Bad input is refused with one sentence, before any work starts."""

import numpy as np
import pytest
import scipy.sparse

from shortlist import EarlyStopping, MultilabelClassifier, TopKClassifier, estimators, losses

X = np.arange(12.0).reshape(6, 2) / 12
Y = np.array([0, 1, 2, 0, 1, 2])
SETS = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]])


def broken(value):
    other = X.copy()
    other[3, 1] = value
    return other


def fit(x=X, y=Y, sample_weight=None, **options):
    return lambda: TopKClassifier(**options).fit(x, y, sample_weight)


def fit_sets(x=X, y=SETS, **options):
    return lambda: MultilabelClassifier(**options).fit(x, y)


SENTENCES = {
    "X[3, 1] is NaN; all elements must be finite.": fit(broken(np.nan)),
    "X[3, 1] is inf; all elements must be finite.": fit(scipy.sparse.csr_array(broken(np.inf))),
    "y has one class, 1; at least two are needed.": fit(y=np.ones(6, int)),
    "k is 5, and there are 3 classes; k must be less than that.": fit(loss="topk_svm_alpha"),
    "k is 3, and there are 3 classes; k must be less": fit(loss=losses.topk_entropy(3)),
    "k is 0; it must be an integer of at least 1.": fit(loss="topk_entropy", k=0),
    "smoothing is -1; it must not be negative.": fit(loss="svm", smoothing=-1),
    "C is 0; it must be positive.": fit(C=0),
    "C is -1.0; it must be positive.": fit_sets(C=-1.0),
    "tol is 0.0; it must be positive.": fit(tol=0.0),
    "loss is 'sofmax'; did you mean 'softmax'?": fit(loss="sofmax"),
    "loss is 3; pass a name, or a loss of shortlist.losses.": fit(loss=3),
    "kernel is 'rfb'; did you mean 'rbf'?": fit(kernel="rfb"),
    "gamma is 'scales'; did you mean 'scale'?": fit(kernel="rbf", gamma="scales"),
    "solver is 'newtonn'; did you mean 'newton'?": fit(solver="newtonn"),
    "TopKSvmAlpha(k=1, smoothing=1.0) is a loss of one label an example; for label sets": fit_sets(
        loss="svm"
    ),
    "y has a set of labels for each example: use MultilabelClassifier": fit(y=SETS),
    "sample_weight[2] is -1.0; it must be finite and not negative.": fit(
        sample_weight=[1, 1, -1, 1, 1, 1]
    ),
    "sample_weight has shape (2,); there are 6 examples.": fit(sample_weight=[1, 2]),
    "all sample weights are zero; there is nothing to learn from.": fit(sample_weight=[0] * 6),
    "class_weight has the class 7, which y has not.": fit(class_weight={7: 1.0}),
    "class_weight[1] is -2; it must not be negative.": fit(class_weight={1: -2}),
    "class_weight is 'balance'; did you mean 'balanced'?": fit(class_weight="balance"),
    "class_weight is 3; pass \"balanced\", or a dictionary": fit(class_weight=3),
    "the kernel matrix has shape (6, 2); it must be square.": fit(kernel="precomputed"),
    "X has 6 examples, and y has 5.": fit(y=Y[:5]),
    "Y has an element 2; an indicator is 0 or 1.": fit_sets(y=2 * SETS),
    "no example has a label; there is nothing to learn.": fit_sets(y=[[] for _ in range(6)]),
    "intercept_scaling is 0; it must be positive.": fit(intercept_scaling=0),
    "a kernel's intercept is regularised: set regularize_intercept.": fit(
        kernel="rbf", regularize_intercept=False
    ),
    "is not convex: set regularize_intercept": fit(
        loss="truncated_topk_entropy", k=1, regularize_intercept=False
    ),
    "no example with a weight has class number 2: its intercept has no optimum": fit(
        sample_weight=[1, 1, 0, 1, 1, 0], regularize_intercept=False
    ),
    "a checkpoint needs a regularised intercept": fit(checkpoint="run", regularize_intercept=False),
    "there is no metric 'tpo5'; did you mean": fit(early_stopping=EarlyStopping("tpo5")),
    "k is 9; it must be between 1 and 3": fit(early_stopping=EarlyStopping("top9")),
    "f1_micro is a metric of label sets: watch one of scores.": fit(
        early_stopping=EarlyStopping("f1_micro")
    ),
    "early stopping needs a regularised intercept.": fit(
        early_stopping=EarlyStopping(fraction=0.5), regularize_intercept=False
    ),
    "fraction is 1.5; it must be less than 1.": fit(early_stopping=EarlyStopping(fraction=1.5)),
    "a precomputed kernel cannot be split: pass X_val and y_val.": fit(
        x=X @ X.T, kernel="precomputed", early_stopping=EarlyStopping()
    ),
    "pass X_val and y_val together.": lambda: TopKClassifier().fit(X, Y, X_val=X),
    "y has the label 3, which was not trained.": lambda: TopKClassifier().fit(
        X, Y, X_val=X, y_val=Y + 3
    ),
    "Y has the label 'x', which was not trained.": lambda: MultilabelClassifier()
    .fit(X[:2], [["a"], ["b"]])
    .score(X[:1], [["x"]]),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_bad_input_gets_one_sentence(sentence, monkeypatch):
    def no_work(*args, **options):
        raise AssertionError("work has started")

    if "trained" not in sentence and "solver" not in sentence:
        monkeypatch.setattr(estimators.models, "solve", no_work)
        monkeypatch.setattr(estimators.free_intercept, "solve", no_work)
    with pytest.raises((ValueError, TypeError)) as error:
        SENTENCES[sentence]()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
