"""Damaged files: each gives one error that names the file and the line, and none hangs."""

import bz2
import gzip
import io
import json
import lzma
import signal
import struct
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets.cases import needs_pyarrow
from shortlist.datasets import DataError, Dataset, read, read_coco, read_voc, write


class Case(NamedTuple):
    """A damaged file, where the damage is, how to read it, and files beside it."""

    name: str
    content: bytes
    line: int | None
    options: dict
    beside: dict


CASES: dict[str, Case] = {}


def add(what, name, content, line=None, beside=None, **options):
    content = content.encode() if isinstance(content, str) else content
    case = Case(name, content, line, options, beside or {})
    key = f"{name}: {what}"
    assert key not in CASES
    CASES[key] = case


# Rows of pairs: the bad row is line 3, after a good one and a comment or a good one.
for what, row in {
    "no colon": "1 1 2:3",
    "no value": "1 1:",
    "value then space": "1 1: 2",
    "no index": "1 :3",
    "index with a point": "1 1.5:3",
    "negative index": "1 -1:3",
    "plus before the index": "1 +1:3",
    "huge index": "1 99999999999999999999:1",
    "index past 32 bits": "1 2147483648:1",
    "text for a value": "1 1:abc",
    "NaN": "1 1:nan",
    "infinity": "1 1:inf",
    "too large": "1 1:1e400",
    "two points": "1 1:1.2.3",
    "exponent without digits": "1 1:1e",
    "underscore": "1 1:1_000",
    "hexadecimal": "1 1:0x10",
    "comma in the value": "1 1:1,5",
    "two colons": "1 1:2:3",
    "repeated index": "1 2:1 2:3",
    "descending": "1 3:1 2:1",
    "trailing word": "1 1:1 word",
    "cut off": "1 1:1 12",
}.items():
    add(what, "a.svm", f"1 1:1 2:0.5\n2 2:1\n{row}\n1 1:1\n", 3)
    add(what, "a.txt", f"3 4 3\n1 1:1 2:0.5\n{row}\n1 1:1\n", 3)
    # Vowpal Wabbit asks for no order, and a feature may have no value.
    if what not in ("descending", "no colon", "no value", "value then space", "cut off"):
        row = row.replace("1 ", "1 | ", 1)
        add(what, "a.vw", f"1 | 1:1 2:0.5\n2 | 2:1\n{row}\n1 | 1:1\n", 3)
for what, row in {
    "text for a label": "cat 1:1",
    "NaN for a label": "nan 1:1",
    "infinite label": "1e999 1:1",
    "label beyond 2^53": "9007199254740993 1:1",
    "label with a comma at its end": "1, 1:1",
    "label with a comma before it": ",1 1:1",
    "two labels with a semicolon": "1;2 1:1",
    "bytes of another encoding": "é 1:1",
    "a zero byte": "\0 1:1",
}.items():
    add(what, "a.svm", f"1 1:1\n# a comment\n{row}\n".encode("latin-1"), 3)
    add(what, "a.txt", f"2 4 3\n0 1:1\n{row}\n".encode("latin-1"), 3)
    row = row.replace(" ", " | ", 1)
    add(what, "a.vw", f"1 | 1:1\n1 | 1:1\n{row}\n".encode("latin-1"), 3)
add("a class not named", "a.svm", "1 1:1\n3 1:1\n", 2, classes=["1", "2"])
add("several labels", "a.svm", "1 1:1\n1,2 1:1\n", 2, multilabel=False)
add("no label", "a.svm", "1 1:1\n 1:1\n", 2, multilabel=False)
add("index out of range", "a.svm", "1 1:1\n1 2:1\n1 3:1\n", 3, n_features=2)
add("zero and out of range", "a.svm", "1 2:1\n1 0:1\n", 1, n_features=2)
add("index zero", "a.svm", "1 1:1\n1 0:1\n", 2, zero_based=False)

# XMLRepository: counts.
add("too few rows", "a.txt", "3 4 3\n0 0:1\n1 1:1\n", 4)
add("too many rows", "a.txt", "1 4 3\n0 0:1\n1 1:1\n", 4)
add("index past d", "a.txt", "2 4 3\n0 0:1\n1 4:1\n", 3)
add("label past m", "a.txt", "2 4 3\n0 0:1\n3 1:1\n", 3)
add("negative label", "a.txt", "2 4 3\n0 0:1\n-1 1:1\n", 3)
add("header of two", "a.txt", "2 4\n0 0:1\n", 1)
add("header of words", "a.txt", "two four three\n0 0:1\n", 1)
add("negative header", "a.txt", "-2 4 3\n0 0:1\n", 1)
add("no header", "a.txt", "0 0:1\n", 1)
add("empty", "a.txt", "", 1)

# Vowpal Wabbit.
add("no bar", "a.vw", "1 | 1:1\n1 1:1\n", 2)
add("importance", "a.vw", "1 | 1:1\n1 2.5 | 1:1\n", 2)
add("importance is no number", "a.vw", "1 | 1:1\n1 x | 1:1\n", 2)
add("four words before the bar", "a.vw", "1 | 1:1\n1 1 1 1 | 1:1\n", 2)
add("a name among numbers", "a.vw", "1 | 1:1\n1 | height:1\n", 2)
add("a name twice", "a.vw", "1 | a:1\n1 | b:1 b:2\n", 2)
add("value of a name", "a.vw", "1 | a:1\n1 | b:x\n", 2)
add("NaN of a name", "a.vw", "1 | a:1\n1 | b:nan\n", 2)
add("scale of a namespace", "a.vw", "1 |n a:1\n1 |n:x b:1\n", 2)
add("a name not named", "a.vw", "1 | a:1\n1 | b:1\n", 2, feature_names=["a"])
add("not UTF-8", "a.vw", b"1 | a:1\n1 | \xff:1\n", 2)

# ARFF and its XML; the data begin in line 6.
HEAD = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute l {0,1}\n@data\n"
XML = '<?xml version="1.0"?>\n<labels>\n<label name="l"></label>\n</labels>\n'
for what, row in {
    "too few values": "1,0",
    "too many values": "1,2,0,5",
    "text": "1,x,0",
    "missing value": "1,?,0",
    "empty value": "1,,0",
    "NaN": "1,nan,0",
    "too large": "1,1e999,0",
    "underscore": "1,1_0,0",
    "other digits": "1,\u0661,0",
    "label not declared": "1,2,3",
    "label is a fraction": "1,2,0.5",
    "sparse among dense": "{0 1}",
    "open quotation": "1,'2,0",
    "cut off": "1,2",
}.items():
    add(what, "a.arff", f"{HEAD}1,2,0\n{row}\n", 7, {"a.xml": XML})
for what, row in {
    "no brace": "{0 1,2 1",
    "repeated column": "{0 1,0 2}",
    "descending columns": "{1 1,0 2}",
    "column out of range": "{3 1}",
    "huge column": "{99999999999999999999 1}",
    "negative column": "{-1 1}",
    "column is text": "{x 1}",
    "no value": "{0}",
    "two values": "{0 1 2}",
    "empty pair": "{0 1,,1 2}",
    "text": "{0 x}",
    "infinity": "{0 inf}",
    "label is 2": "{2 2}",
    "dense among sparse": "1,2,0",
    "open quotation": "{0 '1}",
}.items():
    add(f"sparse, {what}", "a.arff", f"{HEAD}{{0 1}}\n{row}\n", 7, {"a.xml": XML})
for what, (text, line) in {
    "no data": (HEAD.replace("@data\n", ""), 4),
    "empty": ("", 0),
    "attribute without type": (HEAD.replace("b numeric", "b"), 3),
    "attribute without name": (HEAD.replace("@attribute b numeric", "@attribute"), 3),
    "string attribute": (HEAD.replace("b numeric", "b string"), 3),
    "nominal text": (HEAD.replace("b numeric", "b {red,green}"), 3),
    "open braces": (HEAD.replace("b numeric", "b {0,1"), 3),
    "attribute twice": (HEAD.replace("b numeric", "a numeric"), 2),
    "word in the header": (HEAD.replace("@attribute b numeric", "hello"), 3),
    "first value is 1": (HEAD.replace("b numeric", "b {1,0}") + "{0 1}\n", 3),
    "not UTF-8": (HEAD.encode() + b"1,\xff,0\n", 6),
}.items():
    add(what, "a.arff", text, line, {"a.xml": XML})
add("no labels known", "a.arff", f"{HEAD}1,2,0\n")
add("no such attribute", "a.arff", f"{HEAD}1,2,0\n", labels=["z"])
add("class not declared", "a.arff", f"{HEAD}1,2,0\n1,2,7\n", 7, labels="l")
BOMB = '<?xml version="1.0"?>\n<!DOCTYPE b [\n<!ENTITY a "ha">\n' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">\n'
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)
XMLS = {
    "entity bomb": (BOMB + ']>\n<labels><label name="l">&j;</label></labels>\n', 3),
    "entity of a file": (
        '<!DOCTYPE b [\n<!ENTITY x SYSTEM "file:///etc/passwd">\n]>\n<labels>&x;</labels>',
        2,
    ),
    "cut off": (XML[: XML.index("</labels")], 4),
    "wrong end": (XML.replace("</labels>", "</label>"), 4),
    "no name": (XML.replace(' name="l"', ""), 3),
    "no label": ("<labels>\n</labels>\n", None),
    "label twice": (XML.replace("<label ", '<label name="l"/>\n<label '), None),
    "empty": ("", 1),
    "not XML": ("labels: l\n", 1),
    "encoding": (XML.encode().replace(b'"l"', b'"\xff"'), 3),
}


# CSV.
for what, row in {
    "too few values": "1,a",
    "too many values": "1,2,a,4",
    "text": "1,x,a",
    "NaN": "1,nan,a",
    "infinity": "1,-inf,a",
    "empty value": "1,,a",
    "underscore": "1,1_0,a",
    "open quotation": '1,"2,a',
    "text after quotation": '1,"2"x,a',
    "no class": "1,2,",
    "too large": "1,1e999,a",
}.items():
    add(what, "a.csv", f"x,y,label\n1,2,a\n{row}\n", 3)
add("class not named", "a.csv", "x,label\n1,a\n2,b\n", 3, classes=["a"])
add("label is 2", "a.csv", "x,l\n1,0\n2,2\n", 3, labels=["l"])
add("not UTF-8", "a.csv", b"x,label\n1,a\n2,\xff\n", 3)
add("UTF-16", "a.csv", "x,label\n1,a\n".encode("utf-16"), 1)
add("no label column", "a.csv", "x,y\n1,2\n")
add("column twice", "a.csv", "x,x,label\n1,2,a\n")
add("empty", "a.csv", "", 1)
add("column out of range", "a.csv", "1,2\n", labels=5, header=False)


# Binary files: whole ones of each kind, cut off at many places, and worse.
def whole(name):
    dataset = Dataset(
        np.arange(60.0).reshape(12, 5), np.arange(12) % 3, ("a", "b", "c"), tuple("vwxyz")
    )
    stream = io.BytesIO()
    options = {"labels": io.BytesIO()} if name in ("npy", "idx") else {}
    write(dataset, stream, name, **options)
    return stream.getvalue()


for name in ("npz", "npy", "mat", "idx"):
    content = whole(name)
    options = {"labels": "y"} if name == "mat" else {}
    for share in range(0, 10, 1 if name == "npz" else 2):
        cut = len(content) * share // 10
        add(f"cut at {share}0%", f"a.{name}", content[:cut], **options)
    add("last byte gone", f"a.{name}", content[:-1], **options)
    add("noise", f"a.{name}", bytes(range(256)) * 4, **options)
    add("text", f"a.{name}", "1 1:1\n", **options)
content = bytearray(whole("npz"))
content[content.index(b"\x93NUMPY") + 150] ^= 0xFF
add("changed byte", "a.npz", bytes(content))
add("HDF5", "a.mat", b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<HH", 0x0200, 0x4D49))
add("byte too many", "a.idx", whole("idx") + b"\0")
add("huge shape", "a.idx", bytes([0, 0, 8, 2]) + b"\xff" * 8)
add("wrong type", "a.idx", bytes([0, 0, 7, 1]) + b"\0\0\0\0")


def archive(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


SPARSE = {
    "X_data": np.ones(2),
    "X_indices": np.array([0, 1]),
    "X_indptr": np.array([0, 1, 2]),
    "X_shape": np.array([2, 2]),
}
for what, arrays in {
    "no X": {"y": np.zeros(2)},
    "NaN": {"X": np.array([[1.0, np.nan]])},
    "infinity": {"X": np.array([[1.0, np.inf]])},
    "vector": {"X": np.ones(3)},
    "text for X": {"X": np.array([["a", "b"]])},
    "objects": {"X": np.array([[1, None]], dtype=object)},
    "fewer labels": {"X": np.ones((3, 2)), "y": np.zeros(2)},
    "NaN label": {"X": np.ones((2, 2)), "y": np.array([0.0, np.nan])},
    "label past the names": {"X": np.ones((1, 2)), "y": [3], "class_names": np.array(["a"])},
    "fewer names": {"X": np.ones((1, 2)), "feature_names": np.array(["a"])},
    "index past d": SPARSE | {"X_indices": np.array([0, 7])},
    "negative index": SPARSE | {"X_indices": np.array([0, -1])},
    "offsets descend": SPARSE | {"X_indptr": np.array([0, 3, 2])},
    "offsets too short": SPARSE | {"X_indptr": np.array([0, 2])},
    "offsets are fractions": SPARSE | {"X_indptr": np.array([0.0, 1.0, 2.0])},
    "sparse NaN": SPARSE | {"X_data": np.array([1.0, np.nan])},
    "shape of one": SPARSE | {"X_shape": np.array([2])},
}.items():
    add(what, "a.npz", archive(**arrays))
add("objects", "a.npy", saved(np.array([[1, None]], dtype=object)))
add("NaN", "a.npy", saved(np.array([[1.0, np.nan]])))
add("vector", "a.npy", saved(np.ones(3)))
add("fewer labels", "a.npy", saved(np.ones((3, 2))), beside={"a.labels.npy": saved(np.ones(2))})

# Compressed text: cut off, and with a byte changed.
TEXT = b"".join(b"%d 1:%d 2:0.%d\n" % (i % 5, i, i * 7919) for i in range(3000))
for suffix, compressed in {
    "gz": gzip.compress(TEXT),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
}.items():
    for share in (1, 3, 5, 7, 9):
        cut = len(compressed) * share // 10
        add(f"cut at {share}0%", f"a.svm.{suffix}", compressed[:cut], 1)
    add("last byte gone", f"a.svm.{suffix}", compressed[:-1], 1)
    changed = bytearray(compressed)
    changed[len(changed) // 2] ^= 0xFF
    add("changed byte", f"a.svm.{suffix}", bytes(changed), 1)
    add("not compressed", f"a.svm.{suffix}", TEXT, 1)
add("cut off", "a.csv.gz", gzip.compress(b"x,label\n" + b"1,a\n" * 3000)[:-20], 1)
add("cut off", "a.npz.xz", lzma.compress(whole("npz"))[:-20])


@pytest.fixture(autouse=True)
def no_hang():
    """A reader that hangs fails."""

    def fail(*_):
        raise TimeoutError("the reader hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def assert_names(error, file, line):
    assert type(error) is DataError
    assert str(file) in str(error)
    assert error.line == line
    if line is not None:
        assert f", line {line}: " in str(error)
    assert "\n" not in str(error)
    assert str(error).endswith(".")


@pytest.mark.parametrize("what", CASES)
def test_damaged_files(what, tmp_path):
    case = CASES[what]
    file = tmp_path / case.name
    file.write_bytes(case.content)
    for name, content in case.beside.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read(file, **case.options)
    if what == "a.npy: fewer labels":
        file = tmp_path / "a.labels.npy"
    assert_names(caught.value, file, case.line)


@pytest.mark.parametrize("what", XMLS)
def test_damaged_xml(what, tmp_path):
    content, line = XMLS[what]
    (tmp_path / "a.arff").write_text(f"{HEAD}1,2,0\n")
    file = tmp_path / "a.xml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read(tmp_path / "a.arff")
    assert_names(caught.value, file, line)


VOC = """<annotation>
<filename>a.jpg</filename>
<object><name>dog</name>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox>
</object>
</annotation>
"""
VOCS = {
    "unknown class": (VOC.replace("dog", "dragon"), 3),
    "no name": (VOC.replace("<name>dog</name>", ""), 3),
    "no box": (VOC.replace("bndbox", "box"), 3),
    "no side": (VOC.replace("xmax", "max"), 4),
    "text for a side": (VOC.replace(">5</xmax>", ">five</xmax>"), 4),
    "box inside out": (VOC.replace(">5</xmax>", ">0</xmax>"), 4),
    "cut off": (VOC[:100], 4),
    "entity bomb": (BOMB + "]>\n" + VOC.replace("dog", "&j;"), 3),
}


@pytest.mark.parametrize("what", VOCS)
def test_damaged_voc(what, tmp_path):
    content, line = VOCS[what]
    file = tmp_path / "a.xml"
    file.write_text(content)
    with pytest.raises(DataError) as caught:
        read_voc(file)
    assert_names(caught.value, file, line)


COCO = {
    "images": [{"id": 1, "file_name": "a.jpg"}],
    "categories": [{"id": 7, "name": "dog"}],
    "annotations": [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 3]}],
}
COCOS = {
    "cut off": (json.dumps(COCO, indent=1)[:-20], 21),
    "not an object": ("[]", 1),
    "deep": ("[" * 100_000, None),
    "no images": (json.dumps(COCO | {"images": None}), None),
    "image without id": (json.dumps(COCO | {"images": [{"file_name": "a.jpg"}]}), None),
    "same ids": (json.dumps(COCO | {"images": COCO["images"] * 2}), None),
    "unknown category": (
        json.dumps(COCO | {"annotations": [COCO["annotations"][0] | {"category_id": 8}]}),
        None,
    ),
    "box of three": (
        json.dumps(COCO | {"annotations": [COCO["annotations"][0] | {"bbox": [1, 2, 3]}]}),
        None,
    ),
    "box with NaN": (
        json.dumps(COCO | {"annotations": [COCO["annotations"][0] | {"bbox": [1, 2, 3, np.nan]}]}),
        None,
    ),
    "not UTF-8": (b'{\n"images": "\xff"}', 2),
}


@pytest.mark.parametrize("what", COCOS)
def test_damaged_coco(what, tmp_path):
    content, line = COCOS[what]
    file = tmp_path / "a.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read_coco(file)
    assert_names(caught.value, file, line)


@needs_pyarrow
@pytest.mark.parametrize("share", range(10))
def test_parquet_cut_off(share, tmp_path):
    content = whole("parquet")
    file = tmp_path / "a.parquet"
    file.write_bytes(content[: len(content) * share // 10])
    with pytest.raises(DataError) as caught:
        read(file)
    assert str(file) in str(caught.value)


@needs_pyarrow
def test_parquet_names_the_row(tmp_path):
    import pyarrow
    import pyarrow.parquet

    file = tmp_path / "a.parquet"
    for values, row in {(1.0, None): 2, (1.0, 2.0, float("nan")): 3}.items():
        columns = {"x": values, "label": ["a"] * len(values)}
        pyarrow.parquet.write_table(pyarrow.table(columns), file)
        with pytest.raises(DataError) as caught:
            read(file)
        assert_names(caught.value, file, row)


@pytest.mark.parametrize("share", range(0, 10, 3))
def test_store_cut_off(share, tmp_path):
    dataset = Dataset(np.arange(600.0).reshape(120, 5), np.arange(120) % 3, ("a", "b", "c"))
    for file in ("X.npy", "y_indices.npy", "y_offsets.npy", "store.json"):
        folder = tmp_path / f"{file}.store"
        write(dataset, folder)
        content = (folder / file).read_bytes()
        (folder / file).write_bytes(content[: len(content) * share // 10])
        with pytest.raises(DataError) as caught:
            read(folder)
        assert str(folder) in str(caught.value)


TEXTS = {
    "a.svm": "1 1:0.5 2:1e-3\n# comment\n2,3 7:12345678901234567890\n 2:1 qid:3\n",
    "a.vw": "1 1 tag| 1:0.5 2\n2,3 |n a:1 |m:2 b\n",
    "a.txt": "3 9 4\n0,3 1:0.5 8:2\n\n 2:1\n",
    "a.arff": f"% comment\n{HEAD}1,'2',0\n-1e5,2.5,1\n",
    "b.arff": f"{HEAD}{{0 1,2 1}}\n{{}}\n{{1 '5'}}\n",
    "a.csv": 'x,"y ""z""",label\n1,2,a\n-1e5,"2.5",b\n',
}
WHOLE = {name: text.encode() for name, text in TEXTS.items()} | {
    f"a.{name}": whole(name) for name in ("npz", "npy", "mat", "idx")
}


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=100)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 10**6), st.sampled_from("rid"), st.binary(min_size=1, max_size=3)),
        min_size=1,
        max_size=4,
    )
)
def test_any_change_is_read_or_refused(name, changes):
    """Replace, insert or delete bytes anywhere: there is a data set, or the one error."""
    content = bytearray(WHOLE[name])
    for place, kind, new in changes:
        at = place % (len(content) + 1)
        content[at : at + (0 if kind == "i" else len(new))] = b"" if kind == "d" else new
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        (Path(folder) / file.with_suffix(".xml").name).write_text(XML)
        try:
            found = read(file)
        except DataError as error:
            found = error
        if isinstance(found, DataError):
            assert str(file.with_suffix("")) in str(found)
        else:
            assert found.y is None or found.y.shape[0] == found.n


def test_there_are_200():
    assert len(CASES) >= 200
