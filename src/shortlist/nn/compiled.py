"""Compiled loops over rows, on the memory of tensors and on torch's number of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

#: A thread is worth its start for this many scores, about a millisecond of work.
_SCORES_OF_A_THREAD = 500_000


def over_rows(
    kernel: Callable[..., None], scores: Tensor, labels: Tensor, *parameters: Any
) -> tuple[Tensor, Tensor]:
    """Return the values (n,) and the gradient (n, m) that a kernel writes, on a CPU.

    The kernel takes rows of scores, their labels, the parameters, and where to write.
    """
    scores = scores.detach().contiguous()
    values, gradient = scores.new_empty(scores.shape[0]), torch.empty_like(scores)
    arrays = [tensor.numpy() for tensor in (scores, labels.contiguous(), values, gradient)]

    def write(part: slice) -> None:
        of_scores, of_labels, of_values, of_gradient = (array[part] for array in arrays)
        kernel(of_scores, of_labels, *parameters, of_values, of_gradient)

    n = scores.shape[0]
    threads = max(1, min(torch.get_num_threads(), n, scores.numel() // _SCORES_OF_A_THREAD))
    parts = [slice(n * i // threads, n * (i + 1) // threads) for i in range(threads)]
    if threads == 1:
        write(parts[0])
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(write, parts))  # raises what a thread has raised
    return values, gradient
