r"""Losses as formulas, in the part of LaTeX that matplotlib sets.

Scores are `u`, the label is `y`, a label set `Y`; :math:`x_{[j]}` is the j-th largest element.
"""

from __future__ import annotations

#: The objective, which is the same for all losses.
OBJECTIVE = r"P(W) = \frac{1}{2}\,\|W\|^2 + C\,\sum_i\,L(y_i,\, W^\top x_i)"
#: What a certificate says.
BOUNDS = r"D(V) \ \leq\ \min_W P(W) \ \leq\ P(W)"
GAP = r"\mathrm{gap} = \frac{P - D}{\max\{|P|,\, |D|\}}"

_SIGNS = r"s_j = 1 \ \mathrm{for\ labels,}\ -1 \ \mathrm{for\ others}"
_MARGINS = r"b_j = 1 + u_j - u_y,\ \ j \neq y"
_ENTROPY = r"L = \max_x\ \sum_{j \neq y}\,x_j\,(u_j - u_y - \log x_j) - (1 - s)\,\log(1 - s)"

#: Each is one line, and lines that say what its letters mean.
_FORMULAS = {
    "ova_svm": (r"L = \sum_j\,\max\{0,\ 1 - s_j u_j\}", _SIGNS),
    "ova_logistic": (r"L = \sum_j\,\log(1 + e^{-s_j u_j})", _SIGNS),
    "svm": (r"L = \max\{0,\ \max_{j \neq y}\,(1 + u_j - u_y)\}",),
    "softmax": (r"L = \log\,\sum_j\,e^{u_j - u_y}",),
    "topk_svm_alpha": (r"L = \max\{0,\ \frac{1}{k}\,\sum_{j \leq k}\,b_{[j]}\}", _MARGINS),
    "topk_svm_beta": (r"L = \frac{1}{k}\,\sum_{j \leq k}\,\max\{0,\ b_{[j]}\}", _MARGINS),
    "topk_entropy": (_ENTROPY, r"0 \leq x_j \leq \frac{s}{k},\ \ s = \sum_{j \neq y}\,x_j \leq 1"),
    "topk_entropy_beta": (
        _ENTROPY,
        r"0 \leq x_j \leq \frac{1}{k},\ \ s = \sum_{j \neq y}\,x_j \leq 1",
    ),
    "topk_svm_consistent": (
        r"L = \max\{u_{[1]},\ \max_{j > k}\,"
        r"(\frac{1}{j}\,\sum_{i \leq j}\,u_{[i]} + 1 - \frac{k}{j})\} - u_y",
    ),
    "multilabel_svm": (r"L = \max\{0,\ 1 + \max_{j \notin Y} u_j - \min_{y \in Y} u_y\}",),
    "multilabel_softmax": (r"L = \frac{1}{|Y|}\,\sum_{y \in Y}\,\log\,\sum_j\,e^{u_j - u_y}",),
    "truncated_topk_entropy": (
        r"L = \log\,(1 + \sum_{j \in J}\,e^{u_j - u_y})",
        r"J:\ \mathrm{the\ other\ classes\ without\ their}\ k-1\ \mathrm{best}",
    ),
}


def formulas_of(loss: str) -> tuple[str, ...]:
    """Return the lines of a loss by its name; none for a loss of a user's own."""
    return _FORMULAS.get(loss, ())
