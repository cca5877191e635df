"""
Sparse text: which module does a sentence come from?
====================================================

Texts become sparse vectors of words, and are never made dense. The texts are at hand without a
download: the docstrings of SciPy and scikit-learn, cut into paragraphs. The label is the module
that a paragraph is from.
"""

# %%
# Collect paragraphs, and hold out whole functions, not paragraphs, for the test.

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from shortlist import TopKClassifier, metrics

modules = [
    *("scipy.linalg", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.spatial"),
    *("scipy.special", "scipy.stats", "scipy.interpolate", "scipy.integrate", "scipy.ndimage"),
    *("sklearn.cluster", "sklearn.decomposition", "sklearn.ensemble", "sklearn.linear_model"),
    *("sklearn.metrics", "sklearn.model_selection", "sklearn.neighbors", "sklearn.preprocessing"),
]
texts, labels, functions, seen = [], [], [], set()
for name in modules:
    module = importlib.import_module(name)
    for function in sorted(module.__all__):
        text = inspect.getdoc(vars(module).get(function)) or ""
        for paragraph in text.split("\n\n"):
            if len(paragraph) > 80 and ">>>" not in paragraph and paragraph not in seen:
                seen.add(paragraph)
                texts.append(paragraph)
                labels.append(name)
                functions.append(f"{name}.{function}")
y = np.array(labels)
held_out = np.array([sum(name.encode()) % 3 == 0 for name in functions])
train_texts = [text for text, out in zip(texts, held_out, strict=True) if not out]
test_texts = [text for text, out in zip(texts, held_out, strict=True) if out]
print(f"{len(train_texts)} paragraphs to train, {len(test_texts)} to test, {len(modules)} modules")

# %%
# A pipeline, as with any classifier of scikit-learn.

model = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, min_df=2),
    TopKClassifier("topk_entropy", k=3, C=10.0, random_state=0),
).fit(train_texts, y[~held_out])
X = model[0].transform(test_texts)
print(f"{X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in a paragraph")
print(f"gap {model[-1].certificate_.gap:.1e}, {model[-1].n_iter_} passes")

# %%
# Short lists for two paragraphs, and how the accuracy grows with the length of the list.

for i in (5, 300):
    found, scores = model[-1].predict_topk(X[[i]], 3)
    print(f"{test_texts[i][:90]!r}\n   is from {y[held_out][i]}; list: {', '.join(found[0])}\n")

curve = metrics.topk_accuracy_curve(
    y[held_out], model[-1].decision_function(X), classes=model.classes_
)
figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axis.plot(np.arange(1, 11), 100 * curve[:10], "o-")
axis.set(xlabel="length of the list", ylabel="the module is on it, %", xticks=range(1, 11))
axis.grid(alpha=0.3)
plt.show()

# %%
# The words that speak most for some modules: a linear model can be read.

words = model[0].get_feature_names_out()
for j in (0, 3, 10, 15):
    best = np.argsort(-model[-1].coef_[j])[:6]
    print(f"{model.classes_[j]:24} {', '.join(words[best])}")
