"""Passes with a pull in the metric of the features: what their formulas promise."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from shortlist import losses, path, solve
from shortlist.losses import check_labels
from shortlist.rows import as_storage
from shortlist.solvers import axes, whitened
from shortlist.solvers.memory import Memory
from shortlist.solvers.problem import Problem
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start
from solvers.cases import data, with_constant


@pytest.fixture
def team():
    with Team(1) as team:
        yield team


def run_of(team, epochs, loss, X, y, c, anchor):
    problem = Problem(as_storage(X, 2.0), check_labels(loss, y, len(X), None), loss, c, anchor)
    method = whitened.Whitened(
        problem, Start(np.zeros((problem.n, problem.m))), None, 0, team, 1e-3
    )
    method.certificate(exact=False)
    for _ in range(epochs):
        method.run_epoch(lambda: False)
    return problem, method


@pytest.fixture
def case():
    X, y = data("svm", n=40, d=6)
    rng = np.random.default_rng(1)
    return X, y, rng.uniform(0.0, 30.0, 40), rng.normal(size=(7, 4))


def test_a_point_balances_the_pull_and_the_duals(case, team):
    """W - W0 + b G (W - Z) = W(v) - W0, in the coordinates of the user, for any duals."""
    X, y, c, anchor = case
    problem, method = run_of(team, 3, losses.svm(), X, y, c, anchor)
    method._set_pull(0.01)
    Z = method.axes @ method.point
    method.sdca.run_epoch(lambda: False)
    W = method.axes @ (method.sdca.model / method.weight)
    wide = with_constant(X, 2.0)
    G = (c[:, None] * wide).T @ wide
    left = W + 0.01 * G @ (W - Z)
    np.testing.assert_allclose(left, problem.model(method.sdca.duals, team), atol=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_the_gap_is_that_of_the_losses_and_of_the_pull(case, team, smoothing):
    X, y, c, anchor = case
    loss = losses.svm(smoothing=smoothing)
    problem, method = run_of(team, 4, loss, X, y, c, anchor)
    W, v = method.axes @ method.point, method.sdca.duals
    scores = with_constant(X, 2.0) @ W
    of_losses = losses.value(loss, scores, y) + losses.conjugate(loss, v, y) - (v * scores).sum(1)
    assert (of_losses >= -1e-12).all()
    of_pull = 0.5 * np.square(W - problem.model(v, team)).sum()
    gap = problem.primal(W, None, team) - problem.dual(v, problem.model(v, team), team)
    np.testing.assert_allclose(gap, c @ of_losses + of_pull, rtol=1e-10)


def test_weights_are_as_long_as_is_best(case, team):
    X, y, c, anchor = case
    problem, method = run_of(team, 4, losses.svm(), X, y, c, anchor)
    (primal, multiple), least = method._best_multiple(share=1.0)
    W = method.axes @ method.point
    others = [problem.primal(t * W, None, team) for t in np.linspace(0.5, 2.0, 301)]
    np.testing.assert_allclose(primal, problem.primal(multiple * W, None, team), rtol=1e-10)
    assert primal <= min(others) * (1 + 1e-3)
    assert least == primal
    of_less = problem.with_weights(0.1 * c).primal(W, None, team)
    assert method._best_multiple(share=0.1)[1] <= of_less * (1 + 1e-10)


def test_margins_that_are_all_but_met_are_proven_so():
    """Where data are separable, C may be as large as one likes."""
    X, y = load_digits(return_X_y=True)
    for C in (2.0**15, 2.0**25):
        found = solve(X[:500] / 16, y[:500], losses.svm(), C=C, solver="whitened", max_epochs=300)
        assert found.converged


@pytest.mark.parametrize("loss", [losses.svm(), losses.topk_svm_consistent(k=3)])
def test_a_larger_c_that_changes_nothing_costs_little(loss):
    """Where all margins are met, the duals are inside of their domain, and C does not matter."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:500] / 16, y[:500]
    found = [
        solve(X, y, loss, C=C, solver="whitened", max_epochs=10_000, tol=1e-4)
        for C in (2.0**10, 2.0**15)
    ]
    few, many = (each.history[-1].epoch for each in found)
    assert all(each.converged for each in found)
    assert many <= 3 * few
    np.testing.assert_allclose(found[0].certificate.dual, found[1].certificate.dual, rtol=2e-4)


def test_a_path_goes_on_with_the_pull_of_the_last_c(case, team):
    """Relative to the duals; a start by itself says nothing of it."""
    X, y, c, _ = case
    loss, memory = losses.svm(), Memory()
    problem = Problem(as_storage(X, 2.0), check_labels(loss, y, len(X), None), loss, c)
    zero = Start(np.zeros((problem.n, problem.m)), memory=memory)
    first = whitened.Whitened(problem, zero, None, 0, team, 1e-3)
    for _ in range(6):
        first.certificate(exact=False)
        first.run_epoch(lambda: False)
    assert memory.pull < 0.5  # it has changed
    relative, duals = memory.pull, first.duals.copy()
    problem.set_weights(2.0 * c)
    start = Start(duals, first.weights(), memory)
    second = whitened.Whitened(problem, start, None, 0, team, 1e-3)
    began = second.pull
    np.testing.assert_allclose(began, relative * np.abs(duals).mean(), rtol=1e-12)
    second.certificate(exact=False)
    second.run_epoch(lambda: False)
    assert second.pull == began


def test_too_many_features_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(axes, "_MOST_FEATURES", 5)
    X, y = data("svm", n=20, d=6)
    with pytest.raises(ValueError, match=r"20 examples with 6 features are too many to be whiten"):
        solve(X, y, losses.svm(), solver="whitened")
    found = solve(X, y, losses.svm(), C=1e4)
    assert "whitened" not in {line.method for line in found.history}


def test_examples_that_weigh_nothing_leave_zero():
    X, y = data("svm", n=20, d=6)
    for found in path(
        X, y, losses.svm(), Cs=[1.0, 8.0], sample_weight=np.zeros(20), solver="whitened"
    ):
        assert found.converged
        assert not found.weights.any()
