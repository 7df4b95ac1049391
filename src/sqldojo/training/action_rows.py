"""Episodes as training rows, one for each action: everything before it is context, it alone is learnt.

A row says which action is good in which state, whoever led there: the states of a correction are the student's, the
actions the teacher's. Rows of one episode that are learnt in the same update are computed as one sequence, since a
causal model reads the same tokens before each action there: the same gradient for less than half of the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqldojo.training.dialogue import TokenSequence


@dataclass(frozen=True)
class ActionRow:
    """Token ids of a dialogue up to the end of one action, which begins at `start`."""

    tokens: tuple[int, ...]
    start: int

    @property
    def target_tokens(self) -> int:
        return len(self.tokens) - self.start


@dataclass(frozen=True)
class RowCaps:
    """The longest context and the longest action that are trained, in tokens; a longer row is left out."""

    context_tokens: int
    target_tokens: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name}: must be at least 1, found {value}")


def action_rows(sequence: TokenSequence) -> list[ActionRow]:
    """A row for each run of tokens that the mask marks as an action, in their order."""
    tokens, mask = sequence.tokens, sequence.action_mask
    ends = [place + 1 for place in range(len(mask)) if mask[place] and (place + 1 == len(mask) or not mask[place + 1])]
    starts = [place for place in range(len(mask)) if mask[place] and (place == 0 or not mask[place - 1])]
    return [ActionRow(tuple(tokens[:end]), start) for start, end in zip(starts, ends, strict=True)]


def within(rows: Iterable[ActionRow], caps: RowCaps) -> list[ActionRow]:
    """The rows whose context and action are both short enough."""
    return [row for row in rows if row.start <= caps.context_tokens and row.target_tokens <= caps.target_tokens]


def merged(rows: Sequence[ActionRow]) -> list[TokenSequence]:
    """The rows as sequences, those that continue one another as one; in the order of their longest rows.

    The sum of log-probabilities of all actions and its gradient are those of the rows one by one.
    """
    sequences: list[tuple[tuple[int, ...], list[int]]] = []
    for row in sorted(set(rows), key=lambda each: -len(each.tokens)):
        holder = next((mask for tokens, mask in sequences if tokens[: len(row.tokens)] == row.tokens), None)
        if holder is None:
            holder = [0] * len(row.tokens)
            sequences.append((row.tokens, holder))
        holder[row.start : len(row.tokens)] = [1] * row.target_tokens
    return [TokenSequence(tokens, tuple(mask)) for tokens, mask in sequences]
