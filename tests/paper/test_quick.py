"""The part that runs in continuous integration."""

import pytest

from paper import quick
from paper.quick import Range

STATED = {("set", "row", "top1"): Range(70.0, 80.0)}


@pytest.mark.parametrize(
    ("value", "missed", "expected"),
    [
        (75.0, 0, []),
        (69.0, 0, ["set, row, top1 is 69; it must be from 70 to 80."]),
        (float("nan"), 0, ["set, row, top1 is nan; it must be from 70 to 80."]),
        (75.0, 2, ["set, row: 2 fits have no certificate."]),
    ],
)
def test_complaints(value, missed, expected):
    cell = {"values": {"top1": value}, "search": {"missed": missed}}
    assert quick.complaints("set", "row", cell, STATED) == expected


def test_a_number_outside_its_range_fails(monkeypatch, capsys):
    cell = {"values": {"top1": 1.0}, "search": {"missed": 0}}
    monkeypatch.setattr(quick, "ranges", lambda: STATED)
    monkeypatch.setattr(quick, "parts", lambda: [("set", "row", lambda: cell)])
    assert quick.main() == 1
    assert "set, row, top1 is 1" in capsys.readouterr().err


def test_ranges_are_narrow():
    stated = quick.ranges()
    assert {dataset for dataset, *_ in stated} == {"circle", "letter", "emotions"}
    for (_, _, metric), (low, high) in stated.items():
        assert 0.0 < high - low <= (0.05 if metric.endswith("loss") else 6.0)
