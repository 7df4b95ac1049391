"""What is seen of a wrong result."""

import pytest

from sqldojo.databases.execution import ERROR as FAILED
from sqldojo.databases.execution import OK, QueryResult
from sqldojo.repair import differences as d


def result(rows, columns=("name", "total")):
    return QueryResult(OK, tuple(columns[: len(rows[0])]) if rows else tuple(columns), tuple(map(tuple, rows)))


RIGHT = result([("Ada", 3), ("Bo", 5), ("Cy", 7)])


def seen(wrong, right=RIGHT, ordered=False):
    return d.finding(right, wrong, ordered=ordered)


def test_an_error_is_told_in_sqlites_words():
    found = seen(QueryResult(FAILED, message='near "FORM": syntax error'))
    assert (found.what, found.message) == (d.ERROR, 'near "FORM": syntax error')


def test_the_same_rows_in_another_order_are_nothing_to_see_unless_order_counts():
    turned = result([("Cy", 7), ("Bo", 5), ("Ada", 3)])
    assert seen(turned) is None
    found = seen(turned, ordered=True)
    assert (found.what, found.got, found.label, found.other, found.trait) == (d.ORDER, 1, "Cy", "Ada", "reversed")


def test_reals_are_compared_as_people_read_them():
    assert seen(result([("Ada", 0.33334)]), result([("Ada", 0.33331)])) is None


def test_an_empty_result_names_a_row_that_should_be_there():
    found = seen(result([]))
    assert (found.what, found.wanted, found.label) == (d.EMPTY, 3, "Ada")
    assert seen(result([]), result([(0.46,)], ("share",))).label == ""


def test_one_value():
    found = seen(result([(4,)], ("n",)), result([(2.5,)], ("n",)))
    assert (found.what, found.got_value, found.wanted_value, found.trait) == (d.ONE_VALUE, "4", "2.5", "whole")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("Ada", 3), ("Bo", 5), ("Cy", 7), ("Di", 9)], (d.EXTRA, 4, 3, "Di")),
        ([("Ada", 3), ("Cy", 7)], (d.MISSING, 2, 3, "Bo")),
        ([("Ada", 3), ("Ada", 3), ("Bo", 5), ("Cy", 7)], (d.REPEATED, 4, 3, "Ada")),
        ([("Ada", 3), ("Bo", 5), ("Di", 7)], (d.VALUES, 1, 3, "the 7")),
        ([("Ada", 3), ("Di", 9)], (d.MIXED, 2, 3, "Di")),
        ([("Di", 1)], (d.ALL_WRONG, 1, 3, "Di")),
    ],
)
def test_rows(rows, expected):
    wrong = QueryResult(OK, ("name", "SUM(x)"), tuple(rows))
    found = d.finding(QueryResult(OK, ("name", "SUM(x)"), RIGHT.rows), wrong, ordered=False)
    assert (found.what, found.got, found.wanted, found.label) == expected


def test_values_of_one_column_with_what_they_have_in_common():
    found = seen(result([("Ada", 6), ("Bo", 5), ("Cy", 14)]))
    assert (found.what, found.got, found.label, found.column) == (d.VALUES, 2, "Ada", "total")
    assert (found.got_value, found.wanted_value, found.trait) == ("6", "3", "higher")


def test_of_namesakes_one_that_has_none_is_shown():
    right = result([("Ada", 3), ("Ada", 4), ("Bo", 5)])
    found = seen(result([("Ada", 1), ("Ada", 2), ("Bo", 6)]), right)
    assert (found.what, found.label, found.got_value, found.wanted_value) == (d.VALUES, "Bo", "6", "5")


def test_rows_with_nothing_to_count_are_missing_together():
    right = result([("Ada", 3), ("Bo", 0), ("Cy", 0)])
    assert (seen(result([("Ada", 3)]), right).what, seen(result([("Ada", 3)]), right).trait) == (d.MISSING, "zero")


def test_missing_values_among_the_right_ones_are_no_trouble():
    right = result([("Ada", None), ("Bo", 0.5)])
    found = seen(result([("Ada", None), ("Bo", 0)]), right)
    assert (found.label, found.got_value, found.trait) == ("Bo", "0", "whole")


def test_swapped_columns():
    found = seen(result([(3, "Ada"), (5, "Bo"), (7, "Cy")]))
    assert (found.what, found.label) == (d.SWAPPED_COLUMNS, "3")


def test_columns_too_many_or_too_few():
    more = QueryResult(OK, ("id", "name", "total"), ((1, "Ada", 3),))
    fewer = QueryResult(OK, ("total",), ((3,),))
    assert (seen(more).what, seen(more).got, seen(more).column) == (d.MORE_COLUMNS, 3, "id")
    assert (seen(fewer).what, seen(fewer).got, seen(fewer).column) == (d.FEWER_COLUMNS, 1, "name")


def test_a_row_without_a_text_is_named_by_its_heading():
    right = result([(7,), (8,)], ("book_id",))
    assert seen(result([(7,)], ("book_id",)), right).label == "the row with book id 8"
    nothing = result([(None,), (8,)], ("book_id",))
    assert seen(result([(8,)], ("book_id",)), nothing).label == "the row without a value for book id"
