"""The paper's numbers: whole, and those that the paper prints."""

import json

import pytest

from paper import published
from paper.methods import CIRCLE, MULTICLASS, MULTILABEL, SINGLE_LABEL

#: Methods of other people, which the paper quotes.
QUOTED = {"rf_pct", "homer", "br", "br/rbf"}


def test_all_cells_of_the_tables_are_there():
    counts = {name: len(published.read(name)) for name in published.names()}
    assert counts == {
        "circle": 9 * 2,
        "coco": 10 * 16,
        "finetune": 2 * 6 * 4,
        "multiclass": 17 * 16 + 17 * 15 - 12 + 12 * 12,  # FMD has no top-10 losses
        "multilabel": 10 * 9 * 7 - 14,  # two methods have no numbers for bookmarks
        "time_ml": 3 * 5,
        "voc": 11 * 21 + 11 * 10,
    }


@pytest.mark.parametrize(
    ("file", "dataset", "row", "metric", "value"),
    [
        ("circle", "circle", "top2_truncated", "top2", 96.1),
        ("multiclass", "letter", "softmax", "top1", 75.3),
        ("multiclass", "caltech101_silhouettes", "top10_truncated", "top10", 90.2),
        ("multiclass", "imagenet2012", "svm_smooth", "top1", 68.7),
        ("multilabel", "yeast", "multilabel_softmax", "rank_loss", 0.352),
        ("multilabel", "emotions", "multilabel_svm_smooth/rbf", "f1_instance", 61.1),
        ("voc", "voc2007", "multilabel_svm", "map", 91.8),
        ("coco", "coco", "topk_svm_beta_smooth", "map", 59.1),
        ("finetune", "imagenet2012", "softmax/finetuned", "top1", 72.11),
    ],
)
def test_some_cells(file, dataset, row, metric, value):
    assert published.of(file, dataset)[row, metric].value == value


def test_spreads_of_the_paper_are_kept():
    assert published.of("multiclass", "sun397")["softmax", "top3"].spread == 0.2


def test_rows_are_those_of_our_methods():
    known = {method.key for method in [*MULTICLASS, *CIRCLE, *MULTILABEL, *SINGLE_LABEL]}
    for name in set(published.names()) - {"time_ml"}:
        rows = {number.row.removesuffix("/finetuned") for number in published.read(name)}
        assert {row.removesuffix("/rbf") for row in rows} <= known | QUOTED


def test_numbers_are_percents_or_shares():
    for name in set(published.names()) - {"time_ml"}:
        for number in published.read(name):
            most = 1.0 if number.metric.endswith("loss") else 100.0
            assert 0.0 <= number.value <= most, number


def test_table_of_methods_names_losses_of_the_registry():
    from paper.summary import variants

    rows = json.loads((published.FOLDER / "summary.json").read_text())["rows"]
    assert set(rows) <= set(variants()) | {"svm", "softmax"}
