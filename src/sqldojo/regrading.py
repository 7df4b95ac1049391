"""Grading an archive of episodes again under today's verifier: which verdicts changed, and why.

A stored outcome is what the verifier said then. After a change of the verifier, or of the databases that it asks, this
says which old results would be others now, without playing anything again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqldojo.agent.episode import REWARDS, outcome_of
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import family_paths
from sqldojo.errors import UserError
from sqldojo.files import read_records, write_records
from sqldojo.progress import progress
from sqldojo.records import HELD_OUT_SPLITS, TRAIN, Episode, Question
from sqldojo.verifier.grading import grade_all


@dataclass(frozen=True)
class Change:
    """An episode whose outcome is another one today; `reason` says why it is wrong now, or was then."""

    episode: str
    question: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class Regrading:
    """The archive with today's outcomes, what changed in it, and how many of its episodes submitted a query."""

    episodes: tuple[Episode, ...]
    changes: tuple[Change, ...]
    submissions: int

    def counts(self) -> dict[str, int]:
        """How many episodes went from one outcome to another, as `before -> after`, sorted."""
        found = Counter(f"{change.before} -> {change.after}" for change in self.changes)
        return dict(sorted(found.items()))


def read_questions(folder: Path) -> dict[str, Question]:
    """The questions of every split in the folder, by id. UserError when a file does not hold questions."""
    files = [folder / f"{split}.jsonl" for split in (TRAIN, *HELD_OUT_SPLITS)]
    return {question.id: question for file in files for question in read_records(file, Question)}


def regrade(
    episodes: Sequence[Episode], questions: Mapping[str, Question], databases: Path, limits: Limits, *, archive: Path
) -> Regrading:
    """Every submission graded again; an episode without one keeps its outcome.

    `databases` is the folder of both families; `archive` is the episodes' file, for messages. UserError for an episode
    whose question is gone or asks something else now, since it would be graded by another reference.
    """
    submitted: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.submission is not None:
            _check_question(episode, questions.get(episode.question), archive)
            submitted[episode.question].append(episode)
    regraded: dict[str, Episode] = {}
    total = sum(map(len, submitted.values()))
    with progress("regrade", total) as report:
        for name in sorted(submitted):
            question, found = questions[name], submitted[name]
            texts = list(dict.fromkeys(episode.submission for episode in found))
            paths = family_paths(databases, question.family)
            verdicts = grade_all(question.reference, texts, paths, limits, ordered=question.ordered)
            by_text = dict(zip(texts, verdicts, strict=True))
            for episode in found:
                outcome, reason = outcome_of(by_text[episode.submission])
                regraded[episode.id] = replace(episode, outcome=outcome, reward=REWARDS[outcome], reason=reason)
            report(len(regraded), "")
    after = tuple(regraded.get(episode.id, episode) for episode in episodes)
    changes = tuple(
        Change(new.id, new.question, old.outcome, new.outcome, new.reason or f"then: {old.reason}")
        for old, new in zip(episodes, after, strict=True)
        if old.outcome != new.outcome
    )
    return Regrading(after, changes, total)


def write_archive(path: Path, regrading: Regrading) -> None:
    """Write the archive with today's outcomes to a new file; UserError when there is one already."""
    if path.exists():
        raise UserError(f"{path}: exists already; give the regraded archive another name")
    write_records(path, regrading.episodes)


def _check_question(episode: Episode, question: Question | None, archive: Path) -> None:
    asked = next((message.content for message in episode.messages if message.role == "user"), None)
    if question is None or asked != question.text:
        what = "is not among the questions" if question is None else "asks something else now"
        raise UserError(
            f"{archive}: the question {episode.question} of episode {episode.id} {what}; restore those that the "
            "archive was made with (`git checkout` the commit, then `dvc checkout data/questions`)"
        )
