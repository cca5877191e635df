"""The page: up to date, and honest about what lies outside."""

import pytest

from paper import compare, conclusions, render, tables
from paper.page import Page, explanation
from paper.record import Record
from paper.verdict import WORSE


@pytest.fixture(scope="module")
def body():
    page = Page()
    tables.circle(page)
    tables.multiclass(page)
    tables.multilabel(page)
    return page


def test_the_page_is_up_to_date():
    for name, text in render.written().items():
        assert (render.HERE / name).read_text() == text, "run python -m paper.render"


def test_nine_cells_of_ten_agree_or_are_better(body):
    worse = [key for key, cell in body.cells.items() if cell.verdict == WORSE]
    assert body.cells
    assert len(worse) <= 0.1 * len(body.cells)
    unexplained = [key for key in worse if explanation(*key) is None]
    assert unexplained == []


def test_every_fit_has_a_certificate(body):
    """Also those that only chose parameters."""
    assert [key for key, cell in body.cells.items() if not cell.gap <= 1e-3] == []
    assert [key for key, cell in body.cells.items() if cell.missed] == []
    assert [key for key, cell in body.cells.items() if not cell.largest_gap <= 1e-3] == []


def test_without_results_all_is_not_run_yet(tmp_path):
    text = render.written(tmp_path)["RESULTS.md"]
    assert "letter: all rows: `python -m paper.multiclass letter`" in text
    assert "imagenet2012: its ConvNet features are not here" in text
    assert "### They do not\n\n- none\n" in text


def test_a_number_and_its_difference_are_shown(tmp_path):
    record = Record("letter", tmp_path)
    values = {"top1": 70.0, "top3": 90.3, "top5": 96.0, "top10": 98.0}
    cell = {
        "values": values,
        "choice_noise": dict.fromkeys(values, 0.1),
        "gaps": {**dict.fromkeys(values, 1e-4), "top3": 2e-3},
        "search": {"largest_gap": 2e-3, "missed": 1},
    }
    record.cell("softmax/0", lambda: cell)
    page = render.written(tmp_path)
    line = (
        "| softmax | 70.0 ±0.1 / 75.3 (-5.3) ▼ | 90.3 ±0.1 / 90.3 (+0.0) "
        "| 96.0 ±0.1 / 94.3 (+1.7) ▲ | 98.0 ±0.1 / 98.0 (+0.0) | 2.0e-03, 1 missed |"
    )
    assert line in page["RESULTS.md"]
    assert "<td>70.0 ±0.1 / 75.3 (-5.3) ▼</td>" in page["results.html"]
    assert "4 cells compared: 2 agree, 1 better, 1 worse: 75.0 %" in page["RESULTS.md"]
    assert "missed its certificate: 1 (letter softmax top3); cells in which" in page["RESULTS.md"]


def test_repeated_draws_are_averaged(tmp_path):
    record = Record("letter", tmp_path)
    for split, value in enumerate((74.0, 75.0, 76.0)):
        values = {"top1": value, "top3": 90.0, "top5": 94.0, "top10": 98.0}
        cell = {
            "values": values,
            "choice_noise": dict.fromkeys(values, 9.0),
            "gaps": dict.fromkeys(values, 1e-4),
            "search": {"largest_gap": 1e-4, "missed": 0},
        }
        record.cell(f"softmax/{split}", lambda cell=cell: cell)
    found = compare.multiclass("letter", tmp_path)["softmax", "top1"]
    assert (found.ours, found.noise) == (75.0, 1.0)


def test_a_conclusion_is_decided_by_numbers(tmp_path):
    assert len(conclusions.judged(tmp_path)[2]) == len(conclusions.CONCLUSIONS)
    record = Record("letter", tmp_path)
    for row, value in (("softmax", 80.0), ("svm", 90.0)):
        values = dict.fromkeys(("top1", "top3", "top5", "top10"), value)
        record.cell(f"{row}/0", lambda values=values: {"values": values})
    _, failing, _ = conclusions.judged(tmp_path)
    assert [line for line in failing if line.startswith("Softmax is better than multiclass svm")]
