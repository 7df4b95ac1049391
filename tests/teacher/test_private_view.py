"""Under `privacy: schema_only` no value of a row is in what is sent, and the model's SQL means what it should."""

import pytest

from sqldojo.agent.prompt import observation
from sqldojo.databases.execution import ERROR, OK, QueryResult
from sqldojo.teacher.private_view import private_view

VIEW = private_view({"city": "O'Hare", "minimum": 5, "year": "2021"})


def test_a_question_has_stand_ins_that_come_back_as_values():
    sent = VIEW.question("Who in O'Hare ordered more than 5 times in 2021, not 25 or 2021x?")
    assert sent == "Who in CITY_VALUE ordered more than MINIMUM_VALUE times in YEAR_VALUE, not 25 or 2021x?"
    sql = "SELECT a FROM t WHERE city = 'CITY_VALUE' AND d >= 'YEAR_VALUE-01-01' AND n > MINIMUM_VALUE"
    assert VIEW.sql(sql) == "SELECT a FROM t WHERE city = 'O''Hare' AND d >= '2021-01-01' AND n > 5"


def test_a_value_inside_a_word_is_hidden_too_and_stand_ins_are_not_searched():
    assert private_view({"city": "Rome"}).question("Which Romes?") == "Which CITY_VALUEs?"
    view = private_view({"a": "A", "b": "B_VALUE"})
    assert view.question("Is B_VALUE like A?") == "Is B_VALUE like A_VALUE?"
    assert private_view({}).question("How many?") == "How many?"


def test_of_two_stand_ins_the_longer_is_put_back_first():
    assert private_view({"a": 1, "big_a": 2}).sql("BIG_A_VALUE + A_VALUE") == "2 + 1"


def test_a_result_shows_columns_and_a_count():
    rows = QueryResult(OK, ("name", "city = 'O''Hare'"), (("Ada", 1), ("Bo\nCy", 0)))
    assert VIEW.result(observation(rows), 2) == "name | city = 'CITY_VALUE'\n(2 rows, not shown)"
    more = QueryResult(OK, ("name",), (("Ada",), ("Bo",)), more=True)
    assert VIEW.result(observation(more), 2) == "name\n(more than 2 rows, not shown)"
    assert VIEW.result(observation(QueryResult(OK, ("name",))), 2) == "(no rows)"


@pytest.mark.parametrize("value", ["O'Hare", "Llanfairpwllgwyngyll"])
def test_a_name_that_was_cut_in_the_middle_of_a_value_is_not_sent(value):
    view = private_view({"city": value})
    for longest, cut in ((60, lambda text: QueryResult(OK, (text,), ((1,),))),
                         (300, lambda text: QueryResult(ERROR, message=f"no such column: {text}"))):  # fmt: skip
        for length in range(longest - 30, longest + 1):
            shown = view.result(observation(cut("x" * length + view.sql("CITY_VALUE"))), 2)
            assert value[:3] not in shown


def test_a_value_that_looks_like_a_stand_in_is_put_back_as_it_is():
    assert private_view({"aa": "B_VALUE", "b": "Rome"}).sql("'AA_VALUE', 'B_VALUE'") == "'B_VALUE', 'Rome'"


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("no such column: O'Hare", "Error: no such column: CITY_VALUE"),
        ('near "FRM": syntax error', 'Error: near "FRM": syntax error'),
        ("bad JSON path: 'Ada'", "Error: the query failed while it ran"),
    ],
)
def test_only_errors_of_compiling_are_told(message, sent):
    assert VIEW.result(observation(QueryResult(ERROR, message=message)), 2) == sent


def test_a_column_named_like_an_error_brings_no_row_out():
    rows = QueryResult(OK, ("Error: near ",), (("Ada",),))
    assert VIEW.result(observation(rows), 2) == "Error: near "
