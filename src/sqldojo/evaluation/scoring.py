"""Playing every held-out question with one checkpoint, each several times, without losing what is done when killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.agent.episode import AgentParams, AnswerParams, Attempt, AttemptMaker
from sqldojo.chains import Chain
from sqldojo.databases.execution import Limits
from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, to_line, write_json, write_records
from sqldojo.progress import progress
from sqldojo.records import CORRECT, Episode, Question
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.rollouts import play


@dataclass(frozen=True)
class EvaluateParams:
    """The section `evaluate`: attempts at each question, and how many episodes are decoded together."""

    seed: int
    attempts: int
    width: int

    def __post_init__(self) -> None:
        for name in ("attempts", "width"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")


def score(
    policy: PolicyModel,
    questions: Sequence[Question],
    databases: Sequence[Path],
    params: EvaluateParams,
    agent: AnswerParams,
    limits: Limits,
    journal: Path,
) -> list[Episode]:
    """All episodes, sorted by id. Each is appended to `journal` as it ends; a rerun plays only what is missing there.

    Random keys come from the seed and the episode's id, so a resumed run gives the same episodes.
    """
    make = AttemptMaker(databases, policy.dialogue.tool_format, agent, limits)
    attempts = [make(question, number) for question in questions for number in range(params.attempts)]
    return play_all(policy, attempts, make.params, journal, "evaluate", seed=params.seed, width=params.width)


def play_all(
    policy: PolicyModel,
    attempts: Sequence[Attempt],
    agent: AgentParams,
    journal: Path,
    name: str,
    *,
    seed: int | str,
    width: int,
    greedy: bool = False,
) -> list[Episode]:
    """The episodes of these attempts, sorted by id, with a progress bar called `name`; otherwise as `score`."""
    episodes = {episode.id: episode for episode in _recover(journal)}
    left = [attempt for attempt in attempts if attempt.id not in episodes]
    journal.parent.mkdir(parents=True, exist_ok=True)
    with progress(name, len(attempts), done=len(episodes)) as report, journal.open("a", encoding="utf-8") as log:
        for episode in play(policy, left, agent, seed=seed, width=width, greedy=greedy):
            log.write(to_line(episode) + "\n")
            log.flush()
            episodes[episode.id] = episode
            report(len(episodes), _tally(episodes.values()))
    return [episodes[name] for name in sorted(episodes)]


def write_scores(chain: Chain, checkpoint: str, episodes: Sequence[Episode], seed: int) -> None:
    """Write the episodes of a checkpoint and what they come to, per split and per question type."""
    write_records(chain.episodes(checkpoint), episodes)
    write_json(chain.scores(checkpoint), summarise(episodes, seed))
    write_table(chain.type_scores(checkpoint), summarise_types(episodes, seed))


def _recover(journal: Path) -> list[Episode]:
    """The episodes of an interrupted run; a last line cut off by the kill is dropped from the file."""
    if not journal.is_file():
        return []
    written = journal.read_bytes()  # not text: the cut may go through a character
    complete = written[: written.rfind(b"\n") + 1]
    if complete != written:
        journal.write_bytes(complete)
    return read_records(journal, Episode)


def _tally(episodes: Collection[Episode]) -> str:
    counts = Counter(episode.outcome for episode in episodes)
    ended = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"{counts[CORRECT] / len(episodes):.0%} correct ({ended})"
