"""Generators: samples agree with the truth they promise."""

import math

import numpy as np
import pytest
import scipy.stats

from shortlist.datasets import Circle, GaussianMixture, OrthogonalGaussians, multilabel

#: The paper's section 6.1: the distribution of each class over the five segments.
PAPER = {1: (0, 1, 0.4, 0.3, 0), 2: (1, 0, 0.1, 0.7, 0), 3: (0, 0, 0.5, 0, 1)}
LENGTHS = (1, 1, 1, 3, 1)


def segment_of(x, y):
    """Where a point of the circle lies in [0, 7], from the paper's text."""
    place = math.atan2(y, x) / (2 * math.pi) % 1.0 * 7
    for segment, length in enumerate(LENGTHS):
        if place < length:
            return segment
        place -= length
    return 4


def test_circle_is_the_papers():
    n = 20_000
    sample = Circle().sample(n, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(sample.X, axis=1), 1.0)
    segments = np.array([segment_of(*point) for point in sample.X])
    for segment in range(5):
        inside = sample.y[segments == segment]
        # Six standard errors.
        assert abs(inside.size - n / 5) < 6 * math.sqrt(n * 0.16)
        for label, shares in PAPER.items():
            share = shares[segment]
            found = (inside == label - 1).mean()
            assert abs(found - share) <= 6 * math.sqrt(share * (1 - share) / inside.size)
    np.testing.assert_array_equal(
        Circle().posterior(sample.X),
        [[PAPER[label][segment] for label in PAPER] for segment in segments],
    )


def test_circle_is_uniform_within_segments():
    X = Circle().sample(20_000, random_state=1).X
    turns = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) % 1.0
    inside = turns[(turns > 3 / 7) & (turns < 6 / 7)]
    assert scipy.stats.kstest(inside, "uniform", args=(3 / 7, 3 / 7)).pvalue > 1e-4


@pytest.mark.parametrize("k", [1, 2, 3])
def test_bayes_error_of_the_circle(k):
    best = [sum(sorted(shares)[-k:]) for shares in zip(*PAPER.values(), strict=True)]
    assert Circle().bayes_error(k) == pytest.approx(1 - sum(best) / 5, abs=1e-15)


def test_mixture_posterior_is_bayes_rule():
    rng = np.random.default_rng(0)
    means, priors = rng.normal(size=(3, 2)), np.array([0.5, 0.3, 0.2])
    roots = rng.normal(size=(3, 2, 2))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(2)
    mixture = GaussianMixture(means, covariances, priors)
    X = rng.normal(size=(20, 2))
    joint = np.column_stack(
        [
            prior * scipy.stats.multivariate_normal(mean, covariance).pdf(X)
            for mean, covariance, prior in zip(means, covariances, priors, strict=True)
        ]
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.posterior(X), expected, rtol=1e-10)
    far = mixture.posterior([[1e4, -1e4]])
    assert np.isfinite(far).all()


def test_mixture_samples_have_its_moments():
    covariance = np.array([[2.0, 0.7], [0.7, 1.0]])
    mixture = GaussianMixture([[0.0, 0.0], [5.0, -5.0]], covariance, [0.25, 0.75])
    sample = mixture.sample(40_000, random_state=0)
    assert abs((sample.y == 1).mean() - 0.75) < 0.015
    own = sample.X[sample.y == 1]
    np.testing.assert_allclose(own.mean(axis=0), [5.0, -5.0], atol=0.05)
    np.testing.assert_allclose(np.cov(own.T), covariance, atol=0.08)


@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_bayes_error_of_two_gaussians_is_known(distance):
    expected = scipy.stats.norm.cdf(-distance / 2)
    mixture = GaussianMixture([[0.0, 0.0], [distance, 0.0]])
    error, spread = mixture.bayes_error(1)
    assert abs(error - expected) < 5 * spread + 1e-12
    orthogonal = OrthogonalGaussians(2, distance / math.sqrt(2))
    assert orthogonal.bayes_error(1) == pytest.approx(expected, abs=1e-10)
    assert orthogonal.bayes_error(2) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("m", [2, 5, 20])
@pytest.mark.parametrize("separation", [0.0, 1.0, 3.0])
def test_bayes_error_of_orthogonal_gaussians(m, separation):
    mixture = OrthogonalGaussians(m, separation, d=m + 3)
    for k in {1, min(3, m), m}:
        error, spread = GaussianMixture.bayes_error(mixture, k, n=5_000)
        assert abs(mixture.bayes_error(k) - error) < 5 * spread + 1e-9
    if separation == 0.0:
        assert mixture.bayes_error(1) == pytest.approx(1 - 1 / m, abs=1e-10)


def test_the_best_list_of_orthogonal_gaussians_has_that_error():
    mixture = OrthogonalGaussians(6, 2.0)
    sample = mixture.sample(40_000, random_state=0)
    own = sample.X[np.arange(sample.n), sample.y]
    above = (own[:, None] < sample.X).sum(axis=1)
    for k in (1, 2, 5):
        error = (above >= k).mean()
        spread = math.sqrt(error * (1 - error) / sample.n)
        assert abs(error - mixture.bayes_error(k)) < 5 * spread


@pytest.mark.parametrize("cardinality", [0.0, 0.5, 1.0, 3.7, 10.0])
def test_multilabel_has_the_cardinality(cardinality):
    sample = multilabel(200, 7, 10, cardinality, random_state=0)
    assert sample.X.shape == (200, 7)
    assert sample.y.shape == (200, 10)
    assert sample.cardinality == pytest.approx(cardinality, abs=0.5 / 200)


def test_multilabel_can_be_learned():
    """Without noise, a linear model with a bias separates the labels."""
    sample = multilabel(300, 4, 5, 1.5, noise=0.0, random_state=0)
    Y = sample.y.toarray()
    features = np.column_stack([sample.X, np.ones(sample.n)])
    for column in Y.T:
        if 0 < column.sum() < sample.n:
            result = scipy.optimize.linprog(
                np.zeros(5), -features * np.where(column, 1, -1)[:, None], -np.ones(300),
                bounds=(None, None),
            )  # fmt: skip
            assert result.success


def test_the_same_seed_gives_the_same_data():
    for make in (
        lambda seed: Circle().sample(10, seed),
        lambda seed: OrthogonalGaussians(3, 1.0).sample(10, seed),
        lambda seed: multilabel(10, 3, 4, 1.0, random_state=seed),
    ):
        np.testing.assert_array_equal(make(3).X, make(3).X)
        assert (make(3).X != make(4).X).any()


REFUSED = {
    "n is -1; it must be at least 0.": lambda: Circle().sample(-1),
    "k is 4; it must be between 1 and 3": lambda: Circle().bayes_error(4),
    "cardinality is 5; there are 4 classes.": lambda: multilabel(3, 2, 4, 5),
    "means must be a finite matrix": lambda: GaussianMixture([1.0, 2.0]),
    "covariances must be positive definite": lambda: GaussianMixture([[1.0], [2.0]], -1.0),
    "priors must be 2 numbers": lambda: GaussianMixture([[1.0], [2.0]], 1.0, [0.5, 0.6]),
    "d is 2; it must be at least 3.": lambda: OrthogonalGaussians(3, 1.0, d=2),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_arguments_are_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
