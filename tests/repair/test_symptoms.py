"""Issues in words: what was measured is said, in many ways, and nothing is left open."""

from random import Random

import pytest

from sqldojo.repair import differences as d
from sqldojo.repair.symptoms import behind, besides, describe, issue

FOUND = [
    d.Finding(d.ERROR, message="no such column: nmae"),
    d.Finding(d.EMPTY, 0, 3, "Ada"),
    d.Finding(d.EMPTY, 0, 3),
    d.Finding(d.ONE_VALUE, got_value="4", wanted_value="2", trait="higher"),
    d.Finding(d.MORE_COLUMNS, 3, 2),
    d.Finding(d.FEWER_COLUMNS, 1, 2, column="number"),
    d.Finding(d.SWAPPED_COLUMNS, label="3", column="name", other="total"),
    d.Finding(d.ORDER, 1, 3, "Cy", "Ada", trait="reversed"),
    d.Finding(d.REPEATED, 5, 3, "Ada", got_value="3", wanted_value="1"),
    d.Finding(d.LOST_REPEATS, 2, 3, "Ada", got_value="1", wanted_value="2"),
    d.Finding(d.EXTRA, 5, 3, "Di"),
    d.Finding(d.MISSING, 1, 3),
    d.Finding(d.VALUES, 2, 3, "Ada", column="total", got_value="6", wanted_value="3", trait="higher"),
    d.Finding(d.MIXED, 2, 3, "Di", "Bo"),
    d.Finding(d.ALL_WRONG, 1, 3),
]


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.what)
def test_every_form_is_a_whole_sentence(found):
    texts = {describe(found, Random(seed)) for seed in range(60)}
    for text in texts:
        assert "{" not in text
        assert "  " not in text
        assert text[0].isupper() or text[0].isdigit()
        assert text[-1] in ".?"


def test_the_message_of_an_error_is_told_word_for_word():
    assert all("no such column: nmae" in describe(FOUND[0], Random(seed)) for seed in range(20))


def test_what_was_not_measured_is_not_told():
    texts = {describe(d.Finding(d.MISSING, 1, 3), Random(seed)) for seed in range(60)}
    assert texts == {
        "I get only 1 row, but there should be 3.",
        "Some rows are missing: I get 1 instead of 3.",
    }


def test_many_issues_are_told_of_one_question():
    wish = "Which readers live in Graz? Return only the name."
    texts = {issue(wish, "I get no rows at all.", Random(seed)) for seed in range(200)}
    assert len(texts) > 80
    assert all("readers live in Graz" in text and "I get no rows at all." in text for text in texts)


def test_a_wish_about_oneself_has_nothing_before_it_that_announces_a_question():
    texts = {issue("I need a list of the towns.", "It fails.", Random(seed)) for seed in range(100)}
    assert not any("question" in text or "asked me" in text for text in texts)


def test_the_same_seed_tells_the_same():
    assert [issue("Count the books.", "It fails.", Random("a")) for _ in range(2)] == [
        issue("Count the books.", "It fails.", Random("a"))
    ] * 2


def test_a_second_fault_is_told_behind_the_first():
    assert behind("It fails.", "The result is empty.", Random(1)).startswith("It fails. ")
    assert besides("A column is missing.", "There are too many rows: 4 instead of 2.", Random(0)).endswith(
        "there are too many rows: 4 instead of 2."
    )
