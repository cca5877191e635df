"""The rounds by themselves, in one process: the same optimum, however rows are spread."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse

from many_machines.cases import duals_held, even, fleet_of, split, train
from shortlist import losses, solve
from shortlist.dask import groups, partitions
from shortlist.dask.ascent import Ascent
from shortlist.dask.engines import InProcess, Value
from shortlist.dask.partitions import PartitionError
from shortlist.dask.store import Store
from shortlist.rows import operations
from shortlist.solvers import CheckpointError
from solvers.cases import CASES, data, objectives_from_scratch, with_constant

TOL = 1e-4


def problem(name, p, n=60, seed=0):
    loss = losses.make(name, **p)
    X, y = data(name, n=n, seed=seed)
    return loss, X, y


def check(result, fleet, loss, X, y, c, optimum, tol=TOL):
    """The certificate is true, from scratch, and the weights are as good as it says."""
    primal, dual, _ = objectives_from_scratch(
        loss, X, y, c, duals_held(fleet), weights=result.weights
    )
    assert result.status.value == "converged"
    assert result.certificate.gap <= tol
    np.testing.assert_allclose(result.certificate, [primal, dual], rtol=1e-9)
    assert dual <= optimum.primal * (1 + 1e-12)
    assert primal <= optimum.primal * (1 + tol)
    assert optimum.dual <= primal


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize(("name", "p"), CASES, ids=str)
def test_every_loss_ends_at_the_optimum_of_one_machine(name, p, storage):
    loss, X, y = problem(name, p)
    c = np.linspace(0.1, 2.0, len(X))
    optimum = solve(X, y, loss, C=1.0, sample_weight=c, intercept=2.0, tol=1e-8).certificate
    given = X if storage == "dense" else scipy.sparse.csr_array(X)
    parts, m = split(given, y, loss, c, [7, 8, 40], intercept=2.0)
    tol = 1e-3 if p.get("smoothing") == 0.0 else TOL  # kinks take many rounds
    result, fleet = train(parts, m, tol=tol)
    check(result, fleet, loss, with_constant(X, 2.0), y, c, optimum, tol)


def layouts(y):
    """Ways to spread 60 rows."""
    mixed = np.arange(60)
    by_label = np.argsort(y, kind="stable")
    return {
        "one": (mixed, []),
        "uneven": (mixed, [1, 2, 50]),
        "empty": (mixed, [0, 30, 30, 60]),
        "sorted by label, classes missing": (by_label, even(60, 4)),
        "one row each": (mixed, list(range(1, 12))),
    }


@pytest.mark.parametrize("layout", range(5))
@pytest.mark.parametrize("p", [{"smoothing": 0.0}, {"smoothing": 1.0}], ids=str)
def test_every_layout_has_the_same_optimum(layout, p):
    loss, X, y = problem("svm", p)
    order, cuts = list(layouts(y).values())[layout]
    X, y = X[order], y[order]
    c = np.full(60, 0.3)
    optimum = solve(X, y, loss, C=0.3, tol=1e-8).certificate
    parts, m = split(X, y, loss, c, cuts)
    result, fleet = train(parts, m, tol=TOL)
    check(result, fleet, loss, X, y, c, optimum)


def test_float32_is_certified_to_its_precision():
    loss, X, y = problem("softmax", {})
    parts, m = split(X.astype(np.float32), y, loss, np.ones(60), even(60, 3))
    result, _ = train(parts, m, tol=1e-4)
    optimum = solve(X, y, loss, tol=1e-8).certificate
    assert result.weights.dtype == np.float32
    assert result.certificate.gap <= 1e-4
    assert result.certificate.dual <= optimum.primal * (1 + 1e-5)
    assert result.certificate.primal >= optimum.dual * (1 - 1e-5)


@pytest.mark.parametrize("p", [{"smoothing": 0.0}, {"smoothing": 1.0}], ids=str)
def test_the_plain_form_never_lowers_the_dual(p):
    loss, X, y = problem("svm", p)
    parts, m = split(X, y, loss, np.full(60, 0.3), even(60, 6))
    result, _ = train(parts, m, solver="cocoa", tol=1e-3)
    assert result.status.value == "converged"
    assert np.all(np.diff(result.history.dual) >= -1e-12)
    assert {line.method for line in result.history} == {"cocoa"}


@pytest.mark.parametrize("k", [1, 4, 16])
@pytest.mark.parametrize(("name", "C"), [("svm", 0.05), ("svm", 3.0), ("softmax", 1.0)])
def test_the_automatic_pull_is_never_slower_than_none(name, C, k):
    loss = losses.svm(smoothing=1.0) if name == "svm" else losses.softmax()
    X, y = data(name, n=160, d=12)
    parts, m = split(X, y, loss, np.full(160, C), even(160, k))
    ours, _ = train(parts, m, tol=1e-3)
    less = max(len(ours.history) - 4, 1)
    plain, _ = train(parts, m, solver="cocoa", tol=1e-3, max_rounds=less)
    assert plain.status.value == "max_rounds"  # it would have taken more


@pytest.mark.parametrize("k", [2, 8])
def test_the_automatic_pull_is_nearly_as_good_as_the_best_fixed_one(k):
    loss, (X, y) = losses.svm(smoothing=1.0), data("svm", n=160, d=12)
    parts, m = split(X, y, loss, np.full(160, 3.0), even(160, k))
    ours, _ = train(parts, m, tol=TOL)
    most = int(len(ours.history) / 1.5)
    for kappa in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
        fixed, _ = train(parts, m, tol=TOL, kappa=kappa, max_rounds=most - 1)
        assert fixed.status.value == "max_rounds"  # it would have taken more


def test_momentum_that_led_astray_is_dropped_with_the_next_pull():
    method = Ascent((1, 2), "float64")
    method.kappa, method.first, method.step, method.momentum = 9.0, 9.0, 0, 3.0
    method.point, method.Z = np.ones((1, 2)), np.full((1, 2), 5.0)
    method.progress, method.since, method.watched, method.excess = math.log(0.1), 9, 9, 1.0
    method.primal, method.dual, method.astray = 2.0, 1.0, True  # the gap has not fallen
    method._adapt()
    assert method.kappa == pytest.approx(24.0)
    assert method.momentum == 1.0
    np.testing.assert_array_equal(method.Z, method.point)
    method.progress, method.since, method.watched, method.excess = math.log(0.4), 9, 9, 1.0
    method.astray, method.momentum = False, 3.0
    method._adapt()
    assert method.kappa == pytest.approx(9.0)  # enough progress: a stronger one is no cure
    assert method.momentum == 3.0


def test_acceleration_pays_where_groups_are_many():
    loss, (X, y) = losses.svm(smoothing=1.0), data("svm", n=160, d=12)
    parts, m = split(X, y, loss, np.full(160, 3.0), even(160, 16))
    ours, _ = train(parts, m, tol=1e-3)
    plain, _ = train(parts, m, solver="cocoa", tol=1e-3, max_rounds=3 * len(ours.history))
    assert plain.status.value == "max_rounds"


@pytest.mark.parametrize(("name", "p"), [case for case in CASES if case[1].get("smoothing") != 0.0])
def test_lbfgs_ends_at_the_same_optimum_with_a_true_certificate(name, p):
    loss, X, y = problem(name, p)
    c = np.linspace(0.1, 2.0, len(X))
    optimum = solve(X, y, loss, sample_weight=c, tol=1e-9).certificate
    parts, m = split(X, y, loss, c, [7, 8, 40])
    result, _ = train(parts, m, solver="lbfgs", tol=1e-6)
    primal, _, _ = objectives_from_scratch(
        loss, X, y, c, np.zeros((len(X), m)), weights=result.weights
    )
    assert result.status.value == "converged"
    assert result.certificate.primal == pytest.approx(primal, rel=1e-12)
    assert result.certificate.dual <= optimum.primal * (1 + 1e-12)
    assert primal <= optimum.primal * (1 + 1e-6)


def test_auto_changes_to_lbfgs_where_rounds_are_too_many_and_says_so(monkeypatch):
    loss, X, y = problem("softmax", {})
    parts, m = split(X, y, loss, np.full(60, 5.0), even(60, 10))
    monkeypatch.setattr("shortlist.dask.rounds._TRIAL", 4)
    monkeypatch.setattr("shortlist.dask.rounds._TOO_MANY", 1)
    result, _ = train(parts, m, solver="auto", tol=1e-8)
    assert result.status.value == "converged"
    assert result.history.notes[0].startswith("accelerated")
    assert "lbfgs, because" in result.history.notes[1]
    assert result.history[-1].method == "lbfgs"


def test_several_partitions_of_a_group_are_one_machine():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    c = np.full(60, 0.3)
    parts, m = split(X, y, loss, c, even(60, 6))
    result, fleet = train(parts, m, n_groups=2, tol=TOL)
    check(result, fleet, loss, X, y, c, solve(X, y, loss, C=0.3, tol=1e-8).certificate)
    assert sorted(i for group in fleet.groups for i in group.members) == list(range(6))
    assert len(fleet.groups) == 2


# Limits


def test_limits_end_a_run_with_a_true_certificate():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 6))
    result, fleet = train(parts, m, tol=1e-9, max_rounds=4)
    primal, dual, _ = objectives_from_scratch(
        loss, X, y, np.full(60, 3.0), duals_held(fleet), weights=result.weights
    )
    assert result.status.value == "max_rounds"
    np.testing.assert_allclose(result.certificate, [primal, dual], rtol=1e-9)
    timed, _ = train(parts, m, tol=1e-9, max_time=1e-6)
    assert timed.status.value == "max_time"
    seen = []
    stopped, _ = train(
        parts, m, tol=1e-9, callback=lambda p: seen.append(p.weights().shape) or len(seen) == 3
    )
    assert stopped.status.value == "stopped"
    assert seen == [(5, 4)] * 3


def test_numbers_that_overflow_are_refused_with_the_partition():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 2))
    parts[1].problem.norms[:] = 1e306
    with pytest.raises(PartitionError, match=r"^partition 1: the squared length of X\[0\]"):
        train(parts, m)


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_array])
def test_a_partition_that_comes_over_a_network_gives_the_same_bits(storage):
    """There it may be read-only, and begin at any byte."""
    loss, X, y = problem("svm", {"smoothing": 1.0})
    X = np.hstack([X, np.sin(1e3 * X)])
    (part,), m = split(storage(X), y, loss, np.full(60, 0.3), [])
    sent: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(part, 5, buffer_callback=sent.append)
    arrived = pickle.loads(pickled, buffers=[memoryview(b"-" + b.raw())[1:] for b in sent])
    assert sent
    for array in (*operations.contents(arrived.problem.rows), arrived.problem.c):
        assert array.flags.aligned
    point = np.cos(np.arange(X.shape[1] * m, dtype=float)).reshape(-1, m)
    here, there = (partitions.differentiate([one], point) for one in (part, arrived))
    np.testing.assert_array_equal(there.model, here.model)
    assert there[1:] == here[1:]


# Files, and what is lost


def stored(tmp_path):
    return Store(str(tmp_path / "run"))


@pytest.mark.parametrize("solver", ["accelerated", "cocoa", "lbfgs"])
def test_a_run_that_is_continued_ends_in_the_same_bits(tmp_path, solver):
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 4))
    options = {"solver": solver, "tol": 1e-2 if solver == "cocoa" else 1e-4, "every": 3}
    whole, _ = train(parts, m, **options)
    train(parts, m, store=stored(tmp_path), max_rounds=7, **options)
    # As if the client was killed after its last checkpoint
    result, _ = train(parts, m, store=stored(tmp_path), **options)
    if solver == "lbfgs":
        np.testing.assert_array_equal(result.weights, whole.weights)
    assert abs(result.certificate.primal / whole.certificate.primal - 1.0) <= options["tol"]
    assert result.history.epochs.tolist() == list(range(1, len(result.history) + 1))
    again, _ = train(parts, m, store=stored(tmp_path), **options)
    np.testing.assert_array_equal(again.weights, result.weights)
    assert len(again.history) == len(result.history)


def test_checkpoints_change_no_bit(tmp_path):
    loss, X, y = problem("svm", {"smoothing": 0.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 4))
    without, _ = train(parts, m, tol=1e-3)
    with_files, _ = train(parts, m, tol=1e-3, store=stored(tmp_path), every=2)
    np.testing.assert_array_equal(with_files.weights, without.weights)
    assert with_files.certificate == without.certificate


class KilledError(Exception):
    pass


def test_a_client_that_is_killed_goes_on_to_the_same_bits(tmp_path):
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 4))
    whole, _ = train(parts, m, tol=1e-5)

    def kill(progress):
        if progress.epoch == 8:
            raise KilledError

    with pytest.raises(KilledError):
        train(parts, m, tol=1e-5, store=stored(tmp_path), every=3, callback=kill)
    result, _ = train(parts, m, tol=1e-5, store=stored(tmp_path), every=3)
    np.testing.assert_array_equal(result.weights, whole.weights)
    assert result.certificate == whole.certificate


def test_lost_files_cost_rounds_not_truth(tmp_path):
    loss, X, y = problem("svm", {"smoothing": 1.0})
    c = np.full(60, 3.0)
    parts, m = split(X, y, loss, c, even(60, 4))
    train(parts, m, tol=1e-4, store=stored(tmp_path), max_rounds=6)
    files = sorted((tmp_path / "run").glob("duals-*"))
    assert len(files) == 4
    files[1].unlink()
    files[2].write_bytes(files[2].read_bytes()[:100])
    result, fleet = train(parts, m, tol=1e-4, store=stored(tmp_path))
    check(result, fleet, loss, X, y, c, solve(X, y, loss, C=3.0, tol=1e-8).certificate)
    assert fleet.lost == 2


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 4))
    train(parts, m, store=stored(tmp_path), max_rounds=2, tol=1e-9)
    others, _ = split(X, y, loss, np.full(60, 2.0), even(60, 4))
    with pytest.raises(CheckpointError, match="another run: X, y, C or weights differ"):
        train(others, m, store=stored(tmp_path))
    train(others, m, store=stored(tmp_path), resume=False)
    (tmp_path / "run" / "run.npz").write_bytes(b"PK")
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        train(parts, m, store=stored(tmp_path))


def test_a_checkpoint_that_cannot_be_written_warns_and_goes_on(tmp_path):
    loss, X, y = problem("svm", {"smoothing": 1.0})
    parts, m = split(X, y, loss, np.full(60, 3.0), even(60, 2))
    (tmp_path / "run").write_text("a file, not a folder")
    with pytest.warns(RuntimeWarning, match="could not be written"):
        result, _ = train(parts, m, tol=1e-3, every=5, store=Store(str(tmp_path / "run" / "x")))
    assert result.status.value == "converged"


# Places that come, go and are slow


class Late(Value):
    """A value that is there after some rounds."""


class Slow(InProcess):
    """One machine needs several rounds for every answer."""

    def __init__(self, size, slow, rounds):
        super().__init__(size)
        self.slow, self.rounds, self.now, self.late = slow, rounds, 0, 0

    def submit(self, function, *args, key, at=None):
        self.now += "-point-" in key
        value = super().submit(function, *args, key=key)
        if "-answer-" in key and at == f"machine {self.slow}":
            value.there = self.now + self.rounds
        if "-sum-" in key:
            value.there = max((getattr(a, "there", 0) for a in args[0]), default=0)
        return value

    def is_done(self, handle):
        return getattr(handle, "there", 0) <= self.now

    def value(self, handle, timeout=np.inf):
        if np.isfinite(timeout) and not self.is_done(handle):
            self.late += 1
            raise TimeoutError
        return super().value(handle)


def test_a_slow_machine_is_skipped_and_caught_up():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    c = np.full(60, 0.5)
    parts, m = split(X, y, loss, c, even(60, 4))
    engine = Slow(4, slow=2, rounds=3)
    fleet = fleet_of(engine, parts, patience=0.01)
    result, fleet = train(parts, m, engine=engine, fleet=fleet, tol=TOL)
    assert engine.late > 0
    check(result, fleet, loss, X, y, c, solve(X, y, loss, C=0.5, tol=1e-8).certificate)
    lines = result.history.epochs  # only complete rounds are certified
    assert len(lines) < lines[-1]


class Frozen(InProcess):
    """The first machine stands still for some rounds, also with what is sent to it."""

    now = again = 0

    def submit(self, function, *args, key, at=None):
        self.now += "-point-" in key
        value = super().submit(function, *args, key=key)
        given = [a for arg in args for a in (arg if isinstance(arg, list) else [arg])]
        value.there = max((getattr(one, "there", 0) for one in given), default=0)
        if 4 <= self.now < 9 and at == "machine 0":
            value.there = 12
            self.again += "-point-" in key
        return value

    def is_done(self, handle):
        return getattr(handle, "there", 0) <= self.now

    def value(self, handle, timeout=np.inf):
        if np.isfinite(timeout) and not self.is_done(handle):
            raise TimeoutError
        return super().value(handle)


def test_a_machine_that_stands_still_with_the_point_stops_nobody():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    c = np.full(60, 0.5)
    parts, m = split(X, y, loss, c, even(60, 4))
    engine = Frozen(4)
    fleet = fleet_of(engine, parts, patience=0.01)
    result, fleet = train(parts, m, engine=engine, fleet=fleet, tol=TOL)
    assert engine.again == 1  # the next points went elsewhere at once
    check(result, fleet, loss, X, y, c, solve(X, y, loss, C=0.5, tol=1e-8).certificate)
    assert np.diff(result.history.epochs).max() > 1


class Growing(InProcess):
    """Two machines, and four from a certain round on."""

    def submit(self, function, *args, key, at=None):
        self.rounds = getattr(self, "rounds", 0) + ("-point-" in key)
        self.size = 2 if self.rounds < 5 else 4
        self.seen = {*getattr(self, "seen", ()), at}
        return super().submit(function, *args, key=key)


def test_machines_that_join_are_used():
    loss, X, y = problem("svm", {"smoothing": 1.0})
    c = np.full(60, 0.5)
    parts, m = split(X, y, loss, c, even(60, 8))
    engine = Growing(2)
    fleet = fleet_of(engine, parts)
    fleet.n_groups = None
    result, fleet = train(parts, m, engine=engine, fleet=fleet, tol=1e-6)
    assert {f"machine {i}" for i in range(4)} <= engine.seen
    assert len(fleet.groups) == 4
    check(result, fleet, loss, X, y, c, solve(X, y, loss, C=0.5, tol=1e-9).certificate, 1e-6)


def test_groups_are_even_and_stay_where_they_are():
    places = ["b", "b", "b", "a", "a", "b"]
    assert groups.group([10] * 6, places, ["a", "b"]) == [("b", (0, 1, 2)), ("a", (3, 4, 5))]
    assert groups.group([5, 5], ["b", "a"], ["a", "b"]) == [("b", (0,)), ("a", (1,))]
    assert groups.group([1, 100], [None, None], ["a", "b", "c"]) == [("a", (0,)), ("b", (1,))]
    found = groups.group([90, 1, 1, 1, 1], [None] * 5, ["a", "b", "c"])
    assert [own for _, own in found] == [(0,), (1,), (2, 3, 4)]
    assert groups.group([1] * 4, [None] * 4, ["a", "a"]) == [("a", (0, 1)), ("a", (2, 3))]


def test_groups_settle_where_there_is_room():
    assert groups.settle(["a", "a", "b"], ["a", "b", "a"]) == ["a", "b", "a"]
    assert groups.settle(["a"], ["a", "b"]) == ["a", "a"]  # b died
    assert groups.settle(["a", "c"], ["a", "a"]) == ["a", "c"]  # and came back, as c
    assert groups.settle(["a", "b"], ["b", "b", "b", "b"]) == ["b", "b", "a", "a"]
    assert groups.settle(["c", "d"], ["a", "b"]) == ["c", "d"]
    assert groups.settle(["a", "a", "a", "b"], ["a", "a"]) == ["a", "a"]  # no need to move


def test_no_function_of_a_group_changes_its_arguments():
    loss, X, y = problem("topk_svm_alpha", {"k": 2, "smoothing": 0.5})
    parts, m = split(X, y, loss, np.ones(60), even(60, 2))
    point = np.zeros((5, m))
    first = partitions.ascend(parts, partitions.zero_duals(parts), point, 2.0, 1, (0, 0))
    for array in (point, *first.duals.arrays, parts[0].problem.c, parts[0].problem.norms):
        array.flags.writeable = False
    second = partitions.ascend(parts, first.duals, point, 2.0, 2, (0, 1))
    again = partitions.ascend(parts, first.duals, point, 2.0, 2, (0, 1))
    partitions.rebuild(parts, second.duals, point)
    partitions.differentiate(parts, point)
    for one, two in zip(second.duals.arrays, again.duals.arrays, strict=True):
        np.testing.assert_array_equal(one, two)
    assert second.answer.losses == again.answer.losses


def test_a_pull_can_be_fixed():
    method = Ascent((5, 4), "float64", kappa=30.0)
    assert method.question().shrink == pytest.approx(1 / 31)
    assert method.name == "accelerated"
    assert Ascent((5, 4), "float64", kappa=0.0).name == "cocoa"
