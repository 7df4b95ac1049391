"""Charts of a training run: losses, what the selection set said meanwhile, and the indicators of docs/training.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqldojo.evaluation.page.charts import Chart, Line, line_chart
from sqldojo.evaluation.page.figures import Table, asked, number
from sqldojo.evaluation.score_tables import percent

Rows = Sequence[Mapping[str, Any]]

# Of each chart: its name, its title, the axis of y, and the columns of grpo_steps.csv with what they are.
_OF_STEPS = (
    ("signal", "Groups played, and informative ones", "groups a step",
     (Line("played", "groups"), Line("informative", "informative"))),
    ("kl", "Distance from the start", "KL, nats a token", (Line("KL to the starting adapter", "kl"),)),
    ("entropy", "Entropy of the policy", "nats a token",
     (Line("all sampled tokens", "entropy"), Line("trained tokens", "entropy_trained"))),
    ("lengths", "Length of an attempt", "tokens",
     (Line("right ones", "tokens_right"), Line("other ones", "tokens_wrong"), Line("all", "tokens"))),
)  # fmt: skip


def loss_chart(name: str, title: str, rows: Rows) -> Chart:
    """The loss of a distillation, update by update."""
    first, last = rows[0], rows[-1]
    said = (f"Loss of {len(rows)} updates: {number(first['loss'])} at update {first['update']}, "
            f"{number(last['loss'])} at update {last['update']}.")  # fmt: skip
    columns = ("update", "loss", "learning_rate", "gradient_norm", "action_tokens")
    return line_chart(name, title, said, [(rows, "update", [Line("loss", "loss")])], x_title="update",
                      y_title="nats a token", table=_table(title, rows, columns))  # fmt: skip


def learning_chart(looks: Rows, steps: Rows) -> Chart:
    """What the policy gets right: held-out questions of the selection set beside the training questions it plays."""
    held_out = Line("selection set, held out", "accuracy", "low", "high")
    sources = [(looks, "step", [held_out])] if looks else []
    if steps:
        sources.append((steps, "step", [Line("training questions", "accuracy"), Line("reward in training", "reward")]))
    said = "The selection set has not been played yet."
    if looks:
        first, last = looks[0], looks[-1]
        said = (f"Selection accuracy {percent(first['accuracy'])} % {_look_interval(first)} at step {first['step']}, "
                f"{percent(last['accuracy'])} % {_look_interval(last)} at step {last['step']}.")  # fmt: skip
    if steps:
        said += (f" Accuracy on training questions {percent(steps[0]['accuracy'])} % in step {steps[0]['step']}, "
                 f"{percent(steps[-1]['accuracy'])} % in step {steps[-1]['step']}.")  # fmt: skip
    table = Table(
        "Looks at the selection set, %", ("step", "accuracy", "95 % interval", "questions × attempts"),
        [(number(row["step"]), percent(row["accuracy"]), _look_interval(row), asked(row)) for row in looks],
    )  # fmt: skip
    return line_chart("learning", "Right answers, held out and in training", said, sources, x_title="step",
                      y_title="share", table=table, share=all(row["reward"] >= 0 for row in steps))  # fmt: skip


def step_charts(rows: Rows) -> list[Chart]:
    """Signal, KL, entropy and lengths of a GRPO run, step by step."""
    charts = []
    for name, title, y_title, lines in _OF_STEPS:
        shown = [line for line in lines if any(row.get(line.column) is not None for row in rows)]
        said = "; ".join(f"{line.label}: {_first_and_last(rows, line.column)}" for line in shown)
        table = _table(title, rows, ("step", *(line.column for line in lines)))
        charts.append(line_chart(name, title, f"{y_title}: {said or 'no step with signal yet'}.",
                                 [(rows, "step", shown)], x_title="step", y_title=y_title, table=table))  # fmt: skip
    return charts


def _first_and_last(rows: Rows, column: str) -> str:
    values = [row[column] for row in rows if row.get(column) is not None]
    return f"{number(values[0])} at first, {number(values[-1])} at last"


def _look_interval(row: Mapping[str, Any]) -> str:
    return f"[{percent(row['low'])}, {percent(row['high'])}]"


def _table(caption: str, rows: Rows, columns: Sequence[str]) -> Table:
    return Table(caption, columns, [[number(row.get(column)) for column in columns] for row in rows])
