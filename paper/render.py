"""RESULTS.md and results.html: our numbers beside the paper's.

python -m paper.render          # write both
python -m paper.render --check  # fail where they are not up to date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from paper import conclusions, measured, published, tables
from paper.document import Block, Heading, Items, Text, markdown, page
from paper.features import ABSENT
from paper.multiclass import SETS as MULTICLASS_SETS
from paper.multilabel import HERE as MULTILABEL_SETS
from paper.page import HERE, NAMES, Page
from paper.protocol import TOL
from paper.verdict import AGREES, BETTER, WORSE

TITLE = "The paper, reproduced"


def runnable() -> int:
    """Return how many of the paper's cells can be run with the data that is here."""
    here = {"circle", *MULTICLASS_SETS, *MULTILABEL_SETS}
    numbers = [*map(published.read, ("circle", "multiclass", "multilabel"))]
    return sum(each.dataset in here and each.row in NAMES for part in numbers for each in part)


def build(folder: Path | None = None) -> list[Block]:
    """Return the page."""
    body = Page(folder)
    tables.circle(body)
    tables.multiclass(body)
    tables.multilabel(body)
    tables.single_label(body)
    measured.summary(body)
    measured.timing(body)
    measured.finetune(body)
    return [*_head(body), *body.blocks, *_tail(body)]


def _head(body: Page) -> list[Block]:
    verdicts = [cell.verdict for cell in body.cells.values()]
    total = len(verdicts)
    counts = {name: verdicts.count(name) for name in (AGREES, BETTER, WORSE)}
    good = total - counts[WORSE]
    narrow = sum(
        cell._replace(noise=cell.noise / 2.0).verdict != WORSE for cell in body.cells.values()
    )
    uncertified = [key for key, cell in body.cells.items() if not cell.gap <= TOL]
    missed = sum(cell.missed > 0 for cell in body.cells.values()) - len(uncertified)
    blocks: list[Block] = [
        Heading(TITLE, 1),
        Text(
            'Lapin, Hein, Schiele, "Analysis and Optimization of Loss Functions for Multiclass, '
            'Top-k, and Multilabel Classification": its tables beside ours. Written by '
            "`python -m paper.render` from `paper/published` and `paper/results`; `make paper` "
            "computes what is missing and writes this page."
        ),
        Text(
            "A cell reads: ours ± the standard deviation of one draw / the paper's (the "
            "difference). The draws are seeds or splits; where the paper's cut is published they "
            "are redrawn choices of the parameters. A cell **agrees** if the difference is at most "
            "twice that deviation and one point (0.01 of a loss); ▲ is better by more, ▼ worse by "
            "more. Losses are shares, all else percents. The last column is the largest duality "
            "gap of all fits behind a row (for truncated entropy, which is not convex, the "
            "gradient's norm relative to that at zero), and how many missed 1e-3."
        ),
    ]
    if total:
        blocks.append(
            Text(
                f"**{total} cells compared: {counts[AGREES]} agree, {counts[BETTER]} better, "
                f"{counts[WORSE]} worse: {100 * good / total:.1f} % agree or are better** (with "
                f"one deviation in place of two {100 * narrow / total:.1f} %). Cells whose tested "
                f"fit missed its certificate: {_listed(uncertified)}; cells in which "
                f"only others did, among which C was chosen: {missed}. The paper has "
                f"{runnable()} cells that can be run here: the others are not computed yet, and "
                "nothing is claimed of them."
            )
        )
    holding, failing, open_ = conclusions.judged(body.folder)
    blocks += [
        Heading("The paper's conclusions"),
        Heading("They hold", 3), Items(holding or ["none judged yet"]),
        Heading("They do not", 3), Items(failing or ["none"]),
    ]  # fmt: skip
    if open_:
        blocks += [Heading("Not judged yet", 3), Items(open_)]
    return blocks


def _listed(cells: Sequence[tuple[str, str, str]]) -> str:
    """Return how many cells there are, and which."""
    which = ", ".join(f"{dataset} {NAMES[row]} {metric}" for dataset, row, metric in cells)
    return f"{len(cells)} ({which})" if cells else "none"


def _tail(body: Page) -> list[Block]:
    absent = [
        *(f"{name}: its ConvNet features are not here; given them: "
          f"`python -m paper.features {name} train.npz test.npz`" for name in ABSENT),
        "voc2007, coco: region features are not here; given them: "
        "`python -m paper.regions voc2007 train.npz test.npz`",
        "bookmarks: the files are not here; with them in the folder `SHORTLIST_DATA`: "
        "`python -m paper.multilabel bookmarks`",
        "Table finetune on ImageNet and Places: images and VGG-16 are not here; the losses are "
        "`shortlist.nn.TopKSVMLoss(k, smoothing=1.0)` and `TruncatedTopKEntropyLoss(k)`, the steps "
        "those of `paper/finetune.py`",
    ]  # fmt: skip
    return [
        Heading("Not run yet"),
        Text("Each command computes what is missing and stores each cell when it is done."),
        Items(body.missing or ["nothing"]),
        Heading("Cannot be run here"),
        Items(absent),
    ]


def written(folder: Path | None = None) -> dict[str, str]:
    """Return the two files by name."""
    blocks = build(folder)
    return {"RESULTS.md": markdown(blocks), "results.html": page(blocks, TITLE)}


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    stale = 0
    for name, text in written().items():
        file = HERE / name
        if given.check:
            if not file.exists() or file.read_text() != text:
                print(f"{file} is not up to date: run python -m paper.render.", file=sys.stderr)
                stale = 1
        else:
            file.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
