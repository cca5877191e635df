"""The reference has every public name, and every one of them has an example that runs."""

import doctest
import importlib
import inspect
import re

import pytest

from docs.snippets import ROOT

MODULES = (
    "shortlist", "shortlist.bayes", "shortlist.datasets", "shortlist.estimators",
    "shortlist.losses", "shortlist.metrics", "shortlist.model_selection",
    "shortlist.model_selection.thresholds", "shortlist.models", "shortlist.nn", "shortlist.prox",
    "shortlist.report", "shortlist.rows", "shortlist.solvers", "shortlist.special",
    "shortlist.tuning",
)  # fmt: skip
#: A room whose records and pictures have one example for all of them, in its own docstring.
ONE_EXAMPLE = "shortlist.report"
#: Functions compiled by Numba, in which pytest sees no docstring.
COMPILED = "shortlist.special"


def listed():
    """Return the full names that the pages of the reference list."""
    names = set()
    for page in (ROOT / "docs" / "reference").glob("*.rst"):
        module = ""
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. auto\w+:: (\S+)", line):
                names.add(found[1])
            elif found := re.fullmatch(r"   ([A-Za-z_][\w.]*)", line):
                names.add(f"{module}.{found[1]}")
    return names


def public_names():
    """Return the public names of a module by module."""
    for name in MODULES:
        if name == "shortlist.nn":
            pytest.importorskip("torch")
        module = importlib.import_module(name)
        every = getattr(module, "__all__", None) or [
            one for one, value in vars(module).items()
            if not one.startswith("_") and getattr(value, "__module__", "") == name
        ]  # fmt: skip
        for one in every:
            value = getattr(module, one)
            if not inspect.ismodule(value) and not one.startswith("__"):
                yield module, one, value


def found(name):
    """Return what a full name of the reference stands for."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last)
    except (AttributeError, ModuleNotFoundError):
        return importlib.import_module(name)


def test_every_public_name_is_in_the_reference():
    documented = {id(found(name)) for name in listed() if name.startswith("shortlist")}
    missing = [
        f"{module.__name__}.{name}"
        for module, name, value in public_names()
        if id(value) not in documented
    ]
    assert not missing


def test_every_public_function_and_class_has_an_example():
    without = [
        f"{module.__name__}.{name}"
        for module, name, value in public_names()
        if (inspect.isclass(value) or callable(value))
        and not hasattr(value, "__origin__")  # a type alias
        and module.__name__ != ONE_EXAMPLE
        and ">>> " not in (inspect.getdoc(value) or "")
    ]
    assert not without


def test_examples_of_compiled_functions():
    module = importlib.import_module(COMPILED)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name))
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        assert test.examples
        runner.run(test)
    assert runner.summarize().failed == 0
