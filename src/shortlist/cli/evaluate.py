"""Measure a model on examples whose labels are known."""

from __future__ import annotations

from shortlist.cli import words
from shortlist.cli.console import guarded, print_facts, print_json


@guarded
def evaluate(
    model: words.Model,
    data: words.Data,
    metric: words.Metrics = None,
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Measure a model on examples whose labels are known.

    shortlist evaluate model.shortlist test.svm --metric top1,top5
    """
    from shortlist import models
    from shortlist.cli.data import Known, aligned, parse_options, read_alike
    from shortlist.report import measuring

    names = words.split(metric)
    measuring.check(names)
    fitted = models.load(model)
    known = Known.of(fitted, models.describe(model)["trained_on"])
    examples = read_alike(data, file_format, parse_options(read), known, labels=True)
    names = names or measuring.usual(fitted.classes_.size, fitted._target_form != "single")
    values = measuring.measure(fitted, examples.X, aligned(examples, fitted), names)
    if as_json:
        print_json({"model": str(model), "source": examples.source, "n": examples.n} | values)
    else:
        print_facts({name: f"{value:.4f}" for name, value in values.items()})
