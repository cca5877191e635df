"""The directive ``recorded``: a table of measurements, with the command and the machine.

A file of ``docs/recorded`` is JSON: title, command, machine, date, conditions, columns, rows, and
notes. Benchmarks write such files (``--record``, see ``benchmarks/recording.py``); what was
measured before is kept in the same form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parent.parent / "recorded"
_ABOUT = ("machine", "date", "conditions")


def table_of(columns: list[str], rows: list[list[Any]]) -> nodes.table:
    """Return a table of text."""
    group = nodes.tgroup(cols=len(columns))
    group += [nodes.colspec(colwidth=1) for _ in columns]
    head, body = nodes.thead(), nodes.tbody()
    head += _row(columns)
    body += [_row(row) for row in rows]
    group += [head, body]
    return nodes.table("", group, classes=["recorded"])


def _row(cells: list[Any]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", nodes.paragraph(text=str(cell)))
    return row


class Recorded(SphinxDirective):
    """``.. recorded:: name`` shows ``docs/recorded/name.json``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, and under it how it was measured."""
        file = FOLDER / f"{self.arguments[0]}.json"
        self.env.note_dependency(str(file))
        if not file.exists():
            command = f"python benchmarks/bench_{self.arguments[0]}.py --record"
            words = nodes.literal(command, command)
            return [nodes.paragraph("", "Not measured yet: run ", words, nodes.Text("."))]
        result = json.loads(file.read_text())
        parts: list[nodes.Node] = [table_of(result["columns"], result["rows"])]
        for note in result.get("notes", []):
            parts.append(nodes.paragraph(text=note))
        command = nodes.literal_block(result["command"], result["command"], language="none")
        about = "; ".join(str(result[key]) for key in _ABOUT if result.get(key))
        parts += [command, nodes.paragraph(text=f"{about}.", classes=["how-measured"])]
        return parts


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("recorded", Recorded)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
