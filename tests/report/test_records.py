"""Records survive a trip through JSON, and refuse what is none of theirs."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib")
from report import cases
from shortlist import report

RECORDS = [
    report.DataFacts, report.Convergence, report.LabelSets, report.Regions, report.Example,
    report.Fit,
]  # fmt: skip


def through_json(record):
    text = json.dumps(report.to_json(record), allow_nan=False)
    return report.from_json(type(record), json.loads(text))


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=15)
@given(data=st.data())
def test_any_record_comes_back(kind, data):
    record = data.draw(st.from_type(kind))
    # What is not finite comes back as NaN, which equals nothing: compare what is written.
    assert report.to_json(through_json(record)) == report.to_json(record)


def test_real_studies_come_back():
    for study in cases.all_studies():
        assert repr(through_json(study)) == repr(study)


def test_files_of_other_versions_are_read():
    facts = report.to_json(report.DataFacts("x", 1, 2, 3))
    del facts["cardinality"]
    assert report.from_json(report.DataFacts, {**facts, "new": 1}).cardinality == 1.0


def test_what_is_not_finite_is_null():
    written = report.to_json(report.Scored("a", math.inf))
    assert written == {"name": "a", "value": None}
    assert math.isnan(report.from_json(report.Scored, written).value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": "many"}, "DataFacts.n is 'many'; it must be of type int"),
        ({"source": 3}, "DataFacts.source is '3'; it must be of type str"),
        ({"cardinality": []}, r"DataFacts.cardinality is '\[\]'; it must be a number"),
        ({"m": None}, "DataFacts.m is 'None'; it must be of type int"),
    ],
)
def test_wrong_values_are_named(change, sentence):
    facts = report.to_json(report.DataFacts("x", 1, 2, 3))
    with pytest.raises(ValueError, match=sentence):
        report.from_json(report.DataFacts, facts | change)


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="Study has no title"):
        report.from_json(report.Study, {})
    with pytest.raises(ValueError, match=r"Study is '\[\]'; it must be a Study"):
        report.from_json(report.Study, [])
    study = report.to_json(cases.study_of_digits())
    study["image"] = [8]
    with pytest.raises(ValueError, match=r"Study\.image has 1 elements; it must have 2"):
        report.from_json(report.Study, study)
    study["image"], study["fits"][1]["topk"][2] = None, "x"
    with pytest.raises(ValueError, match=r"Study.fits\[1\].topk\[2\] is 'x'; it must be a number"):
        report.from_json(report.Study, study)
