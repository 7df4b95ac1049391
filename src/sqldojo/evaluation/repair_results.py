"""All that the report of repair is made of, and the numbers that follow from it.

The numbers are worked out once, as one mapping for a metrics file; the text, the page and the terminal's tables
show that mapping. Nothing here takes a `Hidden`: references and tests have no way into a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sqldojo.evaluation.bank_report import merged_costs
from sqldojo.evaluation.repair_comparing import (
    chain_history,
    compare_repairs,
    outcome_transitions,
    which_to_trust,
)
from sqldojo.evaluation.repair_scores import score_repairs
from sqldojo.records import Episode
from sqldojo.repair.task import EVALUATION, VALIDATION, RepairTask

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RepairRun:
    """One checkpoint, or a reference model, with one attempt at each task.

    `episodes` are the attempts at the evaluation tasks and `validation` those at the validation tasks, empty where it
    was not measured there. `limits` are the fields of AgentParams that it was played with (turns, tokens of a response,
    tokens of the context, ...), as `dataclasses.asdict` gives them.
    """

    name: str
    episodes: Sequence[Episode]
    limits: Mapping[str, int]
    validation: Sequence[Episode] = ()

    @classmethod
    def of(cls, name: str, episodes: Iterable[Episode], limits: Mapping[str, int]) -> RepairRun:
        """The run of these attempts at evaluation and validation tasks; those at training tasks are left out."""
        played = list(episodes)
        first, second = ([each for each in played if each.split == split] for split in (EVALUATION, VALIDATION))
        return cls(name, first, limits, second)


@dataclass(frozen=True)
class RepairResults:
    """What the stage that reports fills in; whatever is not there yet stays empty, and its part is left out.

    `model`: the base model's name in params.yaml.
    `seed`: of the chain, and of the resampling of intervals.
    `tasks`: those of all splits, as tasks.jsonl has them.
    `checkpoints`: the runs of the chain in the order of training, the released model first. As many as there are.
    `references`: other models in the same harness, by their litellm names.
    `selected`: the name of the checkpoint that the validation tasks chose; None when there was no choice.
    `training`: stage, named as the checkpoint it makes -> what its metrics file says: `updates`, `rows`, `final_loss`
    and so on, shown as they come, nested ones with dotted names. `kept_update` is the update whose adapter the looks at
    the validation tasks chose; the report then says so.
    `curves`: stage -> rows with `update` and `loss`, and `learning_rate`, `gradient_norm`, `action_tokens` if there.
    `looks`: stage -> rows of looks at the validation tasks, as `training.selection.Look`.
    `yields`: correction round -> counts as in `teacher.repair_correction.Yield`, `retained_own` and `retained_lost`;
    others are shown after these.
    `costs`: stage -> what `teacher.costs.spending` says of its calls. `told_apart` makes `training`, `yields` and
    `costs` of the stages' metrics files.
    `card`: of the base model. `about`: checkpoint -> its adapter's about.json. `params`: sections of params.yaml.
    `inputs`: path below the root -> SHA-256 of the files that this was read from.
    """

    model: str
    seed: int
    tasks: Sequence[RepairTask]
    checkpoints: Sequence[RepairRun]
    references: Sequence[RepairRun] = ()
    selected: str | None = None
    training: Mapping[str, Row] = field(default_factory=dict)
    curves: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    looks: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    yields: Mapping[str, Row] = field(default_factory=dict)
    costs: Mapping[str, Row] = field(default_factory=dict)
    card: Row | None = None
    about: Mapping[str, Row] = field(default_factory=dict)
    params: Row = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [run.name for run in self.runs]
        if not self.checkpoints or len(set(names)) < len(names):
            raise ValueError(f"a report needs a checkpoint, and no name twice: {names}")
        if self.selected is not None and self.selected not in [run.name for run in self.checkpoints]:
            raise ValueError(f"{self.selected} is selected but is no checkpoint of {names}")

    @property
    def runs(self) -> tuple[RepairRun, ...]:
        """The checkpoints and then the reference models."""
        return (*self.checkpoints, *self.references)

    @property
    def shown(self) -> RepairRun:
        """The checkpoint that stands for the chain: the selected one, or else the last."""
        return next((run for run in self.checkpoints if run.name == self.selected), self.checkpoints[-1])


def told_apart(stages: Mapping[str, Row]) -> tuple[dict[str, Row], dict[str, Row], dict[str, Row]]:
    """`training`, `yields` and `costs` of metrics files, stage -> content.

    In such a file `yield` are the counts of a correction round and `cost`, there or among these, what its calls took.
    """
    training, yields, costs = {}, {}, {}
    for stage, found in stages.items():
        counts = found.get("yield", {})
        training[stage] = {key: value for key, value in found.items() if key not in ("yield", "cost")}
        if counts:
            yields[stage] = {key: value for key, value in counts.items() if key != "cost"}
        cost = found.get("cost") or counts.get("cost")
        if cost and (cost["all"]["calls"] or cost["all"]["failures"]):  # a scripted teacher calls nobody
            costs[stage] = cost
    return training, yields, costs


def repair_metrics(results: RepairResults) -> dict[str, Any]:
    """The numbers of the report, for a metrics file.

    `chain` and `references` list the names in their order, since the file sorts its keys. `scores` and `validation` map
    a run to what `score_repairs` says; `pairs` holds every two runs, the earlier one first, each as `Pair.as_json` with
    `trust` in words; `history` is what `chain_history` says, `transitions` how tasks ended in the first and the shown
    checkpoint; `counts` are the tasks of each split; `shown` is the checkpoint that stands for the chain. `yields`,
    `training` and `costs` are as given, costs summed up. ValueError when the runs are not on the same tasks.
    """
    first, shown = results.checkpoints[0], results.shown
    history = chain_history({run.name: run.episodes for run in results.checkpoints})
    return {
        "chain": [run.name for run in results.checkpoints],
        "references": [run.name for run in results.references],
        "selected": results.selected,
        "shown": shown.name,
        "counts": {split: sum(task.split == split for task in results.tasks)
                   for split in sorted({task.split for task in results.tasks})},
        "scores": {run.name: _scores(results, run, EVALUATION) for run in results.runs},
        "validation": {run.name: _scores(results, run, VALIDATION) for run in results.runs if run.validation},
        "pairs": [_pair(results, *runs) for runs in combinations(results.runs, 2)],
        "history": dict(vars(history)) | {"steps": [dict(vars(step)) for step in history.steps]},
        "transitions": {"before": first.name, "after": shown.name,
                        "counts": outcome_transitions(first.episodes, shown.episodes)},
        "training": {name: dict(row) for name, row in results.training.items()},
        "yields": {name: dict(row) for name, row in results.yields.items()},
        "costs": merged_costs({name: {"cost": row} for name, row in results.costs.items()}, {}),
    }  # fmt: skip


def pair_of(metrics: Mapping[str, Any], first: str, second: str) -> Mapping[str, Any]:
    """The paired table of two runs; KeyError when the metrics have none in that order."""
    for pair in metrics["pairs"]:
        if (pair["first"], pair["second"]) == (first, second):
            return pair
    raise KeyError(f"no pair {first}, {second}")


def selection_note(metrics: Mapping[str, Any]) -> str:
    """Which checkpoints were selected, in each stage and of the chain, and on what."""
    name, counts = metrics["selected"], metrics["counts"]
    validation = f"validation ({counts.get(VALIDATION, 0)} tasks)"
    evaluation = f"not on the evaluation tasks ({counts.get(EVALUATION, 0)})"
    kept = {stage: row["kept_update"] for stage, row in metrics["training"].items() if "kept_update" in row}
    said = []
    if kept:
        listed = ", ".join(f"{stage} at update {kept[stage]}" for stage in metrics["chain"] if stage in kept)
        said.append(f"Each stage kept the checkpoint that did best on {validation}, {evaluation}: {listed}.")
    if name is not None:
        said.append(f"{name} was selected on {validation}, {evaluation}.")
    else:
        said.append(
            f"No checkpoint of the chain was chosen over others; the last one, {metrics['shown']}, stands for it."
        )
    return " ".join(said)


def _scores(results: RepairResults, run: RepairRun, split: str) -> dict[str, Any]:
    episodes = run.episodes if split == EVALUATION else run.validation
    members = [task for task in results.tasks if task.split == split]
    return score_repairs(episodes, members, seed=results.seed, limits=run.limits)


def _pair(results: RepairResults, first: RepairRun, second: RepairRun) -> dict[str, Any]:
    pair = compare_repairs(first.episodes, second.episodes, results.tasks, (first.name, second.name))
    return pair.as_json() | {"trust": which_to_trust(pair)}
