"""Labels in every form, losses by name, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from shortlist import losses

U = np.random.default_rng(0).normal(size=(4, 5))
SETS = [[0, 3], [2], [], [4, 1, 3]]
MATRIX = np.array([[y in labels for y in range(5)] for labels in SETS])


def test_label_sets_in_every_form():
    expected = losses.gradient("multilabel_softmax", U, MATRIX)
    for labels in (SETS, MATRIX.astype(int), MATRIX.astype(float), [set(row) for row in SETS]):
        np.testing.assert_array_equal(losses.gradient("multilabel_softmax", U, labels), expected)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_matrix):
        sparse = kind(MATRIX.astype(float))
        np.testing.assert_array_equal(losses.gradient("multilabel_softmax", U, sparse), expected)
    explicit_zero = scipy.sparse.csr_array(MATRIX.astype(float))
    explicit_zero.data[:] = 0.0
    assert not losses.value("multilabel_softmax", U, explicit_zero).any()


def test_single_labels_in_every_form():
    y = np.array([0, 3, 2, 4])
    expected = losses.value("softmax", U, y)
    for labels in (y.tolist(), y.astype(np.uint8), np.eye(5)[y], [[label] for label in y]):
        np.testing.assert_array_equal(losses.value("softmax", U, labels), expected)


def test_parameters_are_normalised():
    """Or 1 and 1.0 would be compiled twice."""
    loss = losses.make("topk_svm_alpha", k=np.int32(2), smoothing=1)
    assert type(loss.k) is int
    assert type(loss.smoothing) is float
    assert loss == losses.topk_svm_alpha(k=2, smoothing=1.0)


REFUSED = {
    "loss is 'topk_svm_alfa'; did you mean 'topk_svm_alpha'?": lambda: losses.make("topk_svm_alfa"),
    "loss is 'qqq'; choose one of ova_svm, ": lambda: losses.make("qqq"),
    "softmax has no parameter 'k'; it takes no parameter.": lambda: losses.make("softmax", k=2),
    "svm has no parameter 'k'; it takes smoothing.": lambda: losses.make("svm", k=2),
    "k is 0; it must be an integer of at least 1.": lambda: losses.topk_entropy(0),
    "k is 1.5; it must be an integer of at least 1.": lambda: losses.topk_entropy(1.5),
    "smoothing is -1; it must not be negative.": lambda: losses.svm(-1),
    "TopKEntropy(k=5) needs at least 6 classes; there are 5.": lambda: losses.value(
        losses.topk_entropy(5), U, [0] * 4
    ),
    "example 2 has 0 labels; TopKSvmAlpha is a loss of exactly one: use a": lambda: losses.value(
        "svm", U, [[0], [1], [], [2]]
    ),
    "example 0 has 2 labels; TopKSvmAlpha is": lambda: losses.value("svm", U, SETS),
    "there are 4 examples, and labels for 3.": lambda: losses.value("svm", U, [0, 1, 2]),
    "label number 1 is 5; labels run from 0 to 4.": lambda: losses.value("svm", U, [0, 5, 1, 1]),
    "the label matrix has 4 columns; there are 5 classes.": lambda: losses.value(
        "ova_svm", U, MATRIX[:, :4]
    ),
    "labels have dtype float64; pass integers from 0.": lambda: losses.value("svm", U, np.zeros(4)),
    "scores[1, 2] is NaN; all elements must be finite.": lambda: losses.value(
        "svm", np.where(np.arange(20).reshape(4, 5) == 7, np.nan, U), [0] * 4
    ),
    "scores is one vector; pass a matrix": lambda: losses.value("svm", U[0], [0]),
    "a must be finite and not negative.": lambda: losses.step("svm", U, [0] * 4, -1.0),
    "TruncatedTopKEntropy is not convex: it has a step at a = 0 only.": lambda: losses.step(
        losses.truncated_topk_entropy(2), U, [0] * 4, 1.0
    ),
    "a loss named 'svm' is registered already.": lambda: losses.register("svm")(lambda: None),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)


OWN_LOSS = Path(__file__).parents[2] / "examples" / "own_loss.py"
SHOW = """
import numpy as np

loss = losses.make("squared_error", weight=3.0)
u = np.array([[0.5, -1.0, 2.0]])
print(losses.value(loss, u, [[0, 2]])[0])
"""


def test_a_loss_of_ones_own_and_its_edits(tmp_path):
    """It runs through the same functions, and is never kept on disk: an edit counts at once."""
    script = tmp_path / "own.py"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for factor in (1.0, 2.0):
        value = "return operations.value_by_duality("
        assert OWN_LOSS.read_text().count(value) == 1
        edited = value.replace("return", f"return {factor} *")
        script.write_text(OWN_LOSS.read_text().replace(value, edited) + SHOW)
        done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) == pytest.approx(factor * 1.5 * (0.25 + 1.0 + 1.0))
