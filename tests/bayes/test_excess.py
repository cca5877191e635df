"""How surrogate regret bounds top-k regret."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import naive.bayes as naive
from shortlist import bayes, losses

P = np.array([[0.2, 0.5, 0.3], [0.4, 0.35, 0.25]])


@pytest.mark.parametrize("name", ["svm", "topk_svm_alpha", "topk_svm_beta", "topk_svm_consistent"])
def test_excess_of_hinges_is_that_of_linear_programs(name):
    loss = losses.svm() if name == "svm" else losses.make(name, k=2)
    p = np.array([0.1, 0.35, 0.25, 0.3])
    excess = bayes.excess_risk(loss, 2, p)
    order, least = np.argsort(-p), naive.least_hinge_risk(name, p, 2)
    for i, chosen in enumerate(itertools.combinations(order, 2)):
        price = naive.least_hinge_risk(name, p, 2, shortlist=chosen) - least
        assert excess.risk[i] == pytest.approx(price, abs=1e-9)
        assert excess.regret[i] == pytest.approx(0.65 - p[list(chosen)].sum())


@pytest.mark.parametrize("loss", [losses.softmax(), losses.topk_svm_alpha(2, 0.7)], ids=str)
def test_excess_of_smooth_losses_is_that_of_a_general_solver(loss):
    p = np.array([0.4, 0.3, 0.2, 0.1])
    excess = bayes.excess_risk(loss, 2, p)
    least = bayes.optimal_scores(loss, p).risk
    for i, chosen in enumerate(itertools.combinations(range(4), 2)):
        outside = np.setdiff1d(np.arange(4), chosen)
        above = {
            "type": "ineq",
            "fun": lambda g, a=list(chosen), b=outside: (g[a][:, None] - g[b]).ravel(),
        }
        found = minimize(
            lambda g: bayes.conditional_risk(loss, g, p), np.zeros(4), constraints=above, tol=1e-10
        )
        assert excess.risk[i] == pytest.approx(found.fun - least, abs=1e-6)


def test_one_row_a_distribution_and_the_best_shortlist_is_free():
    excess = bayes.excess_risk(losses.topk_svm_consistent(1), 1, P)
    assert excess.risk.shape == excess.regret.shape == (2, 3)
    np.testing.assert_allclose(excess.regret, [[0, 0.2, 0.3], [0, 0.05, 0.15]], atol=1e-15)
    np.testing.assert_array_equal(excess.risk[:, 0], 0.0)
    assert (excess.risk[:, 1:] > 0.01).all()


def test_curves_rise_from_zero_only_where_a_loss_is_calibrated():
    rng = np.random.default_rng(0)
    p, levels = rng.dirichlet(np.ones(3), size=25), np.array([0.02, 0.1, 0.2, 2.0])
    sure = bayes.excess_risk_curve(losses.topk_svm_consistent(1), 1, p, levels)
    assert (np.diff(sure[:-1]) >= 0.0).all()
    assert sure[0] > 0.0
    assert sure[-1] == np.inf
    collapsed = bayes.excess_risk_curve("svm", 1, p, levels)
    assert collapsed[:3].max() <= 1e-12
