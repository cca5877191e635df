"""Features of a frozen network in a store on disk: written once, resumed, mapped into memory.

A store is a folder: `features.bin` with one vector after the other, `images.bin` with the
number of the image that each is of, `labels.bin`, and `store.json`, which says how much of them
is complete. It is renewed after every batch; what a stopped run wrote beyond it is written again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from shortlist._arrays import FloatArray, as_integer

_FEATURES, _IMAGES, _LABELS, _ABOUT = "features.bin", "images.bin", "labels.bin", "store.json"


class _State(NamedTuple):
    """What is complete in a store, and how it was made."""

    sides: list[int] | None
    flips: bool
    batches: int = 0
    images: int = 0
    vectors: int = 0
    dimension: int = 0
    label_shape: list[int] | None = None
    label_dtype: str | None = None
    complete: bool = False


class FeatureStore:
    """Features on disk, as arrays that are read when they are used.

    Attributes
    ----------
    features : memmap of float32, shape (n_vectors, d)
        Train on it: ``shortlist.solve(store.features, store.vector_labels(), ...)``.
    images : memmap of int64, shape (n_vectors,)
        The image that each vector is of; the vectors of an image are neighbours.
    labels : memmap or None
        The target of each image, as the loader gave it.

    Examples
    --------
    >>> import tempfile
    >>> import torch
    >>> from shortlist import nn
    >>> images, labels = torch.ones(3, 1, 4, 4), torch.tensor([0, 1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = nn.extract_features(torch.nn.Flatten(), [(images, labels)], folder)
    ...     again = nn.FeatureStore(folder)
    ...     again.features.shape, again.vector_labels().tolist()
    ((3, 16), [0, 1, 0])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        folder = Path(path)
        state = _read_state(folder)
        if state is None:
            raise FileNotFoundError(f"{folder} holds no features; make them by extract_features.")
        if not state.complete:
            raise ValueError(
                f"{folder} has features of {state.images} images and is not complete; "
                "run extract_features again to finish it."
            )
        self.features = _map(folder / _FEATURES, "float32", (state.vectors, state.dimension))
        self.images = _map(folder / _IMAGES, "int64", (state.vectors,))
        self.labels: NDArray[Any] | None = None
        if state.label_dtype is not None:
            shape = (state.images, *(state.label_shape or ()))
            self.labels = _map(folder / _LABELS, state.label_dtype, shape)
        self.n_images = state.images

    def vector_labels(self) -> NDArray[Any]:
        """Return the label of each vector: that of its image."""
        if self.labels is None:
            raise ValueError("the store has no labels; the loader gave images only.")
        return np.asarray(self.labels[self.images])

    def pool(self, scores: FloatArray) -> FloatArray:
        """Return the scores of images: of each class, the largest of its image's vectors."""
        begins = np.flatnonzero(np.diff(self.images, prepend=-1))
        if len(scores) != len(self.images):
            raise ValueError(f"there are {len(scores)} scores, and {len(self.images)} vectors.")
        return np.asarray(np.maximum.reduceat(scores, begins, axis=0))


def extract_features(
    model: torch.nn.Module,
    loader: Iterable[Any],
    path: str | os.PathLike[str],
    *,
    sides: Sequence[int] | None = None,
    flips: bool = False,
    device: torch.device | str | None = None,
) -> FeatureStore:
    """Run a network over images and keep what it gives, in a store on disk.

    Every image is seen at each of the scales, and mirrored if asked for [LHS17, section 5.2].
    What the network gives for it is one vector (n, d), several (n, l, d), or a map of them
    (n, d, h, w); all are kept, one after the other. If the store exists already and is not
    complete, batches that are in it are skipped: the loader must give the same images in the
    same order.

    Parameters
    ----------
    model : torch.nn.Module
        The network without its last layer. It is put in evaluation mode for the time.
    loader : iterable
        Batches of images (n, c, h, w), alone or with targets as ``(images, targets, ...)``; any
        input of the network will do where there are no scales and flips.
    path : path
        The folder of the store.
    sides : sequence of int, optional
        The lengths of the images' smaller side, one for each scale; by default images stay as
        they are.
    flips : bool
        Add the mirror image of each.
    device : device, optional
        Where batches go; by default to the first parameter of the network.

    Returns
    -------
    FeatureStore

    Examples
    --------
    >>> import tempfile
    >>> import torch
    >>> from shortlist import nn
    >>> images, labels = torch.ones(3, 1, 4, 4), torch.tensor([0, 1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = nn.extract_features(torch.nn.Flatten(), [(images, labels)], folder)
    ...     store.features.shape, store.n_images
    ((3, 16), 3)
    """
    lengths = None if sides is None else [as_integer(side, "sides", 1) for side in sides]
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    state = _read_state(folder) or _State(lengths, bool(flips))
    if (state.sides, state.flips) != (lengths, bool(flips)):
        raise ValueError(
            f"{folder} was made with sides={state.sides} and flips={state.flips}; "
            "use these, or another folder."
        )
    if not state.complete:
        parameter = next(model.parameters(), None)
        if device is None:
            device = torch.device("cpu") if parameter is None else parameter.device
        modes = {module: module.training for module in model.modules()}
        model.eval()
        try:
            with torch.inference_mode():
                _extract(model, loader, folder, state, device)
        finally:
            for module, training in modes.items():
                module.training = training
    return FeatureStore(folder)


def _extract(
    model: torch.nn.Module,
    loader: Iterable[Any],
    folder: Path,
    state: _State,
    device: torch.device | str,
) -> None:
    """Write the batches that are not in the store, and say after each how far it is."""
    with (
        _opened(folder / _FEATURES, 4 * state.vectors * state.dimension) as features,
        _opened(folder / _IMAGES, 8 * state.vectors) as images,
        _opened(folder / _LABELS, state.images * _label_bytes(state)) as labels,
    ):
        for number, batch in enumerate(loader):
            if number < state.batches:
                continue
            inputs, targets = batch[:2] if isinstance(batch, list | tuple) else (batch, None)
            views = _views(inputs.to(device), state.sides, state.flips)
            vectors = torch.cat([_vectors(model(view)) for view in views], 1).float().cpu()
            n, each, dimension = vectors.shape
            if state.vectors and dimension != state.dimension:
                raise ValueError(
                    f"batch {number} has features of dimension {dimension}; "
                    f"those in {folder} have {state.dimension}."
                )
            features.write(vectors.numpy().tobytes())
            images.write(np.repeat(np.arange(state.images, state.images + n), each).tobytes())
            if targets is not None:
                given = torch.as_tensor(targets).cpu().numpy()
                labels.write(np.ascontiguousarray(given).tobytes())
                state = state._replace(
                    label_shape=list(given.shape[1:]), label_dtype=given.dtype.name
                )
            state = state._replace(
                batches=number + 1,
                images=state.images + n,
                vectors=state.vectors + n * each,
                dimension=dimension,
            )
            for file in (features, images, labels):
                file.flush()
            _write_state(folder, state)
    if state.vectors == 0:
        raise ValueError("the loader gave no batch; there are no features to keep.")
    _write_state(folder, state._replace(complete=True))


def _views(images: Tensor, sides: Sequence[int] | None, flips: bool) -> Iterator[Tensor]:
    """Yield the images at every scale, and their mirror images."""
    for side in [None] if sides is None else sides:
        view = images
        if side is not None:
            height, width = images.shape[-2:]
            scale = side / min(height, width)
            size = (max(side, round(height * scale)), max(side, round(width * scale)))
            view = functional.interpolate(images, size=size, mode="bilinear", antialias=True)
        yield view
        if flips:
            yield view.flip(-1)


def _vectors(output: Tensor) -> Tensor:
    """Return what a network gives as several vectors an image (n, l, d)."""
    if output.ndim == 2:
        return output[:, None]
    if output.ndim == 3:
        return output
    if output.ndim == 4:
        return output.flatten(2).transpose(1, 2)
    raise ValueError(
        f"the network gives an array of shape {tuple(output.shape)}; "
        "vectors (n, d), (n, l, d) or maps (n, d, h, w) can be kept."
    )


def _label_bytes(state: _State) -> int:
    if state.label_dtype is None:
        return 0
    return int(np.dtype(state.label_dtype).itemsize * np.prod(state.label_shape or [1]))


def _opened(path: Path, size: int) -> BinaryIO:
    """Return a file open for writing after its first `size` bytes."""
    path.touch()
    file = path.open("r+b")
    file.truncate(size)
    file.seek(size)
    return file


def _map(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.memmap(path, dtype=dtype, mode="r", shape=shape)


def _read_state(folder: Path) -> _State | None:
    about = folder / _ABOUT
    return _State(**json.loads(about.read_text())) if about.exists() else None


def _write_state(folder: Path, state: _State) -> None:
    """Replace the note at once: it is the old one or the new one, never half of it."""
    new = folder / (_ABOUT + ".new")
    new.write_text(json.dumps(state._asdict()))
    new.replace(folder / _ABOUT)
