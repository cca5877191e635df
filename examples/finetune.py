"""Train a small convolutional network on digits with noisy labels: softmax against top-k losses.

A share of the training labels is replaced by random ones. Losses that forgive the best few other
classes do not press a network to explain them. The truncated entropy is not convex and says nothing
of the order within the short list: it fine-tunes the network that softmax has trained.
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import load_digits

from shortlist import nn

EPOCHS, BATCH, RATE = 15, 64, 3e-3
NOISE = (0.0, 0.4, 0.7)
LOSSES = {
    "softmax": nn.SoftmaxLoss(),
    "smooth svm": nn.SVMLoss(smoothing=1.0),
    "smooth top-3 svm": nn.TopKSVMLoss(k=3, smoothing=1.0),
    "top-3 entropy": nn.TopKEntropyLoss(k=3),
    "consistent top-3 svm": nn.ConsistentTopKSVMLoss(k=3, smoothing=1.0),
}
FINE_TUNED = {"softmax, then truncated": nn.TruncatedTopKEntropyLoss(k=3)}


def network() -> torch.nn.Module:
    """Return a new network, always with the same weights."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 10),
    )


def train(
    model: torch.nn.Module, loss: nn.Loss, images: torch.Tensor, labels: torch.Tensor, rate: float
) -> None:
    """Train a network with a loss."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    order = torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels), generator=order).split(BATCH):
            optimizer.zero_grad()
            loss(model(images[batch]), labels[batch]).backward()
            optimizer.step()


def with_noise(labels: np.ndarray, share: float) -> torch.Tensor:
    """Return labels of which a share is random."""
    rng = np.random.default_rng(1)
    wrong = rng.random(len(labels)) < share
    return torch.tensor(np.where(wrong, rng.integers(0, 10, len(labels)), labels))


def main() -> None:
    """Train with every loss at every noise and print one table."""
    X, y = load_digits(return_X_y=True)
    images = torch.tensor(X / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(0).permutation(len(y))
    fit, test = order[:1200], order[1200:]
    print(f"digits: {len(fit)} examples to train, {len(test)} to test, {EPOCHS} epochs")
    print("accuracy on clean labels, in percent, by the share of random labels in training\n")
    print(f"{'':24}" + "".join(f"{f'{share:.0%} random':>24}" for share in NOISE))
    print(f"{'loss':24}" + "".join(f"{k:>8}" for _ in NOISE for k in ("top-1", "top-2", "top-3")))
    for name, loss in {**LOSSES, **FINE_TUNED}.items():
        cells = []
        for share in NOISE:
            model, labels = network(), with_noise(y[fit], share)
            if name in FINE_TUNED:
                train(model, LOSSES["softmax"], images[fit], labels, RATE)
            train(model, loss, images[fit], labels, RATE / 10 if name in FINE_TUNED else RATE)
            accuracy = nn.TopKAccuracy(k=(1, 2, 3))
            with torch.no_grad():
                accuracy.update(model(images[test]), torch.tensor(y[test]))
            cells += [f"{100 * number:8.1f}" for number in accuracy.compute()]
        print(f"{name:24}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
