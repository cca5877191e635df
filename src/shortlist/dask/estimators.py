"""The estimators on Dask collections: parameters, y, weights, attributes."""

from __future__ import annotations

import contextlib
import math
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from shortlist import estimators
from shortlist._arrays import (
    FloatArray,
    as_choice,
    as_integer,
    as_k,
    as_number,
    as_positive,
)
from shortlist.dask import inputs, partitions, rounds
from shortlist.dask.cluster import DaskEngine, all_see, connected, first_error
from shortlist.dask.engines import Handle
from shortlist.dask.fleet import Fleet
from shortlist.dask.inputs import Chunks, Plan, Survey
from shortlist.dask.partitions import Size
from shortlist.dask.store import Store
from shortlist.estimators.base import best_classes
from shortlist.estimators.progress import ProgressBar
from shortlist.estimators.stopping import warn_unless_converged
from shortlist.estimators.targets import read_sets, read_single
from shortlist.losses.operations import traits
from shortlist.model_selection import thresholds
from shortlist.solvers import Callback, Progress

#: The most partitions for each slot of a worker. With as many as chunks none is copied, and some
#: can be moved to workers that join; each takes about a millisecond in every round.
_PARTITIONS = 32


def _has_probabilities(estimator: Any) -> bool:
    """Return whether the loss has probabilities; else say how to get them."""
    return hasattr(estimator._unfitted(), "predict_proba")


class DistributedClassifier(ClassifierMixin, BaseEstimator):
    """The base of both estimators."""

    #: The estimator for what fits into memory.
    _local: ClassVar[type]
    #: Parameters that it shares.
    _shared: ClassVar[tuple[str, ...]] = (
        *("loss", "k", "smoothing", "C", "fit_intercept", "intercept_scaling", "class_weight"),
        *("tol", "max_time", "random_state", "verbose"),
    )

    def __init__(
        self,
        loss: Any = "softmax",
        *,
        k: int = 5,
        smoothing: float = 1.0,
        C: float = 1.0,
        solver: str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_rounds: int = 1000,
        local_epochs: int = 1,
        max_time: float = math.inf,
        n_groups: int | None = None,
        patience: float = 60.0,
        worker_timeout: float = 300.0,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | None = None,
        checkpoint_every: int = 10,
        resume: bool = True,
        client: Any = None,
    ) -> None:
        self.loss = loss
        self.k = k
        self.smoothing = smoothing
        self.C = C
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_rounds = max_rounds
        self.local_epochs = local_epochs
        self.max_time = max_time
        self.n_groups = n_groups
        self.patience = patience
        self.worker_timeout = worker_timeout
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.client = client

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # Training

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train a model to a proven optimum, on the workers that hold the examples.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples, in chunks of rows, dense or CSR; their sizes need not be known.
        y : dask array, series or frame
            The labels, in the chunks of X; in memory if the chunks of X have known sizes.
        sample_weight : dask array, array_like or float, optional
            Weights of the examples: 2 is the example twice, 0 without it.

        Returns
        -------
        self
        """
        options = self._options()
        seed, loss = self._seed(), self._unfitted()._make_loss()
        if not traits(loss).convex:
            raise ValueError(f"{loss} is not convex: there is no certificate, and no such fit.")
        if self.solver == "lbfgs" and not _is_smooth(loss):
            raise ValueError(f'{loss} has kinks: choose solver="accelerated", or smoothing > 0.')
        chunks = inputs.read(X, y, sample_weight)
        self._check_form(chunks.single)
        with contextlib.ExitStack() as stack:
            client = stack.enter_context(connected(self.client))
            engine = stack.enter_context(DaskEngine(client, self.worker_timeout))
            name = f"shortlist-{uuid.uuid4().hex[:8]}"
            store, n_slots = stack.enter_context(self._stored(client)), len(engine.slots())
            most = self._partitions(n_slots, store)
            parts, sizes, found = self._load(engine, chunks, loss, name, most)
            fleet = Fleet(
                engine, parts, sizes, seed=seed, epochs=self.local_epochs,
                n_groups=self.n_groups, at_least=n_slots, patience=self.patience, name=name,
                asked_for=most,
            )  # fmt: skip
            callback = stack.enter_context(self._watched())
            result = rounds.train(
                fleet,
                found.classes.size,
                _is_smooth(loss),
                {"loss": repr(loss), "random_state": seed, "local_epochs": self.local_epochs},
                options._replace(store=store, callback=callback),
            )
            self.bytes_ = fleet.bytes
        self._keep(result, chunks, found)
        warn_unless_converged(result, self.tol, "rounds")
        return self

    def _options(self) -> rounds.Options:
        """Check all parameters that need no data."""
        as_positive(self.C, "C")
        as_positive(self.intercept_scaling, "intercept_scaling")
        as_integer(self.local_epochs, "local_epochs", 1)
        if self.n_groups is not None:
            as_integer(self.n_groups, "n_groups", 1)
        for name in ("patience", "worker_timeout", "max_time"):
            if not as_number(getattr(self, name), name) > 0.0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive.")
        return rounds.Options(
            solver=as_choice(self.solver, rounds.SOLVERS, "solver"),
            tol=as_positive(self.tol, "tol"),
            max_rounds=as_integer(self.max_rounds, "max_rounds", 1),
            max_time=self.max_time,
            every=as_integer(self.checkpoint_every, "checkpoint_every", 1),
            resume=bool(self.resume),
        )

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_form(self, single: bool) -> None:
        """Refuse labels of another kind."""

    def _partitions(self, n_slots: int, store: Store | None) -> int:
        """Return the most partitions to make: as many as the run had that is continued."""
        saved = store.load() if store is not None and self.resume else None
        if saved is not None:
            return int(saved[0]["partitions"])
        return max(_PARTITIONS * n_slots, self.n_groups or 1)

    def _load(
        self, engine: DaskEngine, chunks: Chunks, loss: Any, name: str, most: int
    ) -> tuple[list[Handle], list[Size], Survey]:
        """Bring partitions to the workers; return them, their sizes, and what labels show."""
        some = inputs.runs(len(chunks.X), most)

        def of(values: list[Any] | None, own: slice) -> list[Any] | None:
            return None if values is None else values[own]

        slots = engine.slots()
        home = [slots[i * len(slots) // len(some)] for i in range(len(some))]  # of their groups

        def each(function: Callable[..., Any], what: str, tasks: list[tuple[Any, ...]]) -> Any:
            lazy = dask.delayed(function, pure=False)
            return [
                engine.client.compute(
                    lazy(number, *task, dask_key_name=f"{name}-{what}-{number}"),
                    workers=[home[number]],
                    allow_other_workers=True,
                )
                for number, task in enumerate(tasks)
            ]

        looked = [(of(chunks.y, own), of(chunks.weights, own), chunks.single) for own in some]
        found = inputs.merge(_values(engine, each(inputs.survey, "labels", looked)))
        self._check_classes(found, loss)
        intercept = self.intercept_scaling if self.fit_intercept else 0.0
        of_classes = inputs.weights_of_classes(self.class_weight, found)
        plan = Plan(loss, self.C, intercept, found.classes, of_classes, chunks.single)
        wanted = [
            (of(chunks.X, own), of(chunks.y, own), of(chunks.weights, own), plan) for own in some
        ]
        parts = each(inputs.load, "rows", wanted)
        sizes = _values(
            engine,
            [
                engine.submit(_size, part, key=f"{part.key}-size", at=slot)
                for part, slot in zip(parts, home, strict=True)
            ],
        )
        there = [i for i, size in enumerate(sizes) if size is not None]
        parts, sizes = [parts[i] for i in there], [sizes[i] for i in there]
        if not any(size.total_weight for size in sizes):
            raise ValueError("all sample weights are zero; there is nothing to learn from.")
        kinds = {size.dtype for size in sizes}
        if len(kinds) > 1:
            raise ValueError(f"chunks of X have different dtypes: {', '.join(sorted(kinds))}.")
        return parts, sizes, found

    def _check_classes(self, found: Survey, loss: Any) -> None:
        """Refuse a loss that does not fit the labels."""
        m, known = found.classes.size, traits(loss)
        if found.form == "single" and m < 2:
            label = found.classes.tolist()[0]
            raise ValueError(f"y has one class, {label!r}; at least two are needed.")
        if m < known.smallest_m:
            k = known.smallest_m - 1
            raise ValueError(f"k is {k}, and there are {m} classes; k must be less than that.")
        if found.form != "single" and not known.multilabel:
            raise ValueError(
                f"{loss} is a loss of one label an example; for label sets choose one whose name "
                "begins with multilabel or ova."
            )

    @contextlib.contextmanager
    def _stored(self, client: Any) -> Iterator[Store | None]:
        """Yield the folder of checkpoints: the user's, or one for this fit only."""
        if self.checkpoint is not None:
            yield Store(str(self.checkpoint))
            return
        with tempfile.TemporaryDirectory(prefix="shortlist-", ignore_cleanup_errors=True) as at:
            # Where there is no folder that all workers see, every round is remembered instead.
            yield Store(at) if all_see(client, at) else None

    @contextlib.contextmanager
    def _watched(self) -> Iterator[Callback | None]:
        """Yield the callback of the rounds: a bar, and the user's."""
        watchers: list[Callback] = list(self.callbacks)
        with contextlib.ExitStack() as stack:
            if self.verbose:
                watchers.append(stack.enter_context(ProgressBar(self.tol, "round")))

            def watch(progress: Progress) -> bool:
                answers = [watcher(progress) for watcher in watchers]  # all of them see it
                return any(answers)

            yield watch if watchers else None

    def _keep(self, result: rounds.Result, chunks: Chunks, found: Survey) -> None:
        d, weights = chunks.columns, result.weights
        self.classes_ = found.classes
        self.n_features_in_ = d
        self.__dict__.pop("feature_names_in_", None)
        if chunks.names is not None:
            self.feature_names_in_ = np.array(chunks.names, object)
        self.coef_ = np.ascontiguousarray(weights[:d].T)
        self.intercept_ = np.zeros(weights.shape[1], weights.dtype)
        if self.fit_intercept:
            self.intercept_ = weights.dtype.type(self.intercept_scaling) * weights[d]
        self.certificate_ = result.certificate
        self.history_ = result.history
        self.status_ = result.status.value
        self.converged_ = self.status_ == "converged"
        self.n_iter_ = int(result.history[-1].epoch)
        self._target_form = found.form

    # From a fitted model to a local one

    def _unfitted(self) -> Any:
        """Return the local estimator with the same parameters."""
        return self._local(**{name: getattr(self, name) for name in self._shared})

    def to_local(self) -> Any:
        """Return the fitted model as the estimator for arrays in memory.

        It predicts, is saved by `shortlist.models.save`, and goes into pipelines; the solver's
        parameters are its own.

        Returns
        -------
        shortlist.TopKClassifier or shortlist.MultilabelClassifier
        """
        check_is_fitted(self)
        model = self._unfitted()
        kept = (
            *("classes_", "coef_", "intercept_", "certificate_", "history_", "status_"),
            *("converged_", "n_iter_", "n_features_in_", "feature_names_in_", "_target_form"),
            "cut_",
        )
        for name in kept:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._duals = None
        return model

    # Predictions, lazily

    def _map(self, X: Any, method: str, dtype: Any, *shape: int, **parameters: Any) -> Any:
        """Return what the local model answers, chunk by chunk."""
        model = self.to_local()
        X = inputs.as_array(X, "X")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns; {self.n_features_in_} were trained.")
        drop = {"drop_axis": 1} if not shape else {}
        return X.map_blocks(
            _answer, model, method, dtype, shape, parameters, dtype=dtype,
            chunks=(X.chunks[0], *((size,) for size in shape)),
            meta=np.empty((0,) * (1 + len(shape)), dtype), **drop,
        )  # fmt: skip

    def _scores(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._map(X, "_scores_of_block", self.coef_.dtype, self.classes_.size)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of all classes, lazily.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.

        Returns
        -------
        dask array, shape (n, m)
            As everywhere in scikit-learn, where y had one of two labels an example: one number
            for each example, shape (n,).
        """
        scores = self._scores(X)
        if self._target_form == "single" and self.classes_.size == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict_topk(self, X: Any, k: int | None = None) -> tuple[Any, Any]:
        """Return the shortlist of each example, lazily.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.
        k : int, optional
            The length of the list; by default the parameter `k`, or all classes if these are
            fewer.

        Returns
        -------
        labels : dask array, shape (n, k)
            The classes with the highest scores, best first.
        scores : dask array, shape (n, k)
            Their scores; computed together with the labels, they are computed once.
        """
        scores, m = self._scores(X), self.classes_.size
        k = min(self.k, m) if k is None else as_k(k, m, "the list of classes")
        chunks = (scores.chunks[0], (k,))
        labels = scores.map_blocks(
            _best_labels, k, self.classes_, chunks=chunks, dtype=self.classes_.dtype
        )
        return labels, scores.map_blocks(_best_scores, k, chunks=chunks, dtype=scores.dtype)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return probabilities of all classes, lazily; for entropies and `ova_logistic` only.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.

        Returns
        -------
        dask array, shape (n, m)
        """
        check_is_fitted(self)
        return self._map(X, "predict_proba", self.coef_.dtype, self.classes_.size)

    def _share(self, right: Any, sample_weight: Any, X: Any) -> float:
        """Return the weighted share of examples that are right."""
        if sample_weight is None:
            return float(right.mean().compute())
        weights = inputs._aligned(sample_weight, X, "sample_weight")
        above, below = dask.compute((right * weights).sum(), weights.sum())
        return float(above / below)


class TopKClassifier(DistributedClassifier):
    r"""`shortlist.TopKClassifier` on data that lives on many machines, over Dask.

    The same problem is solved to the same certificate, over all partitions; rows stay where they
    are, and the client holds what has the size of the weights. See :doc:`/dask` for when this
    is worth it: for data that do not fit one machine, not for speed on data that do.

    Parameters
    ----------
    loss : str or loss
        One of `shortlist.losses.names` that is convex, or a loss.
    k, smoothing, C, fit_intercept, intercept_scaling, class_weight, tol, max_time
        As in `shortlist.TopKClassifier`; the intercept is regularised.
    solver : {"auto", "accelerated", "cocoa", "lbfgs"}
        "accelerated" is CoCoA+ with momentum, for all losses; "cocoa" is it without; "lbfgs" is
        for smooth losses. "auto" begins with the first, changes to the last where that is likely
        to need fewer rounds, and says so in ``history_.notes``.
    max_rounds : int
        The most rounds: one message of the size of the weights to and from every worker.
    local_epochs : int
        Passes over its examples that every worker makes in a round.
    n_groups : int, optional
        How many groups of partitions are worked on at the same time; by default one for each
        thread of the workers, and more when workers join.
    patience : float
        Seconds after which a round goes on without a slow worker; its answer is added later.
    worker_timeout : float
        Seconds that a fit waits where there is no worker at all; `NoWorkerError` is raised then.
    random_state : int, RandomState or None
        Determines the order in which examples are visited.
    verbose : int
        1 shows a progress bar, with the rounds, the gap and the time that is left.
    callbacks : sequence of callables
        Each is called with every evaluation (see `shortlist.solvers.Progress`); the fit ends
        when one returns true.
    checkpoint : str, optional
        A folder on a file system that all workers see (any URL of `fsspec`), to continue from
        where it exists, and to write to. Without one a temporary folder is used if all workers
        are on this machine; else the scheduler remembers all rounds.
    checkpoint_every : int
        Rounds between two checkpoints.
    resume : bool
        Whether to continue from a checkpoint that is there; else it is written over.
    client : distributed.Client, optional
        By default the current one; if there is none, that of a cluster on this machine that lasts
        as long as the fit.

    Attributes
    ----------
    classes_, coef_, intercept_, certificate_, converged_, status_, n_features_in_
        As in `shortlist.TopKClassifier`; also ``feature_names_in_`` for data frames.
    history_ : History
        One line for each round.
    n_iter_ : int
        Rounds.
    bytes_ : int
        Bytes of weights that the client has sent and received.

    See Also
    --------
    shortlist.TopKClassifier : for what fits into memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from shortlist.dask import TopKClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
    ...     model = TopKClassifier("topk_entropy", k=2, random_state=0).fit(X, y)
    ...     labels, scores = model.predict_topk(X)
    ...     print(labels[:1].compute(), model.converged_)
    [[0 1]] True
    """

    _local = estimators.TopKClassifier

    def _check_form(self, single: bool) -> None:
        if not single:
            raise ValueError(
                "y has a set of labels for each example: use MultilabelClassifier, or pass one "
                "label an example."
            )

    def predict(self, X: Any) -> Any:
        """Return the class with the highest score, lazily.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.

        Returns
        -------
        dask array, shape (n,)
        """
        check_is_fitted(self)
        return self._map(X, "predict", self.classes_.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, k: int = 1) -> float:
        """Return the accuracy: how often the label is among the k best.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.
        y : dask array or series
            The labels.
        sample_weight : dask array or array_like, optional
            Weights of the examples.
        k : int
            A label is among the k best unless k others score strictly higher; k = 1 is the
            accuracy of `predict`.

        Returns
        -------
        float
        """
        X = inputs.as_array(X, "X")
        truth = inputs._aligned(y, X, "y")
        if k == 1:
            right = da.map_blocks(np.equal, self.predict(X), truth, dtype=bool)
        else:
            k = as_k(k, self.classes_.size, "the list of classes")
            right = da.map_blocks(
                _is_listed, self._scores(X), truth[:, None], self.classes_, k, dtype=bool,
                drop_axis=1,
            )  # fmt: skip
        return self._share(right, sample_weight, X)


class MultilabelClassifier(DistributedClassifier):
    r"""`shortlist.MultilabelClassifier` on data that lives on many machines, over Dask.

    Labels are an indicator matrix, a Dask array with dense or CSR chunks, or one label an example.

    Parameters
    ----------
    loss : str or loss
        "ova_logistic" and "ova_svm" (binary relevance), "multilabel_svm" and
        "multilabel_softmax" (labels against other classes), or a loss.
    threshold : float, array_like or rule
        Which labels are predicted: those whose scores reach a number, or one number for each label;
        or a rule of `shortlist.model_selection.thresholds` that needs no scores.
    k, smoothing, C, solver, fit_intercept, intercept_scaling, class_weight, tol, max_rounds
        As in `TopKClassifier`.
    local_epochs, max_time, n_groups, patience, worker_timeout, random_state, verbose, callbacks
        As in `TopKClassifier`.
    checkpoint, checkpoint_every, resume, client
        As in `TopKClassifier`.

    Attributes
    ----------
    cut_ : Cut
        The fitted rule.
    classes_, coef_, intercept_, certificate_, history_, converged_, status_, n_iter_, bytes_
        As in `TopKClassifier`.

    See Also
    --------
    shortlist.MultilabelClassifier : for what fits into memory.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from shortlist.dask import MultilabelClassifier
    >>> X = da.from_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]), chunks=2)
    >>> Y = da.from_array(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]), chunks=2)
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
    ...     model = MultilabelClassifier(C=10.0).fit(X, Y)
    ...     print(model.predict(X[:2]).compute())
    [[1 0]
     [0 1]]
    """

    _local = estimators.MultilabelClassifier
    _shared = (*DistributedClassifier._shared, "threshold")

    def __init__(
        self,
        loss: Any = "ova_logistic",
        *,
        threshold: Any = 0.0,
        k: int = 5,
        smoothing: float = 1.0,
        C: float = 1.0,
        solver: str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_rounds: int = 1000,
        local_epochs: int = 1,
        max_time: float = math.inf,
        n_groups: int | None = None,
        patience: float = 60.0,
        worker_timeout: float = 300.0,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | None = None,
        checkpoint_every: int = 10,
        resume: bool = True,
        client: Any = None,
    ) -> None:
        super().__init__(
            loss, k=k, smoothing=smoothing, C=C, solver=solver, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, class_weight=class_weight, tol=tol,
            max_rounds=max_rounds, local_epochs=local_epochs, max_time=max_time,
            n_groups=n_groups, patience=patience, worker_timeout=worker_timeout,
            random_state=random_state, verbose=verbose, callbacks=callbacks, checkpoint=checkpoint,
            checkpoint_every=checkpoint_every, resume=resume, client=client,
        )  # fmt: skip
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_form(self, single: bool) -> None:
        if thresholds.make(self.threshold).needs_scores:
            raise ValueError(
                f"threshold {self.threshold!r} needs scores of models that have not seen the "
                "examples: pass a number, or tune it on to_local() and other data."
            )

    def _keep(self, result: rounds.Result, chunks: Chunks, found: Survey) -> None:
        super()._keep(result, chunks, found)
        self.__dict__.pop("cut_", None)
        if found.form != "single":
            nobody = read_sets(np.zeros((1, found.classes.size), np.int64)).labels
            self.cut_ = thresholds.make(self.threshold).fit(None, nobody)
            self.cut_.label_sets(np.zeros((1, found.classes.size)))  # as many as labels

    def predict(self, X: Any) -> Any:
        """Return the labels that the threshold lets pass, lazily.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.

        Returns
        -------
        dask array, shape (n, m)
            1 where a label holds, else 0. Where y had one label an example: the label with the
            highest score, shape (n,).
        """
        check_is_fitted(self)
        if self._target_form == "single":
            return self._map(X, "predict", self.classes_.dtype)
        return self._map(X, "_label_sets_of_block", np.int64, self.classes_.size)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of examples whose labels are all right, and no other.

        Parameters
        ----------
        X : dask array or dask data frame, shape (n, d)
            The examples.
        y : dask array
            The labels, as for `fit`.
        sample_weight : dask array or array_like, optional
            Weights of the examples.

        Returns
        -------
        float
        """
        X = inputs.as_array(X, "X")
        truth, predicted = inputs._aligned(y, X, "y"), self.predict(X)
        if self._target_form == "single":
            right = da.map_blocks(np.equal, predicted, truth, dtype=bool)
        else:
            right = da.map_blocks(_is_right, predicted, truth, dtype=bool, drop_axis=1)
        return self._share(right, sample_weight, X)


def _is_smooth(loss: Any) -> bool:
    return traits(loss).smoothing > 0.0


def _size(partition: partitions.Partition | None) -> Size | None:
    return None if partition is None else partitions.size_of(partition)


def _values(engine: DaskEngine, handles: Sequence[Handle]) -> list[Any]:
    """Return values that belong to partitions; an error names the first that has one."""
    values = []
    for number, handle in enumerate(handles):
        try:
            values.append(engine.value(handle))
        except Exception as error:
            raise first_error(number, error) from None
    return values


def _answer(
    block: Any, model: Any, method: str, dtype: Any, shape: tuple[int, ...], parameters: Any
) -> NDArray[Any]:
    """Return what a local model answers for one chunk, which may be empty."""
    if block.shape[0] == 0:
        return np.empty((0, *shape), dtype)
    answer: NDArray[Any]
    if method == "_scores_of_block":
        answer = model._scores_of(model._check(block, reset=False))
    elif method == "_label_sets_of_block":
        scores = model._scores_of(model._check(block, reset=False))
        answer = model.cut_.label_sets(scores)
    else:
        answer = getattr(model, method)(block, **parameters)
    return np.asarray(answer, dtype)


def _best_labels(scores: FloatArray, k: int, classes: NDArray[Any]) -> NDArray[Any]:
    return classes[best_classes(scores, k)[0]]


def _best_scores(scores: FloatArray, k: int) -> FloatArray:
    return best_classes(scores, k)[1]


def _is_listed(
    scores: FloatArray, truth: NDArray[Any], classes: NDArray[Any], k: int
) -> NDArray[np.bool_]:
    if scores.shape[0] == 0:
        return np.empty(0, np.bool_)
    own = read_single(truth[:, 0], classes).labels.indices
    higher = (scores > np.take_along_axis(scores, own[:, None], axis=1)).sum(axis=1)
    listed: NDArray[np.bool_] = higher < k
    return listed


def _is_right(predicted: NDArray[Any], truth: Any) -> NDArray[np.bool_]:
    if predicted.shape[0] == 0:
        return np.empty(0, np.bool_)
    known = read_sets(truth).labels.indicators(np.int64).toarray()
    right: NDArray[np.bool_] = (predicted == known).all(axis=1)
    return right
