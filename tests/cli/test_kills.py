"""Killed at any time, the same command continues where it stopped, and ends as if it had not."""

import json
import signal

import numpy as np
import pytest

pytest.importorskip("typer")
from cli.running import process, run
from shortlist import models

#: Ends the process when a file whose name matches is about to get its name, the `after`th time.
KILL = """
import fnmatch, os, signal
from shortlist.cli import training

training._CHECKPOINT_EVERY = 0.0  # after every look at the gap
replace, seen = os.replace, []

def replace_or_die(source, target):
    if fnmatch.fnmatch(os.path.basename(target), {name!r}):
        if len(seen) == {after}:
            os.kill(os.getpid(), signal.SIGKILL)
        seen.append(target)
    replace(source, target)

os.replace = replace_or_die
"""


def kill(*words, name, after):
    """Run the command until it is killed; return what it had said."""
    done = process(*words, before=KILL.format(name=name, after=after))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == ""
    return done.stderr


def times(folder, pattern):
    """Return when the files were written."""
    return {file.name: file.stat().st_mtime_ns for file in folder.glob(pattern)}


def first_seconds(checkpoint):
    """Return how long the first epochs of a run took: another run would not take as long."""
    with np.load(checkpoint) as archive:
        state = json.loads(str(archive["state"]))
    return state["history"][0][3]


def same_models(first, second):
    names = sorted(file.name for file in first.glob("*.shortlist"))
    assert names == sorted(file.name for file in second.glob("*.shortlist"))
    for name in names:
        one, two = models.load(first / name), models.load(second / name)
        np.testing.assert_array_equal(one.coef_, two.coef_)
        assert one.certificate_ == two.certificate_
        assert one.n_iter_ == two.n_iter_
    return len(names)


def without_times(value):
    if isinstance(value, dict):
        return {
            key: without_times(each)
            for key, each in value.items()
            if key not in ("seconds", "folder", "mean_fit_time", "std_fit_time")
        }
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_tune_killed_three_times(folder):
    words = ("tune", "train.svm", "--loss", "svm", "--metrics", "top1,top2_error", "--tol", 1e-6,
             "--cs", "2^-8:2^-2:2", "--no-extend", "--folds", 4, "--test", "test.svm")  # fmt: skip
    out = folder / "out"
    # In the search, while the third of four paths is written.
    said = kill(*words, "-o", "out", name="fold*.npz", after=2)
    assert said.count("trained in") == 2
    paths = times(out, "paths/*.npz")
    assert len(paths) == 2
    # In the fit of the first winner, after some checkpoints.
    said = kill(*words, "-o", "out", name="*.checkpoint", after=3)
    assert (said.count("found in"), said.count("trained in")) == (2, 2)
    assert paths.items() <= times(out, "paths/*.npz").items()
    (checkpoint,) = out.glob("paths/*.checkpoint")
    seconds = first_seconds(checkpoint)
    # When the first winner is there and the second is not.
    said = kill(*words, "-o", "out", name="top2_error.shortlist", after=0)
    assert (said.count("found in"), said.count("trained in")) == (4, 0)
    winner = times(out, "*.shortlist")
    assert list(winner) == ["top1.shortlist"]
    assert models.load(out / "top1.shortlist").history_[0].seconds_solving == seconds
    paths = times(out, "paths/*.npz")

    told, said = run(*words, "-o", "out", "--json")
    assert (said.count("found in"), said.count("trained in")) == (4, 0)
    assert "the best for top1" not in said
    assert times(out, "paths/*.npz") == paths
    assert winner.items() <= times(out, "*.shortlist").items()
    assert not list(out.glob("paths/*.checkpoint"))

    undisturbed, _ = run(*words, "-o", "other", "--json")
    assert without_times(json.loads(told)) == without_times(json.loads(undisturbed))
    one, two = (json.loads((path / "search.json").read_text()) for path in (out, folder / "other"))
    assert without_times(one) == without_times(two)
    assert same_models(out, folder / "other") == 2


def test_compare_killed_in_the_middle_of_a_fit(folder):
    words = ("compare", "train.svm", "--test", "test.svm", "--losses", "svm,softmax", "-C", "1",
             "--tol", 1e-6, "--metrics", "top1,map")  # fmt: skip
    out = folder / "out"
    said = kill(*words, "-o", "out", name="softmax-*.checkpoint", after=3)
    steps = [line for line in said.splitlines() if " of 2: " in line]  # it may also compile
    assert steps == ["1 of 2: svm, C = 1", "2 of 2: softmax, C = 1"]
    finished = times(out, "svm-*")
    assert {name.rpartition(".")[2] for name in finished} == {"json", "shortlist"}
    (checkpoint,) = out.glob("softmax-*.checkpoint")
    seconds = first_seconds(checkpoint)

    told, said = run(*words, "-o", "out", "--json")
    assert said == "2 of 2: softmax, C = 1\n"
    assert times(out, "svm-*") == finished
    (model,) = out.glob("softmax-*.shortlist")
    assert models.load(model).history_[0].seconds_solving == seconds
    assert not list(out.glob("*.checkpoint"))

    undisturbed, _ = run(*words, "-o", "other", "--json")
    assert without_times(json.loads(told)) == without_times(json.loads(undisturbed))
    assert same_models(out, folder / "other") == 2
