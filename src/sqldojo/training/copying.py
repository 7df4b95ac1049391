"""Which tokens of an action a model would get wrong if it just went on copying what stands before.

A repaired query is the user's own but for a few tokens. Copying is learnt first and explains most of the loss, so a
model taught with the plain loss submits what it was given. Tokens that copying would get wrong are therefore weighed
more.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqldojo.training.dialogue import TokenSequence

_LEAST_MATCH = 2  # tokens: after a single one, such as a space, copying would predict almost anything
_LONGEST_MATCH = 24


def departure_weights(sequence: TokenSequence, weight: float) -> list[float]:
    """A loss weight for each token: 0 outside actions, 1 where copying is right, `weight` where it is not.

    The copy of a token is what followed the longest match, of 2 to 24 tokens, of what stands right before it; of
    equally long matches the latest. This is what an induction head predicts (Olsson et al. 2022, "In-context Learning
    and Induction Heads"). Where nothing matches there is no copy, so such tokens count as departures too.
    """
    tokens, weights = sequence.tokens, [0.0] * len(sequence.tokens)
    ends: dict[tuple[int, ...], list[int]] = {}
    for place, token in enumerate(tokens):
        before = tuple(tokens[place - _LEAST_MATCH : place]) if place >= _LEAST_MATCH else None
        earlier = ends.get(before, []) if before else []
        if sequence.action_mask[place]:
            weights[place] = 1.0 if _copied(tokens, place, earlier) == token else weight
        if before:
            ends.setdefault(before, []).append(place)
    return weights


def _copied(tokens: Sequence[int], place: int, earlier: Sequence[int]) -> int | None:
    """The token that copying predicts at `place`, None without a match; `earlier` are places behind the same tokens."""
    longest, found = 0, None
    for end in earlier:
        length = _LEAST_MATCH
        while length < min(_LONGEST_MATCH, end) and tokens[end - length - 1] == tokens[place - length - 1]:
            length += 1
        if length >= longest:
            longest, found = length, tokens[end]
    return found
