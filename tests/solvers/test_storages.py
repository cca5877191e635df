"""Every loss on every storage in both precisions; intercepts, kernels, memory maps, threads."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse

from shortlist import losses, rows, solve
from shortlist.rows import operations
from shortlist.rows.order import shuffled
from shortlist.solvers import Status
from solvers.cases import STORAGES, both_precisions, data, every_loss, mapped
from solvers.cases import objectives_from_scratch as objectives


def optimum(X, y, loss, C, **options):
    """The dual objective at a small gap."""
    return solve(X, y, loss, C=C, tol=1e-9, max_epochs=20000, **options).certificate.dual


@every_loss
@both_precisions
def test_every_storage_has_the_same_certified_optimum(name, p, dtype, tmp_path):
    X, y = data(name, n=24)
    X, C, loss = X.astype(dtype), 0.3, losses.make(name, **p)
    exact = solve(X.astype(np.float64), y, loss, C=C, tol=1e-9, max_epochs=20000).certificate
    tol = 1e-8 if dtype is np.float64 else 1e-5
    rounding = 1e-12 if dtype is np.float64 else 1e-5
    for kind, storage in STORAGES.items():
        for block_size in (None, 8):
            solution = solve(
                storage(X, tmp_path), y, loss,
                C=C, tol=tol, max_epochs=20000, block_size=block_size,
            )  # fmt: skip
            assert solution.converged, kind
            assert solution.weights.dtype == solution.duals.dtype == dtype
            linear = X.T @ solution.weights if len(solution.weights) == 24 else solution.weights
            primal, dual, _ = objectives(loss, X, y, np.full(24, C), solution.duals, weights=linear)
            np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=rounding)
            assert dual <= exact.primal + rounding
            assert primal >= exact.dual - rounding


@every_loss
@both_precisions
def test_any_block_size_and_storage_make_the_same_iterates(name, p, dtype, tmp_path):
    X, y = data(name, n=40, d=6)
    X, loss = X.astype(dtype), losses.make(name, **p)
    how = {"solver": "sdca", "tol": 0.0, "max_epochs": 4, "n_threads": 1}
    expected = solve(X, y, loss, block_size=1, **how)
    close = 1e-10 if dtype is np.float64 else 2e-4
    for kind, storage in STORAGES.items():
        if kind == "columns in order":  # visited in another order, kinder to memory
            continue
        for block_size in (1, 7, 64):
            result = solve(storage(X, tmp_path), y, loss, block_size=block_size, **how)
            np.testing.assert_allclose(result.duals, expected.duals, atol=close)


@pytest.mark.parametrize("kind", STORAGES)
def test_an_intercept_is_a_constant_column(kind, tmp_path):
    X, y = data("softmax")
    expected = optimum(np.column_stack([X, np.full(30, 2.0)]), y, "softmax", 0.3)
    assert optimum(STORAGES[kind](X, tmp_path), y, "softmax", 0.3, intercept=2.0) == pytest.approx(
        expected, rel=1e-8
    )


@pytest.mark.parametrize("kind", ["rows in order", "sparse", "Gram matrix"])
def test_the_loss_that_is_not_convex_on_every_kind_of_storage(kind, tmp_path):
    X, y = data("truncated_topk_entropy", n=40)
    loss = losses.truncated_topk_entropy(2)
    expected = solve(X, y, loss, C=0.1, tol=1e-6)
    found = solve(STORAGES[kind](X, tmp_path), y, loss, C=0.1, tol=1e-6)
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-5)
    assert found.certificate.gradient_norm <= 1e-4


def test_weights_of_examples_on_every_storage(tmp_path):
    X, y = data("svm")
    weights = np.random.default_rng(0).integers(0, 3, 30)
    repeated = np.repeat(np.arange(30), weights)
    expected = optimum(X[repeated], y[repeated], losses.svm(0.5), 0.3)
    for storage in STORAGES.values():
        found = optimum(storage(X, tmp_path), y, losses.svm(0.5), 0.3, sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-7)


def test_sparse_matrices_of_every_kind():
    X, y = data("svm")
    expected = optimum(X, y, losses.svm(0.5), 1.0)
    wide = scipy.sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    positions = np.repeat(np.arange(30), 10), np.tile(np.repeat(np.arange(5), 2), 30)
    twice = scipy.sparse.coo_array((np.repeat(X.ravel() / 2, 2), positions))
    for A in (wide, scipy.sparse.csc_array(X), twice, scipy.sparse.csr_matrix(X)):
        assert optimum(A, y, losses.svm(0.5), 1.0) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("X", [np.eye(4), scipy.sparse.eye_array(4).tocsr()])
def test_named_kernels_are_their_formulas(X):
    dense = np.eye(4)
    squared = ((dense[:, None] - dense[None]) ** 2).sum(axis=2)
    rbf = rows.kernel(X, "rbf", gamma=0.7).computed
    np.testing.assert_allclose(rbf, np.exp(-0.7 * squared), rtol=1e-12)
    poly = rows.kernel(X, "poly", gamma=0.5, degree=2, coef0=1.0)
    np.testing.assert_allclose(poly.computed, (0.5 * dense + 1.0) ** 2, rtol=1e-12)
    scale = rows.kernel(X, "rbf").computed
    np.testing.assert_allclose(scale, np.exp(-squared / (4 * dense.var())), rtol=1e-12)


def test_the_last_blocks_of_a_pass_may_be_fewer_than_threads():
    X = np.random.default_rng(0).normal(size=(129, 3))
    y = np.arange(129)
    examples = rows.kernel(X, "rbf", cache_size=0)
    assert solve(examples, y, n_classes=400, n_threads=2, C=0.1).converged


def test_a_kernel_of_low_rank_in_single_precision():
    """Rounding may make a squared norm negative; it is none the less a norm."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 2)).astype(np.float32)
        y = rng.integers(0, 4, 80)
        loss = losses.truncated_topk_entropy(2)
        solution = solve(rows.kernel(X @ X.T, "precomputed"), y, loss, C=10.0, tol=1e-9)
        assert np.isfinite(solution.certificate.gradient_norm)


def test_a_kernel_separates_what_a_line_cannot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    blocks = rows.kernel(X, "rbf", gamma=1.0, cache_size=0)
    assert blocks.computed is None
    solution = solve(blocks, y, "softmax", C=10.0, evaluate_on={"train": (X, y)})
    assert solution.history[-1].metrics["train"][0] > 0.95
    once = solve(rows.kernel(X, "rbf", gamma=1.0), y, "softmax", C=10.0)
    np.testing.assert_allclose(once.weights, solution.weights, atol=1e-8)


def test_nothing_is_copied_that_can_be_served(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 4))
    for kind in ("rows in order", "columns in order", "part of a matrix", "memory map"):
        A = STORAGES[kind](X, tmp_path)
        assert np.shares_memory(rows.as_storage(A).matrix, A), kind
    sparse = scipy.sparse.csr_array(X)
    assert np.shares_memory(rows.as_storage(sparse).data, sparse.data)


def test_rows_of_a_file_are_visited_chunk_by_chunk(tmp_path):
    X = np.zeros((200, 1 << 18), np.float32)[:, : 1 << 16]
    assert operations.consecutive(rows.as_storage(X)) == 1
    storage = rows.as_storage(mapped(X, tmp_path))
    together = operations.consecutive(storage)
    assert together == (1 << 25) // (1 << 18)
    order = shuffled(np.arange(200), together, np.random.default_rng(0))
    assert sorted(order) == list(range(200))
    assert np.count_nonzero(np.diff(order // together)) == 1  # 2 chunks, each in one go
    assert (np.diff(order) != 1).any()


def test_blocks_at_once_reach_the_same_optimum(monkeypatch):
    """With many classes, each thread takes a block; the certificate decides."""
    X, _ = data("svm", n=300, d=8)
    y = np.random.default_rng(1).integers(0, 400, 300)
    loss = losses.svm(smoothing=0.5)
    expected = solve(X, y, loss, n_classes=400, C=0.1, tol=1e-6, n_threads=1)
    for A in (X, scipy.sparse.csr_array(X)):
        result = solve(A, y, loss, n_classes=400, C=0.1, tol=1e-6, n_threads=3, max_epochs=5000)
        assert result.converged
        assert result.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-6)


def test_blocks_that_are_in_each_others_way_run_one_after_another(monkeypatch):
    """Examples that are all alike: at once they overshoot, and that is noticed."""
    from shortlist.solvers import sdca

    runs = []
    original = sdca.Sdca.__init__

    def remember(self, *args, **kwargs):
        original(self, *args, **kwargs)
        runs.append(self)

    monkeypatch.setattr(sdca.Sdca, "__init__", remember)
    X = np.ones((600, 70)) + 1e-3 * np.random.default_rng(0).normal(size=(600, 70))
    y = np.random.default_rng(1).integers(0, 400, 600)
    solution = solve(X, y, "softmax", n_classes=400, C=1.0, solver="sdca", n_threads=2, tol=1e-4)
    assert solution.converged
    assert runs[0].at_once == 1
    assert runs[0].rounds >= 1


LIMITED = """
    import resource, sys
    import numpy as np
    import shortlist
    X = np.load(sys.argv[1], mmap_mode="r")
    y = np.arange(len(X)) % 3
    shortlist.solve(X[:300], y[:300], "softmax", max_epochs=1)  # what compilation needs
    limit = X.nbytes // 2
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))  # files that are mapped do not count
    try:
        np.ones(X.shape, X.dtype)
    except MemoryError:
        print("X does not fit")
    solution = shortlist.solve(X, y, "softmax", C=1e-4, tol=1e-2)
    print(solution.status.value)
"""


def test_a_memory_map_twice_as_large_as_the_memory_trains(tmp_path):
    pytest.importorskip("resource", reason="limits of memory are Unix's")
    file = tmp_path / "X.npy"
    X = np.lib.format.open_memmap(file, "w+", np.float32, (400_000, 700))  # 1.1 GB
    centres = np.random.default_rng(0).normal(size=(3, 700)).astype(np.float32)
    for first in range(0, len(X), 30_000):
        part = X[first : first + 30_000]
        part[:] = centres[np.arange(first, first + len(part)) % 3]
    X.flush()
    del X, part
    code = [sys.executable, "-c", textwrap.dedent(LIMITED), str(file)]
    result = subprocess.run(code, capture_output=True, text=True, timeout=500)
    assert result.stdout.split("\n")[:2] == ["X does not fit", Status.CONVERGED.value], (
        result.stderr
    )


REFUSED = {
    "the kernel matrix has shape (2, 3); it must be square.": lambda: rows.kernel(
        np.ones((2, 3)), "precomputed"
    ),
    "the kernel matrix is not symmetric.": lambda: rows.kernel(
        np.array([[1.0, 2.0], [0.0, 1.0]]), "precomputed"
    ),
    "the kernel of example 1 with itself is -1.0;": lambda: rows.kernel(
        np.diag([1.0, -1.0]), "precomputed"
    ),
    "the kernel is 'sigmoid'; choose one of rbf, poly": lambda: rows.kernel(np.eye(2), "sigmoid"),
    "gamma is 0; it must be positive.": lambda: rows.kernel(np.eye(2), "rbf", gamma=0),
    "the kernel returned shape (2,) for 2 and 2 examples.": lambda: rows.kernel(
        np.eye(2), lambda A, B: np.ones(len(A))
    ),
    "the kernel returned values that are not finite.": lambda: rows.kernel(
        np.eye(2), lambda A, B: np.full((len(A), len(B)), np.inf)
    ),
    "X has shape (0, 3); there is nothing to learn from.": lambda: rows.as_storage(
        np.empty((0, 3))
    ),
    "X has 1 dimensions; pass a matrix": lambda: rows.as_storage(scipy.sparse.coo_array([1.0])),
    "intercept is -1; it must not be negative.": lambda: rows.as_storage(np.eye(2), -1),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_storages_are_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)


@both_precisions
def test_a_factor_of_a_kernel_ends_where_its_values_are_rounded(dtype):
    X, _ = data("softmax", n=24)
    gram = (X.astype(dtype) @ X.T.astype(dtype)).astype(dtype)
    linear, _ = operations.as_linear(rows.kernel(gram, "precomputed"))
    assert linear.matrix.shape == (24, X.shape[1])
    np.testing.assert_allclose(linear.matrix @ linear.matrix.T, gram, atol=1e-5 * gram.max())
