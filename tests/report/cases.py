"""Studies of all kinds, small and real."""

import functools

import numpy as np

from shortlist import MultilabelClassifier, TopKClassifier, TopKClassifierCV, datasets, report

#: What a stranger may call a class, a data set or a feature.
HOSTILE = '<script>alert("1")</script>&amp;\'"{{ 7 * 7 }}</svg>$\\frac{$url(#x)'


@functools.cache
def digits():
    """Return models of two losses for digits, and examples that they have not seen."""
    train, test = datasets.load("digits"), datasets.load("digits", "test")
    losses = ("softmax", "topk_svm_alpha")
    models = {loss: TopKClassifier(loss, k=3, C=0.1, random_state=0) for loss in losses}
    for model in models.values():
        model.fit(train.X, train.y)
    return models, test


@functools.cache
def study_of_digits():
    models, test = digits()
    train = report.DataFacts("digits, train", 1200, 64, 10)
    return report.study(
        models, test.X, test.y, metrics=["top1", "top3", "rank_loss"], title="digits",
        source="digits, test", train=train, image=(8, 8),
    )  # fmt: skip


@functools.cache
def circle():
    """Return a model of the paper's circle, and its examples."""
    data = datasets.load("circle")
    return TopKClassifier("softmax", random_state=0).fit(data.X, data.y), data


@functools.cache
def study_of_circle():
    model, data = circle()
    return report.study(model, data.X, data.y, metrics=["top1", "top2"], title="circle")


@functools.cache
def label_sets():
    """Return a model of label sets, and its examples."""
    data = datasets.multilabel(120, 6, 5, cardinality=1.6, random_state=0)
    Y = data.y.toarray().astype(int)
    return MultilabelClassifier("ova_logistic", threshold=0.25, random_state=0).fit(data.X, Y), data


@functools.cache
def study_of_sets():
    model, data = label_sets()
    return report.study(model, data.X, data.y.toarray().astype(int), title="label sets")


@functools.cache
def search():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 4
    X = rng.normal(size=(90, 5)) + 1.5 * np.eye(4, 5)[y]
    model = TopKClassifier("topk_entropy", random_state=0)
    tried = TopKClassifierCV(
        model, Cs=[0.01, 0.1, 1.0], ks=[1, 2], metrics=["top1", "top2_error"], cv=3, extend=False
    )
    return tried.fit(X, y), X, y


@functools.cache
def study_of_search():
    tried, X, y = search()
    return report.study(tried, X, y, title="a search")


@functools.cache
def hostile_study():
    """Return a study whose every name tries to break out of the page."""
    rng = np.random.default_rng(0)
    names = np.array([HOSTILE, "b" * 300, "c"])
    X = rng.normal(size=(60, 3))
    y = names[np.arange(60) % 3]
    model = TopKClassifier("softmax").fit(X, y)
    return report.study(
        {HOSTILE: model}, X, y, metrics=["top1", "top2"], title=HOSTILE, source=HOSTILE,
        feature_names=[HOSTILE, "x" * 200, "z"],
    )  # fmt: skip


def all_studies():
    return [study_of_digits(), study_of_circle(), study_of_sets(), study_of_search()]
