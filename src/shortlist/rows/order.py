"""In which order a pass visits examples: at random, but kindly to the memory they lie in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def shuffled(
    examples: NDArray[np.int64], together: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return sorted examples in a random order.

    With `together` > 1 the rows of each such group of consecutive ones stay together:
    groups are shuffled, and the examples inside each.
    """
    if together == 1 or examples.size == 0 or examples[-1] < together:
        return rng.permutation(examples)
    group = examples // together
    rank = rng.permutation(int(group[-1]) + 1)
    return examples[np.lexsort((rng.random(examples.size), rank[group]))]
