"""scikit-learn's own callbacks, where the installed version has them: evaluations are tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from shortlist._arrays import FloatArray
from shortlist.solvers.result import Progress

#: The attributes of an estimator that was fitted to given weights.
Fitted: TypeAlias = Callable[[FloatArray], dict[str, Any]]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


class Tasks:
    """A callback of the solver that shows every evaluation to scikit-learn's callbacks."""

    def __init__(self, estimator: Any, X: Any, y: Any, fitted: Fitted) -> None:
        self.estimator, self.fitted, self.data = estimator, fitted, {"X": X, "y": y}
        self.whole = estimator._init_callback_context(max_subtasks=None)

    @staticmethod
    def has_followers(estimator: Any) -> bool:
        """Return whether anybody follows the fit of an estimator."""
        return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")

    def __enter__(self) -> Tasks:
        self.whole.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self

    def __exit__(self, *error: object) -> None:
        self.whole.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def __call__(self, progress: Progress) -> bool:
        """Show an evaluation as a task that has ended."""
        task = self.whole.subcontext(task_name="evaluation")
        task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        stop = task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self.fitted(progress.weights()),
            **self.data,
        )
        return bool(stop)
