"""The figures: drawn from what is recorded, and on the page."""

import re

import numpy as np
import pytest

from paper import circle, figures, render
from paper.record import Record

pytest.importorskip("matplotlib")


def test_nothing_is_drawn_without_numbers(tmp_path):
    assert figures.draw(tmp_path, tmp_path / "figures") == []


def test_figures_show_what_is_recorded(tmp_path):
    timing = Record("timing", tmp_path)
    line = {"seconds": [0.0, 1.0], "gap": [1.0, 1e-4], "top1": [10.0, 90.0]}
    timing.cell("convergence/softmax", lambda: {"history": line})
    timing.cell("fista", lambda: {"history": line, "sdca": line})
    for size in (1000, 10_000):
        timing.cell(f"projections/{size}", lambda size=size: {"values": dict.fromkeys(
            ("simplex", "top1", "top5", "top10"), 1e-9 * size)})  # fmt: skip
    drawn = figures.time(tmp_path)
    a, b, c, d = drawn.axes
    assert [len(place.lines) for place in (a, b, c, d)] == [4, 1, 1, 2]
    assert c.lines[0].get_ydata().tolist() == [10.0, 90.0]
    toy = Record("toy", tmp_path)
    for name in ("svm_smooth", circle.MANY_STARTS):
        toy.cell(name, lambda: {
            "seed": 0, "weights": [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
            "values": {"top1": 60.0, "top2": 90.0},
        })  # fmt: skip
    left, _ = figures.toy(tmp_path).axes
    points = sum(len(each.get_xdata()) for each in left.lines if each.get_linestyle() == "None")
    assert points == circle.SIZES[0]
    files = figures.draw(tmp_path, tmp_path / "figures")
    assert [file.name for file in files] == ["time.svg", "toy.svg"]
    before = [file.read_text() for file in files]
    figures.draw(tmp_path, tmp_path / "figures")
    assert [file.read_text() for file in files] == before


def test_the_inner_ring_is_the_first_label():
    import matplotlib.pyplot as plt

    _, place = plt.subplots()
    figures._draw_lists(place, np.array([[1.0, -1.0, 0.0], [0.0, 0.0, -9.0]]))
    inner = [each for each in place.lines if np.nanmax(np.hypot(*each.get_data())) < 1.2]
    turns = np.arctan2(*inner[2].get_data()[::-1])
    assert np.nanmax(turns) <= 0.0  # class 3 is first below the horizontal axis only
    plt.close("all")


def test_the_page_has_all_figures_that_are_drawn():
    page = render.written()["RESULTS.md"]
    named = re.findall(r"\]\(figures/(\w+)\.svg\)", page)
    assert sorted(named) == sorted(file.stem for file in figures.FOLDER.glob("*.svg"))
    assert set(named) <= set(figures.CAPTIONS)
