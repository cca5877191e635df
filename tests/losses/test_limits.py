"""Special cases in which losses coincide, and those in which they do not."""

import numpy as np
import pytest

from shortlist import losses

RNG = np.random.default_rng(0)
U, Y = RNG.normal(size=(50, 7)) * 2, RNG.integers(0, 7, 50)


def assert_same(one, other, a=(0.0, 0.5, 20.0)):
    np.testing.assert_allclose(losses.value(one, U, Y), losses.value(other, U, Y), atol=1e-12)
    for curvature in a:
        np.testing.assert_allclose(
            losses.step(one, U, Y, curvature), losses.step(other, U, Y, curvature), atol=1e-11
        )


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_with_k_1_the_hinges_are_one(smoothing):
    assert_same(losses.svm(smoothing), losses.topk_svm_alpha(1, smoothing))
    assert_same(losses.svm(smoothing), losses.topk_svm_beta(1, smoothing))


def test_with_k_1_the_entropies_are_one():
    assert_same(losses.softmax(), losses.topk_entropy(1))
    assert_same(losses.softmax(), losses.topk_entropy_beta(1))
    assert_same(losses.softmax(), losses.truncated_topk_entropy(1), a=(0.0,))


def test_with_one_label_the_rough_multilabel_hinge_is_the_hinge():
    assert_same(losses.multilabel_svm(), losses.svm())


def test_with_one_label_the_smooth_multilabel_hinge_is_another():
    """The multiclass hinge does not smooth the label's own dual."""
    u = np.zeros((1, 2))
    assert losses.value(losses.svm(1.0), u, [0]) == pytest.approx([0.5])
    assert losses.value(losses.multilabel_svm(1.0), u, [0]) == pytest.approx([0.25])


def test_without_the_factor_an_example_counts_as_often_as_it_has_labels():
    labels = [[0, 2, 3], [1]]
    once = losses.value(losses.multilabel_softmax(), U[:2], labels)
    often = losses.value(losses.multilabel_softmax(normalize=False), U[:2], labels)
    np.testing.assert_allclose(often, once * [3, 1])


def test_the_consistent_hinge_bounds_the_topk_error():
    """Its minimal risk is the Bayes top-k error: at u = 0 every class costs 1 - k/m."""
    for k in (1, 2, 4):
        u = np.zeros((1, 5))
        assert losses.value(losses.topk_svm_consistent(k), u, [0]) == pytest.approx([1 - k / 5])


def test_the_truncated_entropy_forgives_the_best_others():
    u = np.array([[0.0, 50.0, -50.0, -50.0]])
    assert losses.value(losses.softmax(), u, [0]) > 49
    assert losses.value(losses.truncated_topk_entropy(2), u, [0]) < 1e-20


def test_the_sum_for_alpha_runs_over_the_other_classes():
    """With the label's own 0 among the k largest, as printed in the paper, it would be 0.5."""
    u = np.array([[0.0, 0.0, -3.0]])
    assert losses.value(losses.topk_svm_alpha(2), u, [0]) == pytest.approx([0.0])
