"""Edits change what they are about and nothing else."""

import pytest

from sqldojo.repair.bugs.edits import TextEdit, apart, apply, bug, carried_over, insert


def test_apply_puts_edits_in_from_the_end():
    assert apply("SELECT a FROM t", [TextEdit(7, 8, "abc"), insert(15, " x")]) == "SELECT abc FROM t x"


def test_bugs_that_touch_are_not_apart():
    one, other = bug("k", "n", TextEdit(0, 4, "")), bug("k", "n", TextEdit(4, 6, ""))
    assert not apart(one, other)
    assert apart(one, bug("k", "n", TextEdit(5, 6, "")))


@pytest.mark.parametrize(
    ("reference", "before", "after", "expected"),
    [
        ("select a from t where b=1 and c=2", "SELECT a FROM t WHERE b = 1 AND c = 2", "SELECT a FROM t WHERE b = 1",
         "select a from t where b=1"),
        ("SELECT strftime('%Y', d) FROM t", "SELECT STRFTIME('%Y', d) FROM t", "SELECT STRFTIME('%m', d) FROM t",
         "SELECT strftime('%m', d) FROM t"),
        ("SELECT a, b\nFROM t", "SELECT a, b FROM t", "SELECT b, a FROM t", "SELECT b, a\nFROM t"),
        ("SELECT a FROM t", "SELECT a FROM t", "SELECT DISTINCT a FROM t", "SELECT DISTINCT a FROM t"),
    ],
)  # fmt: skip
def test_a_change_is_carried_over_to_the_text_as_it_is_written(reference, before, after, expected):
    assert apply(reference, carried_over(reference, before, after)) == expected


def test_a_change_of_what_is_written_in_another_way_is_not_carried_over():
    assert (
        carried_over("SELECT a FROM t WHERE b != 1", "SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE b = 1")
        is None
    )
