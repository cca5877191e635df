"""Other libraries on our problems: the seconds they need to reach a given objective.

All solve, without intercept and for one label an example,

    minimise P(W) = 1/2 |W|^2 + C sum_i L(y_i, W'x_i),

some of them divided by n C. `seconds_to` runs a peer from the start with ever more effort
(iterations, or tolerances) until P is low enough, and counts only the run that succeeds. The
copy of the data that a peer wants, in its format and precision, is part of the run.

==============  ==========================  ================================================
peer            pip install                 note
==============  ==========================  ================================================
scikit-learn    scikit-learn                lbfgs, newton-cholesky; LIBLINEAR as LinearSVC
LIBLINEAR       liblinear-official          source; compiles in seconds; -s 3 and -s 7 stop after
                                            300 passes, -s 7 to go on with Newton's method
SPAMS           spams-bin                   `spams`: source only, its build fails under the
                                            setuptools of today
Cyanure         cyanure
lightning       sklearn-contrib-lightning   no wheels past Python 3.10; its source builds with
                                            setuptools<60, cython<3, --no-build-isolation;
                                            not its FISTA for softmax: the objective of its
                                            line search is not the loss, and it stalls
==============  ==========================  ================================================
"""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from shortlist import losses

Array = NDArray[Any]
Fit = Callable[[Any, Array, float, float], Array]
Clock = Callable[[], float]

#: Passes or steps, each half as many again as the one before.
ITERATIONS = tuple(sorted({round(2 * 1.5**i) for i in range(28)}))
#: LIBLINEAR's largest violation, from a loose one down.
TOLERANCES = tuple(2.0 / 2**i for i in range(26))
#: Relative distance from the objective that counts as reaching it.
SLACK = 1e-9
#: Seconds in which a peer must start: import, and compile where it compiles.
START = 300.0


def _always(n: int, d: int, m: int) -> bool:
    return True


def _small_hessian(n: int, d: int, m: int) -> bool:
    """Whether a square matrix with a row for each weight is affordable."""
    return d * m <= 3000


class Peer(NamedTuple):
    """One solver of one library; `fit(X, y, C, effort)` returns the weights, (d, m)."""

    name: str
    solves: str
    module: str
    fit: Fit
    efforts: tuple[float, ...] = ITERATIONS
    fits: Callable[[int, int, int], bool] = _always


def objective(loss: str, X: Any, y: Array, C: float, W: Array) -> float:
    """Return P(W), in float64."""
    W = np.asarray(W, np.float64)
    blocks = (slice(first, first + 4096) for first in range(0, X.shape[0], 4096))
    total = sum(losses.value(loss, X[rows] @ W, y[rows]).sum() for rows in blocks)
    return float(0.5 * (W**2).sum() + C * total)


def seconds_to(
    peer: Peer,
    X: Any,
    y: Array,
    m: int,
    C: float,
    target: float,
    limit: float,
    clock: Clock = time.perf_counter,
) -> float:
    """Return the seconds of the first run of `peer` with P(W) <= target, or infinity.

    Infinity: the efforts, or `limit` seconds of all runs together, were not enough. The peer
    runs in a process of its own, with as many threads as BLAS has here, and is ended at the
    limit. Every class must occur in `y`, as peers know no others.
    """
    y = np.asarray(y)
    if y.ndim != 1 or m < 3 or np.unique(y).size != m:
        raise ValueError(f"peers need one label an example, and each of {max(m, 3)} classes in y.")
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(
        target=_serve, args=(there, peer, X, y, C, _blas_threads(), clock), daemon=True
    )
    process.start()
    there.close()
    spent = 0.0
    try:
        if not here.poll(START):
            raise TimeoutError(f"{peer.name} did not start in {START:g} seconds.")
        here.recv()
        for effort in peer.efforts:
            here.send(effort)
            if not here.poll(max(limit - spent, 0.0)):
                break
            seconds, W = here.recv()
            spent += seconds
            if objective(peer.solves, X, y, C, W) <= target * (1.0 + SLACK):
                return seconds
    except (EOFError, ConnectionError) as error:
        raise RuntimeError(f"{peer.name} failed; its own message is above.") from error
    finally:
        process.kill()
        process.join()
    return math.inf


def _serve(
    there: Connection, peer: Peer, X: Any, y: Array, C: float, threads: int, clock: Clock
) -> None:
    """Fit with each effort that arrives; send the seconds and the weights back."""
    threadpool_limits(threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X[:6], np.arange(6) % 3, C, peer.efforts[0])  # imports, compiles
        threadpool_limits(threads)  # of what was imported
        there.send("ready")
        while True:
            effort = there.recv()
            start = clock()
            W = peer.fit(X, y, C, effort)
            there.send((clock() - start, W))


def _blas_threads() -> int:
    pools = threadpool_info()
    return max((pool["num_threads"] for pool in pools if pool["user_api"] == "blas"), default=1)


#: The same, looked up once: for peers that take a number of threads.
_threads = cache(_blas_threads)


def _logistic_regression(X: Any, y: Array, C: float, steps: float, solver: str) -> Array:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C, fit_intercept=False, solver=solver, tol=1e-12, max_iter=int(steps)
    )
    return model.fit(X, y).coef_.T


def _linear_svc(X: Any, y: Array, C: float, tolerance: float, **options: Any) -> Array:
    from sklearn.svm import LinearSVC

    # Not by passes: at a tiny tolerance LIBLINEAR never takes back what it shrank in error.
    model = LinearSVC(
        C=C, fit_intercept=False, tol=tolerance, max_iter=10**6, random_state=0, **options
    )
    return model.fit(X, y).coef_.T


def _liblinear(X: Any, y: Array, C: float, tolerance: float, solver: int) -> Array:
    from liblinear.liblinearutil import parameter, problem, train

    # A dense X would be copied number by number, in Python.
    data = problem(y, scipy.sparse.csr_matrix(X))
    model = train(data, parameter(f"-s {solver} -c {C!r} -e {tolerance!r} -q"))
    m = model.nr_class
    W = np.ctypeslib.as_array(model.w, (model.nr_feature * m,)).reshape(-1, m)
    return W[:, np.argsort(model.get_labels())]  # it numbers classes as they come


def _spams(X: Any, y: Array, C: float, steps: float, loss: str) -> Array:
    from spams import fistaFlat

    # In float32 its line search fails long before the optimum.
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csc_matrix(X, dtype=np.float64)
    else:
        X = np.asfortranarray(X, np.float64)
    m = int(y.max()) + 1
    labels = y[:, None] if loss == "multi-logistic" else np.where(y[:, None] == np.arange(m), 1, -1)
    return fistaFlat(
        np.asfortranarray(labels, np.float64),
        X,
        np.zeros((X.shape[1], m), order="F"),
        loss=loss,
        regul="l2",
        lambda1=1.0 / (X.shape[0] * C),
        L0=1e-3,  # grows by 1.5 until it is large enough, and never shrinks
        max_it=int(steps),
        tol=1e-14,
        it0=int(steps) + 1,  # no duality gaps
        numThreads=_threads(),
    )


def _cyanure(X: Any, y: Array, C: float, passes: float, loss: str, multi_class: str) -> Array:
    from cyanure.estimators import Classifier

    model = Classifier(
        loss=loss,
        multi_class=multi_class,
        penalty="l2",
        lambda_1=1.0 / (X.shape[0] * C),
        fit_intercept=False,
        tol=1e-14,
        max_iter=int(passes),
        duality_gap_interval=int(passes),
        verbose=False,
        n_threads=_threads(),
    )
    return model.fit(X, y).coef_


def _lightning(X: Any, y: Array, C: float, passes: float, solver: str, loss: str) -> Array:
    from lightning import classification

    model = getattr(classification, solver)(
        alpha=1.0 / (X.shape[0] * C), loss=loss, tol=1e-14, max_iter=int(passes), random_state=0
    )
    return model.fit(X.astype(np.float64), y).coef_.T  # it knows float64 only


_LINEAR, _SVC, _LIGHTNING = "sklearn.linear_model", "sklearn.svm", "lightning.classification"
_CRAMMER_SINGER = partial(_linear_svc, multi_class="crammer_singer")
_HINGE = partial(_linear_svc, loss="hinge", dual=True)
_ALL = (
    Peer("sklearn lbfgs", "softmax", _LINEAR, partial(_logistic_regression, solver="lbfgs")),
    Peer(
        "sklearn newton-cg", "softmax", _LINEAR, partial(_logistic_regression, solver="newton-cg")
    ),
    Peer(
        "sklearn newton-cholesky",
        "softmax",
        _LINEAR,
        partial(_logistic_regression, solver="newton-cholesky"),
        fits=_small_hessian,
    ),
    Peer("SPAMS FISTA", "softmax", "spams", partial(_spams, loss="multi-logistic")),
    Peer(
        "Cyanure",
        "softmax",
        "cyanure",
        partial(_cyanure, loss="multiclass-logistic", multi_class="multinomial"),
    ),
    Peer("sklearn LinearSVC, multiclass", "svm", _SVC, _CRAMMER_SINGER, TOLERANCES),
    Peer("LIBLINEAR -s 4", "svm", "liblinear", partial(_liblinear, solver=4), TOLERANCES),
    Peer("sklearn LinearSVC, one-vs-rest", "ova_svm", _SVC, _HINGE, TOLERANCES),
    Peer("LIBLINEAR -s 3", "ova_svm", "liblinear", partial(_liblinear, solver=3), TOLERANCES),
    Peer(
        "lightning SDCA",
        "ova_svm",
        _LIGHTNING,
        partial(_lightning, solver="SDCAClassifier", loss="hinge"),
    ),
    Peer("LIBLINEAR -s 0", "ova_logistic", "liblinear", partial(_liblinear, solver=0), TOLERANCES),
    Peer("LIBLINEAR -s 7", "ova_logistic", "liblinear", partial(_liblinear, solver=7), TOLERANCES),
    Peer("SPAMS FISTA, one-vs-rest", "ova_logistic", "spams", partial(_spams, loss="logistic")),
    Peer(
        "Cyanure, one-vs-rest",
        "ova_logistic",
        "cyanure",
        partial(_cyanure, loss="logistic", multi_class="ovr"),
    ),
    Peer(
        "lightning SAGA",
        "ova_logistic",
        _LIGHTNING,
        partial(_lightning, solver="SAGAClassifier", loss="log"),
    ),
)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # of the package that holds it
        return False


def missing() -> dict[str, str]:
    """Return why each peer that is not in `PEERS` is not."""
    reason = "there is no module {}; the table at the top of peers.py has its package."
    return {peer.name: reason.format(peer.module) for peer in _ALL if peer not in PEERS}


#: The peers that are installed here.
PEERS = [peer for peer in _ALL if _installed(peer.module)]
