"""The directive ``loss-facts``: what the code itself says of a loss, as a short table."""

from __future__ import annotations

import inspect
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from shortlist import losses
from shortlist.losses.operations import derivative, traits


def facts(name: str) -> dict[str, str]:
    """Return what is known of a loss by its name."""
    entry = losses.entry(name)
    loss = losses.make_from(name, k=2, smoothing=1.0)
    known = traits(loss)
    signature = ", ".join(str(p) for p in inspect.signature(entry.make).parameters.values())
    smooth = "with smoothing > 0" if "smoothing" in entry.parameters else "yes"
    least = "k + 1" if "k" in entry.parameters else str(max(known.smallest_m, 2))
    return {
        "made by": f"losses.{name}({signature})",
        "labels": "any number an example" if known.multilabel else "one an example",
        "classes": f"at least {least}",
        "convex": "yes" if known.convex else "no: trained by a gradient method, without a gap",
        "smooth": smooth,
        "probabilities": "yes (predict_proba)" if known.entropic else "no",
        "Newton's method": "yes" if derivative.serves(type(loss)) else "no",
    }


class LossFacts(SphinxDirective):
    """``.. loss-facts:: name``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a field list."""
        listed = nodes.field_list()
        for name, text in facts(self.arguments[0]).items():
            content: nodes.Node = nodes.Text(text)
            if name == "made by":
                content = nodes.literal(text, text)
            listed += nodes.field(
                "",
                nodes.field_name(name, name),
                nodes.field_body("", nodes.paragraph("", "", content)),
            )
        return [listed]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("loss-facts", LossFacts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
