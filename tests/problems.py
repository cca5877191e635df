r"""Every proximal map as a convex problem: its gradient, and linear minimisation over its set.

A point x is optimal for a differentiable convex f over a set S when

    <f'(x), x> = min over y in S of <f'(x), y>,

and the difference of the two bounds f(x) - min f. The minimum on the right has a
closed form for each set here (its extreme points), so that optimality is decided
without any algorithm for the map itself.
"""

from __future__ import annotations

import numpy as np

from shortlist import prox


def k_smallest(g, k):
    return np.sort(g)[:k].sum()


class Simplex:
    def __init__(self, radius, equality):
        self.radius, self.equality = radius, equality

    def solve(self, v, **kwargs):
        return prox.simplex(v, self.radius, self.equality, **kwargs)

    def gradient(self, x, v):
        return x - v

    def linear_minimum(self, g):
        lowest = self.radius * g.min()
        return lowest if self.equality else min(lowest, 0.0)

    def infeasibility(self, x):
        off = x.sum() - self.radius
        return max(-x.min(), abs(off) if self.equality else off, 0.0)


class Knapsack:
    """`m` elements between 0 and `upper`."""

    def __init__(self, radius, upper, equality):
        self.radius, self.upper, self.equality = radius, upper, equality

    def solve(self, v, **kwargs):
        return prox.knapsack(v, self.radius, 0.0, self.upper, self.equality, **kwargs)

    def gradient(self, x, v):
        return x - v

    def linear_minimum(self, g):
        whole = int(self.radius // self.upper)
        g = np.sort(g)
        amounts = np.zeros(g.size)
        amounts[:whole] = self.upper
        if whole < g.size:
            amounts[whole] = min(self.radius - whole * self.upper, self.upper)
        return (amounts * (g if self.equality else np.minimum(g, 0))).sum()

    def infeasibility(self, x):
        off = x.sum() - self.radius
        return max(-x.min(), x.max() - self.upper, abs(off) if self.equality else off, 0.0)


class TopKSimplex:
    def __init__(self, k, radius, variant, bias):
        self.k, self.radius, self.variant, self.bias = k, radius, variant, bias

    def solve(self, v, **kwargs):
        return prox.topk_simplex(v, self.k, self.radius, self.variant, self.bias, **kwargs)

    def gradient(self, x, v):
        return x - v + self.bias * x.sum()

    def linear_minimum(self, g):
        if self.variant == "beta":
            g = np.minimum(g, 0)
        return min(self.radius / self.k * k_smallest(g, self.k), 0.0)

    def infeasibility(self, x):
        total = x.sum()
        cap = (total if self.variant == "alpha" else self.radius) / self.k
        return max(-x.min(), x.max() - cap, total - self.radius, 0.0)


class EntropicSimplex:
    def __init__(self, alpha):
        self.alpha = alpha

    def solve(self, z, **kwargs):
        return prox.entropic_simplex(z, self.alpha, **kwargs)

    def gradient(self, x, z):
        return self.alpha * x - z + np.log(x) + 1

    def linear_minimum(self, g):
        return g.min()

    def infeasibility(self, x):
        return max(-x.min(), abs(x.sum() - 1.0))


class EntropicTopKSimplex:
    def __init__(self, k, alpha, variant):
        self.k, self.alpha, self.variant = k, alpha, variant

    def solve(self, b, **kwargs):
        return prox.entropic_topk_simplex(b, self.k, self.alpha, self.variant, **kwargs)

    def gradient(self, x, b):
        s = x.sum()
        return self.alpha * (x + s) - b + np.log(x) - np.log(1 - s)

    def linear_minimum(self, g):
        return TopKSimplex(self.k, 1.0, self.variant, 0.0).linear_minimum(g)

    def infeasibility(self, x):
        return TopKSimplex(self.k, 1.0, self.variant, 0.0).infeasibility(x)
