"""Cells on disk: what is done is not done again, and a crash loses nothing."""

import json

import pytest

from paper.record import Record


def test_cells_are_computed_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"values": {"top1": 50.0}}

    first = Record("set", tmp_path).cell("softmax/0", compute)
    assert Record("set", tmp_path).cell("softmax/0", compute) == first
    assert calls == [1]
    assert first["seconds"] >= 0.0
    assert "cores" in first["machine"]


def test_a_crash_keeps_what_was_done(tmp_path):
    def crash():
        raise RuntimeError

    record = Record("set", tmp_path)
    record.cell("one/0", lambda: {"values": {"top1": 1.0}})
    with pytest.raises(RuntimeError):
        record.cell("two/0", crash)
    assert list(Record("set", tmp_path).cells) == ["one/0"]


def test_two_runs_keep_both_cells(tmp_path):
    here, there = Record("set", tmp_path), Record("set", tmp_path)
    here.cell("one/0", lambda: {"values": {}})
    there.cell("two/0", lambda: {"values": {}})
    assert sorted(json.loads(here.file.read_text())) == ["one/0", "two/0"]
