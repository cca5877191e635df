"""Losses in torch: forward and backward on a CPU, against cross-entropy and peers, in one run.

Scores are N(0, s^2): at s = 0.1, as after initialisation, many classes are near the best one
and projections have large supports; s = 1 is the paper's set-up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

import torch_peers
from shortlist import losses, nn
from timing import best_seconds, verdict

BATCH, K = 256, 5

#: name: (the loss, how many times cross-entropy it may cost)
OURS = {
    "svm": (losses.svm(), 3.0),
    "smooth svm": (losses.svm(1.0), 3.0),
    f"top-{K} svm alpha": (losses.topk_svm_alpha(K), 3.0),
    f"top-{K} svm beta": (losses.topk_svm_beta(K), 3.0),
    f"smooth top-{K} svm alpha": (losses.topk_svm_alpha(K, 1.0), 3.0),
    f"smooth top-{K} svm beta": (losses.topk_svm_beta(K, 1.0), 3.0),
    "softmax": (losses.softmax(), 5.0),
    f"top-{K} entropy": (losses.topk_entropy(K), 5.0),
    f"top-{K} entropy beta": (losses.topk_entropy_beta(K), 5.0),
    f"truncated top-{K} entropy": (losses.truncated_topk_entropy(K), 5.0),
    f"consistent top-{K} svm": (losses.topk_svm_consistent(K), None),
    f"calibrated top-{K} svm": (nn.CalibratedTopKSvm(K), None),
    f"noised top-{K} svm": (nn.CalibratedTopKSvm(K, noise=1.0), None),
    f"Berrada's smooth top-{K}": (nn.SmoothTopKSvm(K), None),
    f"LapSum top-{K}": (nn.LapSum(K), None),
}
PEERS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    f"smooth-topk's Berrada top-{K}": torch_peers.smooth_topk,
    f"difftopk's SoftSort top-{K}": torch_peers.difftopk_softsort,
    f"LapSum top-{K} by a sort": torch_peers.lapsum,
}


def trained(
    loss: Callable[[Tensor, Tensor], Tensor], scores: Tensor, target: Tensor
) -> Callable[[], None]:
    """Return one forward and backward pass as a function of nothing."""

    def step() -> None:
        scores.grad = None
        loss(scores, target).backward()

    return step


def table(m: int, spread: float, repeat: int) -> None:
    torch.manual_seed(0)
    scores = (torch.randn(BATCH, m) * spread).requires_grad_()
    target = torch.randint(m, (BATCH,))
    functions: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "cross-entropy of torch": functional.cross_entropy
    }
    for name, (loss, _) in OURS.items():
        functions[name] = lambda s, y, loss=loss: nn.value(loss, s, y)
    for name, peer in PEERS.items():
        functions[name] = lambda s, y, peer=peer: peer(s, y, K)
    steps = [trained(function, scores, target) for function in functions.values()]
    # On one thread the time on a processor, which does not depend on who else uses the machine.
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    seconds = dict(zip(functions, best_seconds(*steps, repeat=repeat, clock=clock), strict=True))
    unit = seconds["cross-entropy of torch"]
    print(f"\n{BATCH} examples, m = {m}, scores N(0, {spread:g}^2)")
    print(f"{'':32}{'ms':>9}{'ratio':>9}")
    for name, took in seconds.items():
        target_ratio = OURS[name][1] if name in OURS else None
        ratio = took / unit
        print(
            f"{name:32}{took * 1e3:9.2f}{ratio:9.2f}  {verdict(ratio, target_ratio, False)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="m = 1000 only")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} thread(s), float32")
    for m in (1000,) if options.quick else (1000, 10_000):
        for spread in (0.1, 1.0, 5.0):
            table(m, spread, repeat=40 if m == 1000 else 6)


if __name__ == "__main__":
    main()
