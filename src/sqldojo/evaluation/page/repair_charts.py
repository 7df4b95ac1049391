"""Charts of repair: what each checkpoint solves, what each step of the chain gained and lost, how attempts ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair

from sqldojo.evaluation.page.charts import Chart, Line, finished, line_chart
from sqldojo.evaluation.page.figures import Table, asked, interval, number
from sqldojo.evaluation.page.score_charts import share_chart, stacked_chart, type_chart
from sqldojo.evaluation.repair_report import outcome_words, run_names
from sqldojo.evaluation.repair_results import RepairResults
from sqldojo.evaluation.repair_scores import SOLVE_RATE, bug_kind
from sqldojo.evaluation.score_tables import percent
from sqldojo.repair.task import INFRASTRUCTURE, REPAIR_OUTCOMES

Metrics = Mapping[str, Any]

# What a step of the chain did with tasks: its name here, its colour on the page.
GAINED, REGAINED, LOST = "gained", "regained", "lost"
STEP_COLOURS = {GAINED: "correct", REGAINED: "parse-failure", LOST: "wrong-sql"}


def solved_charts(metrics: Metrics) -> list[Chart]:
    """The share of solved tasks of each run with its interval: of all, then of each database."""
    names = run_names(metrics)
    databases = sorted({database for name in names for database in metrics["scores"][name]["databases"]})
    charts = [_solved_chart("all databases", "solved", {name: metrics["scores"][name]["all"] for name in names})]
    for place, database in enumerate(databases):
        rows = {name: metrics["scores"][name]["databases"].get(database, {}) for name in names}
        charts.append(_solved_chart(database, f"solved-{place}", rows))
    return charts


def step_chart(metrics: Metrics) -> Chart:
    """For each step of the chain a bar of the tasks it gained, and one below zero of those it lost.

    It has no table of its own: the page shows `step_table` beside it.
    """
    values = []
    for step in metrics["history"]["steps"]:
        name, regained = f"{step['before']} → {step['after']}", step["regained"]
        gained = step["gained"] - regained
        for kind, low, high in ((GAINED, 0, gained), (REGAINED, gained, gained + regained), (LOST, -step["lost"], 0)):
            values.append({"step": name, "kind": kind, "low": low, "high": high, "tasks": high - low,
                           "middle": (low + high) / 2})  # fmt: skip
    base = altair.Chart(altair.Data(values=[value for value in values if value["tasks"]]))
    steps = list(dict.fromkeys(value["step"] for value in values))
    scale = altair.Scale(domain=list(STEP_COLOURS), range=[f"var(--{each})" for each in STEP_COLOURS.values()])
    x = altair.X("step:N", sort=None, title=None, scale=altair.Scale(domain=steps),
                 axis=altair.Axis(labelAngle=0, grid=False))  # fmt: skip
    y_axis = altair.Axis(tickCount=5, tickMinStep=1, labelExpr="abs(datum.value)")  # what is lost is a number too
    bars = base.mark_bar(size=44, stroke="var(--surface)").encode(
        x=x, y=altair.Y("low:Q", title="tasks", axis=y_axis), y2="high:Q",
        color=altair.Color("kind:N", scale=scale, legend=None), tooltip=["step:N", "kind:N", "tasks:Q"])  # fmt: skip
    figures = base.mark_text(color="var(--on-mark)", fontWeight=600).encode(
        x=x, y=altair.Y("middle:Q", title="tasks"), text=altair.Text("tasks:Q"))  # fmt: skip
    told = "; ".join(
        f"{step['before']} to {step['after']}: {step['gained']} gained, of them {step['regained']} regained, "
        f"{step['lost']} lost"
        for step in metrics["history"]["steps"]
    )
    return Chart("steps", "Tasks gained and lost by each step", f"Tasks of each step. {told}.",
                 finished(altair.layer(bars, figures)), Table("", (), ()))  # fmt: skip


def ending_chart(metrics: Metrics) -> Chart:
    """Which share of the attempts of each run ended how; providers' failures too."""
    rows, cells = [], []
    for name in run_names(metrics):
        counts = metrics["scores"][name]["all"]["outcomes"]
        total = sum(counts.values())
        rows.append((name, {outcome: round(counts[outcome] / total, 4) for outcome in REPAIR_OUTCOMES}))
        cells.append((name, *(number(counts[outcome]) for outcome in REPAIR_OUTCOMES)))
    names = {outcome: outcome_words(outcome) for outcome in REPAIR_OUTCOMES}
    table = Table("How attempts ended, tasks", ("run", *names.values()), cells)
    return stacked_chart("outcomes", "How attempts ended", "How attempts ended", rows, names, table)


def kind_chart(results: RepairResults, before: str, after: str) -> Chart:
    """A row for each database and kind of bug, with a mark for each of two runs."""
    databases = {task.id: task.db_id for task in results.tasks}
    played = {
        run.name: [replace(episode, split=databases[episode.question], type=bug_kind(episode.type))
                   for episode in run.episodes if episode.outcome != INFRASTRUCTURE]
        for run in results.runs
    }  # fmt: skip
    return type_chart(played, before, after, "Solved, by database and kind of bug")


def look_chart(name: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    """What the model solved of the validation tasks while it was trained, look by look."""
    line = Line("validation tasks", "accuracy", "low", "high")
    table = Table(
        "Looks at the validation tasks, %", ("update", "solved", "95 % interval", "tasks × attempts"),
        [(number(row["step"]), percent(row["accuracy"]), f"[{percent(row['low'])}, {percent(row['high'])}]", asked(row))
         for row in rows],
    )  # fmt: skip
    told = "; ".join(f"update {row['step']}: {percent(row['accuracy'])} %" for row in rows)
    return line_chart(name, "Solved on validation", f"Solved validation tasks. {told}.", [(rows, "step", [line])],
                      x_title="update", y_title="share", table=table, share=True)  # fmt: skip


def _solved_chart(title: str, name: str, rows: Mapping[str, Mapping[str, Any]]) -> Chart:
    """A run without an answered task there has no mark."""
    shown = {run: row for run, row in rows.items() if SOLVE_RATE in row}
    bounds = {SOLVE_RATE: "accuracy", f"{SOLVE_RATE}_low": "accuracy_low", f"{SOLVE_RATE}_high": "accuracy_high"}
    table = Table(
        f"Solved, {title}", ("run", "solved", "tasks", "%", "95 % interval"),
        [(run, number(row["solved"]), number(row["tasks"]), percent(row[SOLVE_RATE]), interval(row, SOLVE_RATE))
         for run, row in shown.items()],
    )  # fmt: skip
    drawn = [{"checkpoint": run} | {column: row[key] for key, column in bounds.items()} for run, row in shown.items()]
    return share_chart(name, title, f"Solved tasks, {title}", drawn, table)
