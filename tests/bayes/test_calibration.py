"""Verdicts, and their witnesses checked from scratch."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import naive.bayes as naive
from shortlist import bayes, losses
from shortlist.bayes import faces
from shortlist.bayes.pieces import pieces

CELLS = [(m, k) for m in range(3, 7) for k in range(1, m)]
HINGES = ["ova_svm", "svm", "topk_svm_alpha", "topk_svm_beta", "topk_svm_consistent"]


def make(name, k, **parameters):
    if "k" in losses.entry(name).parameters:
        parameters["k"] = k
    return losses.make(name, **parameters)


def is_calibrated(name, k, m):
    """Proved: ova_svm, svm and the consistent hinge. New: alpha and beta."""
    return name == "topk_svm_consistent" or (name == "topk_svm_alpha" and k == m - 1)


@pytest.mark.parametrize("name", HINGES)
@pytest.mark.parametrize(("m", "k"), CELLS)
def test_hinges_are_decided_exactly_and_witnesses_hold(name, m, k):
    verdict = bayes.calibration(make(name, k), k, m)
    assert verdict.exact
    assert verdict.calibrated == is_calibrated(name, k, m)
    assert (verdict.witness is None) == verdict.calibrated
    if verdict.witness is None:
        return
    p, scores, regret = verdict.witness
    assert all(isinstance(x, Fraction) and x >= 0 for x in p)
    assert sum(p) == 1
    assert regret == naive.regret(scores, p, k) > 0
    risk = naive.risk(name, scores, p, k)
    assert float(risk) == pytest.approx(naive.least_hinge_risk(name, p, k), abs=1e-9)
    for step in itertools.product((-1, 0, 1), repeat=m):  # and exactly: no way is down
        moved = tuple(g + Fraction(x, 100) for g, x in zip(scores, step, strict=True))
        assert naive.risk(name, moved, p, k) >= risk


@pytest.mark.parametrize("name", ["topk_svm_consistent", "topk_svm_alpha"])
def test_calibrated_hinges_pay_for_every_wrong_shortlist(name):
    """By linear programs over all scores with a given shortlist, at distributions with ties."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        m = int(rng.integers(3, 5))
        k = m - 1 if name == "topk_svm_alpha" else int(rng.integers(1, m))
        p = rng.multinomial(12, np.ones(m) / m) / 12
        least = naive.least_hinge_risk(name, p, k)
        for some in itertools.combinations(range(m), k):
            scores = [float(j in some) for j in range(m)]
            price = naive.least_hinge_risk(name, p, k, shortlist=some) - least
            wrong = naive.regret(scores, p, k) > 1e-9
            assert (price > 1e-6) == wrong


@pytest.mark.parametrize("name", HINGES)
def test_the_same_pieces_are_active_inside_a_cell(name):
    """Which is what makes corners enough."""
    m, rng = 4, np.random.default_rng(1)
    for k in range(1, m):
        loss, seen = make(name, k), {}
        creases = sorted(faces.creases(loss, m))
        for _ in range(80):
            grid = rng.integers(-8, 9, size=m) if rng.random() < 0.5 else rng.integers(-2, 3, m) * 4
            g = tuple(sorted((Fraction(int(x), 4) for x in grid), reverse=True))
            sides = [np.sign(sum(x * s for x, s in zip(g, a, strict=True)) - b) for a, b in creases]
            walls = [high == low for high, low in itertools.pairwise(g)]
            active = []
            for y in range(m):
                values = [piece.at(g) for piece in pieces(loss, m, y)]
                assert max(values) == naive.hinge(name, g, y, k)
                active.append(tuple(value == max(values) for value in values))
            assert seen.setdefault((*sides, *walls), active) == active


SMOOTH = [
    ("ova_svm", {"smoothing": 0.5}),
    ("ova_svm", {"smoothing": 2.0}),
    ("ova_logistic", {}),
    ("svm", {"smoothing": 0.3}),
    ("softmax", {}),
    ("topk_svm_alpha", {"smoothing": 0.3}),
    ("topk_svm_beta", {"smoothing": 0.3}),
    ("topk_svm_consistent", {"smoothing": 0.3}),
    ("topk_entropy", {}),
    ("topk_entropy_beta", {}),
    ("truncated_topk_entropy", {}),
]


@pytest.mark.parametrize(("name", "parameters"), SMOOTH, ids=str)
def test_smooth_losses_have_no_counterexample(name, parameters):
    for m, k in ((3, 1), (3, 2), (5, 3)):
        verdict = bayes.calibration(make(name, k, **parameters), k, m, problems=15)
        assert verdict.calibrated
        assert not verdict.exact
        assert verdict.problems == 15
        assert verdict.price > 1e-8


@pytest.mark.parametrize(("name", "parameters"), SMOOTH[:-1], ids=str)
def test_a_class_outside_of_the_shortlist_has_a_gradient(name, parameters):
    """The condition of the proof that smooth losses are calibrated."""
    rng = np.random.default_rng(2)
    for k in (1, 2, 4):
        loss = make(name, k, **parameters)
        g = np.round(rng.normal(size=(300, 5)) * rng.choice((1.0, 3.0), size=(300, 1)))
        for a in range(5):
            outside = g[(g >= g[:, [a]]).sum(axis=1) > k]  # k others score at least as high
            v = losses.gradient(loss, outside, np.full(len(outside), a))
            for b in np.flatnonzero(np.arange(5) != a):
                pull = v[:, b] - v[:, a]
                assert (pull[outside[:, a] <= outside[:, b]] > 1e-12).all()


def test_truncated_entropy_and_shorter_lists():
    """Calibrated from k - 1 on: its k - 1 infinite scores are in no order."""
    for m, k in ((4, 3), (5, 3), (6, 5)):
        loss = losses.truncated_topk_entropy(k)
        for s in range(1, m):
            verdict = bayes.calibration(loss, s, m)
            assert verdict.calibrated == (s >= k - 1)
            if not verdict.calibrated:
                p, scores, regret = verdict.witness
                assert regret == pytest.approx(naive.regret(scores, p, s))
                assert regret > 0.0
                risk = bayes.optimal_scores(loss, p).risk
                finite = np.minimum(scores, 60.0)
                assert bayes.conditional_risk(loss, finite, p) == pytest.approx(risk, abs=1e-12)


def test_a_smooth_top_3_hinge_need_not_know_the_best_class():
    """If three classes or fewer occur, they are certain in any order."""
    verdict = bayes.calibration(losses.topk_svm_alpha(3, smoothing=1.0), 1, 5)
    assert not verdict.calibrated
    p, scores, regret = verdict.witness
    assert np.count_nonzero(p) <= 3
    assert regret == pytest.approx(naive.regret(scores, p, 1))
    assert regret > 0.0
    finite = np.maximum(scores, -1e3)
    assert bayes.conditional_risk(verdict.loss, finite, p) == pytest.approx(0.0, abs=1e-12)


def test_verdicts_say_what_they_are():
    loss = losses.topk_svm_beta(k=2)
    assert "is not top-2 calibrated for 3 classes: at p = (" in str(bayes.calibration(loss, 2, 3))
    searched = bayes.calibration("softmax", 1, 3, problems=2)
    assert str(searched).endswith("for 3 classes: no counterexample in 2 problems.")


def test_more_classes_are_searched():
    verdict = bayes.calibration("svm", 1, 9, problems=50)
    assert (verdict.calibrated, verdict.exact) == (False, False)
    p, scores, regret = verdict.witness
    assert regret == pytest.approx(naive.regret(scores, p, 1))
    assert regret > 0.0
    assert naive.risk("svm", scores, p, 1) == pytest.approx(naive.least_hinge_risk("svm", p, 1))
