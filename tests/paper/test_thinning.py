"""Thinned grids: what they try, and that they are compared with whole ones."""

import numpy as np
import pytest

from paper import protocol, scout, thinning
from paper.grid import FOLDS, Grid, powers
from paper.record import Record
from shortlist import datasets


def test_powers_of_a_thinned_grid_count_from_the_largest():
    assert powers(-4, 3, 3) == (2.0**-3, 1.0, 8.0)
    assert len(Grid("linear", 1).Cs) == 26
    assert len(Grid("rbf", 1).gammas) == 19


def test_a_grid_says_what_was_left_out():
    assert str(Grid("linear", 1)) == "every power of C"
    assert str(Grid("rbf", 3, 2, True)) == (
        f"every third power of C and gamma, 2 of the {FOLDS} folds, and all powers near the best "
        "of a scout"
    )
    keys = [Grid("rbf", 3, n, s).key for n in (2, FOLDS) for s in (False, True)]
    assert len(set(keys)) == 4


def test_a_grid_knows_those_that_have_all_it_has():
    less, more = Grid("linear", 3, 5, True), Grid("linear", 1)
    assert less.is_thinner_than(more)
    assert not more.is_thinner_than(less)
    assert not less.is_thinner_than(Grid("rbf", 1))
    assert not Grid("linear", 3).is_thinner_than(Grid("linear", 2))


def test_neighbours_of_the_best_are_tried():
    grid = Grid("rbf", 3)
    near = scout.around([(2.0**5, 2.0**-15)], grid, 1)
    assert near == dict.fromkeys((2.0**-15, 2.0**-14), (2.0**4, 2.0**5))
    both = scout.around([(1.0, 1.0), (8.0, 2.0)], grid, 1)
    assert both[0.5] == (0.5, 1.0, 2.0)
    assert both[1.0] == both[2.0] == (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    assert scout.around([(1.0, None)], Grid("linear", 3), 2) == {None: (0.25, 0.5, 1.0, 2.0, 4.0)}


def test_a_sample_keeps_the_labels_frequencies(monkeypatch):
    data = datasets.multilabel(400, 4, 5, 1.5, random_state=0)
    monkeypatch.setattr(scout, "EXAMPLES", 100)
    some = scout.sample(data, 0)
    assert some.X.shape[0] == 100
    share, of_all = (np.asarray(part.y.mean(axis=0)).ravel() for part in (some, data))
    assert share == pytest.approx(of_all, abs=0.02)


def fit(C, accuracies):
    """Return a fit that is right within k for this share of ten examples."""
    ranks = np.zeros(10)
    ranks[int(10 * accuracies) :] = 5
    return protocol.Fit(C, 0.0, ranks, ranks)


def test_a_path_ends_past_its_best():
    some = [fit(1.0, 0.5), fit(10.0, 0.8), fit(100.0, 0.7)]
    values = protocol._accuracies(some, (1,))
    assert not protocol.is_past(values)
    assert protocol.is_past(np.vstack([values, [[0.6]]]))
    assert not protocol.is_past(np.vstack([values, [[0.8]]]))  # as good as the best
    assert protocol._between(some, (1,)) == pytest.approx([10.0**0.5, 10.0**1.5])


def test_a_thinned_path_tries_less_and_finds_the_same():
    data = datasets.load("digits")
    train, val = data.take(slice(300)), data.take(slice(300, 800))
    Cs = [10.0 ** (power / 2) for power in range(-10, 3)]
    pairs = (train.X, train.y), (val.X, val.y)
    whole, thinned = (
        protocol.topk_path(
            *pairs[0], "softmax", Cs, pairs[1], pairs[1], (1,), extend=False, thinned=less
        )
        for less in (False, True)
    )
    assert len(thinned) < len(whole)
    assert all(np.isclose(fit.C, Cs, rtol=1e-9).any() for fit in thinned)
    found = [(protocol.choose(fits, 1).val < 1).mean() for fits in (whole, thinned)]
    assert found[1] >= found[0] - 0.01
    assert all(fit.gap <= protocol.TOL for fit in thinned)


def test_pairs_of_grids(tmp_path):
    record = Record("yeast", tmp_path)
    metrics = ("rank_loss", "accuracy")
    for key, values in (
        ("multilabel_svm/linear/3/0", (0.37, 36.0)),
        ("multilabel_svm/linear/1/0", (0.38, 35.5)),
    ):
        cell = {"values": dict(zip(metrics, values, strict=True))}
        record.cell(key, lambda cell=cell: cell)
    (pair,) = thinning.multilabel("yeast", tmp_path)
    assert pair.row == "multilabel_svm"
    assert pair.changes() == pytest.approx([1.0, 0.5])
    assert thinning.multilabel("scene", tmp_path) == []
    assert thinning.multiclass("letter", tmp_path) == []
