"""A storage of one's own: dense and sparse features side by side, neither copied.

Text often comes as a sparse matrix of words and a few dense numbers. Stacking them makes the dense
ones sparse or the sparse ones dense; this storage leaves both as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shortlist import rows
from shortlist.rows import operations


# [type] Each part is a storage already; an intercept is the last column of the right one.
class SideBySide(NamedTuple):
    """The columns of two storages of the same examples."""

    left: Any
    right: Any
    intercept: float = 0.0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        return self.left.dtype

    def parts(self) -> tuple[Any, Any]:
        """Return both storages, the second with the intercept."""
        return self.left, self.right._replace(intercept=self.intercept)

    def of(self, model: Any) -> tuple[Any, Any]:
        """Return the weights of the columns of both."""
        split = operations.model_rows(self.left)
        return model[:split], model[split:]


def side_by_side(left: Any, right: Any) -> SideBySide:
    """Return the storage of two matrices with one example a row."""
    one, two = rows.as_storage(left), rows.as_storage(right)
    if operations.n_rows(one) != operations.n_rows(two):
        raise ValueError("the two matrices have different numbers of rows.")
    if one.dtype != two.dtype:
        raise ValueError(f"the matrices are {one.dtype} and {two.dtype}; make them alike.")
    return SideBySide(one, two)


# [block] What a block needs: scores and inner products add up, changes go to both.
@operations.pick.register(SideBySide)
def _(rows, block):
    return None  # each part picks its own


@operations.block_scores.register(SideBySide)
def _(rows, block, picked, model):
    return sum(
        operations.block_scores(part, block, operations.pick(part, block), some)
        for part, some in zip(rows.parts(), rows.of(model), strict=True)
    )


@operations.block_gram.register(SideBySide)
def _(rows, block, picked, other, other_picked):
    return sum(
        operations.block_gram(
            part, block, operations.pick(part, block), other, operations.pick(part, other)
        )
        for part in rows.parts()
    )


@operations.block_apply.register(SideBySide)
def _(rows, block, picked, change, model, part, parts):
    for own, some in zip(rows.parts(), rows.of(model), strict=True):
        operations.block_apply(own, block, operations.pick(own, block), change, some, part, parts)


# [all] What is asked of all examples.
@operations.n_rows.register(SideBySide)
def _(rows):
    return operations.n_rows(rows.left)


@operations.model_rows.register(SideBySide)
def _(rows):
    return sum(operations.model_rows(part) for part in rows.parts())


@operations.n_features.register(SideBySide)
def _(rows):
    return sum(operations.n_features(part) for part in rows.parts())


@operations.n_stored.register(SideBySide)
def _(rows):
    return sum(operations.n_stored(part) for part in rows.parts())


@operations.squared_norms.register(SideBySide)
def _(rows):
    return sum(operations.squared_norms(part) for part in rows.parts())


@operations.scores.register(SideBySide)
def _(rows, first, last, model):
    each = zip(rows.parts(), rows.of(model), strict=True)
    return sum(operations.scores(part, first, last, some) for part, some in each)


@operations.accumulate.register(SideBySide)
def _(rows, coefficients, model, part, parts):
    for own, some in zip(rows.parts(), rows.of(model), strict=True):
        operations.accumulate(own, coefficients, some, part, parts)


@operations.inner.register(SideBySide)
def _(rows, model, coefficients, other):
    each = zip(rows.parts(), rows.of(model), rows.of(other), strict=True)
    return sum(operations.inner(part, one, coefficients, two) for part, one, two in each)


@operations.new_scores.register(SideBySide)
def _(rows, X, weights):
    split = operations.n_features(rows.left)
    each = zip(rows.parts(), (X[:, :split], X[:, split:]), rows.of(weights), strict=True)
    return sum(operations.new_scores(part, new, some) for part, new, some in each)


@operations.contents.register(SideBySide)
def _(rows):
    return tuple(array for part in rows.parts() for array in operations.contents(part))


# [constant] Answers that do not depend on the examples.
@operations.is_linear.register(SideBySide)
@operations.has_linear_form.register(SideBySide)
def _(rows):
    return True


@operations.are_loops_faster.register(SideBySide)
def _(rows, m):
    return False  # blocks, always: there are no loops over one row for this storage


@operations.consecutive.register(SideBySide)
def _(rows):
    return max(operations.consecutive(part) for part in rows.parts())


@operations.weights.register(SideBySide)
def _(rows, model, coefficients):
    return model


@operations.as_linear.register(SideBySide)
def _(rows):
    return rows, lambda weights: weights


# [newton] For Newton's method; the others do without.
@operations.take.register(SideBySide)
def _(rows, examples):
    return SideBySide(*(operations.take(part, examples) for part in rows.parts()))


@operations.dense.register(SideBySide)
def _(rows, examples):
    return np.hstack([operations.dense(part, examples) for part in rows.parts()])


@operations.squares_times.register(SideBySide)
def _(rows, weights):
    return np.vstack([operations.squares_times(part, weights) for part in rows.parts()])


# [end]
