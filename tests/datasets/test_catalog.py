"""Data sets by name: where they are looked for, and what they are."""

import gzip
import hashlib
import sys
import types

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import real_data
from shortlist import datasets
from shortlist.datasets import Dataset, cache, catalog

LETTER = "".join(f"{i % 26 + 1} 1:{i} 16:1\n" for i in range(52)).encode()


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The user's folder and the cache, both empty; pooch is not installed."""
    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "pooch", None)
    own, kept = tmp_path / "own" / "letter", tmp_path / "cache" / "shortlist" / "data" / "letter"
    own.mkdir(parents=True)
    kept.mkdir(parents=True)
    return own, kept


def test_first_the_own_folder_then_the_cache(folders, monkeypatch):
    own, kept = folders
    (kept / "letter.scale.t").write_bytes(LETTER)
    (own / "letter.scale.t.gz").write_bytes(gzip.compress(LETTER + b"1 2:5\n"))
    assert datasets.load("letter", "test").n == 53
    (own / "letter.scale.t.gz").unlink()
    assert datasets.load("letter", "test").n == 52
    monkeypatch.delenv("SHORTLIST_DATA")
    assert datasets.load("letter", "test").n == 52


def test_missing_without_pooch(folders):
    own, kept = folders
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("letter", "test")
    assert str(caught.value) == (
        f"there is no letter/letter.scale.t in {own.parent} or in {kept.parent}; let "
        "SHORTLIST_DATA name the folder that has it, or install what downloads it: "
        "pip install 'shortlist[datasets]'."
    )


def test_missing_and_no_address(folders):
    with pytest.raises(FileNotFoundError, match="and it cannot be downloaded; put it there, or"):
        datasets.load("bookmarks")


def test_download_last_and_checked(folders, monkeypatch):
    """Pooch gets the address, the checksum and the cache folder."""
    _, kept = folders
    calls = []

    def retrieve(url, known_hash, fname, path):
        calls.append((url, known_hash, fname, path))
        (path / fname).write_bytes(LETTER)
        return str(path / fname)

    monkeypatch.setitem(sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve))
    assert datasets.load("letter", "test").n == 52
    assert datasets.load("letter", "test").n == 52
    assert len(calls) == 1
    url, known_hash, _, path = calls[0]
    assert url.startswith("https://")
    assert url.endswith("/letter.scale.t")
    assert known_hash.removeprefix("sha256:") == cache._SHA256["letter/letter.scale.t"]
    assert path == kept


def test_a_wrong_checksum_is_one_sentence(folders, monkeypatch):
    def retrieve(*args, **kwargs):
        raise ValueError("SHA256 hash of downloaded file does not match.\nMore.")

    monkeypatch.setitem(sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("letter", "test")
    assert "failed (SHA256 hash of downloaded file does not match.); let" in str(caught.value)


def test_pooch_itself(tmp_path, monkeypatch):
    """The real one, from a file on disk: the right checksum, and a wrong one."""
    pytest.importorskip("pooch", reason="pooch is not installed: nothing is downloaded")
    import functools
    import http.server
    import threading

    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "letter.scale.t").write_bytes(LETTER)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "web")
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("SHORTLIST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(cache._ADDRESSES, "letter", f"http://127.0.0.1:{server.server_port}")
    try:
        with pytest.raises(FileNotFoundError, match="failed"):
            datasets.load("letter", "test")
        monkeypatch.setitem(
            cache._SHA256, "letter/letter.scale.t", hashlib.sha256(LETTER).hexdigest()
        )
        assert datasets.load("letter", "test").n == 52
    finally:
        server.shutdown()
        server.server_close()
    assert datasets.load("letter", "test").n == 52  # from the cache


def test_unknown_names():
    with pytest.raises(ValueError, match=r"there is no data set 'leter'; did you mean 'letter'\?"):
        datasets.load("leter")
    with pytest.raises(ValueError, match="letter has no split 'dev'; choose one of train, val, "):
        datasets.load("letter", "dev")


def test_digits_and_circle_need_no_file(folders):
    sizes = {split: datasets.load("digits", split).n for split in datasets.splits("digits")}
    assert sizes == {"train": 1200, "test": 597, "all": 1797}
    sizes = {split: datasets.load("circle", split).n for split in datasets.splits("circle")}
    assert sizes == {"train": 200, "val": 200, "test": 200_000}
    train, test, whole = (datasets.load("digits", split) for split in ("train", "test", "all"))
    np.testing.assert_array_equal(
        np.unique(np.concatenate([train.X, test.X]), axis=0), np.unique(whole.X, axis=0)
    )


def test_drawn_parts_have_their_share_of_each_class():
    y = np.repeat(np.arange(7), [1, 2, 10, 100, 333, 5, 49])
    np.random.default_rng(1).shuffle(y)
    for size in (0, 1, 250, 499, 500):
        chosen = catalog.drawn_by_class(y, size)
        assert chosen.sum() == size
        share = np.bincount(y[chosen], minlength=7) - np.bincount(y) * size / 500
        assert np.abs(share).max() <= 1.0
        np.testing.assert_array_equal(chosen, catalog.drawn_by_class(y, size))


def test_bookmarks_in_its_published_form(folders):
    """One file, whose first 60000 examples are the training set."""
    own, _ = folders
    rng = np.random.default_rng(0)
    n = 60_003
    X = scipy.sparse.random(n, 20, 0.05, format="csr", rng=rng)
    Y = scipy.sparse.csr_array(rng.random((n, 4)) < 0.3)
    folder = own.parent / "bookmarks"
    folder.mkdir()
    whole = Dataset(X, Y, ("a", "b", "c", "d"))
    datasets.write(whole, folder / "bookmarks.arff")
    test = datasets.load("bookmarks", "test")
    np.testing.assert_array_equal(test.X.toarray(), X[60_000:].toarray())


#: Name and split, as the table of published sets and the paper's statistics have them.
REAL = {
    ("emotions", "train"): (391, 72, 6),
    ("emotions", "test"): (202, 72, 6),
    ("scene", "train"): (1211, 294, 6),
    ("scene", "test"): (1196, 294, 6),
    ("yeast", "train"): (1500, 103, 14),
    ("yeast", "test"): (917, 103, 14),
    ("medical", "train"): (645, 1449, 45),
    ("medical", "test"): (333, 1449, 45),
    ("enron", "train"): (1123, 1001, 53),
    ("enron", "test"): (579, 1001, 53),
    ("bibtex", "train"): (4880, 1836, 159),
    ("bibtex", "test"): (2515, 1836, 159),
    ("corel5k", "train"): (4500, 499, 374),
    ("corel5k", "test"): (500, 499, 374),
    ("delicious", "train"): (12920, 500, 983),
    ("delicious", "test"): (3185, 500, 983),
    ("mediamill", "test"): (12914, 120, 101),
    ("letter", "train"): (10500, 16, 26),
    ("letter", "val"): (4500, 16, 26),
    ("letter", "trainval"): (15000, 16, 26),
    ("letter", "test"): (5000, 16, 26),
    ("aloi", "train"): (54000, 128, 1000),
    ("aloi", "test"): (54000, 128, 1000),
    ("aloi", "test_file"): (10800, 128, 1000),
    ("news20", "train"): (15935, 62061, 20),
    ("news20", "held_out"): (3187, 62061, 20),
    ("caltech101_silhouettes", "train"): (4100, 784, 101),
    ("caltech101_silhouettes", "val"): (2264, 784, 101),
    ("caltech101_silhouettes", "test"): (2307, 784, 101),
}
CARDINALITY = {
    **{"emotions": 1.87, "scene": 1.07, "yeast": 4.24, "medical": 1.25, "enron": 3.38},
    **{"bibtex": 2.40, "corel5k": 3.52, "delicious": 19.02},
}


@real_data.needed
@pytest.mark.parametrize(("name", "split"), REAL)
def test_real_sets(name, split):
    found = datasets.load(name, split)
    assert (found.n, found.d, found.m) == REAL[name, split]
    assert found.multilabel == (name in CARDINALITY or name == "mediamill")
    if not found.multilabel:
        assert found.y.min() >= 0
        assert np.unique(found.y).size == found.m


@real_data.needed
@pytest.mark.parametrize("name", CARDINALITY)
def test_cardinalities_are_the_papers(name):
    parts = [datasets.load(name, split) for split in ("train", "test")]
    labels = sum(part.y.nnz for part in parts) / sum(part.n for part in parts)
    assert round(labels, 2) == CARDINALITY[name]


@real_data.needed
def test_halves_of_aloi_are_by_class():
    train = datasets.load("aloi", "train")
    np.testing.assert_array_equal(np.bincount(train.y), np.full(1000, 54))
