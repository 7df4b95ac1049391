"""Two episode files compared: which split, types and questions changed from one checkpoint to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqldojo.chains import CHECKPOINTS, KEPT, Chain
from sqldojo.errors import UserError
from sqldojo.evaluation.comparing import (
    SAME,
    QuestionChange,
    TypeChange,
    question_changes,
    split_changes,
    type_changes,
)
from sqldojo.evaluation.page.run_files import attempts_of
from sqldojo.files import read_records
from sqldojo.records import Episode


@dataclass(frozen=True)
class ComparedFiles:
    """What changed: split -> what `comparing.split_changes` says, all types, the questions gained and lost."""

    names: tuple[str, str]
    splits: dict[str, dict[str, float | int]]
    types: tuple[TypeChange, ...]
    questions: tuple[QuestionChange, ...]

    def as_json(self) -> dict[str, Any]:
        """The whole as JSON values; each question has its `kind`, gained or lost."""
        return {
            "before": self.names[0],
            "after": self.names[1],
            "splits": self.splits,
            "types": [asdict(each) for each in self.types],
            "questions": [asdict(each) | {"kind": each.kind} for each in self.questions],
        }


def episodes_path(name: str, chain: Callable[[], Chain], root: Path) -> Path:
    """The episode file that `name` means: a file, or else a checkpoint of the chain, which is only asked for then.

    UserError when it is neither, or as in `run_files.attempts_of`.
    """
    if Path(name).is_file():
        return Path(name)
    known = (*CHECKPOINTS, KEPT)
    if name not in known:
        raise UserError(f"{name}: no such file, nor one of the checkpoints {', '.join(known)}; give one of these")
    return attempts_of(chain(), name, root)


def compare_files(before: Path, after: Path, names: tuple[str, str], split: str | None = None) -> ComparedFiles:
    """What changed from one file of episodes to another, in one split or in all; `names` are what people call them.

    UserError when a file does not hold episodes, or none of the split, or they are not of the same questions.
    """
    sides = [_episodes(path, split) for path in (before, after)]
    try:
        splits, types = split_changes(*sides), type_changes(*sides)
    except ValueError as error:
        raise UserError(
            f"{before} and {after}: not the same questions ({error}); evaluate both checkpoints on the same questions "
            "with `dvc repro`, or choose a --split that both played"
        ) from error
    changed = tuple(each for each in question_changes(*sides) if each.kind != SAME)
    return ComparedFiles(names, splits, tuple(types), changed)


def _episodes(path: Path, split: str | None) -> Sequence[Episode]:
    episodes = read_records(path, Episode)
    found = [episode for episode in episodes if split in (None, episode.split)]
    if not found:
        there = ", ".join(sorted({episode.split for episode in episodes})) or "nothing"
        what = "episodes" if split is None else f"episodes of the split {split}"
        raise UserError(f"{path}: no {what}; it holds {there}")
    return found
