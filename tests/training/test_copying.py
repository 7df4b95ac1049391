"""Which tokens of an action copying would get wrong."""

from __future__ import annotations

import pytest

from sqldojo.training.copying import departure_weights
from sqldojo.training.dialogue import TokenSequence


def weights(context: str, action: str, weight: float = 5.0) -> str:
    """Of each character of the action, `.` where copying is right and `^` where it is not."""
    text = context + action
    mask = (0,) * len(context) + (1,) * len(action)
    found = departure_weights(TokenSequence(tuple(map(ord, text)), mask), weight)
    assert found[: len(context)] == [0.0] * len(context)
    return "".join({1.0: ".", weight: "^"}[each] for each in found[len(context) :])


@pytest.mark.parametrize(
    ("context", "action", "expected"),
    [
        ("say: abcdef. say: ", "abcdef", "......"),
        ("say: abcdef. say: ", "abXdef", "..^^^."),  # after X and d nothing matches; two tokens of a match are needed
        ("say: abcdefg. say: ", "abefg.", "..^^.."),  # behind what was left out be matches nothing, then ef does
        ("ab1 ab2 ", "ab2", "^.."),  # of equally long matches the latest: b2 was followed by a space, then ab by 2
        ("xyz", "uvw", "^^^"),  # nothing to copy
    ],
)
def test_departures(context: str, action: str, expected: str) -> None:
    assert weights(context, action) == expected


def test_the_longer_match_predicts() -> None:
    """`q ab` was followed by 1 and, later, `ab` alone by 2: behind `q ab` copying says 1."""
    assert weights("q ab1 r ab2 q a", "b1") == ".."
    assert weights("q ab1 r ab2 q a", "b2") == ".^"
