"""What every chart of the page is: a Vega-Lite drawing, the same in words, and the same as a table.

Colours are CSS variables, which the SVG takes from the page's style sheet, so a chart is light or dark as the page is.
Series differ by dash and shape too, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair

from sqldojo.evaluation.page.figures import Table

Row = Mapping[str, Any]

_COLOURS = ("var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond")
_MOST_POINTS = 40  # a longer line has no marks on its points, which would run into one another
HEIGHT = 200


@dataclass(frozen=True)
class Chart:
    """A chart: `name` is its id in the page, `words` say what it shows to those who do not see it.

    `series` are the names of its lines, in the order of the colours, dashes and shapes.
    """

    name: str
    title: str
    words: str
    spec: Mapping[str, Any]
    table: Table
    series: Sequence[str] = ()


@dataclass(frozen=True)
class Line:
    """One series of a line chart: where its numbers stand in a row, and perhaps the bounds of their interval."""

    label: str
    column: str
    low: str = ""
    high: str = ""


def finished(drawing: altair.LayerChart, height: int = HEIGHT) -> dict[str, Any]:
    """The Vega-Lite specification of a drawing as wide as its place, without what depends on altair's defaults.

    It is not validated, which takes longer than all the rest; the tests do that.
    """
    fitted = altair.AutoSizeParams(type="fit-x", contains="padding")
    spec = drawing.properties(width="container", height=height, autosize=fitted).to_dict(validate=False)
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def long_form(rows: Sequence[Row], x: str, lines: Sequence[Line]) -> list[dict[str, Any]]:
    """One row a point: `x`, `value`, its `series`, and `low` and `high` where the series has them."""
    return [
        {"x": row[x], "value": row[line.column], "series": line.label}
        | ({"low": row[line.low], "high": row[line.high]} if line.low else {})
        for line in lines
        for row in rows
        if row.get(line.column) is not None
    ]


def line_chart(
    name: str, title: str, words: str, sources: Sequence[tuple[Sequence[Row], str, Sequence[Line]]],
    *, x_title: str, y_title: str, table: Table, share: bool = False,
) -> Chart:  # fmt: skip
    """Lines over a number that counts up; each source is rows, the column of x, and the lines to draw of them.

    `share` says that all values are shares, drawn in percent from 0 to 100.
    """
    points = [point for rows, x, lines in sources for point in long_form(rows, x, lines)]
    labels = [line.label for _, _, lines in sources for line in lines]
    count = len(labels)
    y_axis = altair.Axis(format="%", tickCount=5) if share else altair.Axis(tickCount=5)
    x_axis = altair.Axis(tickMinStep=1, tickCount=6, format="d", grid=False, labelFlush=False)
    x = altair.X("x:Q", title=x_title, axis=x_axis)
    y = altair.Y("value:Q", title=y_title, axis=y_axis,
                 scale=altair.Scale(domain=[0, 1]) if share else altair.Scale(zero=True))  # fmt: skip
    colour = altair.Color("series:N", scale=altair.Scale(domain=labels, range=list(_COLOURS[:count])), legend=None)
    dash = altair.StrokeDash("series:N", scale=altair.Scale(domain=labels, range=list(_DASHES[:count])), legend=None)
    shape = altair.Shape("series:N", scale=altair.Scale(domain=labels, range=list(_SHAPES[:count])), legend=None)
    tooltip = [altair.Tooltip("series:N", title="line"), altair.Tooltip("x:Q", title=x_title),
               altair.Tooltip("value:Q", title="value", format=".1%" if share else ".4g")]  # fmt: skip
    data = altair.Data(values=points)
    layers = [altair.Chart(data).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)]
    if any("low" in point for point in points):
        bars = altair.Chart(data).transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
        layers.append(bars.encode(x=x, y=altair.Y("low:Q", title=y_title), y2="high:Q", color=colour))
    few = max((len(rows) for rows, _, _ in sources), default=0) <= _MOST_POINTS
    dots = altair.Chart(data).mark_point(size=36 if few else 120, filled=True, opacity=1 if few else 0)
    layers.append(dots.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip))
    return Chart(name, title, words, finished(altair.layer(*layers)), table, labels)
