"""The scripts of the tables, on tiny data."""

import numpy as np
import pytest
import scipy.sparse

from paper import (
    circle,
    descent,
    features,
    finetune,
    multiclass,
    multilabel,
    protocol,
    regions,
    single_label,
    summary,
)
from paper.grid import Grid
from paper.methods import CIRCLE, MULTICLASS, MULTILABEL, SINGLE_LABEL
from paper.protocol import TOL
from paper.record import Record
from shortlist import datasets, losses

SIZES = (60, 60, 500)


@pytest.fixture(scope="module")
def digits():
    data = datasets.load("digits").take(slice(300))
    return data.X, data.y


@pytest.fixture(scope="module")
def label_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    scores = X @ rng.normal(size=(6, 6)) + 0.5 * rng.normal(size=(120, 6))
    Y = scores > 1.0
    Y[np.arange(120), scores.argmax(axis=1)] = True
    names = tuple("abcdef")
    whole = datasets.Dataset(X, scipy.sparse.csr_array(Y), names)
    return whole.take(slice(80)), whole.take(slice(80, None))


def assert_whole(cell, metrics):
    assert set(cell["values"]) == set(cell["chosen"]) == set(cell["gaps"]) == set(metrics)
    assert max(cell["gaps"].values()) <= TOL
    assert cell["search"]["missed"] == 0


def test_circle():
    method = next(m for m in CIRCLE if m.key == "softmax")
    cell = circle.cell(method, 0, SIZES)
    assert_whole(cell, ("top1", "top2"))
    assert cell["search"]["Cs"] == list(circle.CS)
    assert 70.0 < cell["values"]["top2"] <= 100.0
    assert circle.cell(method, 0, SIZES) == cell


def test_several_starts_find_a_lower_minimum():
    train, *_ = circle.draw(1)
    loss, C = losses.truncated_topk_entropy(2), 16.0
    start = np.zeros((2, 3)) + np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]])
    one = descent.descend(train.X, train.y, loss, C, start)
    lowest = descent.lowest(train.X, train.y, loss, C, [start])
    assert lowest.objective <= one.objective
    assert max(one.gradient_norm, lowest.gradient_norm) <= TOL


@pytest.mark.parametrize("key", ["softmax", "top3_svm_smooth"])
def test_multiclass(digits, key, monkeypatch):
    monkeypatch.setattr(protocol, "EXTENSIONS", 0)  # digits are separable: no C is too large
    method = next(m for m in MULTICLASS if m.key == key)
    cut = multiclass.cut_of(*digits, 0.3, 0)
    assert len(cut.test[1]) == 90
    assert len(cut.train[1]) + len(cut.val[1]) == len(cut.whole[1]) == 210
    cell = multiclass.cell(cut, method, (0.01, 0.1, 1.0))
    assert_whole(cell, ("top1", "top3", "top5", "top10"))
    assert cell["values"]["top1"] > 80.0
    assert cell["values"]["top10"] == 100.0


def test_features_of_a_user(digits, tmp_path, monkeypatch):
    X, y = digits
    files = [tmp_path / "train.npz", tmp_path / "test.npz"]
    names = tuple(map(str, range(10)))
    for file, some in zip(files, (slice(200), slice(200, None)), strict=True):
        datasets.write(datasets.Dataset(X[some], y[some], names), file)
    cut = features.read(*map(str, files), None)
    few = [method for method in MULTICLASS if method.key in ("softmax", "ova_svm")]
    monkeypatch.setattr(features, "MULTICLASS", few)
    record = features.run("imagenet2012", cut, 0, (0.1, 1.0), tmp_path)
    assert list(record.cells) == ["softmax/0"]  # the paper has no one-vs-all row there
    assert_whole(record.cells["softmax/0"], ("top1", "top3", "top5", "top10"))


def test_features_without_labels_are_refused(digits, tmp_path):
    file = tmp_path / "train.npz"
    datasets.write(datasets.Dataset(digits[0][:5]), file)
    with pytest.raises(ValueError, match="has no class for each example"):
        features.read(str(file), str(file), None)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("scouted", [False, True])
def test_multilabel(label_sets, kernel, scouted, tmp_path):
    grid = Grid(kernel, 9, scouted=scouted)
    cell = multilabel.cell(
        *label_sets, MULTILABEL[2], grid, folds=3, unfinished=tmp_path / "unfinished"
    )
    assert_whole(cell, multilabel.METRICS)
    assert cell["search"]["folds"] == 3
    assert cell["values"]["rank_loss"] < 0.3
    assert all(value >= 0.0 for value in cell["choice_noise"].values())
    assert not (tmp_path / "unfinished").exists()


def test_examples_without_labels_are_not_trained_on_and_count_in_the_test(label_sets):
    train, test = label_sets
    without = scipy.sparse.csr_array(([True], ([0], [1])), shape=(2, 6))
    more = datasets.Dataset(
        np.vstack([train.X, np.full((2, 6), 9.0)]), scipy.sparse.vstack([train.y, without]).tocsr()
    )
    kept = multilabel.with_labels(more)
    assert kept.X.shape[0] == train.X.shape[0] + 1
    grid = Grid("linear", 9, folds=2)
    nothing = test._replace(y=scipy.sparse.csr_array(test.y.shape, dtype=bool))
    values = multilabel.cell(more, nothing, MULTILABEL[0], grid, folds=3)["values"]
    assert values["rank_loss"] == 0.0  # no pair can be in the wrong order
    assert values["f1_instance"] < 100.0


def test_single_labels(label_sets):
    train, test = (single_label.with_single_labels(each, "rarest") for each in label_sets)
    Y = train.labels.toarray()
    assert Y[np.arange(len(Y)), train.single].all()
    frequency = label_sets[0].y.toarray().sum(axis=0)
    assert all(
        frequency[one] == frequency[row].min() for one, row in zip(train.single, Y, strict=True)
    )
    method = next(m for m in SINGLE_LABEL if m.key == "topk_svm_beta_smooth")
    cells = [single_label.cell(train, test, m, (0.1, 1.0)) for m in (method, MULTILABEL[2])]
    for cell in cells:
        assert set(cell["values"]) == set(single_label.METRICS)
        assert max(cell["gaps"].values()) <= TOL
    assert cells[1]["values"]["map"] > 70.0


def test_regions_are_pooled(tmp_path, label_sets, monkeypatch):
    train, test = (single_label.with_single_labels(each, "rarest") for each in label_sets)
    rng = np.random.default_rng(0)
    files = []
    for name, part in (("train", train), ("test", test)):
        n = len(part.single)
        image = rng.permutation(np.repeat(np.arange(n), 2))
        X = part.X[image] + 0.1 * rng.normal(size=(2 * n, 6))
        files.append(tmp_path / f"{name}.npz")
        Y = part.labels.toarray().astype(int)
        np.savez(files[-1], X=X, image=image, Y=Y, single=part.single)
    images = [regions.read(file) for file in files]
    scores = np.arange(len(images[0].owner))[:, None] * [1.0, -1.0]
    assert images[0].pooled(scores)[:2].tolist() == [[1.0, 0.0], [3.0, -2.0]]
    monkeypatch.setattr(regions, "SINGLE_LABEL", SINGLE_LABEL[:1])
    monkeypatch.setattr(regions, "MULTILABEL", MULTILABEL[2:])
    record = regions.run("voc2007", *images, (0.1, 1.0), tmp_path)
    assert sorted(record.cells) == ["multilabel_svm_smooth/0", "softmax/0"]
    assert record.cells["multilabel_svm_smooth/0"]["values"]["map"] > 70.0


def test_regions_without_an_array_are_refused(tmp_path):
    np.savez(tmp_path / "train.npz", X=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="has no array 'image'"):
        regions.read(tmp_path / "train.npz")


def test_summary_checks_what_it_says():
    cell = summary.cell("topk_svm_alpha_smooth", losses.topk_svm_alpha(2, 1.0), problems=2)
    assert max(cell["values"].values()) < summary.ACCURACY
    assert summary.cell("softmax", losses.softmax(), problems=2)["calibrated"]
    scores, labels = np.array([[1.0, 0.0, 2.0]]), [0]
    wrong = losses.gradient("softmax", 2.0 * scores, labels)
    assert summary.fenchel_young(losses.softmax(), scores, wrong, labels) > 1e-3


def test_fine_tuning(digits):
    pytest.importorskip("torch")
    X, y = digits
    found = finetune.fine_tuned((X[:200], y[:200], X[200:], y[200:]), 0, first=8, further=1)
    assert set(found) == {
        "softmax",
        *(f"{name}/finetuned" for name in
          ("softmax", "top3_svm_smooth", "top5_svm_smooth", "top3_truncated", "top5_truncated")),
    }  # fmt: skip
    assert found["softmax/finetuned"]["top3"] > 40.0


def test_a_run_goes_on_where_it_was(tmp_path, monkeypatch):
    done = Record("letter", tmp_path)
    for method in MULTICLASS[1:]:
        done.cell(f"{method.key}/0", lambda: {"values": {}})
    computed = []

    def cell(cut, method, *options):
        computed.append(method.key)
        return {"values": {}}

    monkeypatch.setattr(multiclass, "cell", cell)
    data = multiclass.Data(lambda split: None, 1, ())
    multiclass.run("letter", data, 1, folder=tmp_path)
    assert computed == [MULTICLASS[0].key]
