"""How parameters are chosen."""

import numpy as np
import pytest

from paper import protocol
from paper.protocol import Fit


def fit(C, val, test, gap=1e-4):
    return Fit(C, gap, np.array(val), np.array(test))


#: Ranks of the true class: the first model is best at k = 1, the second at k = 2.
FITS = [
    fit(0.1, [0, 0, 2, 2], [0, 0, 2, 2]),
    fit(1.0, [1, 1, 1, 0], [1, 1, 1, 0]),
    fit(10.0, [2, 2, 2, 2], [0, 0, 0, 0], gap=0.5),
]


def test_ranks_count_only_strictly_higher_scores():
    scores = np.array([[3.0, 1.0, 3.0], [0.0, 1.0, 2.0]])
    assert protocol.ranks(scores, np.array([0, 0])).tolist() == [0, 2]


def test_each_length_has_its_own_choice():
    cell = protocol.topk_cell(FITS, (1, 2))
    assert cell["chosen"] == {"top1": {"C": 0.1}, "top2": {"C": 1.0}}
    assert cell["values"] == {"top1": 50.0, "top2": 100.0}
    assert cell["search"]["missed"] == 1
    assert cell["search"]["largest_gap"] == 0.5


def test_of_equal_models_the_most_regularised_is_chosen():
    same = [fit(C, [0, 1], [0, 1]) for C in (0.1, 1.0)]
    assert protocol.choose(same, 1).C == 0.1


def test_noise_is_that_of_redrawn_choices():
    clear = [fit(1.0, [0] * 50, [0] * 50), fit(2.0, [1] * 50, [1] * 50)]
    assert protocol.topk_cell(clear, (1,))["choice_noise"]["top1"] == 0.0
    # Two models that are equally good on other examples, one of them good in the test.
    doubtful = [fit(1.0, [0, 1] * 25, [0] * 50), fit(2.0, [1, 0] * 25, [1] * 50)]
    noise = protocol.topk_cell(doubtful, (1,))["choice_noise"]["top1"]
    assert noise == pytest.approx(50.0, abs=3.0)
    assert protocol.plausible(doubtful, (1,)) == [1.0, 2.0]
    assert protocol.plausible(clear, (1,)) == [1.0]


def test_the_grid_is_extended_at_an_end_that_is_best():
    bad, good = [1, 1, 1], [0, 0, 1]
    inside = [fit(1.0, bad, bad), fit(2.0, good, good), fit(4.0, bad, bad)]
    assert protocol._beyond(inside, (1,)) == []
    assert protocol._beyond(inside[:2], (1,)) == [4.0, 8.0]
    assert protocol._beyond(inside[1:], (1,)) == [0.5, 1.0]
    assert protocol._beyond([inside[1], *inside[1:]], (1,)) == []  # not better than next to it


def test_a_path_has_a_certificate_for_each_value(monkeypatch):
    monkeypatch.setattr(protocol, "_beyond", lambda fits, lengths: [fits[-1].C * 2.0])
    X = np.random.default_rng(0).normal(size=(60, 3))
    pair = (X, X.argmax(axis=1))
    fits = protocol.topk_path(*pair, "softmax", (0.1, 1.0), pair, pair, (1,))
    assert [each.C for each in fits] == [0.1, 1.0, 2.0, 4.0, 8.0]
    assert max(each.gap for each in fits) <= protocol.TOL
    narrow = protocol.topk_path(*pair, "softmax", (0.1, 1.0), pair, pair, (1,), extend=False)
    assert [each.C for each in narrow] == [0.1, 1.0]
