"""The report of repair as Markdown: the chain with its gains and losses, where it solves tasks, and what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sqldojo.evaluation.bank_report import cost_lines
from sqldojo.evaluation.repair_comparing import UNION_TEXT
from sqldojo.evaluation.repair_results import pair_of, selection_note
from sqldojo.evaluation.repair_scores import SOLVE_RATE
from sqldojo.evaluation.score_tables import change_cell, share_cell, table
from sqldojo.repair.task import REPAIR_OUTCOMES

Metrics = Mapping[str, Any]  # what `repair_results.repair_metrics` returns

SOLVED_TEXT = (
    "A task is solved when the submitted SQL passes every hidden test. Shares are % of the tasks that were answered "
    "[95 % interval, resampled by type]; a task on which a provider failed is counted apart, neither solved nor wrong."
)
STEPS_TEXT = (
    "Gained: solved after and not before. Regained: those of the gained that an earlier checkpoint had solved. Lost: "
    "solved before and not after. Changes in points [95 % interval, clustered by type]."
)
PAIRS_TEXT = (
    "The same tasks in both runs; left out are those on which a provider failed in one or the other. p: McNemar's "
    f"exact test (McNemar 1947), two-sided and not corrected for the number of pairs. {UNION_TEXT}"
)
# Of the counts of a correction round, in the order in which they come about; others follow.
YIELD_ORDER = (
    "attempted", "solved", "failed", "candidate_states", "skipped", "requested", "rejected", "infrastructure",
    "verified", "retained_own", "retained_lost",
)  # fmt: skip
_YIELD_TEXTS = {
    "attempted": "training tasks attempted", "solved": "solved by the student", "failed": "not solved by the student",
    "skipped": "states skipped", "requested": "continuations requested", "rejected": "continuations rejected",
    "infrastructure": "provider failures", "verified": "continuations verified",
    "retained_own": "own successes retained", "retained_lost": "earlier successes on lost tasks retained",
}  # fmt: skip


def repair_markdown(metrics: Metrics) -> str:
    """The report as Markdown; a part whose numbers are not there is left out."""
    parts = [
        ("", SOLVED_TEXT, [f"{selection_note(metrics)} {history_note(metrics)}", "", *table(*chain_table(metrics))]),
        ("From checkpoint to checkpoint", STEPS_TEXT, _lines(step_table(metrics))),
        ("By database, %", "", _lines(group_table(metrics, "databases"))),
        ("By kind of bug, %", "", _lines(group_table(metrics, "kinds"))),
        ("Two runs on the same tasks", PAIRS_TEXT, _pair_lines(metrics)),
        ("How attempts ended", "Tasks.", _lines(outcome_table(metrics))),
        (f"How the tasks ended in {metrics['transitions']['before']} (down) and {metrics['transitions']['after']} "
         "(across)", "Tasks.", _lines(transition_table(metrics["transitions"]["counts"]))),
        ("Correction rounds", "", _lines(yield_table(metrics["yields"]))),
        ("Training", "", _lines(training_table(metrics["training"]))),
        ("Limits of an attempt", "", _lines(limit_table(metrics))),
    ]  # fmt: skip
    lines = ["# Repair", ""]
    for title, text, found in parts:
        if found:
            lines += [*([f"## {title}", ""] if title else []), *([text, ""] if text else []), *found, ""]
    failures = failure_note(metrics)
    return "\n".join([*lines, *cost_lines(metrics["costs"]), *([failures, ""] if failures else [])])


def run_names(metrics: Metrics) -> list[str]:
    """The checkpoints in their order, then the reference models."""
    return [*metrics["chain"], *metrics["references"]]


def chain_table(metrics: Metrics) -> tuple[list[str], list[list[str]]]:
    """What each run solved, with its interval, on validation too where it was measured, and what each step changed."""
    steps = {step["after"]: step for step in metrics["history"]["steps"]}
    validated = bool(metrics["validation"])
    heads = ["checkpoint", "solved", "of all, %", *(["of validation, %"] if validated else []), "gained", "lost",
             "provider failures"]  # fmt: skip
    rows = []
    for name in run_names(metrics):
        row, step = metrics["scores"][name]["all"], steps.get(name)
        validation = metrics["validation"].get(name, {}).get("all", {})
        rows.append([
            name + (" (selected)" if name == metrics["selected"] else ""),
            f"{row['solved']} of {row['tasks']}",
            share_cell(row, SOLVE_RATE),
            *([share_cell(validation, SOLVE_RATE)] if validated else []),
            *([str(step["gained"]), str(step["lost"])] if step else ["", ""]),
            str(row["outcomes"]["infrastructure"]),
        ])  # fmt: skip
    return heads, rows


def step_table(metrics: Metrics) -> tuple[list[str], list[list[str]]]:
    """Each step of the chain: solved before and after, gained, regained, lost, and the paired change."""
    heads = ["from", "to", "solved before", "gained", "of them regained", "lost", "solved after", "change", "p"]
    rows = []
    for step in metrics["history"]["steps"]:
        pair = pair_of(metrics, step["before"], step["after"])
        counts = ("solved_before", "gained", "regained", "lost", "solved_after")
        rows.append([step["before"], step["after"], *(str(step[key]) for key in counts), change_cell(pair),
                     p_value(pair["mcnemar_p"])])  # fmt: skip
    return heads, rows


def history_note(metrics: Metrics) -> str:
    """What became of the tasks along the whole chain, in a few sentences."""
    found = metrics["history"]
    text = (
        f"Along the chain of {len(metrics['chain'])} checkpoints {found['lost']} of {found['tasks']} tasks were lost "
        f"at least once, {found['regained']} of these were solved again later; {found['lost_at_end']} that an earlier "
        f"checkpoint solved the last one does not. {found['always']} were always solved and {found['never']} never; "
        f"{found['ever']} by at least one checkpoint, which is an upper bound."
    )
    left_out = found["left_out"]
    return text + (f" {left_out} are left out because a provider failed on them." if left_out else "")


def group_table(metrics: Metrics, groups: str) -> tuple[list[str], list[list[str]]]:
    """What each run solved in each of the `databases` or `kinds`: groups down, runs across."""
    names = run_names(metrics)
    found = [metrics["scores"][name][groups] for name in names]
    rows = []
    for group in sorted({group for rows_of in found for group in rows_of}):
        cells = [each.get(group, {}) for each in found]
        tasks = max(cell.get("tasks", 0) for cell in cells)
        rows.append([f"{group} ({tasks})", *(_solved_cell(cell) for cell in cells)])
    return [f"{'database' if groups == 'databases' else 'kind of bug'} (tasks)", *names], rows


def pair_table(pairs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """A row for each pair: both, only one, neither, p, the change with its interval, the union; what is left out."""
    keys = {"both": "both", "only_first": "only A", "only_second": "only B", "neither": "neither"}
    left_out = any(pair["left_out"] for pair in pairs)
    heads = ["A", "B", *keys.values(), "McNemar p", "B - A, points", "A or B (upper bound)"]
    rows = [
        [pair["first"], pair["second"], *(str(pair[key]) for key in keys), p_value(pair["mcnemar_p"]),
         change_cell(pair), str(pair["union"]), *([str(pair["left_out"])] if left_out else [])]
        for pair in pairs
    ]  # fmt: skip
    return [*heads, *(["left out"] if left_out else [])], rows


def told_pairs(metrics: Metrics, *, steps: bool = True) -> list[Mapping[str, Any]]:
    """The pairs that a text has room for: first and last, first and selected, each of the `steps`, the references."""
    chain = metrics["chain"]
    wanted = [(chain[0], chain[-1]), (chain[0], metrics["shown"]), *(pairwise(chain) if steps else ())]
    wanted += [(metrics["shown"], name) for name in metrics["references"]]
    return [pair_of(metrics, *names) for names in dict.fromkeys(wanted) if names[0] != names[1]]


def outcome_table(metrics: Metrics) -> tuple[list[str], list[list[str]]]:
    """How many attempts of each run ended how."""
    rows = [[name, *(str(metrics["scores"][name]["all"]["outcomes"][outcome]) for outcome in REPAIR_OUTCOMES)]
            for name in run_names(metrics)]  # fmt: skip
    return ["run", *(outcome_words(outcome) for outcome in REPAIR_OUTCOMES)], rows


def transition_table(counts: Mapping[str, Mapping[str, int]]) -> tuple[list[str], list[list[str]]]:
    """How tasks ended before (down) and after (across), of `outcome_transitions`."""
    across = [each for each in REPAIR_OUTCOMES if any(each in row for row in counts.values())]
    rows = [[outcome_words(before), *(str(counts[before].get(after, 0)) for after in across)]
            for before in REPAIR_OUTCOMES if before in counts]  # fmt: skip
    return ["before", *(outcome_words(after) for after in across)], rows


def yield_table(yields: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The accounting of the correction rounds: counts down, rounds across; reasons of skipping each in a row."""
    flat = {name: _flat_counts(counts) for name, counts in yields.items()}
    found = dict.fromkeys(key for counts in flat.values() for key in counts)
    keys = sorted(found, key=lambda key: _yield_place(key.split(".")[0]))
    rows = [[_yield_text(key), *(str(counts.get(key, "-")) for counts in flat.values())] for key in keys]
    return ["", *yields], rows


def training_table(training: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """What each stage says of its training: names down, stages across."""
    flat = {name: _flat_counts(row) for name, row in training.items()}
    keys = dict.fromkeys(key for row in flat.values() for key in row)
    rows = [[key.replace("_", " "), *(_plain(row.get(key)) for row in flat.values())] for key in keys]
    return ["", *training], rows


def limit_table(metrics: Metrics) -> tuple[list[str], list[list[str]]]:
    """The limits that each run was scored with; one row where all had the same."""
    limits = {name: metrics["scores"][name]["limits"] for name in run_names(metrics)}
    keys = dict.fromkeys(key for found in limits.values() for key in found)
    rows = [[name, *(_plain(found.get(key)) for key in keys)] for name, found in limits.items()]
    if all(row[1:] == rows[0][1:] for row in rows):
        rows = [["all runs", *rows[0][1:]]]
    return ["run", *(key.replace("_", " ") for key in keys)], rows if keys else []


def failure_note(metrics: Metrics) -> str:
    """Which calls providers failed at however often they were tried again; empty without any."""
    found = {stage: cost["all"].get("failures", {}) for stage, cost in metrics["costs"]["stages"].items()}
    listed = [f"{stage} {count} ({kind.replace('_', ' ')})" for stage, kinds in found.items()
              for kind, count in kinds.items()]  # fmt: skip
    return f"Calls that failed in spite of retries: {', '.join(listed)}." if listed else ""


def outcome_words(outcome: str) -> str:
    """An outcome of repair as people read it: `correct` is solved here, `wrong_sql` wrong SQL."""
    named = {"correct": "solved", "wrong_sql": "wrong SQL", "infrastructure": "provider failure"}
    return named.get(outcome, outcome.replace("_", " "))


def p_value(p: float) -> str:
    """Three digits, and no zero that it is not."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _pair_lines(metrics: Metrics) -> list[str]:
    pairs = told_pairs(metrics)
    return [*_lines(pair_table(pairs)), "", pairs[0]["trust"]] if pairs else []


def _lines(found: tuple[Sequence[str], Sequence[Sequence[str]]]) -> list[str]:
    """A table as Markdown; nothing when it has no rows."""
    heads, rows = found
    return table(heads, rows) if rows else []


def _solved_cell(row: Mapping[str, Any]) -> str:
    return share_cell(row, SOLVE_RATE) if row else "-"


def _flat_counts(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat_counts(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return found


def _yield_place(key: str) -> int:
    return YIELD_ORDER.index(key) if key in YIELD_ORDER else len(YIELD_ORDER)


def _yield_text(key: str) -> str:
    head, _, reason = key.partition(".")
    text = _YIELD_TEXTS.get(head, head.replace("_", " "))
    return f"{text}: {outcome_words(reason)}" if reason else text


def _plain(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
