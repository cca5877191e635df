"""Scores of least risk: closed forms, solvers and their certificates against each other."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import naive.bayes as naive
from losses.cases import CONVEX, over
from shortlist import bayes, losses
from shortlist.bayes.ordered import least_risk

RNG = np.random.default_rng(0)
SMOOTH = [losses.ova_svm(float(g)) for g in (0.1, 0.5, 1.0, 1.3, 2.0, 3.0)]
HINGES = [losses.ova_svm(), losses.svm(), losses.topk_svm_beta(1), losses.multilabel_svm()]


def falling(m, concentration=1.0):
    return np.sort(RNG.dirichlet(np.full(m, concentration)))[::-1]


@pytest.mark.parametrize("loss", [*SMOOTH, losses.ova_logistic(), losses.softmax()], ids=str)
def test_closed_forms_are_the_numerical_minimisers(loss):
    for _ in range(40):
        p = falling(int(RNG.integers(2, 7)))
        exact, found = bayes.optimal_scores(loss, p), least_risk(loss, p)
        assert (exact.method, found.method) == ("closed form", "newton")
        shift = 0.0 if "Ova" in str(loss) else exact.scores[-1] - found.scores[-1]
        np.testing.assert_allclose(found.scores + shift, exact.scores, rtol=0, atol=1e-8)
        assert found.risk == pytest.approx(exact.risk, abs=1e-12)


@pytest.mark.parametrize("loss", HINGES, ids=str)
def test_closed_forms_of_hinges_have_the_risk_of_the_linear_program(loss):
    for _ in range(60):
        p = falling(int(RNG.integers(2, 7)), 0.5)
        exact, found = bayes.optimal_scores(loss, p), least_risk(loss, p)
        assert (exact.method, found.method) == ("closed form", "linear program")
        assert found.risk == pytest.approx(exact.risk, abs=1e-12)
        assert bayes.conditional_risk(loss, exact.scores, p) == pytest.approx(exact.risk, abs=1e-12)


def test_least_risk_of_the_consistent_hinge_is_the_bayes_error():
    """On 1000 distributions, by the linear program and by the formula."""
    for _ in range(1000):
        m = int(RNG.integers(3, 7))
        k = int(RNG.integers(1, m))
        p, loss = falling(m, RNG.choice((0.3, 1.0, 10.0))), losses.topk_svm_consistent(k)
        error = bayes.bayes_topk_error(p, k)
        assert abs(least_risk(loss, p).risk - error) <= 1e-12
        formula = bayes.optimal_scores(loss, p)
        assert abs(formula.risk - error) <= 1e-12
        assert abs(bayes.conditional_risk(loss, formula.scores, p) - error) <= 1e-12


@over([case for case in CONVEX if case[1].get("normalize", True)])
def test_least_risk_is_that_of_the_dual(case):
    name, parameters = case
    loss = losses.make(name, **parameters)
    for p in ([0.1, 0.45, 0.15, 0.3], [0.05, 0.6, 0.05, 0.3]):
        found = bayes.optimal_scores(loss, p)
        expected = naive.dual_least_risk(name, np.array(p), **parameters)
        assert found.risk == pytest.approx(expected, abs=3e-6)
        assert 0.0 <= found.gap <= 1e-10
        assert bayes.conditional_risk(loss, found.scores, p) == pytest.approx(found.risk, abs=1e-12)


@over([case for case in CONVEX if case[1].get("normalize", True)])
def test_a_class_that_never_occurs_is_the_limit_of_one_that_hardly_does(case):
    name, parameters = case
    loss = losses.make(name, **parameters)
    p, nearly = [0.0, 0.7, 0.1, 0.2], [1e-9, 0.7 - 1e-9, 0.1, 0.2]
    found = bayes.optimal_scores(loss, p)
    assert found.risk == pytest.approx(bayes.optimal_scores(loss, nearly).risk, abs=1e-6)
    assert found.gap <= 1e-10
    finite = np.maximum(found.scores, -1e4)
    assert bayes.conditional_risk(loss, finite, p) == pytest.approx(found.risk, abs=1e-12)


def test_truncated_entropy_is_least_where_the_formula_says():
    """For each choice of certain classes, and numerically over the scores of the others."""
    for m, k in ((4, 2), (5, 3)):
        p, loss = RNG.dirichlet(np.ones(m)), losses.truncated_topk_entropy(k)
        optimum = bayes.optimal_scores(loss, p)

        def least(certain, p=p, loss=loss):
            rest = np.setdiff1d(np.arange(p.size), certain)

            def risk(free):
                scores = np.full(p.size, 60.0)
                scores[rest] = free
                return bayes.conditional_risk(loss, scores, p)

            return minimize(risk, np.zeros(rest.size), method="BFGS").fun

        every = {some: least(some) for some in itertools.combinations(range(m), k - 1)}
        best = min(every, key=every.get)
        assert set(best) == set(np.flatnonzero(optimum.scores == np.inf))
        assert every[best] == pytest.approx(optimum.risk, abs=1e-8)
        for _ in range(200):
            scores = RNG.normal(size=m) * RNG.choice((0.3, 2.0, 20.0))
            assert bayes.conditional_risk(loss, scores, p) >= optimum.risk - 1e-12


@pytest.mark.parametrize("loss", [losses.topk_svm_alpha(2), losses.topk_svm_beta(2)], ids=str)
def test_probabilities_too_small_for_a_solver(loss):
    for tiny in (1e-6, 1e-12, 1e-300):
        found = bayes.optimal_scores(loss, [tiny, 0.5, 0.3, 0.2 - tiny])
        assert found.risk == pytest.approx(bayes.optimal_scores(loss, [0, 0.5, 0.3, 0.2]).risk)
        assert found.gap <= 1e-9


def test_infinities_of_the_closed_forms():
    p = [0.0, 0.75, 0.25]
    np.testing.assert_array_equal(
        bayes.optimal_scores("softmax", p).scores, [-np.inf, np.log(0.75), np.log(0.25)]
    )
    certain = bayes.optimal_scores("ova_logistic", [1.0, 0.0])
    assert (certain.scores.tolist(), certain.risk) == ([np.inf, -np.inf], 0.0)
    truncated = bayes.optimal_scores(losses.truncated_topk_entropy(2), p)
    np.testing.assert_array_equal(truncated.scores, [-np.inf, np.inf, np.log(0.25)])
    assert truncated.risk == 0.0


def test_a_loss_of_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="is not convex: its least risk is not computed"):
        bayes.excess_risk(losses.truncated_topk_entropy(2), 2, [0.5, 0.25, 0.25])
