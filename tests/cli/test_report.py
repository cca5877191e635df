"""Commands leave what a report shows, and write it."""

import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from cli.running import process, refused, run, single
from shortlist import TopKClassifier, datasets, models, report
from shortlist._jit import CACHE_FOLDER
from shortlist.cli import compiling
from shortlist.cli.training import Settings

LABELS = 'labels=["sun","sea","air","ice"]'
COMPARE = ("compare", "train.svm", "--test", "test.svm", "--losses", "softmax",
           "-C", "0.1,1", "--metrics", "top1,top2_error")  # fmt: skip


def test_compare_writes_a_report_and_keeps_models_beside_it(folder):
    out, _ = run(*COMPARE, "-o", "letter.html")
    assert "the report is letter.html, and the models are in letter.compared" in out
    text = (folder / "letter.html").read_text(encoding="utf-8")
    study = report.from_json(
        report.Study, json.loads((folder / "letter.compared" / "study.json").read_text())
    )
    assert report.render(study) == text
    assert (study.train.n, study.test.n, study.train.m) == (60, 24, 4)
    test = datasets.read("test.svm", n_features=5)
    truth = np.array(list(map(int, test.class_names)))[test.y]
    for fit in study.fits:
        model = models.load(folder / "letter.compared" / fit.model)
        assert fit.metrics["top1"] == model.score(test.X, truth)
        assert fit.topk[1] == model.score(test.X, truth, k=2)
        assert fit.convergence.gaps == tuple(model.history_.gaps)
        assert fit.gap == model.certificate_.gap
        for each in fit.hardest:
            assert each.labels == (str(truth[each.number]),)
    # Nothing is trained again; a folder has the same.
    again, said = run(*COMPARE, "-o", "letter.compared", "--json")
    assert said == ""
    assert json.loads(again)["report"] is None
    run("report", "letter.compared", "-o", "again.html")
    assert (folder / "again.html").read_text(encoding="utf-8") == text


def report_of(*words):
    run("report", *words, "-o", "one.html")
    return Path("one.html").read_text(encoding="utf-8")


def test_reports_of_everything(folder):
    run(*COMPARE, "-o", "compared")
    run("tune", "train.svm", "--cs", "0.1,1", "--folds", 2, "--metrics", "top1,top2", "--test",
        "test.svm", "--no-extend", "-o", "tuned")  # fmt: skip
    run("train", "sets.parquet", "--read", LABELS, "--loss", "multilabel_softmax",
        "-o", "sets.shortlist")  # fmt: skip
    out, _ = run(
        "report", "compared", "tuned", "-o", "all.html", "--title", "All <of> it", "--json"
    )
    assert json.loads(out)["studies"][0] == "train.svm"
    text = (folder / "all.html").read_text(encoding="utf-8")
    assert "<h1>All &lt;of&gt; it</h1>" in text
    told = json.loads((folder / "tuned" / "search.json").read_text())
    for name in ("top1", "top2"):
        assert f"best for {name}" in text
        assert f"{name} over C" in text
        assert f"{100 * told['test']['metrics'][name][name]:.2f}" in text
    assert "2 settings on 2 folds" in text
    assert "Top-k accuracy" not in report_of("tuned")
    shown = report_of("tuned", "--test", "test.svm")
    assert "Top-k accuracy" in shown
    assert "test.svm: 24 examples" in shown
    for name in ("top1", "top2"):
        assert f"{100 * told['test']['metrics'][name][name]:.2f}" in shown

    assert "Objectives and certificates" in report_of("sets.shortlist")
    text = report_of("sets.shortlist", "--test", "sets.parquet")
    assert "Label cardinality" in text
    assert "Thresholds" in text


def test_images(folder):
    rng = np.random.default_rng(0)
    data = datasets.Dataset(rng.random((40, 6)), np.arange(40) % 2, ("no", "yes"))
    datasets.write(data, "faces.npz")
    run("compare", "faces.npz", "--losses", "softmax", "--metrics", "top1", "--image", "2x3",
        "-o", "faces.html")  # fmt: skip
    assert 'viewBox="0 0 3 2"' in (folder / "faces.html").read_text(encoding="utf-8")
    words = ("compare", "faces.npz", "-o", "faces.html", "--image")
    assert "write HEIGHTxWIDTH, such as 28x28" in refused(*words, "6")


def test_demo_writes_and_names_its_report(folder):
    out, said = run("demo", "--losses", "softmax", "--json")
    told = json.loads(out)
    assert told["report"] == "shortlist-demo/report.html"
    text = (folder / told["report"]).read_text(encoding="utf-8")
    assert len(text) < 3_000_000
    assert 'class="pixels"' in text
    assert "Decision regions" in text
    assert told["circle"][0]["converged"] is True
    assert "1 of 1: softmax, C = 0.1" in said
    table, said = run("demo", "--losses", "softmax")
    assert "1 of 1" not in said  # the models are there
    assert table.endswith("the report is shortlist-demo/report.html\n")
    assert f"{told['digits'][0]['certificate']['gap']:.1e}" in table


def test_bad_input_is_one_sentence(folder):
    (folder / "empty").mkdir()
    words = ("-o", "x.html")
    assert "empty has neither study.json nor search.json" in refused("report", "empty", *words)
    assert "absent: No such file" in refused("report", "absent", *words)
    assert "not a model file" in refused("report", "train.svm", *words)
    (folder / "empty" / "study.json").write_text("{")
    assert "study.json cannot be read" in refused("report", "empty", *words)
    (folder / "empty" / "study.json").write_text('{"title": 3}')
    assert "it must be of type str" in refused("report", "empty", *words)
    (folder / "empty" / "study.json").unlink()
    (folder / "empty" / "search.json").write_text('{"kind": "search"}')
    assert "no search that can be shown" in refused("report", "empty", *words)
    models.save(TopKClassifier("softmax").fit(np.eye(3), [0, 1, 2]), "m.shortlist")
    assert "nowhere/x.html" in refused("report", "m.shortlist", "-o", "nowhere/x.html")
    assert not (folder / "x.html").exists()


def test_help_draws_nothing(folder):
    before = "import atexit, sys; atexit.register(lambda: print('numpy' in sys.modules))"
    done = process("report", "--help", before=before)
    assert done.returncode == 0
    assert done.stdout.endswith("False\n")


@pytest.mark.skipif(CACHE_FOLDER is None, reason="there is no folder for compiled code")
def test_losses_are_compiled_in_processes_of_their_own(folder, monkeypatch, capsys):
    monkeypatch.setattr(compiling._jit, "CACHE_FOLDER", folder)
    monkeypatch.setattr(compiling, "_WORTH_PROCESSES", 1)
    spawned = []
    context = multiprocessing.get_context
    monkeypatch.setattr(
        multiprocessing, "get_context", lambda kind: spawned.append(kind) or context(kind)
    )
    # svm is the top-k hinge of k = 1, which is the same code.
    settings = [Settings("svm", k=2), Settings("topk_svm_alpha", k=2)]
    compiling.compile_ahead(single(), settings)
    assert spawned == ["spawn"]
    marks = [file.name for file in folder.glob("*.compiled")]
    assert marks == ["TopKSvmAlpha-dense-float64-rows-linear.compiled"]
    assert "compiling 1 losses" in capsys.readouterr().err
    compiling.compile_ahead(single(), settings)
    assert spawned == ["spawn"]


def test_a_sample_has_more_classes_than_k():
    y = np.sort(np.arange(5000) % 50)
    data = datasets.Dataset(np.zeros((5000, 1)), y, tuple(map(str, range(50))))
    sample = compiling._sample(data, 45)
    assert np.unique(sample.y).size == 50
    assert sample.n < 300
