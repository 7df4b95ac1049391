"""Charts of what checkpoints score: accuracies with intervals, how attempts ended, and type by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair

from sqldojo.evaluation.page.charts import Chart, finished
from sqldojo.evaluation.page.figures import Table, asked, interval, words
from sqldojo.evaluation.score_tables import in_order, percent
from sqldojo.evaluation.summary import grouped, right_attempts
from sqldojo.records import OUTCOMES, Episode
from sqldojo.verifier.audit import SCOPES, score

Scores = Mapping[str, Mapping[str, Mapping[str, Any]]]  # checkpoint -> split -> row, as `Run.scores`

_SMALLEST_LABELLED = 0.07  # a narrower piece of a bar has no room for its figure
_LABELS_IN_A_LINE = 36  # letters of all names below a chart of a third of the page's width
_ROW_HEIGHT, _BAR_HEIGHT = 19, 34  # pixels


def splits_of(scores: Scores) -> list[str]:
    """The splits that any checkpoint has been scored on, in their order."""
    return in_order(split for rows in scores.values() for split in rows)


def accuracy_charts(scores: Scores) -> list[Chart]:
    """One chart a split: the accuracy of each checkpoint with its 95 % interval."""
    return [_accuracy_chart(scores, split) for split in splits_of(scores)]


def _accuracy_chart(scores: Scores, split: str) -> Chart:
    rows = [{"checkpoint": name, **row[split]} for name, row in scores.items() if split in row]
    table = Table(
        f"Accuracy on {split}, %", ("checkpoint", "accuracy", "95 % interval", "questions × attempts"),
        [(row["checkpoint"], percent(row["accuracy"]), interval(row), asked(row)) for row in rows],
    )  # fmt: skip
    return share_chart(f"accuracy-{split}", split, f"Accuracy on {split}", rows, table)


def share_chart(name: str, title: str, what: str, rows: Sequence[Mapping[str, Any]], table: Table) -> Chart:
    """A mark with its 95 % interval for each row's `checkpoint`, of `accuracy`, `accuracy_low` and `accuracy_high`."""
    data = altair.Data(values=[{key: row[key] for key in ("checkpoint", "accuracy", "accuracy_low", "accuracy_high")}
                               for row in rows])  # fmt: skip
    angle = 0 if sum(len(row["checkpoint"]) for row in rows) <= _LABELS_IN_A_LINE else -30
    x = altair.X("checkpoint:N", sort=None, title=None, axis=altair.Axis(labelAngle=angle, grid=False))
    scale, axis = altair.Scale(domain=[0, 1]), altair.Axis(format="%", tickCount=5)
    bars = altair.Chart(data).mark_rule(strokeWidth=2, color="var(--series-1)").encode(
        x=x, y=altair.Y("accuracy_low:Q", title=None, scale=scale, axis=axis), y2="accuracy_high:Q")  # fmt: skip
    dots = altair.Chart(data).mark_point(size=80, filled=True, opacity=1, color="var(--series-1)").encode(
        x=x, y=altair.Y("accuracy:Q", title=None, scale=scale, axis=axis),
        tooltip=["checkpoint:N", *(altair.Tooltip(f"{name}:Q", format=".1%", title=words(name))
                                   for name in ("accuracy", "accuracy_low", "accuracy_high"))])  # fmt: skip
    figures = dots.mark_text(dx=8, align="left", color="var(--text)").encode(
        x=x, y="accuracy:Q", text=altair.Text("accuracy:Q", format=".0%"))  # fmt: skip
    listed = "; ".join(f"{row['checkpoint']} {percent(row['accuracy'])} % {interval(row)}" for row in rows)
    drawing = finished(altair.layer(bars, dots, figures))
    return Chart(name, title, f"{what} with 95 % intervals: {listed}.", drawing, table)


def outcome_charts(scores: Scores) -> list[Chart]:
    """One chart a split: which share of the attempts of each checkpoint ended how."""
    return [_outcome_chart(scores, split) for split in splits_of(scores)]


def _outcome_chart(scores: Scores, split: str) -> Chart:
    rows = [(name, row[split]) for name, row in scores.items() if split in row]
    names = {outcome: words(outcome) for outcome in OUTCOMES}
    table = Table(
        f"How attempts at {split} questions ended, %", ("checkpoint", *names.values(), "questions × attempts"),
        [(name, *(percent(row[outcome]) for outcome in OUTCOMES), asked(row)) for name, row in rows],
    )  # fmt: skip
    return stacked_chart(f"outcomes-{split}", split, f"How attempts at {split} questions ended", rows, names, table)


def stacked_chart(
    name: str, title: str, what: str, rows: Sequence[tuple[str, Mapping[str, Any]]], names: Mapping[str, str],
    table: Table,
) -> Chart:  # fmt: skip
    """A bar for each checkpoint and its shares of outcomes; `names` maps each outcome to its words, in their order."""
    values = []
    for checkpoint, row in rows:
        start = 0.0
        for outcome, text in names.items():
            share = row[outcome]
            values.append({"checkpoint": checkpoint, "outcome": text, "share": share, "start": start,
                           "end": start + share, "middle": start + share / 2})  # fmt: skip
            start += share
    base = altair.Chart(altair.Data(values=[value for value in values if value["share"]]))
    y = altair.Y("checkpoint:N", sort=None, title=None, scale=altair.Scale(domain=[each for each, _ in rows]))
    scale = altair.Scale(domain=list(names.values()), range=[f"var(--{each.replace('_', '-')})" for each in names])
    x = altair.X("start:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=altair.Axis(format="%", tickCount=5))
    bars = base.mark_bar(height=24, stroke="var(--surface)").encode(
        y=y, x=x, x2="end:Q", color=altair.Color("outcome:N", scale=scale, legend=None),
        tooltip=["checkpoint:N", "outcome:N", altair.Tooltip("share:Q", format=".1%")])  # fmt: skip
    figures = base.mark_text(color="var(--on-mark)", fontWeight=600).encode(
        y=y, x=altair.X("middle:Q"), text=altair.Text("share:Q", format=".0%")
    ).transform_filter(f"datum.share >= {_SMALLEST_LABELLED}")  # fmt: skip
    told = "; ".join(
        f"{each}: " + ", ".join(f"{percent(row[outcome])} % {text}" for outcome, text in names.items() if row[outcome])
        for each, row in rows
    )
    drawing = finished(altair.layer(bars, figures), _BAR_HEIGHT * len(rows))
    return Chart(name, title, f"{what}. {told}.", drawing, table)


def type_chart(
    episodes: Mapping[str, Sequence[Episode]], before: str, after: str, title: str = "Accuracy by question type"
) -> Chart:
    """A row for each type and split, a mark for the accuracy of each of two checkpoints.

    The drawing holds all checkpoints; its parameters `before` and `after` say which two are shown.
    """
    values = [value for name, played in episodes.items() for value in _type_values(name, played)]
    splits = in_order(value["split"] for value in values)
    rows = sorted({(value["split"], value["type"]) for value in values}, key=lambda row: (splits.index(row[0]), row[1]))
    data = altair.Data(values=values)
    chosen = [altair.param(name="before", value=before), altair.param(name="after", value=after)]
    y = altair.Y("row:N", sort=[f"{split} · {name}" for split, name in rows], title=None,
                 axis=altair.Axis(labelLimit=330, grid=True, ticks=False))  # fmt: skip
    axis = altair.Axis(format="%", tickCount=5)
    x = altair.X("accuracy:Q", title="accuracy", scale=altair.Scale(domain=[0, 1]), axis=axis)
    line = altair.Chart(data).transform_filter("datum.checkpoint == before || datum.checkpoint == after")
    line = line.mark_line(strokeWidth=3, opacity=0.45, color="var(--muted)").encode(y=y, x=x, detail="row:N")
    tooltip = ["split:N", "type:N", "checkpoint:N", altair.Tooltip("accuracy:Q", format=".1%"), "questions:Q"]
    first = altair.Chart(data).transform_filter("datum.checkpoint == before").mark_point(
        size=70, shape="circle", filled=False, strokeWidth=2, color="var(--muted)", opacity=1,
    ).encode(y=y, x=x, tooltip=tooltip)  # fmt: skip
    second = altair.Chart(data).transform_filter("datum.checkpoint == after").mark_point(
        size=110, shape="diamond", filled=True, color="var(--series-1)", opacity=1,
    ).encode(y=y, x=x, tooltip=tooltip)  # fmt: skip
    drawing = altair.layer(line, first, second).add_params(*chosen)
    said = f"Accuracy of {before} (ring) and {after} (diamond), row by row."
    spec = finished(drawing, _ROW_HEIGHT * len(rows))
    return Chart("types", title, said, spec, Table("", (), ()))


def _type_values(checkpoint: str, episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """The mean over questions of each type in each split, as all accuracies of the project are."""
    found = []
    for split, members in grouped(episodes, "split").items():
        for name, questions in right_attempts(members).items():
            shares = [sum(attempts) / len(attempts) for attempts in questions.values()]
            found.append({"checkpoint": checkpoint, "split": split, "type": name, "row": f"{split} · {name}",
                          "accuracy": round(sum(shares) / len(shares), 4), "questions": len(shares)})  # fmt: skip
    return found


def mutation_chart(audit: Mapping[str, Any], texts: Mapping[str, str]) -> Chart:
    """Which share of the wrong rewrites that can be told apart each set of databases tells apart."""
    counts = audit["mutants"]
    rows = [(texts[scope], counts[f"killed_{scope}"], score(counts, scope)) for scope in SCOPES]
    data = altair.Data(values=[{"databases": text, "score": round(share, 6)} for text, _, share in rows])
    base = altair.Chart(data).encode(
        y=altair.Y("databases:N", sort=None, title=None),
        x=altair.X("score:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=altair.Axis(format="%", tickCount=5)),
    )
    bars = base.mark_bar(height=22, color="var(--series-1)")
    figures = base.mark_text(align="right", dx=-6, color="var(--on-mark)", fontWeight=600).encode(
        text=altair.Text("score:Q", format=".2%")
    )
    drawing = finished(altair.layer(bars, figures), _BAR_HEIGHT * len(rows))
    listed = ", ".join(f"{text} {100 * share:.2f} %" for text, _, share in rows)
    table = Table("Wrong rewrites told apart", ("databases", "mutants killed", "of those that can be, %"),
                  [(text, f"{killed:,}", f"{100 * share:.2f}") for text, killed, share in rows])  # fmt: skip
    return Chart("mutants", "Wrong rewrites told apart", f"Share of wrong rewrites told apart: {listed}.",
                 drawing, table)  # fmt: skip
