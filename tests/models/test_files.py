"""A model in a file is the model, and a file that is no model is refused."""

import functools
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import EarlyStopping, MultilabelClassifier, TopKClassifier, losses, models
from shortlist.model_selection import thresholds
from shortlist.models import ModelError, container
from shortlist.models.values import decode, encode
from shortlist.solvers.result import History, Stationarity

N, D, M = 40, 6, 4
STORED = Path(__file__).parent / "version1.shortlist"


def examples(dtype=np.float64):
    rng = np.random.default_rng(0)
    y = np.arange(N) % M
    X = rng.normal(size=(N, D)) + 2.0 * np.eye(M, D)[y]
    return X.astype(dtype), y


def label_sets():
    X, y = examples()
    Y = np.eye(M, dtype=int)[y]
    Y[::3] |= np.eye(M, dtype=int)[(y[::3] + 1) % M]
    return X, Y


def through_a_file(model, folder):
    path = folder / "model.shortlist"
    models.save(model, path)
    assert [each.name for each in folder.iterdir()] == ["model.shortlist"]
    return models.load(path)


def assert_same_answers(model, twin, X):
    assert type(twin) is type(model)
    for ask in ("predict", "decision_function"):
        one, two = getattr(model, ask)(X), getattr(twin, ask)(X)
        assert type(one) is type(two)
        if scipy.sparse.issparse(one):
            one, two = one.toarray(), two.toarray()
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    for one, two in zip(model.predict_topk(X, 2), twin.predict_topk(X, 2), strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(model.classes_, twin.classes_)
    assert twin.certificate_ == model.certificate_
    assert twin.status_ == model.status_
    assert twin.converged_ is model.converged_
    assert twin.n_iter_ == model.n_iter_
    assert list(twin.history_.epochs) == list(model.history_.epochs)
    assert list(twin.history_.gaps) == list(model.history_.gaps)


@pytest.fixture(scope="module")
def linear():
    return TopKClassifier("softmax", k=2, random_state=3).fit(*examples())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "names",
    [
        np.arange(M) * 10,
        np.array(["sea", "sun", "ça", "\U0001f30a wave"]),
        np.array(["a", "bb", "ccc", "d"], dtype=object),
        np.array([0.5, 1.0, 2.0, 1e300]),
    ],
    ids=["numbers", "text", "objects", "floats"],
)
def test_a_linear_model_comes_back(tmp_path, dtype, names):
    X, y = examples(dtype)
    if names.dtype.kind == "f":
        y = y % 2  # two classes: scores are one number an example
        names = np.array([3, 7], dtype=np.int8)
    model = TopKClassifier("softmax", k=2).fit(X, names[y])
    twin = through_a_file(model, tmp_path)
    assert_same_answers(model, twin, X)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert twin.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize(
    ("kernel", "form"),
    [
        ("rbf", np.asarray),
        ("rbf", np.asfortranarray),
        ("rbf", scipy.sparse.csr_array),
        ("poly", np.asarray),
        ("precomputed", np.asarray),
    ],
)
def test_a_kernel_model_comes_back(tmp_path, kernel, form):
    X, y = examples()
    if kernel == "precomputed":
        X = X @ X.T
    X = form(X)
    model = TopKClassifier("softmax", kernel=kernel, coef0=1.0).fit(X, y)
    twin = through_a_file(model, tmp_path)
    assert_same_answers(model, twin, X)
    np.testing.assert_array_equal(model.support_, twin.support_)
    assert twin.kernel == kernel


@pytest.mark.parametrize(
    "threshold",
    [0.1, [0.0, -np.inf, np.inf, 0.2], "f1_micro", thresholds.Cardinality(transductive=True),
     thresholds.TopK(2), thresholds.Tuned("f1_macro", candidates=(0.0, 1.0), per_label=True)],
    ids=["number", "numbers", "tuned", "cardinality", "topk", "rule"],
)  # fmt: skip
def test_label_sets_come_back(tmp_path, threshold):
    X, Y = label_sets()
    model = MultilabelClassifier("multilabel_softmax", threshold=threshold)
    model.fit(X, scipy.sparse.csr_array(Y))
    twin = through_a_file(model, tmp_path)
    assert_same_answers(model, twin, X)
    assert twin.score(X, Y) == model.score(X, Y)


def test_a_multilabel_model_of_single_labels_comes_back(tmp_path):
    X, y = examples()
    model = MultilabelClassifier("multilabel_softmax").fit(X, y)
    assert_same_answers(model, through_a_file(model, tmp_path), X)


def test_parameters_come_back_but_not_those_that_act(tmp_path):
    X, y = examples()
    model = TopKClassifier(
        losses.make("softmax"), k=3, class_weight={0: 2.0, 1: 1.0, 2: 1.0, 3: 1.0}, max_time=1e6,
        early_stopping=EarlyStopping("top2", patience=50), random_state=np.int64(7),
        callbacks=[lambda progress: False], checkpoint=tmp_path / "run", checkpoint_every=1e9,
    ).fit(X, y)  # fmt: skip
    (tmp_path / "run").unlink(missing_ok=True)
    twin = through_a_file(model, tmp_path)
    expected = model.get_params() | {"callbacks": (), "checkpoint": None}
    assert twin.get_params() == expected
    assert twin.fit(X, y).n_iter_ == model.n_iter_
    model.random_state = np.random.RandomState(0)
    assert through_a_file(model, tmp_path).random_state is None


def test_a_data_frame_keeps_the_names_of_its_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = examples()
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(D)])
    model = TopKClassifier("softmax").fit(frame, y)
    twin = through_a_file(model, tmp_path)
    assert_same_answers(model, twin, frame)
    with pytest.raises(ValueError, match="feature names"):
        twin.predict(frame[frame.columns[::-1]])
    assert models.describe(tmp_path / "model.shortlist")["feature_names"][1] == "column 1"


def test_certificates_of_every_kind_come_back(tmp_path):
    X, y = examples()
    free = TopKClassifier("softmax", regularize_intercept=False).fit(X, y)
    twin = through_a_file(free, tmp_path)
    assert twin.certificate_ == free.certificate_
    assert twin.certificate_.radius == free.certificate_.radius
    steep = TopKClassifier("softmax").fit(X, y)
    steep.certificate_ = Stationarity(1.5, 1e-4)
    steep.history_ = History([steep.history_[0]._replace(certificate=steep.certificate_)])
    assert through_a_file(steep, tmp_path).certificate_ == steep.certificate_
    assert "gap" not in models.describe(tmp_path / "model.shortlist")["certificate"]


def test_a_description_is_plain(tmp_path, linear):
    path = tmp_path / "model.shortlist"
    models.save(linear, path, trained_on={"source": "a file", "n": N})
    known = json.loads(json.dumps(models.describe(path), allow_nan=False))
    assert known["trained_on"] == {"source": "a file", "n": N}
    assert known["classes"] == [0, 1, 2, 3]
    assert known["certificate"]["gap"] == linear.certificate_.gap
    assert known["parameters"]["max_time"] == "inf"


def test_what_no_file_can_hold_is_refused(tmp_path, linear):
    X, y = examples()
    path = tmp_path / "model.shortlist"
    own = TopKClassifier("softmax", kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ModelError, match="the kernel is a function of yours"):
        models.save(own, path)
    twin = pickle.loads(pickle.dumps(linear))
    twin.loss = functools.partial(print)
    with pytest.raises(ModelError, match="loss is functools"):
        models.save(twin, path)
    with pytest.raises(ModelError, match="dict cannot be saved"):
        models.save({}, path)
    with pytest.raises(ValueError, match="not fitted"):
        models.save(TopKClassifier(), path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, linear, monkeypatch):
    path = tmp_path / "model.shortlist"
    models.save(linear, path)
    before = path.read_bytes()

    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        models.save(linear, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# Files that are no models


@pytest.fixture(scope="module")
def whole(linear, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model.shortlist"
    models.save(linear, path)
    return path.read_bytes()


def refused(data, folder):
    path = folder / "damaged.shortlist"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"damaged\.shortlist"):
        models.load(path)


def test_one_wrong_bit_is_enough(whole, tmp_path):
    rng = np.random.default_rng(1)
    places = [*range(0, 90, 3), *rng.integers(0, len(whole), 70).tolist()]
    for at in places:
        data = bytearray(whole)
        data[at] ^= 1 << int(rng.integers(8))
        refused(bytes(data), tmp_path)


def test_a_part_is_not_enough(whole, tmp_path):
    for length in [*range(0, 100, 7), *np.linspace(100, len(whole) - 1, 30).astype(int)]:
        refused(whole[:length], tmp_path)
    refused(whole + b"\n", tmp_path)


def test_other_files_are_refused(whole, tmp_path, linear):
    refused(pickle.dumps(linear), tmp_path)
    refused(b"1 1:0.5\n", tmp_path)
    newer = whole.replace(b"model 1\n", b"model 2\n", 1)
    path = tmp_path / "newer.shortlist"
    path.write_bytes(newer)
    with pytest.raises(ModelError, match=r"version 2, and this program reads up to 1; install"):
        models.load(path)
    with pytest.raises(FileNotFoundError):
        models.load(tmp_path / "absent")
    assert not models.is_model(tmp_path / "absent")
    assert not models.is_model(tmp_path)
    assert models.is_model(path)


def forged(whole, change):
    """Return a file with another header and a checksum that is right."""
    first, _, body = whole.split(b"\n", 2)
    text, data = body.split(b"\n", 1)
    header = json.loads(text)
    change(header)
    body = json.dumps(header).encode() + b"\n" + data
    return b"\n".join([first, container._digest(first, body), body])


def changed(*path, to):
    def change(header):
        inner = header
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed("estimator", to="Popen"),
        changed("parameters", "callbacks", to={"object": ["system", {"command": "ls"}]}),
        changed("parameters", "loss", to={"object": ["eval", {}]}),
        changed("parameters", "loss", to={"object": ["TopKSvmAlpha", {"q": 1}]}),
        changed("parameters", "strange", to=1),
        changed("classes", to={"array": ["|O", [1, 2, 3, 4]]}),
        changed("classes", to={"array": ["<i8", [1, 2, 3]]}),
        changed("classes", to=[1, 2, 3, 4]),
        changed("n_features", to=10**12),
        changed("n_features", to=None),
        changed("target", to="dense"),
        changed("cut", to={"object": ["TopK", {"k": 2}]}),
        changed("status", to="fine"),
        changed("history", to=[[1]]),
        changed("certificate", to={"nothing": 1}),
        changed("arrays", 0, to=["coef_", "|O", [M, D], "C"]),
        changed("arrays", 0, to=["coef_", "<f8", [10**9, 10**9], "C"]),
        changed("arrays", 0, to=["coef_", "<f8", [-1, D], "C"]),
        changed("arrays", 0, to=["coef_", "<f8", [D, M], "C"]),
        changed("arrays", 0, to=["coef_", "<f8", [M, D], "A"]),
        changed("arrays", to=None),
        changed("kernel", to={"function": "rbf"}),
        lambda header: header.pop("parameters"),
        lambda header: header.clear(),
    ],
)
def test_forged_files_are_refused(whole, tmp_path, change):
    path = tmp_path / "forged.shortlist"
    path.write_bytes(forged(whole, lambda header: None))
    models.load(path)  # so it is the change that is refused
    refused(forged(whole, change), tmp_path)


def test_a_stranger_does_not_choose_where_a_fit_writes(whole, tmp_path):
    path = tmp_path / "forged.shortlist"
    path.write_bytes(forged(whole, changed("parameters", "checkpoint", to="aim")))
    assert models.load(path).checkpoint is None


def test_deep_json_is_refused(tmp_path):
    first, body = b"shortlist model 1", b"[" * 10**5 + b"\n"
    refused(b"\n".join([first, container._digest(first, body), body]), tmp_path)


def test_a_file_of_version_1_still_loads(tmp_path):
    shutil.copy(STORED, tmp_path)
    model = models.load(tmp_path / STORED.name)
    known = models.describe(STORED)
    assert known["version"] == 1
    assert known["trained_on"] == {"source": "tests/models"}
    assert isinstance(model, MultilabelClassifier)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.certificate_.gap <= model.tol
    X = np.arange(12.0).reshape(2, D) / 6
    scores = [
        [-0.3583821450625334, -0.1327867025712869, 0.1496216898020275, 0.3415471578317922],
        [-0.26852122445337945, -0.4411249842601177, 0.12815779028241142, 0.5814884184310851],
    ]
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
    assert model.predict(X).tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]


def test_a_newer_program_reads_older_files_and_says_which(linear, tmp_path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 2)
    newer = tmp_path / "newer.shortlist"
    models.save(linear, newer)
    assert models.describe(newer)["version"] == 2
    assert models.describe(STORED)["version"] == 1
    assert models.load(STORED).classes_.size == 4


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.lists(inner).map(tuple)
            | st.dictionaries(st.integers() | st.text(), inner)
        ),
    )
)
def test_values_come_back_from_json(value):
    twin = decode(json.loads(json.dumps(encode(value, "value"), allow_nan=False)))
    assert twin == value
    assert type(twin) is type(value)
