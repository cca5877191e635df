"""How tests run the command, and the small data that they run it on."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import scipy.sparse
from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.datasets import Dataset

N, D, M = 60, 5, 4


def run(*words, code=0, stdin=None):
    """Run the command in this process; return what it printed, and what it said."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    assert "Traceback" not in result.stderr
    return result.stdout, result.stderr


def refused(*words, stdin=None):
    """Return the sentence with which the command refuses bad input."""
    out, said = run(*words, code=1, stdin=stdin)
    assert out == ""
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
    return said


def process(*words, before=""):
    """Run the command in a process of its own, after some lines of Python."""
    code = f"{textwrap.dedent(before)}\nfrom shortlist.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True, text=True, env=os.environ | {"COLUMNS": "100"}, check=False,
    )  # fmt: skip


def single(n=N, seed=0, class_names=("2", "10", "30", "7"), **more):
    """Return examples with one label each."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % M
    X = rng.normal(size=(n, D)) + 2.0 * np.eye(M, D)[y]
    return Dataset(X, y, class_names, **more)


def sets():
    """Return examples with label sets."""
    data = single(class_names=("sun", "sea", "air", "ice"))
    Y = np.eye(M, dtype=bool)[data.y]
    Y[::3] |= np.eye(M, dtype=bool)[(data.y[::3] + 1) % M]
    return data._replace(y=scipy.sparse.csr_array(Y))
