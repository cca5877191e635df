"""What a format writes it reads back, to the last bit."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings

from datasets.cases import assert_same, datasets, needs_pyarrow
from shortlist.datasets import Dataset, convert, formats, read, write

SUFFIX = {name: suffixes[0] for name, suffixes in formats().items()}


def round_trip(dataset, name, compression="", **options):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"data{SUFFIX[name]}{compression}"
        write(dataset, file)
        found = read(file, **options)
        if name in ("npy", "store"):  # mapped files go with the folder
            X = found.X.copy() if found.sparse else np.array(found.X)
            found = found._replace(X=X)
        return found


@settings(max_examples=50)
@given(datasets(numbered=True))
def test_libsvm(dataset):
    classes = dataset.class_names or None
    multilabel = dataset.multilabel or None
    found = round_trip(
        dataset, "libsvm", n_features=dataset.d, classes=classes, multilabel=multilabel
    )
    assert found.sparse
    assert_same(found, dataset)


@settings(max_examples=50)
@given(datasets(labels=("one", "sets"), numbered=True))
def test_xmlrepository(dataset):
    found = round_trip(dataset, "xmlrepository", multilabel=dataset.multilabel)
    assert_same(found, dataset)


@settings(max_examples=50)
@given(datasets())
def test_vw(dataset):
    numbers = list(range(1, dataset.m + 1)) or None
    texts = dataset.feature_names or ()
    fit = texts and not any(c in " :|" or name.isdecimal() for name in texts for c in name)
    options = {"feature_names": texts} if fit else {"n_features": dataset.d}
    if dataset.m and all(_is_number(name) for name in dataset.class_names):
        numbers = dataset.class_names
    found = round_trip(
        dataset, "vw", classes=numbers, multilabel=dataset.multilabel or None, **options
    )
    assert_same(found, dataset, names=False)
    assert found.feature_names == (texts if fit else None)


def _is_number(name):
    try:
        return repr(float(name)).removesuffix(".0") == name
    except ValueError:
        return False


@settings(max_examples=50)
@given(datasets())
def test_arff(dataset):
    labels = {"one": "class", "sets": None, "none": ()}[_kind(dataset)]
    if "class" in (dataset.feature_names or ()):
        return
    found = round_trip(dataset, "arff", labels=labels)
    assert found.sparse == dataset.sparse
    assert_same(found, dataset)


def _kind(dataset):
    return "none" if dataset.y is None else "sets" if dataset.multilabel else "one"


def _columns(dataset):
    if dataset.multilabel:
        return {"labels": list(dataset.class_names)}
    if dataset.y is None:
        return {"labels": None}
    return {"classes": dataset.class_names}


@settings(max_examples=50)
@given(datasets())
def test_csv(dataset):
    if "label" in (dataset.feature_names or ()):
        return
    assert_same(round_trip(dataset, "csv", **_columns(dataset)), dataset)


@needs_pyarrow
@settings(max_examples=50)
@given(datasets())
def test_parquet(dataset):
    if "label" in (dataset.feature_names or ()):
        return
    assert_same(round_trip(dataset, "parquet", **_columns(dataset)), dataset)


@pytest.mark.parametrize("name", ["npz", "mat", "store"])
@settings(max_examples=50)
@given(datasets())
def test_arrays(name, dataset):
    found = round_trip(dataset, name)
    assert found.sparse == dataset.sparse
    assert_same(found, dataset)


@settings(max_examples=50)
@given(datasets(numbered=True, sparse=(False,)))
def test_npy(dataset):
    found = round_trip(dataset, "npy")
    if dataset.y is not None and not dataset.multilabel:  # classes that occur, by number
        found = found._replace(
            y=np.array(list(map(int, found.class_names)))[found.y], class_names=dataset.class_names
        )
    assert_same(found, dataset)


@settings(max_examples=50)
@given(datasets(numbered=True, sparse=(False,), labels=("one", "none")))
def test_idx(dataset):
    found = round_trip(dataset, "idx")
    if dataset.y is not None:
        found = found._replace(
            y=np.array(list(map(int, found.class_names)))[found.y], class_names=dataset.class_names
        )
    assert_same(found, dataset)


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
def test_idx_keeps_dtypes(dtype):
    X = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    found = round_trip(Dataset(X, np.array([1, 0]), ("0", "1")), "idx")
    assert found.X.dtype == X.dtype
    assert_same(found, Dataset(X, np.array([1, 0]), ("0", "1")))


@pytest.mark.parametrize("compression", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", [name for name in SUFFIX if name not in ("store", "parquet")])
def test_compression_and_streams(name, compression, tmp_path):
    X = np.array([[1.0, 0.0], [0.25, -3.0], [0.0, 7.0]])
    dataset = Dataset(X, np.array([0, 2, 1]), ("0", "1", "2"))
    options = {"classes": ("0", "1", "2")} if name in ("libsvm", "vw", "csv") else {}
    options |= {"multilabel": False} if name == "xmlrepository" else {}
    options |= {"labels": "class"} if name == "arff" else {}
    file = tmp_path / f"data{SUFFIX[name]}{compression}"
    write(dataset, file)
    assert_same(read(file, **options), dataset, names=False)
    if compression or name in ("npy", "idx"):
        return
    stream = io.BytesIO()
    write(dataset, stream, name)
    assert_same(read(io.BytesIO(stream.getvalue()), name, **options), dataset, names=False)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["one", "sets"])
def test_convert_through_every_format(kind, sparse, tmp_path):
    """From format to format, and the last one is equal to the first."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 6)) < 0.5, rng.normal(size=(20, 6)), 0.0)
    y = rng.integers(3, size=20)
    y[:3] = 0, 1, 2
    Y = scipy.sparse.csr_array(np.eye(3, dtype=bool)[y] | (rng.random((20, 3)) < 0.2))
    names = ("0", "1", "2")
    first = Dataset(scipy.sparse.csr_array(X) if sparse else X, Y if kind == "sets" else y, names)
    labels = list(names) if kind == "sets" else "label"
    way = {
        "libsvm": {"n_features": 6},
        "store": {},
        "vw": {"n_features": 6},
        "arff": {} if kind == "sets" else {"labels": "class"},
        "xmlrepository": {"multilabel": kind == "sets"},
        "csv": {"labels": labels},
        "mat": {},
        "npz": {},
    }
    before, options = tmp_path / "data.npz", {}
    write(first, before)
    for name, own in way.items():
        after = tmp_path / f"data_{name}{SUFFIX[name]}"
        convert(before, after, read_options=options)
        before, options = after, own
    assert_same(read(before, **options), first)
