"""Table "finetune": a network trained on with softmax, smooth top-k svm or truncated entropy.

The paper fine-tunes VGG-16 on ImageNet and Places. Here a small network learns Letter with
softmax, and is then trained on for a few epochs with each loss; seeds draw its first weights and
the order of the examples. A network has no certificate: these cells have none.
"""

from __future__ import annotations

import argparse
import copy
from typing import Any

import numpy as np

from paper.record import Record
from shortlist import datasets

SEEDS, FIRST, FURTHER, BATCH, RATE = 5, 6, 3, 128, 3e-3
LENGTHS = (1, 3, 5, 10)


def fine_tuned(
    data: tuple[Any, Any, Any, Any], seed: int, first: int = FIRST, further: int = FURTHER
) -> dict[str, dict[str, float]]:
    """Return the accuracies of the first network, and after training on with each loss."""
    import torch

    from shortlist import nn

    X, y, Z, z = (torch.as_tensor(np.asarray(each)) for each in data)
    X, Z = X.float(), Z.float()
    further_losses = {
        "softmax": nn.SoftmaxLoss(),
        "top3_svm_smooth": nn.TopKSVMLoss(k=3, smoothing=1.0),
        "top5_svm_smooth": nn.TopKSVMLoss(k=5, smoothing=1.0),
        "top3_truncated": nn.TruncatedTopKEntropyLoss(k=3),
        "top5_truncated": nn.TruncatedTopKEntropyLoss(k=5),
    }
    torch.manual_seed(seed)
    network = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, int(y.max()) + 1)
    )

    def train(model: Any, loss: Any, epochs: int, rate: float) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        order = torch.Generator().manual_seed(seed)
        for _ in range(epochs):
            for batch in torch.randperm(len(y), generator=order).split(BATCH):
                optimizer.zero_grad()
                loss(model(X[batch]), y[batch]).backward()
                optimizer.step()

    def accuracies(model: Any) -> dict[str, float]:
        with torch.no_grad():
            scores = model(Z)
        ranks = (scores > scores.gather(1, z[:, None])).sum(dim=1)
        return {f"top{k}": 100.0 * float((ranks < k).double().mean()) for k in LENGTHS}

    train(network, further_losses["softmax"], first, RATE)
    found = {"softmax": accuracies(network)}
    for name, loss in further_losses.items():
        model = copy.deepcopy(network)
        train(model, loss, further, RATE / 3)
        found[f"{name}/finetuned"] = accuracies(model)
    return found


def main() -> None:
    """Compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    record = Record("finetune")
    train, test = datasets.load("letter", "trainval"), datasets.load("letter", "test")
    for seed in range(given.seeds):
        if f"softmax/{seed}" in record.cells:
            continue
        found = fine_tuned((train.X, train.y, test.X, test.y), seed)
        for name, values in found.items():
            record.cell(f"{name}/{seed}", lambda values=values: {"values": values})


if __name__ == "__main__":
    main()
