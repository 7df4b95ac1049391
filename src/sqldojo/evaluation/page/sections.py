"""What each section of the page says of a run: the values that its template shows, None for what is not there yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqldojo.chains import CHECKPOINTS, DISTILLED, GRPO, REDISTILLED, RELEASED
from sqldojo.evaluation.bank_report import merged_costs
from sqldojo.evaluation.group_signal import signal_per_50_steps
from sqldojo.evaluation.page.comparisons import (
    change_table,
    comparable,
    count_table,
    every_pair,
    told_pairs,
)
from sqldojo.evaluation.page.curve_charts import learning_chart, loss_chart, step_charts
from sqldojo.evaluation.page.figures import Table, asked, changed, flattened, interval, number, words
from sqldojo.evaluation.page.run_files import Run
from sqldojo.evaluation.page.score_charts import (
    accuracy_charts,
    mutation_chart,
    outcome_charts,
    splits_of,
    type_chart,
)
from sqldojo.evaluation.page.transcripts import packed
from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.score_tables import SPLIT_TEXTS, pass_names, percent, share_cell
from sqldojo.records import HAND_WRITTEN, OUTCOMES, PATTERNS, SELECTION
from sqldojo.verifier.audit import FOUR, ONE, SCOPES, THREE, score

SCOPE_TEXTS = {ONE: "one ordinary", THREE: "three ordinary", FOUR: "all four"}
_STAGE_OF = {"distill": "distill", "grpo_steps": "grpo", "grpo_looks": "grpo", "redistill": "redistill"}
_RESULT_OF = {"distill": DISTILLED, "grpo": GRPO, "redistill": REDISTILLED}
_OTHER_CHAINS = ("models", "seeds", "sources")  # in params.yaml: of all chains, and not of this one alone


def overview(run: Run) -> dict[str, Any]:
    """Which checkpoint is kept and how good it is, split by split; without one, the last that was scored."""
    shown = run.kept if run.kept in run.scores else next(reversed(run.scores), None)
    since = _since_released(run, shown)
    cards = [
        {"split": split, "text": SPLIT_TEXTS.get(split, ""), **_score(run.scores[shown][split]),
         "change": changed(since[split]) if split in since else None}
        for split in splits_of(run.scores)
        if shown is not None and split in run.scores[shown]
    ]  # fmt: skip
    return {"chain": run.chain, "base": run.quantised, "kept": run.kept, "shown": shown, "cards": cards,
            "choice": _choice(run), "growing": _growing(run),
            "missing": [name for name in CHECKPOINTS if name not in run.scores]}  # fmt: skip


def _since_released(run: Run, shown: str | None) -> Mapping[str, Mapping[str, float]]:
    pair = [run.episodes[name] for name in (RELEASED, shown) if name in run.episodes]
    return changes(*pair) if len(pair) == 2 and shown != RELEASED and comparable(*pair) else {}


def _choice(run: Run) -> str | None:
    """Why that one is kept, in a sentence."""
    if run.kept is None:
        return None
    other = REDISTILLED if run.kept == GRPO else GRPO
    chosen, left = run.metrics["keep"][run.kept], run.metrics["keep"][other]
    figures = f"On {SELECTION} it has {percent(chosen)} %, {other} {percent(left)} %"
    if chosen == left:
        return f"{figures}; of equals the one that was trained less is kept."
    return f"{figures}; as the better of two it looks a little too good there."


def _growing(run: Run) -> dict[str, Any] | None:
    """The stage that is at work, or was interrupted, and the checkpoints that are older than what it makes."""
    stages = [_STAGE_OF[name] for name in _STAGE_OF if name in run.growing]
    if not stages:
        return None
    later = CHECKPOINTS[CHECKPOINTS.index(_RESULT_OF[stages[0]]) :]
    return {"stage": stages[0], "older": [name for name in later if name in run.scores]}


def scores(run: Run) -> dict[str, Any]:
    """Accuracies with intervals, paired changes, and how attempts ended."""
    pairs = told_pairs(run)
    cells = {
        split: {name: _score(rows.get(split)) for name, rows in run.scores.items()} for split in splits_of(run.scores)
    }
    return {
        "checkpoints": list(run.scores), "kept": run.kept, "cells": cells, "texts": SPLIT_TEXTS,
        "charts": accuracy_charts(run.scores), "outcomes": outcome_charts(run.scores),
        "outcome_names": [(outcome.replace("_", "-"), words(outcome)) for outcome in OUTCOMES],
        "changes": change_table(run, pairs) if pairs else None, "counts": count_table(run, pairs) if pairs else None,
        "passes": [_pass_table(run, name) for name in pass_names(run.scores)],
    }  # fmt: skip


def _pass_table(run: Run, name: str) -> Table:
    rows = [[split, *(share_cell(each.get(split, {}), name) for each in run.scores.values())]
            for split in splits_of(run.scores)]  # fmt: skip
    return Table(f"{name}, % [95 % interval]", ("split", *run.scores), rows)


def _score(row: Mapping[str, Any] | None) -> dict[str, str] | None:
    if row is None:
        return None
    return {"accuracy": percent(row["accuracy"]), "interval": interval(row), "asked": asked(row)}


def types(run: Run) -> dict[str, Any]:
    """Accuracy type by type before and after, for every pair of checkpoints; the last step is shown first."""
    pairs = every_pair(run)
    if not pairs:
        return {"pairs": [], "shown": None, "chart": None}
    shown = max((pair for pair in pairs if pair.after == (run.kept or pairs[-1].after)), default=pairs[-1],
                key=lambda pair: CHECKPOINTS.index(pair.before))  # fmt: skip
    return {"pairs": pairs, "shown": shown, "chart": type_chart(run.episodes, shown.before, shown.after)}


def training(run: Run) -> dict[str, Any]:
    """The curves of the three training stages."""
    looks, steps = run.curves.get("grpo_looks", []), run.curves.get("grpo_steps", [])
    losses = {name: loss_chart(f"{name}-loss", title, run.curves[name]) if name in run.curves else None
              for name, title in (("distill", "Loss on the teacher's solutions"),
                                  ("redistill", "Loss on the teacher's and the model's own solutions"))}  # fmt: skip
    return {
        **losses, "learning": learning_chart(looks, steps) if looks or steps else None,
        "steps": step_charts(steps) if steps else [], "growing": {_STAGE_OF[name] for name in run.growing},
        "signal": _signal_table(steps) if steps else None,
        "grpo": _pairs("What the run came to", run.metrics.get("grpo")),
        "stopped": run.about.get(GRPO, {}).get("stopped"),
    }  # fmt: skip


def _signal_table(steps: Sequence[Mapping[str, Any]]) -> Table:
    rows = [[f"{row['from']} to {row['to']}", number(row["informative"]), number(row["groups"]), percent(row["share"])]
            for row in signal_per_50_steps(steps)]  # fmt: skip
    return Table("Groups with signal", ("steps", "with signal", "played", "share, %"), rows)


def transcripts(run: Run) -> dict[str, Any]:
    """Every episode, for the browser to filter."""
    count = sum(len(members) for members in run.episodes.values())
    return {"count": count, "data": packed(run.episodes, run.questions) if count else None,
            "checkpoints": list(run.episodes), "kept": run.kept}  # fmt: skip


def verifier(run: Run) -> dict[str, Any]:
    """The audit in short: what each set of databases tells apart, and operator by operator."""
    audit = run.metrics.get("audit")
    if audit is None:
        return {"audit": None}
    columns = ("operator", "mutants", *(f"{text}, %" for text in SCOPE_TEXTS.values()), "presumed equivalent", "missed")
    rows = [[row["operator"], number(row["made"]), *(percent(score(row, scope)) for scope in SCOPES),
             number(row["presumed_equivalent"]), number(row["missed"])] for row in audit["by_operator"]]  # fmt: skip
    return {"audit": audit, "chart": mutation_chart(audit, SCOPE_TEXTS), "number": number,
            "operators": Table("Mutation score by operator", columns, rows)}  # fmt: skip


def bank(run: Run) -> dict[str, Any]:
    """What was proposed, accepted, rejected and may be asked."""
    review, bank, audit = (run.metrics.get(name) for name in ("review", "bank", "audit"))
    if review is None:
        return {"funnel": None}
    accepted = review["accepted_by"]
    funnel = [("proposed", review["proposals"]), ("accepted by the review", review["accepted"])]
    if bank is not None:
        within_reach = review["accepted"] - bank["left_to_stronger_models"]
        funnel.append(("not too difficult for this profile", within_reach))
        funnel.append(("standing on the fourth database", bank["types"]))
    funnel += [] if audit is None else [("standing in the audit: what may be asked", audit["asked"]["types"])]
    patterns = [name for name in PATTERNS if name in accepted["pattern"]]
    return {
        "funnel": _counts("Question types", "types", funnel),
        "hand_written": accepted["proposer"].get(HAND_WRITTEN, 0),
        "splits": _counts("Accepted, by split", "types", list(accepted["split"].items())),
        "patterns": _counts("Accepted, by pattern", "types", [(name, accepted["pattern"][name]) for name in patterns]),
        "rejected": _counts("Rejected, by rule", "proposals", sorted(review["rejected_by"]["rule"].items())),
        "teach": _pairs("Demonstrations", _numbers(run.metrics.get("teach"))),
    }


def cost(run: Run) -> dict[str, Any]:
    """What models behind an API cost, stage by stage, of the stages that have run."""
    spending = {name: run.metrics[name] for name in ("propose", "review", "teach") if name in run.metrics}
    if not spending:
        return {"cost": None}
    return cost_of(merged_costs(spending, run.metrics.get("review", {}).get("accepted_by", {}).get("proposer", {})))


def cost_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same of what `merged_costs` says."""
    rows = [
        [stage, model, number(row["calls"]), number(row["input_tokens"]), number(row["output_tokens"]),
         f"{row['usd']:.4f}", number(row.get("kept")), number(row.get("usd_per_kept"))]
        for stage, spent in found["stages"].items()
        for model, row in spent["models"].items()
    ]  # fmt: skip
    columns = ("stage", "model", "calls", "tokens in", "tokens out", "US dollars", "kept", "US dollars for each kept")
    return {"cost": found, "usd": f"{found['usd']:.2f}", "table": Table("By stage and model", columns, rows, texts=2)}


def provenance(run: Run) -> dict[str, Any]:
    """Parameters, the base model, how each adapter came about, and what the page was made of."""
    params = {name: values for name, values in run.params.items() if name not in _OTHER_CHAINS}
    return provenance_of(params, run.card, run.about, run.inputs)


def provenance_of(
    params: Mapping[str, Any],
    card: Mapping[str, Any] | None,
    about: Mapping[str, Mapping[str, Any]],
    inputs: Mapping[str, str],
) -> dict[str, Any]:
    """The same of sections of params.yaml, the model's card, each adapter's about.json, and SHA-256 by path."""
    return {
        "params": {name: _values(name, values) for name, values in params.items()},
        "card": _pairs("The base model", card),
        "about": {name: _pairs(f"The adapter {name}", values) for name, values in about.items()},
        "inputs": Table("SHA-256 of what this page is made of", ("file", "SHA-256"), list(inputs.items()), texts=2),
    }


def _values(name: str, values: Any) -> Table:
    return _pairs(name, values if isinstance(values, Mapping) else {name: values})


def _pairs(caption: str, values: Mapping[str, Any] | None) -> Table | None:
    """Names and values as a table; None without any."""
    return None if not values else Table(caption, ("name", "value"), flattened(values), texts=2)


def _counts(caption: str, unit: str, rows: list[tuple[str, int]]) -> Table:
    return Table(caption, ("", unit), [(name, number(count)) for name, count in rows])


def _numbers(values: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if values is None else {name: value for name, value in values.items() if name != "cost"}
