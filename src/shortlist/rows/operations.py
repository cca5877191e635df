r"""What solvers ask of a storage: generic functions of it.

A storage holds the examples :math:`x_i` and works on a *model*, the array by which it
represents :math:`\sum_i x_i a_i'`: the weights :math:`W` themselves for a linear storage,
the scores of all examples for a kernel. It knows no loss.

Blocks of examples are the waist between storages and losses: a storage gives the scores and
the inner products of a block, and applies the changes that a sweep of the block has made.
"""

from __future__ import annotations

from shortlist._generic import generic

# --- one row at a time, in compiled code: linear storages only ---


@generic
def add_scores(rows, i, weights, out):
    """Add the scores of row `i`, :math:`W' x_i`, to `out`."""


@generic
def add_outer(rows, i, change, weights):
    """Add :math:`x_i change'` to the weights `W`."""


@generic
def prefetch_row(rows, i):
    """Say that row `i` is needed soon: it may be anywhere in memory. A storage may do nothing."""


@prefetch_row.otherwise
def _(rows, i):
    pass


@generic
def dot_row(rows, i, vector):
    """Return the inner product of row `i` with the weights of one class."""


@generic
def add_row(rows, i, weight, vector):
    """Add row `i`, times `weight`, to the weights of one class."""


# --- blocks of examples ---


@generic
def pick(rows, block):
    """Return what the next three functions need of the examples `block`.

    An array with a row for each of them, of which some may be taken; or None.
    """


@generic
def block_scores(rows, block, picked, model):
    """Return the scores of a block as a new array."""


@generic
def block_gram(rows, block, picked, other, other_picked):
    """Return the inner products of the examples of a block with those of another, or itself."""


@generic
def block_apply(rows, block, picked, change, model, part, parts):
    r"""Add :math:`\sum_i x_i change_i'` over a block to the model.

    Of `parts` disjoint parts of the model only the one numbered `part`: parts may be
    changed by different threads at the same time.
    """


# --- all examples ---


@generic
def n_rows(rows):
    """Return the number of examples."""


@generic
def model_rows(rows):
    """Return the number of rows of a model."""


@generic
def is_linear(rows):
    """Return whether a model is the weights of the columns, and not the scores of a kernel."""


@generic
def n_features(rows):
    """Return the number of columns that new examples must have."""


@generic
def n_stored(rows):
    """Return how many numbers a pass over all examples multiplies with each class."""


@generic
def squared_norms(rows):
    """Return the squared lengths of all examples, in float64."""


@generic
def scores(rows, first, last, model):
    """Return the scores of the examples from `first` to `last`; not to be written to."""


@generic
def accumulate(rows, coefficients, model, part, parts):
    r"""Write :math:`\sum_i x_i a_i'` to one part of the model.

    ``coefficients(some)`` returns the :math:`a_i` of a slice of the examples.
    """


@generic
def inner(rows, model, coefficients, other):
    r"""Return :math:`\langle \sum_i x_i a_i', other \rangle` of two models, in float64.

    The first is that sum; ``coefficients(some)`` are as in `accumulate`.
    """


@generic
def new_scores(rows, X, weights):
    """Return the scores of new examples, given as a user gives them, for trained weights."""


@generic
def are_loops_faster(rows, m):
    """Return whether loops over one row at a time beat products of blocks, for `m` classes."""


@generic
def in_order(rows, block):
    """Return the rows of a block as a storage for compiled loops, and where in it they are.

    That is the storage itself, unless its memory is not in the order that these loops are
    compiled for.
    """


@generic
def consecutive(rows):
    """Return how many consecutive rows are best read together; 1 if that does not matter."""


@generic
def weights(rows, model, coefficients):
    """Return the trained weights: those of a linear model, the coefficients of a kernel's."""


# --- for Newton's method: linear storages only ---


@generic
def take(rows, examples):
    """Return a storage of some examples; an intercept may have become a column like others."""


@generic
def dense(rows, examples):
    """Return some examples as a new dense matrix, the intercept as its last column."""


@generic
def squares_times(rows, weights):
    r"""Return :math:`\sum_i x_i^2 w_i'`, the squares of the elements, for weights (n, m)."""


@generic
def has_linear_form(rows):
    """Return whether `as_linear` serves this storage."""


@generic
def as_linear(rows):
    """Return a linear storage with the same inner products.

    And a function that turns its weights into the trained weights of this storage.
    """


@generic
def contents(rows):
    """Return the arrays that make up a storage."""
