"""What is refused, and names."""

import numpy as np
import pytest

from shortlist import metrics
from shortlist.losses.labels import as_labels

S = np.random.default_rng(0).normal(size=(3, 4))
NAN = np.where(np.arange(12).reshape(3, 4) == 6, np.nan, S)

REFUSED = {
    "scores[1, 2] is nan; every score must be a number.": lambda: metrics.rank_loss([0, 1, 2], NAN),
    "scores is one vector; pass a matrix": lambda: metrics.topk_accuracy([0], S[0]),
    "there are scores of 3 examples, and labels for 2.": lambda: metrics.rank_loss([0, 1], S),
    "there are labels of 5 classes and 4 columns of scores.": lambda: metrics.rank_loss(
        as_labels([0, 1, 4]), S
    ),
    "label number 2 is 4; labels run from 0 to 3.": lambda: metrics.topk_accuracy([0, 1, 4], S),
    "example 1 has 2 labels; top-k accuracy is for exactly one: use recall_at_k.": lambda: (
        metrics.topk_accuracy([[0], [1, 2], [3]], S)
    ),
    "k is 5; it must be between 1 and 4, the length of a row of": lambda: metrics.topk_accuracy(
        [0, 1, 2], S, 5
    ),
    "k is 0; it must be between 1 and 4": lambda: metrics.autkc([0, 1, 2], S, 0),
    "label 'z' is not one of the classes.": lambda: metrics.topk_accuracy(
        ["a", "z", "b"], S, classes=list("abcd")
    ),
    "there are 2 classes and 4 columns of scores.": lambda: metrics.rank_loss(
        ["a", "b", "b"], S, classes=["a", "b"]
    ),
    "sample_weight has shape (2,); there are 3 examples.": lambda: metrics.rank_loss(
        [0, 1, 2], S, sample_weight=[1, 2]
    ),
    "sample_weight[2] is -1.0; it must be finite and not negative.": lambda: metrics.rank_loss(
        [0, 1, 2], S, sample_weight=[1, 2, -1]
    ),
    "kind is 'voc'; did you mean 'voc201": lambda: metrics.average_precision([0, 1, 2], S, "voc"),
    "average is 'samples'; choose one of micro, ": lambda: metrics.f1_score(
        S > 0, S > 0, "samples"
    ),
    "the number of classes is not known; pass": lambda: metrics.hamming_loss([[0], [1]], [[0], []]),
    "there are 3 true and 2 predicted label sets.": lambda: metrics.f1_score(S > 0, S[:2] > 0),
    "there is no metric 'f1_mikro'; did you mean 'f1_micro'?": lambda: metrics.metric("f1_mikro"),
    "there is no metric 'top'; did you mean 'top{k}'?": lambda: metrics.scorer("top"),
    "there is no metric 'top{k}'; did you mean": lambda: metrics.metric("top{k}"),
    "a metric named 'map' is registered already.": lambda: metrics.register(metrics.metric("map")),
    "rank_loss does not depend on a threshold; choose one of hamming_loss, ": lambda: (
        metrics.threshold_curve([0, 1, 2], S, [0.0], "rank_loss")
    ),
    "thresholds must be one vector of numbers.": lambda: metrics.threshold_curve(
        [0, 1, 2], S, [np.nan]
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)


def test_names_with_numbers():
    assert metrics.metric("precision@3").function.keywords == {"k": 3}
    assert metrics.metric("map_voc2010").name == "map_voc2010"
    assert metrics.metric("top10_error").greater_is_better is False
    y, scores = [0, 1, 2], S
    assert metrics.metric("top2").function(y, scores) == metrics.topk_accuracy(y, scores, 2)
    assert metrics.metric("autkc").function(y, scores) == metrics.autkc(y, scores)
    assert metrics.metric("autkc@2").function(y, scores) == metrics.autkc(y, scores, 2)


def test_one_dimensional_labels_of_a_partition():
    """One mistake of three, of four classes: two wrong decisions of twelve."""
    y, predicted = np.array([0, 1, 2]), np.array([0, 1, 3])
    assert metrics.hamming_loss(y, predicted, classes=range(4)) == pytest.approx(2 / 12)
    assert metrics.subset_accuracy(y, predicted) == pytest.approx(2 / 3)
    assert metrics.f1_score(list("aab"), list("abb"), classes=list("ab")) == pytest.approx(2 / 3)


def test_a_data_frame_is_a_matrix():
    class Frame:  # as pandas has them: iterating gives the names of columns
        shape, ndim = (2, 2), 2

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 0], [1, 1]])

        def __len__(self):
            return 2

        def __iter__(self):
            return iter(["first", "second"])

    assert metrics.label_cardinality(Frame()) == 1.5
    assert metrics.rank_loss(Frame(), [[1.0, 0.0], [1.0, 0.0]]) == 0.0
    assert metrics.subset_accuracy(Frame(), [[0], [0, 1]]) == 1.0
