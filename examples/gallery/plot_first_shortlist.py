"""
A first shortlist
=================

Handwritten digits, three guesses each. A model that is asked for one label must decide between a 3
and a sloppy 8; a model that may name three is right almost always.
"""

# %%
# Train on part of the digits that come with scikit-learn. The loss aims at lists of three.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from shortlist import TopKClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)
model = TopKClassifier("topk_svm_alpha", k=3, C=0.1, random_state=0).fit(X_train, y_train)
print(f"right at once: {model.score(X_test, y_test):.1%}")
print(f"on the list of three: {model.score(X_test, y_test, k=3):.1%}")

# %%
# The certificate says how far the model can be from the best one with this loss and this C.

print(f"the optimum is between {model.certificate_.dual:.4f} and {model.certificate_.primal:.4f}")

# %%
# Here are pictures whose first guess is wrong, with their lists.

labels, scores = model.predict_topk(X_test)
wrong = (labels[:, 0] != y_test).nonzero()[0][:8]
figure, axes = plt.subplots(2, 4, figsize=(8, 4.6), layout="constrained")
for axis, i in zip(axes.flat, wrong, strict=False):
    axis.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    guesses = ", ".join(str(label) for label in labels[i])
    found = y_test[i] in labels[i]
    axis.set_title(f"{guesses}   (a {y_test[i]})", color="green" if found else "red")
    axis.axis("off")
figure.suptitle("first guess wrong; green: the label is on the list")
plt.show()
