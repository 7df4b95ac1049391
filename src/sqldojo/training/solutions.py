"""The right attempts that a policy made while GRPO trained it: one file a step, so that a killed run loses none.

They are what the policy found by itself, in its own words, and the second distillation learns from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqldojo.files import read_records, write_records
from sqldojo.records import CORRECT, Episode

_FOLDER, _FORMAT = "solutions", "step-{:06d}.jsonl"


def keep_solutions(scratch: Path, step: int, groups: Sequence[Sequence[Episode]]) -> None:
    """Write the right attempts of a step; each is told apart from those of other steps by its id."""
    right = [episode for group in groups for episode in group if episode.outcome == CORRECT]
    named = [replace(episode, id=f"{episode.id}/step-{step}") for episode in right]
    write_records(scratch / _FOLDER / _FORMAT.format(step), named)


def drop_solutions_after(scratch: Path, step: int) -> None:
    """Forget those of later steps, which a run that goes on from this one plays again."""
    for path in _files(scratch):
        if path.name > _FORMAT.format(step):
            path.unlink()


def distinct_solutions(scratch: Path) -> list[Episode]:
    """All that were kept, in the order of their steps; of those that do the same at one question, the first.

    Two attempts do the same when the model's own tokens are equal.
    """
    found: dict[tuple[str, tuple[int, ...]], Episode] = {}
    for path in _files(scratch):
        for episode in read_records(path, Episode):
            own = tuple(token for token, mine in zip(episode.tokens, episode.action_mask, strict=True) if mine)
            found.setdefault((episode.question, own), episode)
    return list(found.values())


def _files(scratch: Path) -> list[Path]:
    return sorted((scratch / _FOLDER).glob("step-*.jsonl"))
