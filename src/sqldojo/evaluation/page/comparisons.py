"""Two checkpoints of a run beside each other: which pairs there are, and what the page says of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sqldojo.chains import KEPT, RELEASED
from sqldojo.evaluation.comparing import (
    SAME,
    QuestionChange,
    TypeChange,
    gains_and_losses,
    question_changes,
    type_changes,
)
from sqldojo.evaluation.page.figures import Table, asked, changed, signed, words
from sqldojo.evaluation.page.run_files import Run
from sqldojo.evaluation.paired import COMPARED_WITH, changes
from sqldojo.evaluation.score_tables import in_order, percent
from sqldojo.records import Episode


@dataclass(frozen=True)
class Comparison:
    """An earlier checkpoint and a later one, with the types and the questions in which they differ."""

    before: str
    after: str
    types: Table
    gained_and_lost: Sequence[QuestionChange]


def comparable(before: Sequence[Episode], after: Sequence[Episode]) -> bool:
    """Whether both made the same attempts: while a run is in progress one may be of an earlier set of questions."""
    sides = [Counter((each.split, each.type, each.id) for each in side) for side in (before, after)]
    return sides[0] == sides[1]


def told_pairs(run: Run) -> list[tuple[str, str]]:
    """Each step of the chain that can be compared, and to the kept checkpoint also what led there in several steps."""
    after_before = [*COMPARED_WITH.items(), (KEPT, RELEASED)]
    pairs = dict.fromkeys((before, run.kept if after == KEPT else after) for after, before in after_before)
    there = [pair for pair in pairs if all(name in run.episodes for name in pair)]
    return [pair for pair in there if comparable(*(run.episodes[name] for name in pair))]


def every_pair(run: Run) -> list[Comparison]:
    """What each pair of checkpoints that can be compared differs in."""
    found = []
    for before, after in combinations(run.episodes, 2):
        sides = run.episodes[before], run.episodes[after]
        if comparable(*sides):
            differing = [row for row in question_changes(*sides) if row.kind != SAME]
            found.append(Comparison(before, after, _type_table(type_changes(*sides), before, after), differing))
    return found


def change_table(run: Run, pairs: Sequence[tuple[str, str]]) -> Table:
    """Paired differences in points, splits down, with their 95 % intervals."""
    found = {pair: changes(*(run.episodes[name] for name in pair)) for pair in pairs}
    splits, played = in_order(found[pairs[0]]), run.episodes[pairs[0][0]]
    rows = [[_name(played, split), *(changed(found[pair].get(split, {})) for pair in pairs)] for split in splits]
    columns = ("split (questions × attempts)", *(f"{before} → {after}" for before, after in pairs))
    return Table("Change of accuracy, in points [95 % interval]", columns, rows)


def count_table(run: Run, pairs: Sequence[tuple[str, str]]) -> Table:
    """How many questions were gained and lost between the checkpoints of each pair."""
    rows, counts = [], {}
    for before, after in pairs:
        counts = gains_and_losses(question_changes(run.episodes[before], run.episodes[after]))
        rows += [[f"{before} → {after}", split, *(str(count) for count in counts[split].values())]
                 for split in in_order(counts)]  # fmt: skip
    kinds = [words(kind) for kind in next(iter(counts.values()))]
    return Table("Questions gained and lost", ("from → to", "split", *kinds), rows, texts=2)


def _name(played: Sequence[Episode], split: str) -> str:
    attempts = [episode.question for episode in played if episode.split == split]
    return f"{split} ({asked({'questions': len(set(attempts)), 'attempts': len(attempts)})})"


def _type_table(rows: Sequence[TypeChange], before: str, after: str) -> Table:
    cells = [[row.type, row.split, asked(vars(row)), percent(row.before),
              percent(row.after), signed(row.change)] for row in rows]  # fmt: skip
    columns = ("type", "split", "questions × attempts", f"{before}, %", f"{after}, %", "change, points")
    return Table(f"Accuracy of each type, {before} → {after}", columns, cells, texts=2)
