"""
A network with a top-k loss, and a certified last layer
=======================================================

Every loss is also a loss of torch, with the same values and gradients. Here a small network is
trained with softmax and with the smooth top-3 hinge on digits of which 40 percent have random
labels; then the last layer is replaced by one that is trained to a proven optimum.
"""

# %%
# Data with noise.

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

from shortlist import TopKClassifier, nn

torch.set_num_threads(1)
X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
images = torch.tensor(X / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
labels = np.where(rng.random(y.size) < 0.4, rng.integers(0, 10, y.size), y)
train, test = np.arange(1000), np.arange(1000, y.size)


def network():
    """Return a new network, always with the same weights."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(512, 10),
    )  # fmt: skip


# %%
# An ordinary training loop; the loss goes where ``CrossEntropyLoss`` was.

accuracy, networks = {}, {}
for name, loss in (("softmax", nn.SoftmaxLoss()),
                   ("smooth top-3 svm", nn.TopKSVMLoss(k=3, smoothing=1.0))):  # fmt: skip
    model = networks[name] = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    order = torch.Generator().manual_seed(0)
    accuracy[name] = []
    for _ in range(12):
        for batch in torch.randperm(len(train), generator=order).split(64):
            optimizer.zero_grad()
            loss(model(images[batch]), torch.tensor(labels[batch])).backward()
            optimizer.step()
        metric = nn.TopKAccuracy(k=(1, 3))
        with torch.no_grad():
            metric.update(model(images[test]), torch.tensor(y[test]))
        accuracy[name].append(metric.compute().numpy())

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in accuracy.items():
    top1, top3 = 100 * np.array(values).T
    (line,) = axis.plot(range(1, 13), top3, "-", label=f"{name}, top-3")
    axis.plot(range(1, 13), top1, "--", color=line.get_color(), label=f"{name}, top-1")
axis.set(xlabel="epochs", ylabel="accuracy on clean test labels, %")
axis.legend(fontsize=8)
axis.grid(alpha=0.3)
plt.show()

# %%
# Both overfit the noise with time. Take the body of one network as it is, and train only its
# last layer again, convex and regularised, to a gap of 1e-3: ``to_torch`` puts it back.

body = networks["smooth top-3 svm"][:-1]
with torch.no_grad():
    features = body(images).numpy()
head = TopKClassifier("topk_svm_alpha", k=3, C=1e-3, random_state=0)
head.fit(features[train], labels[train])
certified = torch.nn.Sequential(body, head.to_torch())
metric = nn.TopKAccuracy(k=(1, 3))
with torch.no_grad():
    metric.update(certified(images[test]), torch.tensor(y[test]))
print("network alone:        ", accuracy["smooth top-3 svm"][-1].round(3))
print("with a certified head:", metric.compute().numpy().round(3))
print(f"gap of the head: {head.certificate_.gap:.1e}")
