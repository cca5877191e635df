"""LIBSVM text, read by splitting words: slow, and sharing no code with the package."""

import numpy as np


def read(text):
    """Return rows of {index: value} and lists of labels, as the file writes them."""
    rows, labels = [], []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        labels.append([])
        if ":" not in words[0]:
            labels[-1] = [float(label) for label in words.pop(0).split(",")]
        pairs = [word.split(":") for word in words if not word.startswith("qid:")]
        rows.append({int(index): float(value) for index, value in pairs})
    return rows, labels


def dense(rows, first, d):
    """Return the rows as a matrix."""
    X = np.zeros((len(rows), d))
    for i, row in enumerate(rows):
        for index, value in row.items():
            X[i, index - first] = value
    return X
