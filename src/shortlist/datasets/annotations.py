"""Objects in images, from Pascal VOC and COCO annotations: label sets, and one label each.

The paper trains multiclass methods on the label of the largest object of an image, by the area
of its bounding box, and multilabel methods on all of its labels.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.datasets import xml
from shortlist.datasets.builder import label_matrix
from shortlist.datasets.files import Source
from shortlist.datasets.numbers import as_float

#: The classes of Pascal VOC.
VOC_CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa"),
    *("train", "tvmonitor"),
)


class Annotations(NamedTuple):
    """The labels of images.

    Attributes
    ----------
    images : tuple of str
        The file name of each image.
    Y : csr_array of bool, shape (n, m)
        The label set of each image.
    largest : ndarray of int, shape (n,)
        The class of the largest object of each image; -1 where there is none.
    class_names : tuple of str
        The name of each class.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from shortlist import datasets
    >>> image = {"id": 1, "file_name": "a.jpg"}
    >>> box = {"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 3]}
    >>> about = {"images": [image], "annotations": [box], "categories": [{"id": 7, "name": "cat"}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "instances.json")
    ...     _ = path.write_text(json.dumps(about))
    ...     found = datasets.read_coco(path)
    >>> found.images, found.class_names, found.largest
    (('a.jpg',), ('cat',), array([0]))
    """

    images: tuple[str, ...]
    Y: scipy.sparse.csr_array
    largest: NDArray[np.int64]
    class_names: tuple[str, ...]


class _Object(NamedTuple):
    """The class of an object and the area of its box."""

    label: int
    area: float


def _annotations(
    images: Sequence[str], objects: Sequence[Sequence[_Object]], class_names: Sequence[str]
) -> Annotations:
    """Return the labels of images with these objects; of equally large ones the first counts."""
    offsets = np.cumsum([0, *map(len, objects)])
    labels = np.array([thing.label for things in objects for thing in things], np.int64)
    largest = [
        max(things, key=lambda thing: thing.area).label if things else -1 for things in objects
    ]
    return Annotations(
        tuple(images),
        label_matrix(labels, offsets, len(class_names)),
        np.array(largest, np.int64),
        tuple(class_names),
    )


def read_voc(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    classes: Sequence[str] = VOC_CLASSES,
    difficult: bool = False,
) -> Annotations:
    """Read Pascal VOC annotations.

    Parameters
    ----------
    files : path or iterable of paths
        One XML file an image, in this order; or a folder, whose XML files are sorted by name.
    classes : sequence of str
        The classes; another one in a file is an error.
    difficult : bool
        Whether objects count that are marked as difficult, which the challenge leaves out.

    Returns
    -------
    Annotations

    Raises
    ------
    DataError
        If a file is damaged; the message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import datasets
    >>> box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    >>> thing = f"<object><name>cat</name><difficult>0</difficult>{box}</object>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "1.xml")
    ...     _ = path.write_text(f"<annotation><filename>1.jpg</filename>{thing}</annotation>")
    ...     found = datasets.read_voc([path])
    >>> found.images, found.class_names[found.largest[0]]
    (('1.jpg',), 'cat')
    """
    if isinstance(files, (str, os.PathLike)):
        files = sorted(Path(files).glob("*.xml")) if Path(files).is_dir() else [files]
    numbers = {name: number for number, name in enumerate(classes)}
    images, objects = [], []
    for file in files:
        source = Source(file)
        root = xml.parse(source)
        name = root.child("filename")
        images.append(name.text if name is not None else Path(file).stem)
        things = [child for child in root.children if child.tag == "object"]
        objects.append(
            [
                _voc_object(source, thing, numbers)
                for thing in things
                if difficult or _text(source, thing, "difficult", "0") != "1"
            ]
        )
    return _annotations(images, objects, classes)


def _text(source: Source, element: xml.Element, tag: str, default: str | None = None) -> str:
    """Return the text of a child: not of a part of an object, which has a name and a box, too."""
    child = element.child(tag)
    if child is not None:
        return child.text
    if default is None:
        raise source.error(f"the element {element.tag} has no {tag}.", element.line)
    return default


def _voc_object(source: Source, thing: xml.Element, numbers: dict[str, int]) -> _Object:
    name = _text(source, thing, "name")
    if name not in numbers:
        raise source.error(f"{name!r} is none of the {len(numbers)} classes.", thing.line)
    box = thing.child("bndbox")
    if box is None:
        raise source.error(f"the object {name!r} has no bndbox.", thing.line)
    try:
        left, top, right, bottom = (
            as_float(_text(source, box, tag)) for tag in ("xmin", "ymin", "xmax", "ymax")
        )
    except ValueError as error:
        if type(error) is not ValueError:  # it names the line already
            raise
        raise source.error(f"the bndbox of {name!r} is not made of numbers.", box.line) from None
    if right < left or bottom < top:
        raise source.error(f"the bndbox of {name!r} ends before it begins.", box.line)
    return _Object(numbers[name], (right - left + 1) * (bottom - top + 1))  # ends are inside


def read_coco(file: str | os.PathLike[str], crowds: bool = True, empty: bool = True) -> Annotations:
    """Read COCO annotations of instances.

    Parameters
    ----------
    file : path
        The JSON file; its categories, sorted by their ids, are the classes.
    crowds : bool
        Whether annotations of crowds count.
    empty : bool
        Whether images without any object are kept.

    Returns
    -------
    Annotations
        Images in the order of the file.

    Raises
    ------
    DataError
        If the file is damaged; the message names the file and the line, or the annotation.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from shortlist import datasets
    >>> image = {"id": 1, "file_name": "a.jpg"}
    >>> boxes = [
    ...     {"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 3]},
    ...     {"image_id": 1, "category_id": 9, "bbox": [0, 0, 9, 9]},
    ... ]
    >>> names = [{"id": 7, "name": "cat"}, {"id": 9, "name": "dog"}]
    >>> about = {"images": [image], "annotations": boxes, "categories": names}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "instances.json")
    ...     _ = path.write_text(json.dumps(about))
    ...     found = datasets.read_coco(path)
    >>> found.Y.toarray(), found.class_names[found.largest[0]]
    (array([[ True,  True]]), 'dog')
    """
    source = Source(file)
    content = _json(source)
    categories = sorted(
        _items(source, content, "categories", id=int, name=str), key=lambda c: c["id"]
    )
    numbers = {category["id"]: j for j, category in enumerate(categories)}
    images = _items(source, content, "images", id=int, file_name=str)
    objects: dict[int, list[_Object]] = {image["id"]: [] for image in images}
    if len(numbers) < len(categories) or len(objects) < len(images):
        raise source.error("two categories, or two images, have the same id.")
    annotations = _items(source, content, "annotations", image_id=int, category_id=int, bbox=list)
    for place, annotation in enumerate(annotations):
        image, category = annotation["image_id"], annotation["category_id"]
        if image not in objects or category not in numbers:
            raise source.error(
                f"annotations[{place}] is of image {image} and category {category}; "
                "one of them is not in the file."
            )
        box = annotation["bbox"]
        if len(box) != 4 or not all(isinstance(x, (int, float)) and x == x for x in box):
            raise source.error(f"annotations[{place}] has the bbox {box}; it must be 4 numbers.")
        if crowds or not annotation.get("iscrowd"):
            objects[image].append(_Object(numbers[category], box[2] * box[3]))
    kept = [image for image in images if empty or objects[image["id"]]]
    return _annotations(
        [image["file_name"] for image in kept],
        [objects[image["id"]] for image in kept],
        [category["name"] for category in categories],
    )


def _json(source: Source) -> dict[str, Any]:
    try:
        content = json.loads(source.text(source.read(), 1))
    except json.JSONDecodeError as error:
        raise source.error(f"it is not JSON ({error.msg}).", error.lineno) from None
    except RecursionError:
        raise source.error("its lists are nested too deeply.") from None
    if not isinstance(content, dict):
        raise source.error("it must hold an object with images, annotations and categories.", 1)
    return content


def _items(
    source: Source, content: dict[str, Any], key: str, **needed: type
) -> list[dict[str, Any]]:
    """Return a list of objects that have what is needed."""
    items = content.get(key)
    if not isinstance(items, list):
        raise source.error(f"it has no list {key!r}.")
    for place, item in enumerate(items):
        for name, kind in needed.items():
            if not isinstance(item, dict) or type(item.get(name)) is not kind:
                raise source.error(f"{key}[{place}] has no {name}, or not a {kind.__name__}.")
    return items
