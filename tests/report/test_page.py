"""A report is one file that is safe to open: nothing escapes into it, and nothing is fetched."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from report import cases
from shortlist import TopKClassifier, losses, report
from shortlist.report import figures, formulas, palette, sentences
from shortlist.report.pixels import drawing

VOID = {"meta", "link", "path", "use", "rect", "circle"}


class Page(HTMLParser):
    """All elements of a page, and the text of some."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(("/".join(self.open[-2:]), data.strip()))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text():
    return report.render(cases.all_studies(), title="All kinds")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_it_is_whole_small_and_the_same_every_time(text, page):
    assert page.open == []
    assert len(text.encode()) < 3_000_000
    assert report.render(cases.all_studies(), title="All kinds") == text


def test_nothing_is_fetched(text, page):
    assert not re.findall(r"(?:https?:)?//[\w.]", text.replace("// ", ""))
    assert "@import" not in text
    for tag, attributes in page.elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    (policy,) = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    assert policy.startswith("default-src 'none';")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


def test_names_inside_pictures_are_unique(page):
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    for _, attributes in page.elements:
        for value in attributes.values():
            for name in re.findall(r"url\(#([^)]+)\)", value or ""):
                assert name in names


def test_the_table_has_every_metric_and_the_best_is_bold(text):
    study = cases.study_of_digits()
    shown = report.render(study)
    for name in study.metrics:
        sign = 1 if name != "rank_loss" else -1
        values = [fit.metrics[name] for fit in study.fits]
        for value in values:
            cell = f"{100 * value:.2f}"
            is_best = sign * value == max(sign * each for each in values)
            assert (f"<b>{cell}</b>" if is_best else f">{cell}<") in shown
    assert 'rank_loss <span aria-hidden="true">↓</span>' in shown
    for fit in study.fits:
        assert f"{fit.gap:.1e}" in shown
        assert f"{fit.certificate['dual']:.7g} and {fit.certificate['primal']:.7g}" in shown
        assert f"more than {sentences.percent(fit.gap)}" in shown


def test_every_kind_of_picture_is_there(page):
    headings = {text for where, text in page.texts if where == "figcaption/b"}
    assert headings >= {
        "Top-k accuracy", "Convergence", "top1 over C", "top2_error over C", "Thresholds",
        "Label cardinality", "Sizes of label sets", "softmax",
    }  # fmt: skip
    svgs = page.all("svg")
    assert sum(each.get("class") == "pixels" for each in svgs) == 8
    assert all("aria-label" in each or each.get("aria-hidden") for each in svgs)


def test_several_values_of_c_have_curves_and_one_row_each():
    models, test = cases.digits()
    other = TopKClassifier("softmax", C=0.001, random_state=0).fit(test.X, test.y)
    study = report.study({"softmax": models["softmax"]}, test.X, test.y, metrics=["top1"])
    more = report.fit_record(other, test.X, test.y, name="softmax", values={"top1": 0.25})
    shown = report.render(report.Study("two", None, study.test, ("top1",), (*study.fits, more)))
    assert "top1 over C" in shown
    assert shown.count('<tr data-series="0">') == 2
    assert ">0.001<" in shown


def test_hostile_names_stay_text():
    text = report.render(cases.hostile_study(), title=cases.HOSTILE)
    page = Page(text)
    assert page.open == []
    assert len(page.all("script")) == 1
    assert "49" not in {text for _, text in page.texts}
    assert ("section/h2", cases.HOSTILE) in page.texts
    labels = [each["aria-label"] for each in page.all("svg") if "aria-label" in each]
    assert not [label for label in labels if "<script>" in label and cases.HOSTILE not in label]
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag


def test_hostile_names_in_pictures():
    fit = report.to_json(cases.study_of_circle().fits[0])
    fit["regions"]["classes"] = [cases.HOSTILE, "b", "c"]
    one = report.from_json(report.Fit, fit | {"name": cases.HOSTILE})
    two = report.from_json(report.Fit, fit | {"name": cases.HOSTILE, "C": 2.0})
    text = report.render(report.Study("x", None, None, ("top1",), (one, two)))
    page = Page(text)
    assert len(page.all("script")) == 1
    assert [where for where, each in page.texts if f"loss = {cases.HOSTILE}" in each] == ["g/text"]


def test_a_title_cannot_end_the_script(tmp_path):
    study = cases.hostile_study()
    report.write(tmp_path / "page.html", study, title="</title><script>bad()</script>")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>bad()" not in text


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_has_a_formula_that_can_be_set(name):
    lines = formulas.formulas_of(name)
    assert lines
    for line in lines:
        assert "<path" in figures.formula(line)


def test_pictures_are_in_the_colours_of_the_page(text):
    pictures = "".join(re.findall(r"<figure>.*?</figure>", text, re.DOTALL))
    assert not re.findall(r"#[0-9a-f]{6}\b", pictures)
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    assert {"ink", "muted", "rule", "series-1"} <= used <= {tone.name for tone in palette.TONES}
    for tone in palette.TONES:
        assert text.count(f"--{tone.name}:{tone.light};") == 2  # the screen and paper
        assert text.count(f"--{tone.name}:{tone.dark};") == 2  # the system's wish and the button


def test_an_image_has_its_pixels():
    svg = drawing((0.0, 0.5, 1.0, 0.0, 0.0, 0.25), (2, 3), 'a "b"')
    assert 'viewBox="0 0 3 2"' in svg
    assert 'opacity="1" d="M2 0h1v1h-1z"' in svg
    assert 'opacity="0.5" d="M1 0h1v1h-1z"' in svg
    assert 'opacity="0.25" d="M2 1h1v1h-1z"' in svg
    assert svg.count("M") == 3
    assert "a &quot;b&quot;" in svg
    assert "<path" not in drawing((0.0, 0.0), (1, 2), "nothing")


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.00083, "0.083%"), (0.0, "0%"), (0.5, "50%"), (1e-9, "0.00000010%"), (float("nan"), "-")],
)
def test_shares_in_percent(share, words):
    assert sentences.percent(share) == words


def test_certificates_in_words():
    fit = cases.study_of_digits().fits[0]
    facts = report.to_json(fit)
    late = report.from_json(report.Fit, facts | {"converged": False, "status": "max_time"})
    assert "before the gap of 0.10% that was asked for: its time was over" in (
        sentences.certificate(late)
    )
    facts["certificate"] = {"primal": 3.0, "gradient_norm": 2e-6}
    assert "not convex" in sentences.certificate(report.from_json(report.Fit, facts))
    assert "2e-06 of that at zero" in sentences.certificate(report.from_json(report.Fit, facts))
