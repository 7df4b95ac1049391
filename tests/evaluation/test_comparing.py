"""Changes by type and question: counted by hand."""

import pytest

from sqldojo.evaluation.comparing import (
    GAINED,
    LOST,
    SAME,
    QuestionChange,
    TypeChange,
    gains_and_losses,
    question_changes,
    split_changes,
    type_changes,
)
from sqldojo.evaluation.paired import changes
from sqldojo.records import CORRECT, OUT_OF_BUDGET, WRONG_SQL, Episode, Message


def episodes(right, split="check"):
    """`right` is type -> question -> whether each attempt is right."""
    return [
        Episode(f"{name}/{attempt}", name, kind, split, attempt,
                (Message("system", "You have tools."), Message("user", f"What about {name}? ")),
                CORRECT if value else (WRONG_SQL, OUT_OF_BUDGET)[attempt % 2], 0.0, "")
        for kind, questions in right.items() for name, values in questions.items()
        for attempt, value in enumerate(values)
    ]  # fmt: skip


BEFORE = {
    "city": {"c1": [1, 1], "c2": [1, 0]},
    "best": {"b1": [0, 0], "b2": [0, 0]},
    "all": {"a1": [1, 0], "a2": [0, 0]},
}
AFTER = {
    "city": {"c1": [1, 1], "c2": [0, 0]},
    "best": {"b1": [1, 1], "b2": [0, 1]},
    "all": {"a1": [0, 1], "a2": [0, 0]},
}


def test_types_from_the_greatest_loss_to_the_greatest_gain():
    assert type_changes(episodes(BEFORE), episodes(AFTER)) == [
        TypeChange("check", "city", 2, 4, 0.75, 0.5, -0.25),
        TypeChange("check", "all", 2, 4, 0.25, 0.25, 0.0),
        TypeChange("check", "best", 2, 4, 0.0, 0.75, 0.75),
    ]


def test_equal_changes_go_by_split_and_name():
    sides = [[*episodes(side, "reserved"), *episodes({"zoo": {"z": [1]}, "eel": {"e": [1]}})] for side in (BEFORE,) * 2]
    assert [(row.split, row.type) for row in type_changes(*sides)] == [
        ("check", "eel"), ("check", "zoo"), ("reserved", "all"), ("reserved", "best"), ("reserved", "city"),
    ]  # fmt: skip


def test_a_question_weighs_the_same_however_often_it_was_attempted():
    before, after = {"t": {"p": [0], "q": [0, 0, 0]}}, {"t": {"p": [1], "q": [0, 0, 0]}}
    assert type_changes(episodes(before), episodes(after)) == [TypeChange("check", "t", 2, 4, 0.0, 0.5, 0.5)]


def test_questions_with_their_texts_whatever_the_order():
    rows = question_changes(episodes(BEFORE)[::-1], episodes(AFTER))
    assert rows[0] == QuestionChange("check", "all", "a1", "What about a1?", 1, 1, 2)
    assert [(row.question, row.kind) for row in rows] == [
        ("a1", SAME), ("a2", SAME), ("b1", GAINED), ("b2", GAINED), ("c1", SAME), ("c2", LOST),
    ]  # fmt: skip


def test_counts_of_each_split_sum_to_its_questions():
    rows = question_changes(
        [*episodes(BEFORE), *episodes({"zoo": {"z": [1]}}, "reserved")],
        [*episodes(AFTER), *episodes({"zoo": {"z": [1]}}, "reserved")],
    )
    found = gains_and_losses(rows)
    assert found == {
        "check": {"gained": 2, "lost": 1, "both_right": 1, "both_wrong": 1, "both_partly": 1, "questions": 6},
        "reserved": {"gained": 0, "lost": 0, "both_right": 1, "both_wrong": 0, "both_partly": 0, "questions": 1},
    }
    assert gains_and_losses([]) == {}


def test_swapping_the_sides_swaps_gains_and_losses():
    forth, back = (type_changes(*map(episodes, pair)) for pair in ((BEFORE, AFTER), (AFTER, BEFORE)))
    assert [(row.type, row.change) for row in back] == [(row.type, -row.change) for row in forth[::-1]]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ({"t": {"p": [1]}}, "question q has 1 attempts before and 0 after"),
        ({"t": {"p": [1], "q": [1], "r": [1]}}, "question r has 0 attempts before and 1 after"),
        ({"t": {"p": [1], "q": [1, 1]}}, "question q has 1 attempts before and 2 after"),
        ({"t": {"p": [1]}, "u": {"q": [1]}}, "question q is not of the same split and type"),
    ],
)
def test_other_questions_are_not_compared(after, message):
    for compare in (question_changes, type_changes):
        with pytest.raises(ValueError, match=message):
            compare(episodes({"t": {"p": [1], "q": [1]}}), episodes(after))


def test_splits_have_accuracies_change_and_counts():
    found = split_changes(episodes(BEFORE), episodes(AFTER))["check"]
    assert (found["before"], found["after"], found["change"]) == (0.3333, 0.5, 0.1667)
    assert found | gains_and_losses(question_changes(episodes(BEFORE), episodes(AFTER)))["check"] == found
    assert found | changes(episodes(BEFORE), episodes(AFTER))["check"] == found
    assert (found["questions"], found["attempts"]) == (6, 12)
