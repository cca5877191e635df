"""Compilation: never at import, once for all processes, anew when the source changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shortlist
from shortlist._jit import keep_alive, kernel, uncounted
from shortlist.rows import DenseRows

PACKAGE = Path(shortlist.__file__).parent

#: Every public function once, in both precisions; the number of compilations is printed.
WORK = """
import numpy as np
from numba.core import event

with event.install_recorder("numba:compile") as compilations:
    import shortlist
    from shortlist import prox, special
    assert not compilations.buffer, "importing compiled something"
    for dtype in (np.float32, np.float64):
        v = np.linspace(-1, 1, 300).astype(dtype)
        special.wright_omega(v)
        special.wright_omega_derivative(v)
        special.logsumexp(v)
        prox.simplex(v)
        prox.knapsack(v, 1.0, 0.0, 0.5)
        prox.topk_simplex(v, 3, variant="alpha")
        prox.topk_simplex(v, 3, variant="beta")
        prox.bipartite_simplex(v, v)
        prox.entropic_simplex(v, 1.0)
        prox.entropic_topk_simplex(v, 3, 1.0)
        prox.topk_sum_prox(v, 3, 1.0)
    shortlist.solve(np.eye(3), [0, 1, 2], "svm")
print(len(compilations.buffer))
"""


def run(code, package=PACKAGE, **environment):
    """Run `code` in a new process with the package as it lies at `package`."""
    env = {**os.environ, **environment, "PYTHONPATH": str(package.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_loads_no_extra():
    extras = ["torch", "dask", "distributed", "matplotlib", "jinja2", "typer", "rich", "pooch"]
    code = f"import sys, shortlist.solvers; print(*set({extras}) & set(sys.modules))"
    assert run(code) == []


def test_import_alone_loads_no_compiler():
    assert run("import sys, shortlist; print('numba' in sys.modules)") == ["False"]


def test_a_second_process_compiles_nothing(tmp_path):
    (compilations,) = run(WORK, NUMBA_CACHE_DIR=str(tmp_path))
    assert int(compilations) > 0
    (compilations,) = run(WORK, NUMBA_CACHE_DIR=str(tmp_path))
    assert int(compilations) == 0


RACE = """
import numpy as np
from shortlist.special.sums import total_of

files = total_of._cache._cache_file
look = files._load_index
files._load_index = dict  # two processes have looked before either has written
files.save("one", "code of one")
files.save("two", "code of two")
files._load_index = look
print(files.load("one"), "/", files.load("two"))
"""


def test_two_processes_that_compile_at_once_do_not_mix_their_code(tmp_path):
    """Numba alone would give both files one name: a key would lead to the other's code."""
    said = " ".join(run(RACE, NUMBA_CACHE_DIR=str(tmp_path)))
    assert said == "None / code of two"  # the first is compiled again, which does no harm


EDITED = """
from shortlist import prox
print(prox.simplex([0.5, 1.0, -1.0])[1])
"""
EDIT = """

@kernel
def apply_clip(a, clip, out):
    out[:] = 7.0
"""


def test_an_edited_callee_in_another_file_is_noticed(tmp_path):
    """Numba alone would serve the old code: it looks at the caller's file only."""
    package = tmp_path / "shortlist"
    shutil.copytree(PACKAGE, package)
    cache = str(tmp_path / "cache")
    assert run(EDITED, package, NUMBA_CACHE_DIR=cache) == ["0.75"]
    with (package / "prox" / "clip.py").open("a") as callee:
        callee.write(EDIT)
    assert run(EDITED, package, NUMBA_CACHE_DIR=cache) == ["7.0"]


def test_the_cache_is_keyed_by_what_kernels_are_made_of(tmp_path):
    package = tmp_path / "shortlist"
    shutil.copytree(PACKAGE, package)
    folder = "from shortlist._jit import CACHE_FOLDER; print(CACHE_FOLDER)"

    def folder_after_an_edit_of(*path):
        with package.joinpath(*path).open("a") as file:
            file.write("# edited\n")
        return run(folder, package, NUMBA_CACHE_DIR=str(tmp_path))

    before = run(folder, package, NUMBA_CACHE_DIR=str(tmp_path))
    assert folder_after_an_edit_of("estimators", "base.py") == before  # no kernel knows it
    for path in (("special", "omega.py"), ("rows", "products.py"), ("_arrays.py",), ("_jit.py",)):
        after = folder_after_an_edit_of(*path)
        assert after != before
        before = after


def test_without_a_folder_to_write_to_it_still_works(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    assert run(EDITED, NUMBA_CACHE_DIR=str(blocked)) == ["0.75"]


def test_kernels_run_as_python():
    """The same source without the compiler gives the same numbers."""
    code = """
import numpy as np
from shortlist import prox, special
v = np.array([0.5, 1.0, -1.0, 0.25, 3.0])
w = np.linspace(-1, 1, 300)
with np.errstate(all="ignore"):
    for x in (
        special.wright_omega(v), prox.simplex(v), prox.knapsack(v, 1.0, 0.0, 0.5, True),
        prox.topk_simplex(0.1 * v, 2, bias=0.5), prox.topk_simplex(v, 2, variant="beta", bias=0.5),
        *prox.bipartite_simplex(v, -v), prox.entropic_simplex(v, 2.0),
        prox.entropic_topk_simplex(v, 2, 2.0), prox.entropic_topk_simplex(v, 2, 0.0, "beta"),
        prox.topk_sum_prox(v, 2, 0.5), prox.simplex(w), prox.topk_simplex(w, 3),
        prox.entropic_simplex(v.astype(np.float32), 1.0),
    ):
        print(*np.asarray(x, float))
"""
    compiled = [float(word) for word in run(code)]
    python = [float(word) for word in run(code, NUMBA_DISABLE_JIT="1")]
    assert len(python) == len(compiled) > 600
    assert python == pytest.approx(compiled, rel=1e-6, abs=1e-12)


@kernel
def _last_of_each(rows, out):
    rows, out = uncounted((rows, out))
    for i in range(out.size):
        row = rows.matrix[i]
        out[i : i + 1] = row[-1:]


def test_uncounted_slices_leave_the_counts_as_they_were():
    rows, out = DenseRows(np.arange(12.0).reshape(3, 4), 0.0), np.zeros(3)
    counts = [sys.getrefcount(array) for array in (rows.matrix, out)]
    _last_of_each(rows, out)
    assert [sys.getrefcount(array) for array in (rows.matrix, out)] == counts
    assert out.tolist() == [3.0, 7.0, 11.0]


@kernel
def _sum_of_what_is_kept(n):
    owned = np.ones(n), np.full((2, n), 2.0)
    ones, twos = uncounted(owned)
    total = 0.0
    for i in range(n):
        other = np.full(n, np.inf)  # would take the place of what is freed too early
        total += ones[i:].sum() + twos[1].sum() + 1.0 / other[i]
    keep_alive(owned)
    return total


def test_what_a_kernel_has_allocated_lives_until_it_says_so():
    for n in (1, 10, 1000):
        assert _sum_of_what_is_kept(n) == n * (n + 1) / 2 + 2.0 * n * n
