"""A report as one HTML file, that of a chain at first: it opens from a disk or a server, and needs nothing but itself.

Equal files give equal bytes: nothing in it tells when, where or by whom it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True)
class Part:
    """A section before it is written: its name, its title, its template, and what the template is given."""

    name: str
    title: str
    template: str
    given: Mapping[str, Any]


def build_page(run: Run, *, live: bool = False) -> str:
    """The whole page of a chain; a `live` one asks the server that it comes from for changes."""
    parts = [Part(name, title, f"{name}.html", describe(run)) for name, title, describe in _SECTIONS]
    return assemble(parts, [run.chain.model, f"seed {run.chain.seed}"], live=live)


def assemble(parts: Sequence[Part], marks: Sequence[str], *, live: bool = False) -> str:
    """A page of these parts; `marks` say what it is of, in its title and at its top.

    Its scripts want parts named `overview`, `transcripts` and `types`.
    """
    templates = _templates()
    vega, own = scripts()
    text = templates.get_template("page.html").render(
        marks=marks,
        sections=[_section(templates, part) for part in parts],
        style=style_sheet(),
        scripts=(vega, own),
        policy=content_policy((vega, own)),
        live=live,
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair in a model's text is no text


def _section(templates: jinja2.Environment, part: Part) -> Section:
    html = templates.get_template(part.template).render(part.given)
    digest = hashlib.sha256(html.encode("utf-8", "replace")).hexdigest()[:16]
    return Section(part.name, part.title, html, digest)


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
