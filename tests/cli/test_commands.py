"""The command line does what the library does, and says so in one sentence if it cannot."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
from cli.running import D, N, process, refused, run, sets, single
from shortlist import MultilabelClassifier, TopKClassifier, _jit, datasets, metrics, models
from shortlist.cli import compiling, main
from shortlist.model_selection.thresholds import Cardinality
from shortlist.report import measuring


@pytest.fixture
def folder(folder):
    """The folder, with files that name their features."""
    names = tuple(f"f{j}" for j in range(D))
    datasets.write(single(feature_names=names), "train.csv")
    datasets.write(sets()._replace(feature_names=names), "sets.parquet")
    return folder


def train(*words, code=0):
    out, _ = run("train", *words, "--loss", "softmax", "--json", "-o", "m.shortlist", code=code)
    return json.loads(out)


def test_the_command_trains_what_the_library_does(folder):
    told = train("train.svm", "-k", 2, "-C", 0.5, "--metric", "top2", "--tol", 1e-4)
    data = datasets.read("train.svm")
    labels = np.array(list(map(int, data.class_names)))[data.y]
    twin = TopKClassifier("softmax", k=2, C=0.5, tol=1e-4, random_state=0)
    twin.fit(data.X.toarray(), labels)
    model = models.load("m.shortlist")
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert model.classes_.tolist() == [2, 7, 10, 30]
    assert told["certificate"]["gap"] == twin.certificate_.gap <= 1e-4
    assert told["converged"] is True
    expected = metrics.topk_accuracy(
        labels, twin.decision_function(data.X), k=2, classes=[2, 7, 10, 30]
    )
    assert told["metrics"] == {"top2": expected}
    assert told["measured_on"] == "the examples it was trained on"

    test = datasets.read("test.svm", n_features=D)
    lists, scores = twin.predict_topk(test.X.toarray(), 3)
    out, _ = run("predict", "m.shortlist", "test.svm", "-k", 3)
    assert [[int(word) for word in line.split("\t")] for line in out.splitlines()] == lists.tolist()
    out, _ = run("predict", "m.shortlist", "test.svm", "-k", 3, "--json")
    told = [json.loads(line) for line in out.splitlines()]
    assert [line["labels"] for line in told] == lists.tolist()
    np.testing.assert_allclose([line["scores"] for line in told], scores, rtol=1e-12)
    run("predict", "m.shortlist", "test.svm", "-o", "labels.txt")
    assert list(map(int, (folder / "labels.txt").read_text().split())) == lists[:, 0].tolist()

    truth = np.array(list(map(int, test.class_names)))[test.y]
    out, _ = run("evaluate", "m.shortlist", "test.svm", "--metric", "top1,f1_micro", "--json")
    told = json.loads(out)
    assert told["top1"] == told["f1_micro"] == twin.score(test.X.toarray(), truth)
    assert told["n"] == test.n


def test_train_measures_on_other_examples(folder):
    told = train("train.svm", "--test", "test.svm")
    assert (told["measured_on"], list(told["metrics"])) == ("test.svm", ["top1", "top3"])
    told = train("circle", "--metric", "top1")
    assert told["measured_on"] == "circle, test"
    refused("train", "train.svm", "--test", "absent.svm", "-o", "new.shortlist")
    assert not (folder / "new.shortlist").exists()  # before hours of training


def test_a_model_of_the_library_serves_the_command(folder):
    data = single()
    names = np.array(data.class_names)[data.y]  # text, where the file has numbers
    model = TopKClassifier("softmax").fit(data.X, names)
    models.save(model, "own.shortlist")
    out, _ = run("predict", "own.shortlist", "test.svm", "-k", 2)
    test = datasets.read("test.svm")
    lists, _ = model.predict_topk(test.X.toarray(), 2)
    assert [line.split("\t") for line in out.splitlines()] == lists.tolist()
    out, _ = run("evaluate", "own.shortlist", "test.svm", "--metric", "top1")
    score = model.score(test.X, np.array(test.class_names)[test.y])
    assert out.split() == ["top1", f"{score:.4f}"]
    out, _ = run("info", "own.shortlist")
    assert "TopKClassifier" in out


def test_label_sets(folder):
    columns = 'labels=["sun","sea","air","ice"]'
    run("train", "sets.parquet", "--read", columns, "--loss", "multilabel_softmax",
        "--threshold", "f1_micro", "-o", "m.shortlist")  # fmt: skip
    model = models.load("m.shortlist")
    assert isinstance(model, MultilabelClassifier)
    assert model.classes_.tolist() == ["air", "ice", "sea", "sun"]
    predicted = model.predict(sets().X).toarray()
    out, _ = run("predict", "m.shortlist", "sets.parquet")
    for line, row in zip(out.splitlines(), predicted, strict=True):
        assert set(line.split("\t")) - {""} == set(model.classes_[row == 1])
    out, _ = run("evaluate", "m.shortlist", "sets.parquet", "--metrics", "f1_micro,map", "--json")
    truth = sets().y.toarray()[:, [2, 3, 1, 0]]
    assert json.loads(out)["f1_micro"] == metrics.f1_score(truth, predicted, average="micro")
    assert json.loads(out)["map"] == metrics.mean_average_precision(
        truth, model.decision_function(sets().X)
    )
    out, _ = run("predict", "m.shortlist", "sets.parquet", "-k", 2, "--scores")
    first = [word.split(":")[0] for word in out.splitlines()[0].split("\t")]
    assert first == model.predict_topk(sets().X[:1], 2)[0][0].tolist()


def test_a_threshold_for_all_examples_together(folder, monkeypatch):
    monkeypatch.setattr("shortlist.datasets.dataset._NUMBERS_AT_A_TIME", 50)  # many parts
    data = sets()
    rule = Cardinality(transductive=True)
    model = MultilabelClassifier("multilabel_softmax", threshold=rule).fit(data.X, data.y)
    models.save(model, "own.shortlist")
    columns = 'labels=["sun","sea","air","ice"]'
    out, _ = run("predict", "own.shortlist", "sets.parquet", "--read", columns, "--json")
    told = [sorted(json.loads(line)["labels"]) for line in out.splitlines()]
    assert told == [np.flatnonzero(row).tolist() for row in model.predict(data.X).toarray()]


def test_other_files_are_read_as_the_first_was(folder):
    # Indices from 0, of which the others do not show the first and the last.
    datasets.write(single(), "zero.svm", zero_based=True)
    train("zero.svm")
    (folder / "part.svm").write_text("2 1:3.0 2:-1.0\n30 2:4.0\n")
    out, _ = run("predict", "m.shortlist", "part.svm", "-k", 4, "--json")
    X = np.array([[0.0, 3.0, -1.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 0.0]])
    expected = models.load("m.shortlist").predict_topk(X, 4)[0].tolist()
    assert [json.loads(line)["labels"] for line in out.splitlines()] == expected
    # Columns in another order, and no labels.
    train("train.csv")
    data = single()
    header = ",".join(f"f{j}" for j in reversed(range(D)))
    np.savetxt(
        "turned.csv", data.X[:, ::-1], delimiter=",", header=header, comments="", fmt="%.17g"
    )
    one, _ = run("predict", "m.shortlist", "turned.csv", "-k", 2)
    two, _ = run("predict", "m.shortlist", "train.csv", "-k", 2)
    assert one == two
    (folder / "less.csv").write_text("f0,f1\n1,2\n")
    assert "has no feature 'f2'" in refused("predict", "m.shortlist", "less.csv")


def test_standard_input_and_output(folder):
    train("train.svm")
    text = (folder / "test.svm").read_bytes()
    one, _ = run("predict", "m.shortlist", "-", "--format", "libsvm", stdin=text)
    two, _ = run("predict", "m.shortlist", "test.svm")
    assert one == two
    assert "format" in refused("predict", "m.shortlist", "-", stdin=text)
    out, _ = run("convert", "-", "-", "--from", "libsvm", "--to", "csv", stdin=text)
    back = datasets.read(io.BytesIO(out.encode()), "csv")
    np.testing.assert_array_equal(back.X, datasets.read("test.svm").X.toarray())


def test_convert_and_info(folder):
    run("convert", "train.svm", "train.npz")
    run("convert", "train.npz", "again.svm.gz")
    np.testing.assert_array_equal(
        datasets.read("again.svm.gz").X.toarray(), datasets.read("train.svm").X.toarray()
    )
    run("convert", "digits", "digits.store")
    out, _ = run("info", "digits.store", "--json")
    assert json.loads(out)["examples"] == 1200
    out, _ = run("info", "train.svm")
    assert "10, 30" in out
    out, _ = run("info", "circle", "--json")
    assert json.loads(out)["classes"] == ["1", "2", "3"]


@pytest.mark.filterwarnings("default")
def test_a_fit_that_did_not_converge_ends_with_3_and_goes_on(folder):
    limits = ("train.svm", "-C", 100, "--tol", 1e-9, "--resume", "--max-epochs")
    out, said = run("train", *limits, 1, "--loss", "softmax", "-o", "m.shortlist", code=3)
    assert "max_epochs after" in out
    assert said.startswith("warning: the duality gap is")
    assert len(said.splitlines()) == 1
    assert (folder / "m.shortlist.checkpoint").exists()
    assert models.load("m.shortlist").converged_ is False
    told = train(*limits, 10_000)
    assert told["converged"] is True
    assert not (folder / "m.shortlist.checkpoint").exists()
    history = models.load("m.shortlist").history_
    assert len(history) > 1


def test_compare_continues_where_it_was_stopped(folder, monkeypatch):
    words = ("compare", "train.svm", "--test", "test.svm", "--losses", "softmax",
             "-C", "0.1,1,10", "--metrics", "top1,top2_error", "-o", "out")  # fmt: skip
    fits, measure = [], measuring.measure

    def counted(model, *rest):
        fits.append(model.C)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return measure(model, *rest)

    monkeypatch.setattr(measuring, "measure", counted)
    run(*words, code=130)
    out, said = run(*words, "--json")
    assert fits == [0.1, 1.0, 1.0, 10.0]
    assert "1 of 3" not in said
    results = json.loads(out)["fits"]
    assert [result["C"] for result in results] == [0.1, 1.0, 10.0]
    table, said = run(*words)
    assert len(fits) == 4
    assert said == ""
    for result in results:
        assert f"{result['metrics']['top1']:.4f}" in table
        model = models.load(folder / "out" / result["model"])
        assert model.certificate_.gap == result["certificate"]["gap"]
    # Another setting is another fit, and a damaged result none.
    for file in (folder / "out").glob("*.json"):
        file.write_text("{")
    run(*words, "--tol", 1e-2)
    assert len(fits) == 7
    assert not list((folder / "out").glob("*.checkpoint"))


def test_compare_holds_out_a_fifth(folder):
    out, _ = run("compare", "train.svm", "--losses", "softmax", "-o", "out", "--json")
    told = json.loads(out)
    assert "a fifth of train.svm" in told["test"]
    assert set(told["fits"][0]["metrics"]) == {"top1", "top3"}


def test_demo_and_warmup(folder):
    out, _ = run("demo", "--losses", "softmax", "-o", "kept", "--json")
    told = json.loads(out)
    assert told["digits"][0]["metrics"]["top3"] > 0.98
    assert told["circle"][0]["converged"] is True
    assert len(list((folder / "kept").glob("*/*.shortlist"))) == 2
    _, said = run("warmup", "--losses", "softmax", "--no-sparse")
    assert said.startswith("softmax: ")


def test_bad_input_is_one_sentence(folder):
    train("train.svm")
    (folder / "bad.svm").write_text("1 1:0.5\n2 1:x\n")
    (folder / "other.svm").write_text("99 1:0.5\n")
    (folder / "m.shortlist.part").write_bytes((folder / "m.shortlist").read_bytes()[:-1])
    output = ("-o", "new.shortlist")
    assert "bad.svm, line 2" in refused("train", "bad.svm", *output)
    assert "absent.svm: No such file" in refused("train", "absent.svm", *output)
    assert "did you mean 'letter'" in refused("train", "leter", *output)
    assert "did you mean 'softmax'" in refused("train", "train.svm", "--loss", "sofmax", *output)
    assert "C is -1" in refused("train", "train.svm", "-C", "-1", *output)
    assert "k must be less" in refused("train", "train.svm", "--loss", "topk_entropy", *output)
    assert "no metric 'tap1'" in refused("train", "train.svm", "--metric", "tap1", *output)
    assert "no folder nowhere" in refused("train", "train.svm", "-o", "nowhere/m.shortlist")
    assert "write NAME=VALUE" in refused("train", "train.svm", "--read", "x", *output)
    assert "no option 'q'" in refused("train", "train.svm", "--read", "q=1", *output)
    assert "is damaged" in refused("predict", "m.shortlist.part", "test.svm")
    assert "not a model file" in refused("predict", "train.svm", "test.svm")
    assert "k is 9" in refused("predict", "m.shortlist", "test.svm", "-k", 9)
    assert "label '99'" in refused("evaluate", "m.shortlist", "other.svm")
    assert "C is 'x'" in refused("compare", "train.svm", "-C", "x", "-o", "out")
    assert not (folder / "new.shortlist").exists()


def test_unknown_words_end_with_2(folder):
    run("train", "train.svm", code=2)  # where to?
    run("fly", code=2)
    run("predict", "m.shortlist", "test.svm", "-k", "zero", code=2)


def test_a_real_process(folder):
    done = process("convert", "train.svm", "-", "--to", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == N + 1
    done = process("info", "absent.svm")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: absent.svm: No such file or directory.\n"


HELP = """
import sys
from typer.testing import CliRunner
from shortlist.cli.app import app

names = [command.callback.__name__ for command in app.registered_commands]
for words in ([], *([name] for name in names)):
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0 and "Usage" in shown.stdout, words
print(len(names), *{"numba", "numpy", "scipy", "sklearn"} & sys.modules.keys())
"""


def test_no_help_waits_for_a_library():
    """What a command's file imports at its top delays the help of all commands."""
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, *loaded = done.stdout.split()
    assert int(count) >= 9
    assert loaded == []


def test_without_typer_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'shortlist\[cli\]'"):
        main()


def test_who_waits_for_the_compiler_is_told_so_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(compiling, "_LONG", 0.0)
    words = ("train", "train.svm", "--loss", "softmax", "-o", "m.shortlist")
    _, first = run(*words)
    assert first.startswith("the first run of softmax compiles it for this CPU, once")
    _, second = run(*words)
    assert "compiles" not in second
