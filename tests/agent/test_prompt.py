"""What an agent reads, to the letter."""

from sqldojo.agent.prompt import observation, opening
from sqldojo.agent.tool_format import PLAIN, render_plain
from sqldojo.databases.execution import ERROR, OK, REJECTED, QueryResult


def test_everything_but_the_question_is_shared():
    one, other = opening("How many?", "CREATE TABLE t(a);", PLAIN), opening("Who?", "CREATE TABLE t(a);", PLAIN)
    assert one[0] == other[0]
    assert [message.role for message in one] == ["system", "user"]
    assert (one[1].content, other[1].content) == ("How many?", "Who?")
    assert one[0].content.endswith(f"{PLAIN.instructions}\nCREATE TABLE t(a);")


def test_without_instructions_there_is_no_empty_line():
    native = type(PLAIN)("native", PLAIN.parse, render_plain, PLAIN.call_ends, "tool", schemas=({},))
    assert "\n\n" not in opening("?", "CREATE TABLE t(a);", native)[0].content


def test_rows_have_a_header_and_typed_cells():
    rows = (("pen", 0.1 + 0.2), (None, 5.0), ("", b"\x00\xff"), ("NULL", 2**53 + 1))
    result = QueryResult(OK, ("name", "price"), rows)
    assert observation(result) == (
        "name | price\npen | 0.3\nNULL | 5\n | x'00ff'\nNULL | 9007199254740993"
    )


def test_a_preview_says_that_there_is_more():
    assert observation(QueryResult(OK, ("a",), ((1,), (2,)), more=True)) == "a\n1\n2\n(first 2 rows, there are more)"


def test_no_rows_and_what_went_wrong():
    assert observation(QueryResult(OK, ("a",))) == "(no rows)"
    assert observation(QueryResult(ERROR, message="no such column: b")) == "Error: no such column: b"
    assert observation(QueryResult(REJECTED, message="only reading")) == "Error: only reading"


def test_one_row_is_one_line():
    assert observation(QueryResult(OK, ("a\nb",), (("c\nd",),))) == "a\\nb\nc\\nd"


def test_nothing_in_it_is_endless():
    wide = QueryResult(OK, ("x" * 90_000,) * 200, (("y" * 100_000,) * 200,) * 10, more=True)
    assert len(observation(wide)) < 6_000
    assert observation(QueryResult(OK, ("a",), (("y" * 61,), ("z" * 60,)))) == f"a\n{'y' * 57}...\n{'z' * 60}"
    assert len(observation(QueryResult(ERROR, message=f"no such column: {'x' * 90_000}"))) < 400


def test_a_look_at_the_schema_shows_whole_statements_up_to_a_limit():
    long = "CREATE TABLE t(" + ", ".join(f"column_{each}" for each in range(20)) + ")"
    found = QueryResult(OK, ("name", "sql"), (("t", f"{long}\n"), ("i", None)), of_schema=True)
    assert observation(found) == f"t | {long}\ni | NULL"
    assert observation(QueryResult(OK, ("sql",), (), of_schema=True)) == "(no rows)"
    endless = observation(QueryResult(OK, ("sql",), ((long * 100,),), more=True, of_schema=True))
    assert len(endless) < 1_300 and endless.endswith("...\n(there are more)")
