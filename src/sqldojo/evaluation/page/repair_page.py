"""The report of repair as one HTML file, of the same parts and with the same scripts as the page of a chain.

It is made of `RepairResults` and its metrics alone, which hold nothing hidden, and shows no reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqldojo.evaluation.page import repair_charts as charts
from sqldojo.evaluation.page.curve_charts import loss_chart
from sqldojo.evaluation.page.figures import NOTHING, Table, changed, interval, number
from sqldojo.evaluation.page.page import Part, assemble
from sqldojo.evaluation.page.sections import cost_of, provenance_of
from sqldojo.evaluation.page.transcripts import packed
from sqldojo.evaluation.repair_comparing import differing_tasks, outcome_transitions
from sqldojo.evaluation.repair_report import (
    PAIRS_TEXT,
    SOLVED_TEXT,
    STEPS_TEXT,
    chain_table,
    failure_note,
    group_table,
    history_note,
    limit_table,
    outcome_words,
    p_value,
    pair_table,
    step_table,
    told_pairs,
    training_table,
    transition_table,
    yield_table,
)
from sqldojo.evaluation.repair_results import RepairResults, pair_of, selection_note
from sqldojo.evaluation.repair_scores import SOLVE_RATE, bug_kind
from sqldojo.evaluation.score_tables import percent
from sqldojo.repair.task import REPAIR_OUTCOMES, RepairTask

Metrics = Mapping[str, Any]


def build_repair_page(results: RepairResults, metrics: Metrics) -> str:
    """The page; `metrics` is what `repair_metrics` says of the results. Equal inputs give equal bytes."""
    parts = (
        ("overview", "Overview", "repair_overview.html", _overview(metrics)),
        ("scores", "Scores", "repair_scores.html", _scores(metrics)),
        ("chain", "Chain", "repair_chain.html", _chain(metrics)),
        ("types", "Two runs", "repair_pairs.html", _pairs(results, metrics)),
        ("corrections", "Corrections", "repair_corrections.html", {"yields": _yields(metrics)}),
        ("training", "Training", "repair_training.html", {"stages": _stages(results), "table": _training(metrics)}),
        ("transcripts", "Transcripts", "transcripts.html", _transcripts(results)),
        ("cost", "Cost", "repair_cost.html",
         cost_of(metrics["costs"]) | {"failures": failure_note(metrics)}),
        ("provenance", "Provenance", "provenance.html",
         provenance_of(results.params, results.card, results.about, results.inputs)),
    )  # fmt: skip
    return assemble([Part(*part) for part in parts], [results.model, f"seed {results.seed}", "repair"])


def _overview(metrics: Metrics) -> dict[str, Any]:
    first, shown = metrics["chain"][0], metrics["shown"]
    scores = metrics["scores"][shown]
    rows = {"all databases": scores["all"], **scores["databases"]}
    before = {"all databases": metrics["scores"][first]["all"], **metrics["scores"][first]["databases"]}
    cards = [
        {"title": name, "solved": number(row["solved"]), "tasks": number(row["tasks"]),
         "rate": percent(row[SOLVE_RATE]), "interval": interval(row, SOLVE_RATE),
         "first": _solved(before.get(name)) if first != shown else None}
        for name, row in rows.items()
        if SOLVE_RATE in row
    ]  # fmt: skip
    change = changed(pair_of(metrics, first, shown)) if first != shown else None
    return {"selected": metrics["selected"], "shown": shown, "first": first, "cards": cards, "change": change,
            "note": selection_note(metrics), "text": SOLVED_TEXT}  # fmt: skip


def _scores(metrics: Metrics) -> dict[str, Any]:
    return {
        "chain": _table("Solved tasks", chain_table(metrics)),
        "charts": charts.solved_charts(metrics),
        "groups": [_table(title, group_table(metrics, groups)) for title, groups in
                   (("Solved by database, %", "databases"), ("Solved by kind of bug, %", "kinds"))],
        "outcomes": charts.ending_chart(metrics),
        "outcome_names": [(outcome.replace("_", "-"), outcome_words(outcome)) for outcome in REPAIR_OUTCOMES],
        "limits": _table("Limits of an attempt", limit_table(metrics)),
    }  # fmt: skip


def _chain(metrics: Metrics) -> dict[str, Any]:
    if not metrics["history"]["steps"]:
        return {"chart": None}
    return {"chart": charts.step_chart(metrics), "colours": charts.STEP_COLOURS, "text": STEPS_TEXT,
            "steps": _table("Each step of the chain", step_table(metrics), texts=2),
            "note": history_note(metrics)}  # fmt: skip


def _pairs(results: RepairResults, metrics: Metrics) -> dict[str, Any]:
    """Every two runs, with the tasks that only one of them solved; first and shown are open at the start."""
    if not metrics["pairs"]:
        return {"pairs": []}
    tasks = {task.id: task for task in results.tasks}
    played = {run.name: run.episodes for run in results.runs}
    pairs = [_pair(pair, played, tasks) for pair in metrics["pairs"]]
    wanted = metrics["chain"][0], metrics["shown"]
    shown = next((pair for pair in pairs if (pair["before"], pair["after"]) == wanted), pairs[0])
    return {
        "pairs": pairs, "shown": shown, "text": PAIRS_TEXT,
        "told": _table("Two runs on the same tasks", pair_table(told_pairs(metrics)), texts=2),
        "chart": charts.kind_chart(results, shown["before"], shown["after"]),
    }  # fmt: skip


def _pair(
    pair: Mapping[str, Any], played: Mapping[str, Sequence[Any]], tasks: Mapping[str, RepairTask]
) -> dict[str, Any]:
    before, after = pair["first"], pair["second"]
    sides = played[before], played[after]
    gained, lost = differing_tasks(*sides)
    square = Table(
        f"Tasks, {before} and {after}", ("", f"{after} solves", f"{after} does not"),
        ((f"{before} solves", number(pair["both"]), number(pair["only_first"])),
         (f"{before} does not", number(pair["only_second"]), number(pair["neither"]))),
    )  # fmt: skip
    return {
        "before": before, "after": after, "square": square, "p": p_value(pair["mcnemar_p"]), "change": changed(pair),
        "trust": pair["trust"], "union": number(pair["union"]), "tasks": number(pair["tasks"]),
        "left_out": pair["left_out"],
        "transitions": _table(f"How tasks ended in {before} (down) and {after} (across)",
                              transition_table(outcome_transitions(*sides))),
        "differing": {"lost": [tasks[name] for name in lost], "gained": [tasks[name] for name in gained]},
    }  # fmt: skip


def _yields(metrics: Metrics) -> Table | None:
    return _table("What correction rounds came to", yield_table(metrics["yields"])) if metrics["yields"] else None


def _stages(results: RepairResults) -> list[dict[str, Any]]:
    """The curves of each stage, in the order in which the results name them; one that learnt nothing has none."""
    found = []
    for place, name in enumerate(dict.fromkeys([*results.curves, *results.looks])):
        losses = [row for row in results.curves.get(name, []) if row["loss"] is not None]
        looks = [row for row in results.looks.get(name, []) if row["accuracy"] is not None]
        found.append({
            "name": name,
            "loss": loss_chart(f"loss-{place}", f"Loss of {name}", losses) if losses else None,
            "looks": charts.look_chart(f"looks-{place}", looks) if looks else None,
        })  # fmt: skip
    return found


def _training(metrics: Metrics) -> Table | None:
    return _table("What each stage came to", training_table(metrics["training"])) if metrics["training"] else None


def _transcripts(results: RepairResults) -> dict[str, Any]:
    """Every attempt at an evaluation task, to be found by database, kind of bug and outcome, under the user's issue."""
    tasks = {task.id: task for task in results.tasks}
    played = {
        run.name: [replace(episode, split=tasks[episode.question].db_id, type=bug_kind(episode.type))
                   for episode in run.episodes]
        for run in results.runs
    }  # fmt: skip
    count = sum(len(members) for members in played.values())
    titles = {name: task.issue.strip() for name, task in tasks.items()}
    data = packed(played, {}, titles) | {"outcomes": {outcome: outcome_words(outcome) for outcome in REPAIR_OUTCOMES}}
    return {"count": count, "data": data, "checkpoints": list(played),
            "kept": results.shown.name, "split_label": "Database", "type_label": "Kind of bug"}  # fmt: skip


def _solved(row: Mapping[str, Any] | None) -> str | None:
    return None if row is None else f"{number(row['solved'])} of {number(row['tasks'])}"


def _table(caption: str, found: tuple[Sequence[str], Sequence[Sequence[str]]], texts: int = 1) -> Table:
    """A table as Markdown has it, with the page's signs for minus and for nothing."""
    heads, rows = found
    return Table(caption, [_sign(head) for head in heads], [[_sign(cell) for cell in row] for row in rows], texts)


def _sign(cell: str) -> str:
    if cell == "-":
        return NOTHING
    return cell.replace("-", "−") if "[" in cell or " - " in cell else cell
