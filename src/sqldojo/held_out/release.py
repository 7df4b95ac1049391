"""A release: the kept adapter of one chain, named for its one look at the test set, and what that look comes to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqldojo.agent.episode import AnswerParams
from sqldojo.chains import KEPT, RELEASED, Chain
from sqldojo.databases.execution import ENGINE, Limits
from sqldojo.errors import UserError
from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.scoring import EvaluateParams, score
from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.files import file_sha256
from sqldojo.held_out.ledger import PARAMS, Entry, Look
from sqldojo.held_out.split import SplitParams
from sqldojo.records import TEST, Episode, Question
from sqldojo.stage import resumable_folder
from sqldojo.training.policy_model import load_policy_model
from sqldojo.training.provenance import provenance

_NOT_WEIGHTS = "about.json"  # who trained the adapter and with what, which changes no answer


@dataclass(frozen=True)
class ReleaseParams:
    """The section `release`: a name that is never used twice, and the chain whose kept adapter it stands for."""

    name: str
    model: str
    seed: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\w[\w.-]*", self.name):  # it names a folder too
            raise ValueError(f"name: use letters, digits, dots and dashes, found {self.name!r}")

    @property
    def chain(self) -> Chain:
        """The chain that is released."""
        return Chain(self.model, self.seed)


def look_of(
    release: ReleaseParams, split: str, training: Path, params: SplitParams, agent: AnswerParams, limits: Limits
) -> Look:
    """The look that this release takes at the test set `split`, by content.

    UserError when the kept adapter or its base model is not there.
    """
    chain = release.chain
    kept = chain.weights(KEPT)
    if not kept.is_dir() or not chain.base_card.is_file():
        raise UserError(
            f"{kept}: there is no such adapter, or no base model for it; train it with `dvc repro`, or set "
            f"`release.model` and `release.seed` in {PARAMS} to one of `models` and one of `seeds` in params.yaml"
        )
    playing = asdict(agent)
    del playing["schema_characters"]  # at least 1,000, and the shop's schema has half of that: it is always whole
    settings = {"agent": playing, "verifier": asdict(limits), "attempts": params.attempts, "seed": params.seed}
    code = resumable_folder("score_test", provenance(params.seed)).name  # of all code that is imported by now
    return Look(
        release.name, split, file_sha256(training), adapter_digest(kept), file_sha256(chain.base_card), settings, code
    )


def play_release(
    chain: Chain,
    questions: Sequence[Question],
    databases: Sequence[Path],
    params: SplitParams,
    agent: AnswerParams,
    limits: Limits,
    journals: Path,
) -> dict[str, list[Episode]]:
    """The episodes of the released model and of the kept adapter, with the same random keys.

    Each episode goes into a file of the folder `journals` as it ends, and what is there is not played again.
    """
    settings = EvaluateParams(params.seed, params.attempts, params.width)
    episodes = {}
    for checkpoint in (RELEASED, KEPT):
        weights = None if checkpoint == RELEASED else chain.weights(checkpoint)
        policy = load_policy_model(chain.base, weights, to_play=True)
        journal = journals / f"{checkpoint}.jsonl"
        episodes[checkpoint] = score(policy, questions, databases, settings, agent, limits, journal)
    return episodes


def adapter_digest(folder: Path) -> str:
    """The SHA-256 of an adapter's weights and configuration."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name != _NOT_WEIGHTS:
            digest.update(f"{path.name} {file_sha256(path)}\n".encode())
    return digest.hexdigest()


def result_of(episodes: Mapping[str, Sequence[Episode]], files: Mapping[str, Path], seed: int) -> dict[str, Any]:
    """What the ledger records of the released model and the kept adapter, given their episodes and where they lie.

    For each the row of `summary.summarise`, the paired difference, a row per type, and what it was computed with.
    """
    types = [
        {"checkpoint": name, **{key: value for key, value in row.items() if key != "split"}}
        for name, played in episodes.items()
        for row in summarise_types(played, seed)
    ]
    return {
        "scores": {name: summarise(played, seed)[TEST] for name, played in episodes.items()},
        "change": changes(episodes[RELEASED], episodes[KEPT])[TEST],
        "types": types,
        "episodes": {name: file_sha256(path) for name, path in files.items()},
        "computed_with": {**provenance(seed), "sqlite": ENGINE},
    }


def metrics_of(entry: Entry) -> dict[str, Any]:
    """What metrics/test.json says of a score in the ledger."""
    names = ("release", "look", "look_at_any_split", "key", "adapter")
    result = entry["result"]
    return {**{name: entry[name] for name in names}, **result["scores"], "change": result["change"]}


def headline(entry: Entry) -> str:
    """The result in a few lines: what was asked, each accuracy with its interval, the difference, which look it was."""
    scores, change = entry["result"]["scores"], entry["result"]["change"]
    types = {row["type"] for row in entry["result"]["types"]}
    questions, attempts = scores[KEPT]["questions"], scores[KEPT]["attempts"]
    shown = {
        RELEASED: _interval(scores[RELEASED], "accuracy") + " %",
        KEPT: _interval(scores[KEPT], "accuracy") + " %",
        f"{KEPT} - {RELEASED}": _interval(change, "change", sign="+") + " points, paired",
    }
    return "\n".join([
        f"release {entry['release']}, look {entry['look']} at this test set, {entry['look_at_any_split']} at any: "
        f"{questions} questions x {attempts / questions:g}, {len(types)} types",
        *(f"  {name:<{max(map(len, shown))}}  {text}" for name, text in shown.items()),
    ])  # fmt: skip


def _interval(row: Mapping[str, float], name: str, sign: str = "") -> str:
    mean, low, high = (f"{100 * row[key]:{sign}.1f}" for key in (name, f"{name}_low", f"{name}_high"))
    return f"{mean} [{low}, {high}]"
