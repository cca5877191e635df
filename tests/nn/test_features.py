"""Features of a frozen network: scales, flips, several vectors, stopped and taken up again."""

import nn.needs_torch  # noqa: I001

import numpy as np
import pytest
import torch
from torch.nn import functional

from shortlist import losses, nn, solve

IMAGES = torch.rand(10, 1, 8, 12, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(10) % 3


class Pooled(torch.nn.Module):
    """Maps (n, 4, h, w), or one vector each."""

    def __init__(self, vector=False):
        super().__init__()
        torch.manual_seed(1)
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3), torch.nn.Dropout(), torch.nn.ReLU()
        )
        self.vector = vector

    def forward(self, images):
        maps = functional.avg_pool2d(self.body(images), 3)
        return maps.mean((2, 3)) if self.vector else maps


def batches(size=4, labels=True):
    for i in range(0, 10, size):
        yield (IMAGES[i : i + size], LABELS[i : i + size]) if labels else IMAGES[i : i + size]


def test_one_vector_an_image(tmp_path):
    model = Pooled(vector=True).train()
    store = nn.extract_features(model, batches(), tmp_path)
    assert model.training
    assert model.body[1].training
    expected = model.eval()(IMAGES).detach()
    np.testing.assert_allclose(store.features, expected, atol=1e-6)
    np.testing.assert_array_equal(store.images, np.arange(10))
    np.testing.assert_array_equal(store.labels, LABELS)


def test_scales_flips_and_maps(tmp_path):
    model = Pooled().eval()
    store = nn.extract_features(model, batches(), tmp_path, sides=(8, 16), flips=True)
    views = [IMAGES, functional.interpolate(IMAGES, (16, 24), mode="bilinear", antialias=True)]
    of_views = [model(v).flatten(2).mT for view in views for v in (view, view.flip(-1))]
    expected = torch.cat(of_views, 1).detach()
    n, each, d = expected.shape
    assert each == 2 * (2 * 3) + 2 * (4 * 7)
    np.testing.assert_allclose(store.features, expected.reshape(n * each, d), atol=1e-5)
    np.testing.assert_array_equal(store.images, np.repeat(np.arange(10), each))
    np.testing.assert_array_equal(store.vector_labels(), np.repeat(LABELS.numpy(), each))
    scores = np.random.default_rng(0).normal(size=(n * each, 3))
    np.testing.assert_array_equal(store.pool(scores), scores.reshape(n, each, 3).max(1))


def test_a_stopped_run_is_taken_up_again(tmp_path):
    model = Pooled().eval()
    whole = nn.extract_features(model, batches(), tmp_path / "whole")
    seen = []

    def stopping():
        for number, batch in enumerate(batches()):
            if number == 2:
                raise KeyboardInterrupt
            yield batch

    with pytest.raises(KeyboardInterrupt):
        nn.extract_features(model, stopping(), tmp_path / "parts")
    with pytest.raises(ValueError, match="8 images and is not complete; run extract_features"):
        nn.FeatureStore(tmp_path / "parts")
    with (tmp_path / "parts" / "features.bin").open("ab") as file:
        file.write(b"half a batch")  # as a crash while writing leaves it
    model.register_forward_hook(lambda module, inputs, output: seen.append(len(inputs[0])))
    parts = nn.extract_features(model, batches(), tmp_path / "parts")
    assert seen == [2]  # what is there is not computed again
    np.testing.assert_array_equal(parts.features, whole.features)
    np.testing.assert_array_equal(parts.images, whole.images)
    np.testing.assert_array_equal(parts.labels, whole.labels)
    assert nn.extract_features(model, iter(()), tmp_path / "parts").n_images == 10
    assert seen == [2]


def test_images_alone_and_sets_of_labels(tmp_path):
    model = Pooled(vector=True)
    store = nn.extract_features(model, batches(labels=False), tmp_path / "alone")
    assert store.labels is None
    with pytest.raises(ValueError, match="the store has no labels"):
        store.vector_labels()
    sets = functional.one_hot(LABELS, 3).bool()
    store = nn.extract_features(model, [(IMAGES, sets)], tmp_path / "sets")
    np.testing.assert_array_equal(store.labels, sets)


def test_what_is_refused(tmp_path):
    model = Pooled()
    with pytest.raises(FileNotFoundError, match="holds no features; make them by"):
        nn.FeatureStore(tmp_path)
    with pytest.raises(ValueError, match="the loader gave no batch"):
        nn.extract_features(model, [], tmp_path / "none")
    nn.extract_features(model, batches(), tmp_path / "flips", flips=True)
    with pytest.raises(ValueError, match="was made with sides=None and flips=True; use these"):
        nn.extract_features(model, batches(), tmp_path / "flips")
    with pytest.raises(ValueError, match=r"an array of shape \(10,\)"):
        nn.extract_features(torch.nn.Flatten(0), [torch.ones(10)], tmp_path / "flat")


def test_a_certified_model_becomes_the_last_layer(tmp_path):
    model = Pooled(vector=True).eval()
    store = nn.extract_features(model, batches(), tmp_path)
    solution = solve(store.features, store.vector_labels(), losses.svm(smoothing=1.0), C=10.0)
    head = nn.linear_head(solution.weights.T, np.zeros(3))
    network = torch.nn.Sequential(model, head.float())
    expected = np.asarray(store.features) @ solution.weights
    np.testing.assert_allclose(network(IMAGES).detach(), expected, atol=1e-5)
    nn.SVMLoss(smoothing=1.0)(network(IMAGES), LABELS).backward()
    assert head.weight.grad.isfinite().all()


def test_heads_that_do_not_fit():
    assert nn.linear_head(np.ones((3, 4), np.float32)).bias is None
    assert nn.linear_head(np.ones((3, 4), np.float32)).weight.dtype == torch.float32
    with pytest.raises(ValueError, match="coef has shape"):
        nn.linear_head(np.ones(3))
    with pytest.raises(ValueError, match=r"intercept has shape \(2,\); coef has rows for 3"):
        nn.linear_head(np.ones((3, 4)), np.ones(2))
