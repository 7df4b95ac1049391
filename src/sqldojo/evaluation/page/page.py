"""The report of one chain as one HTML file: it opens from a disk or a server, and needs nothing but itself.

Equal files give equal bytes: nothing in it tells when, where or by whom it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2

from sqldojo.evaluation.page import sections
from sqldojo.evaluation.page.embedding import content_policy, embedded_json, scripts, style_sheet
from sqldojo.evaluation.page.run_files import Run


@dataclass(frozen=True)
class Section:
    """A part of the page; `digest` is of its content, so that a page that is watched replaces what changed."""

    name: str
    title: str
    html: str
    digest: str


# In the order of the page: the template's name, the title, and what the template is given.
_SECTIONS: tuple[tuple[str, str, Callable[[Run], Mapping[str, Any]]], ...] = (
    ("overview", "Overview", sections.overview),
    ("scores", "Scores", sections.scores),
    ("types", "Question types", sections.types),
    ("training", "Training", sections.training),
    ("transcripts", "Transcripts", sections.transcripts),
    ("verifier", "Verifier", sections.verifier),
    ("bank", "Question bank", sections.bank),
    ("cost", "Cost", sections.cost),
    ("provenance", "Provenance", sections.provenance),
)


def build_page(run: Run, *, live: bool = False) -> str:
    """The whole page; a `live` one asks the server that it comes from for changes."""
    templates = _templates()
    parts = [_section(templates, name, title, describe(run)) for name, title, describe in _SECTIONS]
    vega, own = scripts()
    text = templates.get_template("page.html").render(
        chain=run.chain,
        sections=parts,
        style=style_sheet(),
        scripts=(vega, own),
        policy=content_policy((vega, own)),
        live=live,
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair in a model's text is no text


def _section(templates: jinja2.Environment, name: str, title: str, given: Mapping[str, Any]) -> Section:
    html = templates.get_template(f"{name}.html").render(given)
    return Section(name, title, html, hashlib.sha256(html.encode("utf-8", "replace")).hexdigest()[:16])


def _templates() -> jinja2.Environment:
    """Every text is escaped but where a template says `safe`; a name that a template misses is an error."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("sqldojo.evaluation.page", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["embedded"] = embedded_json
    return found
