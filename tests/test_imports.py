"""The arrows between the rooms of the package point one way."""

import ast
from pathlib import Path

import shortlist

PACKAGE = Path(shortlist.__file__).parent

#: A room may import itself and the rooms before it.
ROOMS = [
    "_jit", "_vectors", "_generic", "_arrays", "_files", "special", "prox", "losses", "rows",
    "metrics", "solvers", "model_selection", "estimators", "datasets", "bayes", "nn", "tuning",
    "models", "dask", "report", "cli",
]  # fmt: skip


def imports_of(file):
    """Yield the rooms that a file of the package imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
            if node.module == "shortlist":
                names = [f"shortlist.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert not isinstance(node, ast.ImportFrom), f"{file}: write absolute imports"
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("shortlist."))


def test_every_file_lives_in_a_room():
    rooms = {
        file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in PACKAGE.rglob("*.py")
    }
    assert rooms - {"__init__"} == set(ROOMS)


def test_no_room_imports_a_later_one():
    upward = []
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for imported in imports_of(file):
            if ROOMS.index(imported) > ROOMS.index(room):
                upward.append(f"{file.relative_to(PACKAGE)} imports {imported}")
    assert not upward


def test_numba_is_configured_in_one_place():
    offenders = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file.name not in ("_jit.py", "_vectors.py", "_generic.py")
        and "numba" in file.read_text().replace("Numba", "")
    ]
    assert not offenders
