"""What an export comes to, as numbers: sizes, agreement with MLX, accuracy on the selection set, examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqldojo.chains import GRPO, KEPT, REDISTILLED, Chain
from sqldojo.evaluation.comparing import question_text
from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.summary import DIGITS, summarise
from sqldojo.export.exporting import FileFacts, file_facts
from sqldojo.export.settings import CHECKS, FILES, MLX, ExportParams, episodes_path, file_path
from sqldojo.files import read_records
from sqldojo.records import CORRECT, SELECTION, Episode

Results = Mapping[str, Any]  # what `results` returns, as metrics/export.json holds it


def results(
    episodes: Mapping[str, Sequence[Episode]],
    facts: Mapping[str, FileFacts],
    agreements: Mapping[str, Mapping[str, Any]],
    seed: int,
) -> dict[str, Any]:
    """For MLX and each file its row of scores; for files also sizes, agreement, and the paired change from MLX.

    `episodes` are those of the selection set, by `mlx` or the kind of a file, all at the same questions. ValueError
    when they are not.
    """
    found: dict[str, Any] = {}
    for kind, played in episodes.items():
        found[kind] = dict(summarise(played, seed)[SELECTION])
        if kind != MLX:
            found[kind] |= changes(episodes[MLX], played)[SELECTION] | _file_row(facts[kind], agreements[kind])
    return found


def _file_row(facts: FileFacts, agreement: Mapping[str, Any]) -> dict[str, Any]:
    shares = {name: round(count / facts.parameters, DIGITS) for name, count in facts.types.items()}
    return {
        "bytes": facts.size,
        "bits_per_weight": round(facts.bits_per_weight, 2),
        "weights": facts.parameters,
        "types": shares,
        **{name: agreement[name] for name in ("prompts", "tokens", "equal", "differences")},
    }


def read_results(params: ExportParams, seed: int) -> dict[str, Any]:
    """The results of the stages' files, for the chain and the kinds of files in `params`."""
    episodes = {MLX: mlx_episodes(params.chain)}
    episodes |= {kind: read_records(episodes_path(kind), Episode) for kind in params.files}
    facts = {kind: file_facts(file_path(FILES, params.chain.name, kind)) for kind in params.files}
    return results(episodes, facts, json.loads(CHECKS.read_text(encoding="utf-8")), seed)


def mlx_episodes(chain: Chain) -> list[Episode]:
    """What the kept adapter did at the selection set under MLX, where it was one of two that were played."""
    keep = json.loads(chain.metrics("keep").read_text(encoding="utf-8"))
    played = read_records(chain.episodes(REDISTILLED if keep[f"{KEPT}_{REDISTILLED}"] else GRPO), Episode)
    return [episode for episode in played if episode.split == SELECTION]


def example_rows(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """Each example question with whether the greedy attempt, number 0, is right, and how many of the drawn ones are."""
    rows = []
    greedy = [episode for episode in episodes if episode.attempt == 0]
    for episode in sorted(greedy, key=lambda each: (each.split, each.type)):
        mine = [each for each in episodes if each.question == episode.question and each.attempt > 0]
        rows.append(
            {
                "split": episode.split,
                "question": question_text(episode),
                "greedy": episode.outcome == CORRECT,
                "right": sum(each.outcome == CORRECT for each in mine),
                "attempts": len(mine),
            }
        )
    return rows


def kind_of(path: Path) -> str:
    """The kind of a file that `settings.file_path` named."""
    return path.stem.rpartition("-")[2].lower()
