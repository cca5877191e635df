"""Every snippet and every command on the pages runs and shows what it says."""

import doctest
import re
import shlex
import subprocess
import tomllib

import pytest

from docs.snippets import PAGES, ROOT, commands_of

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: Commands that the page gives to a shell as they are.
SHELL = ("head", "ls", "cat")


README = ROOT / "README.md"


def name_of(page):
    return str(page.relative_to(ROOT))


with_python = [page for page in PAGES if ">>> " in page.read_text()]
with_commands = [page for page in [*PAGES, README] if commands_of(page.read_text())]


@pytest.mark.parametrize("page", with_python, ids=name_of)
def test_python(page, tmp_path, monkeypatch):
    if "torch" in page.read_text() and "import torch" in page.read_text():
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)  # pages write files
    known = {"EXAMPLES": ROOT / "examples"}
    result = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, globs=known)
    assert result.attempted > 0
    assert result.failed == 0


def check_installing(words):
    """That an extra is there to install; installing is what `make` does."""
    *_, what = shlex.split(words)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.fullmatch(r"\.(\[[a-z,]+\])?", what)
    named = re.findall(r"[a-z]+", what)
    assert set(named) <= set(project["optional-dependencies"])


def check_target(words):
    """That the Makefile has a target; running it is what continuous integration does."""
    _, target = words.split()
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M)


def run(words):
    """Return what a command prints."""
    program, *rest = shlex.split(words)
    if program != "shortlist":
        assert program in SHELL, f"this page has a command that no test runs: {words}"
        done = subprocess.run([program, *rest], capture_output=True, text=True, check=True)
        return done.stdout
    typer = pytest.importorskip("typer.testing")
    from shortlist.cli.app import app

    result = typer.CliRunner().invoke(app, rest)
    assert result.exit_code == 0, (words, result.stdout, result.stderr, result.exception)
    return result.stdout


@pytest.mark.parametrize("page", with_commands, ids=name_of)
def test_commands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    for words, expected in commands_of(page.read_text()):
        if words.startswith("pip install"):
            check_installing(words)
        elif words.startswith("make "):
            check_target(words)
        else:
            printed = run(words)
            assert checker.check_output(expected + "\n", printed, FLAGS) or not expected, (
                f"$ {words}\nshould print\n{expected}\nand prints\n{printed}"
            )


def test_every_example_script_that_a_page_names_exists():
    for page in PAGES:
        text = page.read_text()
        for script in re.findall(r"python ((?:examples|benchmarks|docs|paper)/\S+\.py)", text):
            assert (ROOT / script).is_file(), f"{name_of(page)} names {script}"
