"""Annotations of images become label sets, and the label of the largest object."""

import json

import numpy as np
import pytest

from shortlist.datasets import VOC_CLASSES, read_coco, read_voc


def voc_object(name, box, difficult="0", more=""):
    sides = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
    inside = "".join(f"<{side}>{value}</{side}>" for side, value in sides)
    return (
        f"<object><name>{name}</name><difficult>{difficult}</difficult>{more}"
        f"<bndbox>{inside}</bndbox></object>"
    )


def voc_file(folder, name, *objects):
    head = f"<annotation>\n<filename>{name}.jpg</filename>\n"
    (folder / f"{name}.xml").write_text(head + "\n".join(objects) + "\n</annotation>\n")


PART = "<part><name>head</name><bndbox><xmin>0</xmin></bndbox></part>"


@pytest.fixture
def voc(tmp_path):
    voc_file(
        tmp_path,
        "000002",
        voc_object("dog", (1, 1, 10, 10)),
        voc_object("person", (1, 1, 100, 9.5), more=PART),
        voc_object("dog", (1, 1, 3, 3)),
    )
    voc_file(tmp_path, "000001", voc_object("train", (1, 1, 5, 5), difficult="1"))
    # The largest is decided by area, ends included, and the first of equal ones wins.
    voc_file(tmp_path, "000003", voc_object("cat", (1, 1, 4, 2)), voc_object("sofa", (0, 0, 1, 3)))
    return tmp_path


def test_voc(voc):
    found = read_voc(voc)
    assert found.images == ("000001.jpg", "000002.jpg", "000003.jpg")
    assert found.class_names == VOC_CLASSES
    sets = [{VOC_CLASSES[j] for j in found.Y[[i]].indices} for i in range(3)]
    assert sets == [set(), {"dog", "person"}, {"cat", "sofa"}]
    assert found.Y.dtype == bool
    largest = [VOC_CLASSES[j] if j >= 0 else None for j in found.largest]
    assert largest == [None, "person", "cat"]


def test_voc_with_difficult_objects_and_own_order(voc):
    found = read_voc([voc / "000003.xml", voc / "000001.xml"], difficult=True)
    assert found.images == ("000003.jpg", "000001.jpg")
    assert VOC_CLASSES[found.largest[1]] == "train"


def test_coco(tmp_path):
    """Ids have gaps and any order; sizes are those of boxes, not of masks."""
    content = {
        "images": [{"id": i, "file_name": f"{i}.jpg"} for i in (30, 10, 20)],
        "categories": [{"id": 90, "name": "toothbrush"}, {"id": 1, "name": "person"}],
        "annotations": [
            {"image_id": 10, "category_id": 1, "bbox": [0, 0, 2, 2], "area": 100.0},
            {"image_id": 10, "category_id": 90, "bbox": [5, 5, 3, 2.5], "area": 1.0},
            {"image_id": 30, "category_id": 1, "bbox": [0, 0, 9, 9], "iscrowd": 1},
            {"image_id": 10, "category_id": 1, "bbox": [0, 0, 1, 1]},
        ],
    }
    file = tmp_path / "instances.json"
    file.write_text(json.dumps(content))
    found = read_coco(file)
    assert found.images == ("30.jpg", "10.jpg", "20.jpg")
    assert found.class_names == ("person", "toothbrush")
    np.testing.assert_array_equal(found.Y.toarray(), [[1, 0], [1, 1], [0, 0]])
    assert found.largest.tolist() == [0, 1, -1]
    found = read_coco(file, crowds=False, empty=False)
    assert found.images == ("10.jpg",)
    np.testing.assert_array_equal(found.Y.toarray(), [[1, 1]])
