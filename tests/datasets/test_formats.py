"""What each format allows, read as its own documentation says."""

import io

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from datasets.cases import assert_same
from naive import libsvm as naive
from shortlist import datasets
from shortlist.datasets import Dataset, convert, files, formats, read, register, store, write
from shortlist.losses.labels import as_labels
from shortlist.rows import as_storage


def text(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    return file


ROWS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["1", "2", "-1", "+3", "2.50"]), max_size=3),
        st.dictionaries(st.integers(0, 12), st.floats(-1e9, 1e9), max_size=5),
        st.sampled_from(["", " ", " # 1:2", "\t", "\r"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=100)
@given(ROWS)
def test_libsvm_against_a_naive_reader(rows):
    lines = []
    for labels, pairs, end in rows:
        words = [f"{index}:{value!r}" for index, value in sorted(pairs.items())]
        lines.append(" ".join([",".join(labels), *words]) + end + "\n")
    content = "".join(lines)
    expected, labels = naive.read(content)
    found = read(io.BytesIO(content.encode()), "libsvm", multilabel=True)
    indices = [index for row in expected for index in row]
    first = 0 if 0 in indices else 1
    d = max(indices, default=first - 1) + 1 - first
    np.testing.assert_array_equal(found.X.toarray(), naive.dense(expected, first, d))
    numbers = np.array([float(name) for name in found.class_names])
    assert [sorted(set(row)) for row in labels] == [
        numbers[found.y[[i]].indices].tolist() for i in range(found.n)
    ]


def test_libsvm_is_what_scikit_learn_reads(tmp_path):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(50, 30, 0.2, format="csr", rng=rng)
    y = rng.integers(5, size=50)
    file = tmp_path / "a.svm"
    for zero_based in (False, True):
        dump_svmlight_file(X, y, str(file), zero_based=zero_based)
        found = read(file, n_features=30, zero_based=zero_based)
        expected, labels = load_svmlight_file(str(file), n_features=30, zero_based=zero_based)
        np.testing.assert_array_equal(found.X.toarray(), expected.toarray())
        np.testing.assert_array_equal(found.y, labels)
        write(found, file, zero_based=zero_based)
        again, _ = load_svmlight_file(str(file), n_features=30, zero_based=zero_based)
        np.testing.assert_array_equal(again.toarray(), expected.toarray())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_blocks_of_any_size(size, tmp_path, monkeypatch):
    """Lines are whole wherever a block ends, and errors know their line."""
    content = "".join(f"{i % 3} {i + 1}:{i}.5\n\n# x\n" for i in range(12))
    whole = read(io.BytesIO(content.encode()), "libsvm")
    monkeypatch.setattr(files, "_BLOCK", size)
    assert_same(read(io.BytesIO(content.encode()), "libsvm"), whole)
    assert_same(read(io.BytesIO(content.encode().rstrip()), "libsvm"), whole)
    with pytest.raises(datasets.DataError) as caught:
        read(io.BytesIO(content.encode() + b"1 x\n"), "libsvm")
    assert caught.value.line == 37


def test_class_names_are_labels_in_order(tmp_path):
    file = text(tmp_path, "a.svm", "10 1:1\n+9 1:1\n-1 1:1\n2.5 1:1\n10.0 1:1\n")
    found = read(file)
    assert found.class_names == ("-1", "2.5", "9", "10")
    assert found.y.tolist() == [3, 2, 0, 1, 3]
    assert read(file, classes=[10, 9, 2.5, -1]).y.tolist() == [0, 1, 3, 2, 0]


def test_no_labels_at_all(tmp_path):
    assert read(text(tmp_path, "a.svm", " 1:1\n 2:1\n")).y is None
    assert read(text(tmp_path, "a.vw", "| 1:1\n| 2:1\n")).y is None


def test_vw_allows(tmp_path):
    content = (
        "1 1.0 tag|height a:2 b |width:0.5 a:4\n"
        "2 'tag |height b:1.5\n"
        "1 |height a |width a\n"
        "\n"
        "2 no_space| c:-1\n"
    )
    found = read(text(tmp_path, "a.vw", content))
    assert found.feature_names == ("height^a", "height^b", "width^a", "c")
    np.testing.assert_array_equal(
        found.X.toarray(),
        [[2, 1, 2, 0], [0, 1.5, 0, 0], [1, 0, 1, 0], [0, 0, 0, -1]],
    )
    assert found.y.tolist() == [0, 1, 0, 1]
    numbers = read(text(tmp_path, "b.vw", "1 tag| 3:2 1\n2 | 2:4\n"))
    np.testing.assert_array_equal(numbers.X.toarray(), [[1, 0, 2], [0, 4, 0]])


def test_arff_allows(tmp_path):
    content = """% a comment
@RELATION 'a name'
@Attribute 'two words' REAL
@attribute\tb\tinteger
@attribute  "c" {0, 1, 5}
@attribute d\\'e {0,1}
@attribute kind {'red one',green}

@DATA
% another
 1.5 , -2,5, 0 , 'red one'
1e3,+4,0,1,green
"""
    file = text(tmp_path, "a.arff", content)
    found = read(file, labels="kind")
    assert found.feature_names == ("two words", "b", "c", "d\\'e")
    assert found.class_names == ("red one", "green")
    np.testing.assert_array_equal(found.X, [[1.5, -2, 5, 0], [1000, 4, 0, 1]])
    assert found.y.tolist() == [0, 1]
    content = content.replace("'red one'", "3").replace("green", "4")
    sets = read(text(tmp_path, "b.arff", content), labels=["d\\'e"])
    assert sets.class_names == ("d\\'e",)
    assert sets.y.toarray().tolist() == [[False], [True]]


def test_sparse_arff_leaves_out_the_first_class(tmp_path):
    content = "@relation r\n@attribute c {x,y}\n@attribute a numeric\n@data\n{1 3}\n{0 y}\n{}\n"
    found = read(text(tmp_path, "a.arff", content), labels="c")
    assert found.y.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(found.X.toarray(), [[3], [0], [0]])


@pytest.mark.parametrize("name", ["a.arff", "a-train.arff", "a-train-sparse.arff.gz"])
def test_the_xml_beside(name, tmp_path):
    dataset = Dataset(np.ones((2, 1)), scipy.sparse.csr_array([[1, 0], [1, 1]]), ("p", "q & r"))
    write(dataset, tmp_path / "a.arff")
    write(dataset, tmp_path / name)
    for other in tmp_path.glob("a-*.xml"):
        other.unlink()
    assert_same(read(tmp_path / name), dataset)


def test_nested_labels_in_xml(tmp_path):
    write(
        Dataset(np.ones((1, 1)), scipy.sparse.csr_array([[1, 0]]), ("p", "q")), tmp_path / "a.arff"
    )
    nested = '<labels><label name="q"><label name="p"/></label></labels>'
    found = read(tmp_path / "a.arff", labels=text(tmp_path, "b.xml", nested))
    assert found.class_names == ("p", "q")  # in the order of the attributes
    assert found.y.toarray().tolist() == [[True, False]]


def test_csv_allows(tmp_path):
    content = 'name,"a, b",c,kind\nx,1, 2 ,"one, two"\n\ny,3,4e-1,b\n'
    found = read(text(tmp_path, "a.csv", content), labels="kind", ignore=["name"])
    assert found.feature_names == ("a, b", "c")
    assert found.class_names == ("b", "one, two")
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 0.4]])
    content = "T;1;2\nA;3;4\n"
    found = read(text(tmp_path, "b.csv", content), labels=0, header=False, delimiter=";")
    assert found.class_names == ("A", "T")
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 4]])
    found = read(
        text(tmp_path, "b.csv", content), labels=None, header=False, ignore=[0], delimiter=";"
    )
    assert found.y is None


@pytest.mark.parametrize("size", [1, 9, 40, 10**6])
def test_plain_rows_then_others(size, tmp_path, monkeypatch):
    """Compiled code reads rows until a quotation mark; the rest is the same, and in order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-300, 300, size=(60, 3))
    X[7, 1], X[9, 2] = 5e-324, 0.0
    names = np.array(["a", "b", "c d"])
    y = rng.integers(3, size=60)
    rows = [",".join(map(repr, row)) for row in X.tolist()]
    kinds = [f'"{names[j]}"' if i in (30, 45) else names[j] for i, j in enumerate(y)]
    lines = [f" {kind},{row.replace(',', ' ,')}" for kind, row in zip(kinds, rows, strict=True)]
    lines[30] = lines[30].lstrip()  # a space before a quotation mark would be part of the word
    lines[45] = lines[45].lstrip()
    lines.insert(5, "")
    content = "label,x,y,z\n" + "\r\n".join(lines)
    monkeypatch.setattr(files, "_BLOCK", size)
    found = read(io.BytesIO(content.encode()), "csv")
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(np.array(found.class_names)[found.y], names[y])
    with pytest.raises(datasets.DataError) as caught:
        read(io.BytesIO(content.encode() + b"\nb,1,2\n"), "csv")
    assert caught.value.line == 63
    head = "@relation r\n@attribute label {a,b,'c d'}\n" + "".join(
        f"@attribute {name} numeric\n" for name in "xyz"
    )
    arff = "@data\n" + "\n".join(lines).replace(" c d", " 'c d'").replace('"', "'")
    found = read(io.BytesIO((head + arff).encode()), "arff", labels="label")
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, y)


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfx,label\r\n1,a\r\n")
    assert read(tmp_path / "a.csv").feature_names == ("x",)


def test_csv_without_rows(tmp_path):
    found = read(text(tmp_path, "a.csv", "a,b,label\n"))
    assert found.X.shape == (0, 2)


def test_arrays_of_other_programs(tmp_path):
    np.savez(tmp_path / "a.npz", x_train=np.ones((3, 2)), y_train=np.array(["p", "q", "p"]))
    found = read(tmp_path / "a.npz", features="x_train", labels="y_train")
    assert found.class_names == ("p", "q")
    assert found.y.tolist() == [0, 1, 0]
    np.save(tmp_path / "X.npy", np.ones((3, 2), np.float32))
    np.save(tmp_path / "t.npy", np.array([5, 7, 5]))
    found = read(tmp_path / "X.npy", labels=tmp_path / "t.npy")
    assert found.class_names == ("5", "7")
    assert isinstance(found.X, np.memmap)
    assert found.X.dtype == np.float32


def test_idx_finds_the_labels_of_mnist(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    header = bytes([0, 0, 8, 3]) + np.array([2, 3, 4], ">u4").tobytes()
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(header + images.tobytes())
    labels = bytes([0, 0, 8, 1, 0, 0, 0, 2, 9, 4])
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)
    found = read(tmp_path / "t10k-images-idx3-ubyte")
    np.testing.assert_array_equal(found.X, images.reshape(2, 12))
    assert found.class_names == ("4", "9")
    assert found.y.tolist() == [1, 0]


def test_a_store_is_filled_in_parts_and_mapped(tmp_path, monkeypatch):
    """Text goes to disk block by block; features and classes get their numbers at the end."""
    monkeypatch.setattr(files, "_BLOCK", 100)
    monkeypatch.setattr(store, "_NUMBERS_AT_A_TIME", 7)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 9)) < 0.4, rng.normal(size=(200, 9)), 0.0)
    y = rng.integers(4, size=200)
    X[0, -1], y[:4] = 1.0, [3, 2, 1, 0]
    dataset = Dataset(scipy.sparse.csr_array(X), y, ("2", "3", "5", "10"))
    write(dataset, tmp_path / "a.svm")
    convert(tmp_path / "a.svm", tmp_path / "a.store")
    found = read(tmp_path / "a.store")
    assert_same(found, dataset)
    assert not found.X.data.flags.writeable  # mapped
    monkeypatch.setattr(store, "_LARGEST_INT32", 10)
    convert(tmp_path / "a.svm", tmp_path / "a.store")
    wide = read(tmp_path / "a.store")
    assert np.load(tmp_path / "a.store" / "X_indices.npy").dtype == np.int64
    assert_same(wide, dataset)
    convert(tmp_path / "a.store", tmp_path / "b.svm.gz")
    assert_same(read(tmp_path / "b.svm.gz"), dataset)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.store", "a.svm", "b.svm.gz"]


def test_a_failed_conversion_leaves_nothing_behind(tmp_path):
    file = text(tmp_path, "a.svm", "1 1:1\n1 x\n")
    for target in ("a.store", "a.csv.gz"):
        with pytest.raises(datasets.DataError):
            convert(file, tmp_path / target)
    (tmp_path / "b.store").mkdir()
    with pytest.raises(FileExistsError, match="choose another name"):
        convert(file, tmp_path / "b.store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svm", "b.store"]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_solver_takes_what_a_store_gives(sparse, tmp_path):
    """Mapped, and not copied."""
    dataset = datasets.multilabel(40, 5, 3, 1.5, random_state=0)
    if sparse:
        dataset = dataset._replace(X=scipy.sparse.csr_array(dataset.X))
    write(dataset, tmp_path / "a.store")
    found = read(tmp_path / "a.store")
    rows = as_storage(found.X)
    kept = rows.data if sparse else rows.matrix
    assert np.shares_memory(kept, found.X.data if sparse else found.X)
    for one, two in zip(as_labels(found.y), as_labels(dataset.y), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_format_of_ones_own(tmp_path):
    def reader(source, build, *, shift=0.0):
        return Dataset(np.array([[float(source.read()) + shift]]))

    def writer(path, dataset):
        path.write_text(str(dataset.X[0, 0]))

    register("own", (".own",), reader, writer)
    try:
        write(Dataset(np.array([[2.0]])), tmp_path / "a.own")
        assert read(tmp_path / "a.own", shift=1.0).X == 3.0
        with pytest.raises(ValueError, match="is registered already"):
            register("own", (".own",), reader, writer)
    finally:
        del datasets.formats.__globals__["_FORMATS"]["own"]
    assert "own" not in formats()


GOOD = Dataset(np.ones((2, 1)), np.array([0, 1]), ("a", "b"))
REFUSED = {
    "the name of a.xyz does not tell its format; pass one of libsvm, ": lambda: read("a.xyz"),
    "there is no format 'xyz'; choose one of libsvm, ": lambda: read("a.svm", "xyz"),
    "libsvm has no option 'k'; it takes classes, n_features, ": lambda: read("a.svm", k=1),
    "store has no option 'k'; it takes none.": lambda: read("a.store", k=1),
    "csv has no option 'k'; it takes label.": lambda: write(GOOD, "a.csv", k=1),
    "X has shape (2,) and dtype": lambda: write(Dataset(np.ones(2)), "a.svm"),
    "X has a NaN or an infinity": lambda: write(Dataset(np.array([[np.nan]])), "a.svm"),
    "there are 2 examples, and labels for 1.": lambda: write(GOOD._replace(y=[0]), "a.svm"),
    "y[1] is 5; there are 2 class names.": lambda: write(GOOD._replace(y=[0, 5]), "a.svm"),
    "labels have dtype float64; pass class": lambda: write(GOOD._replace(y=[0.0, 1.0]), "a.svm"),
    "there are 2 class names for 3 columns of y.": lambda: write(
        GOOD._replace(y=np.ones((2, 3))), "a.svm"
    ),
    "two class names are equal": lambda: write(GOOD._replace(class_names=("a", "a")), "a.svm"),
    "the class name ' a' is empty, begins": lambda: write(
        GOOD._replace(class_names=(" a", "b")), "a.svm"
    ),
    "there are 2 feature names for 1 columns of X.": lambda: write(
        GOOD._replace(feature_names=("a", "b")), "a.svm"
    ),
    "a label and a feature have the same name": lambda: write(
        GOOD._replace(feature_names=("label",)), "a.csv"
    ),
    "a class and a feature have the same name": lambda: write(
        GOOD._replace(feature_names=("class",)), "a.arff"
    ),
    "IDX keeps one label an example": lambda: write(
        GOOD._replace(y=scipy.sparse.csr_array(np.eye(2))), "a.idx"
    ),
    "a store is a folder, not a stream.": lambda: write(GOOD, io.BytesIO(), "store"),
    "a stream takes the examples alone": lambda: write(GOOD, io.BytesIO(), "npy"),
    "n_features is -1; it must be at least 0.": lambda: read(
        io.BytesIO(b"1 1:1\n"), "libsvm", n_features=-1
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_arguments_are_refused_with_one_sentence(sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_no_damaged_one(tmp_path):
    for name in ("a.svm", "a.svm.gz", "a.npz", "a.npy", "a.mat", "a.idx", "a.store", "a.csv"):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / name)


def test_parquet_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'shortlist\[datasets\]'"):
        read("a.parquet")
