r"""Calibration: which losses lead to the best shortlist [LHS17, section 4].

With infinite data and a model without limits, training minimises the conditional risk
:math:`\sum_y p_y L(y, g)` at every point by itself. A loss is *top-k calibrated* if the scores
that do so have the least possible top-k error, whatever the class probabilities `p`.

=======================  =====================================================================
function                 what it gives
=======================  =====================================================================
`bayes_topk_error`       the least top-k error at given class probabilities
`bayes_error_curve`      the same for all k
`topk_regret`            what the worst shortlist that scores allow loses against it
`is_topk_bayes_optimal`  whether that is nothing
`conditional_risk`       the expected loss of scores
`optimal_scores`         scores of least expected loss, with a certificate
`calibration`            whether a loss is top-k calibrated, or a counterexample
`excess_risk`            how much excess risk each shortlist takes
`excess_risk_curve`      how surrogate regret bounds top-k regret
=======================  =====================================================================
"""

from __future__ import annotations

from shortlist.bayes.error import (
    bayes_error_curve,
    bayes_topk_error,
    is_topk_bayes_optimal,
    topk_regret,
)
from shortlist.bayes.excess import Excess, excess_risk, excess_risk_curve
from shortlist.bayes.optimum import Optimum, conditional_risk, optimal_scores
from shortlist.bayes.verdict import Verdict, Witness, calibration

__all__ = [
    "Excess",
    "Optimum",
    "Verdict",
    "Witness",
    "bayes_error_curve",
    "bayes_topk_error",
    "calibration",
    "conditional_risk",
    "excess_risk",
    "excess_risk_curve",
    "is_topk_bayes_optimal",
    "optimal_scores",
    "topk_regret",
]
