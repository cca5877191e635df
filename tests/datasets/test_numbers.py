"""Numbers are read as `float` reads them, to the last bit."""

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shortlist._jit import kernel
from shortlist.datasets import read
from shortlist.datasets.numbers import EXACT, HARD, NO_NUMBER, number_texts, scan_number

DIGITS = st.text("0123456789", max_size=25)


@st.composite
def decimals(draw):
    """Any text that is a number, with few digits and with many, near zero and near infinity."""
    whole, fraction = draw(DIGITS), draw(DIGITS)
    if not whole and not fraction:
        whole = "0"
    text = draw(st.sampled_from(["", "+", "-"])) + whole
    if fraction or draw(st.booleans()):
        text += "." + fraction
    if draw(st.booleans()):
        sign = draw(st.sampled_from(["", "+", "-"]))
        text += draw(st.sampled_from("eE")) + sign + str(draw(st.integers(0, 400)))
    return text


@kernel
def scan(data):
    return scan_number(data, 0)


def scanned(text):
    value, after, kind = scan(np.frombuffer(text.encode() + b"\n", np.uint8))
    return value, after, kind


def same(a, b):
    return struct.pack("d", a) == struct.pack("d", b)


@settings(max_examples=500)
@given(decimals())
@example("9007199254740993")  # half way between two numbers
@example("9007199254740992.5")
@example("1.7976931348623158e308")
@example("2.2250738585072011e-308")
@example("2.2250738585072014e-308")
@example("4.9406564584124654e-324")
@example("0.000000000000000000000000000001")
@example("-0")
@example("1e22")
@example("1e23")
@example("123456789012345678e-340")
def test_scanned_as_float_does(text):
    value, after, kind = scanned(text)
    assert after == len(text)
    if kind == EXACT:
        assert same(value, float(text))
    else:
        assert kind == HARD


@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_and_scanned(number):
    """Where a number is normal, the shortest text needs no help but in rare cases."""
    value, _, kind = scanned(number_texts([number])[0])
    assert kind == HARD or same(value, number)


def test_few_numbers_are_hard():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [rng.random(2000), rng.normal(size=2000) * 10.0 ** rng.integers(-290, 290, size=2000)]
    )
    assert sum(scanned(repr(float(number)))[2] == HARD for number in numbers) <= 4


@pytest.mark.parametrize("text", ["", "-", ".", "e5", "1e", "1e+", "nan", "inf", "x1", "+-1"])
def test_no_numbers(text):
    assert scanned(text)[2] == NO_NUMBER


@settings(max_examples=50)
@given(st.lists(decimals().filter(lambda text: math.isfinite(float(text))), min_size=1))
def test_hard_numbers_in_a_file(tmp_path_factory, texts):
    """A file may hold any of them, as labels and as values."""
    file = tmp_path_factory.mktemp("numbers") / "a.svm"
    labels = [text if abs(float(text)) < 2**53 else "1" for text in texts]
    pairs = zip(texts, labels, strict=True)
    file.write_text("".join(f"{label} 1:{text} 2:1\n" for text, label in pairs))
    found = read(file)
    np.testing.assert_array_equal(found.X.toarray()[:, 0], list(map(float, texts)))
    names = np.array([float(name) for name in found.class_names])
    np.testing.assert_array_equal(names[found.y], list(map(float, labels)))


def test_a_number_of_a_thousand_digits(tmp_path):
    text = "0." + "1234567890" * 100
    (tmp_path / "a.svm").write_text(f"{text},2 1:{text}# end\n")
    found = read(tmp_path / "a.svm")
    assert found.X[0, 0] == float(text)
    assert float(found.class_names[0]) == float(text)
