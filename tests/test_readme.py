"""Every example in the README runs and shows what it says, and what it names is there."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_readme_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # they write files
    result = doctest.testfile(
        str(README), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted > 10
    assert result.failed == 0


def test_the_two_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.read_text().splitlines()[:25])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_every_file_that_is_linked_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert len(links) > 10
    for link in links:
        assert (README.parent / link).exists(), link
