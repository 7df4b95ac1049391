"""The files of the repair chain as what its report is made of, and which checkpoint the validation tasks choose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqldojo import repair_chain
from sqldojo.chains import Chain
from sqldojo.evaluation.repair_results import RepairResults, RepairRun, told_apart
from sqldojo.evaluation.tables import read_table
from sqldojo.files import file_sha256, read_records
from sqldojo.params import read_document
from sqldojo.records import CORRECT, Episode
from sqldojo.repair.task import RepairTask
from sqldojo.repair_params import RepairParams


def read_results(root: Path, params: RepairParams, params_file: Path) -> RepairResults:
    """What the stages of the chain left below `root`. UserError or OSError for a file that is malformed or absent."""
    limits, trained = asdict(params.agent), repair_chain.TRAINED
    tasks = read_records(root / repair_chain.PUBLIC, RepairTask)
    played = {name: read_records(root / repair_chain.episodes(name), Episode) for name in repair_chain.CHECKPOINTS}
    others = read_records(root / repair_chain.REFERENCES, Episode)
    checkpoints = [RepairRun.of(name, episodes, limits) for name, episodes in played.items()]
    asked = {episode.question for episodes in played.values() for episode in episodes}
    figures = {name: _json(root / repair_chain.metrics(name)) for name in trained}
    training, yields, _ = told_apart(figures)
    stages = (*(f"teach_{teacher}" for teacher in repair_chain.TEACHERS), "references")
    _, _, costs = told_apart(figures | {name: _json(root / repair_chain.metrics(name)) for name in stages})
    base = Chain(params.model, params.seed)
    files = [repair_chain.PUBLIC, *map(repair_chain.episodes, repair_chain.CHECKPOINTS)]
    return RepairResults(
        model=params.model,
        seed=params.seed,
        tasks=[task for task in tasks if task.id in asked],
        checkpoints=checkpoints,
        references=[
            RepairRun.of(model, [episode for episode in others if episode.teacher == model], limits)
            for model in params.references
        ],
        selected=best_on_validation(checkpoints),
        training=training,
        curves={name: read_table(root / repair_chain.curve(name)) for name in trained},
        looks={name: read_table(root / repair_chain.looks(name)) for name in trained},
        yields=yields,
        costs={name: cost for name, cost in costs.items() if cost},
        card=_json(root / base.base_card),
        about={name: _json(root / repair_chain.adapter(name) / "about.json") for name in trained},
        params={"repair": read_document(params_file)["repair"]},
        inputs={path.as_posix(): file_sha256(root / path) for path in files},
    )


def best_on_validation(checkpoints: Sequence[RepairRun]) -> str | None:
    """The checkpoint that solves most validation tasks, of equals the one that was trained less; None without any."""
    solved = {run.name: sum(each.outcome == CORRECT for each in run.validation) for run in checkpoints}
    played = any(run.validation for run in checkpoints)
    return max(solved, key=lambda name: solved[name]) if played else None


def _json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
