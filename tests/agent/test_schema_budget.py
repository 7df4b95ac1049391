"""Which part of a long schema a prompt shows, within its tokens; counted here as words and signs."""

import re
from contextlib import closing

import apsw
import pytest

from sqldojo.agent.schema_budget import (
    fit_schema,
    rank_tables,
    split_words,
    statement_query,
)
from sqldojo.databases.outline import outlines_of
from sqldojo.databases.schema import schema_of
from sqldojo.errors import UserError

TRADE = """
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE "order"(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer);
CREATE TABLE order_item("order" INTEGER REFERENCES "order"(id), product INTEGER REFERENCES product(id));
CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT, weightInGrams REAL);
CREATE TABLE "顧客"("名前" TEXT /* a client's name */);
"""


def count(text):
    return len(re.findall(r"\w+|[^\w\s]", text))


def schema(script):
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(script).fetchall()
        return schema_of(connection), outlines_of(connection)


def archives(number):
    return "".join(f"CREATE TABLE archive_{each}(id INTEGER, taken_at TEXT, content BLOB);\n" for each in range(number))


def fitted(script, question, most):
    text, outlines = schema(script)
    return fit_schema(text, lambda: outlines, question, most, count)


def best(question):
    return [table.name for score, table in rank_tables(schema(TRADE + archives(20))[1], question) if score > 0]


def test_a_schema_within_the_budget_is_not_touched():
    text, _ = schema(TRADE)
    found = fit_schema(text, lambda: pytest.fail("nothing is to be looked up"), "Who?", count(text), count)
    assert found.whole and found.text == text
    assert not fitted(TRADE, "Who?", count(text) - 1).whole


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many products are there?", ["product"]),
        ("What is the mean WEIGHT?", ["product"]),
        ("the heaviest in grams", ["product"]),
        ("When was archive 7 taken?", ["archive_7"]),
        ("顧客は何人ですか", ["顧客"]),
        ("Name every client", ["顧客"]),
        ("How many customers are there?", ["customer"]),
    ],
)
def test_names_columns_and_comments_count(question, first):
    assert best(question)[: len(first)] == first


def test_what_joins_two_tables_of_the_question_comes_along():
    assert set(best("Which customers bought which products?")[:4]) == {"customer", "product", "order", "order_item"}


def test_words_of_no_meaning_and_unknown_ones_count_nothing():
    assert best("How many are there of these at all, xyzzy?") == []
    assert best("") == []


def test_a_cut_schema_is_within_its_tokens_and_says_what_is_missing():
    found = fitted(TRADE + archives(200), "Which customers bought which products?", 260)
    lines = found.text.splitlines()
    assert not found.whole and count(found.text) <= 260
    assert lines[:2] == [
        "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT);",
        'CREATE TABLE "order"(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer);',
    ]
    assert lines[2].startswith("CREATE TABLE order_item(") and lines[3].startswith("CREATE TABLE product(")
    shown = sum(line.startswith("CREATE") for line in lines)
    left_out = r"-- More tables: (.*) and (\d+) others: SELECT name FROM sqlite_schema"
    names, more = re.fullmatch(left_out, lines[-2]).groups()
    assert shown + len(names.split(", ")) + int(more) == 205
    assert lines[-1] == (
        "-- This schema is shortened. All of a table: SELECT sql FROM sqlite_schema WHERE name = 'customer'"
    )
    assert len(found.left_out) == 205 - shown and set(names.split(", ")) <= set(found.left_out)
    assert found == fitted(TRADE + archives(200), "Which customers bought which products?", 260)


@pytest.mark.parametrize("most", range(40, 400, 7))
def test_it_never_takes_more_than_it_may(most):
    try:
        found = fitted(TRADE + archives(100), "Which customers bought which products?", most)
    except UserError:
        assert most < 70
    else:
        assert count(found.text) <= most and not found.whole


def test_of_a_wide_table_the_columns_of_the_question_and_the_keys_are_shown():
    columns = ", ".join(f'"measure {each}" REAL' for each in range(498))
    wide = f'CREATE TABLE wide({columns}, "Größe" INTEGER, nr INTEGER PRIMARY KEY, part INTEGER REFERENCES part)'
    found = fitted(wide, "What is the mean Größe?", 100)
    table, _ = found.text.splitlines()
    assert table.startswith("CREATE TABLE wide (") and '"Größe" INTEGER' in table and "nr INTEGER" in table
    assert "part INTEGER" in table and count(found.text) <= 100
    shown = table.count(" REAL") + 3
    assert table.endswith(f"); -- and {501 - shown} more columns") and shown > 5
    with closing(apsw.Connection(":memory:")) as connection:  # it is SQL, up to the names
        connection.execute(table)
        assert len(connection.execute("SELECT * FROM pragma_table_info('wide')").fetchall()) == shown


def test_where_nothing_fits_the_remedy_is_told():
    with pytest.raises(UserError, match=r"more than 20 tokens.*--schema-tokens"):
        fitted(TRADE, "Who?", 20)
    text, outlines = schema(TRADE)
    with pytest.raises(UserError, match=r"more than 50 characters.* allow more with `agent\.x`"):
        fit_schema(text, lambda: outlines, "Who?", 50, len, unit="characters", setting="`agent.x`")


def test_names_are_split_where_people_would():
    assert split_words("orderItems2 HTTPServer addresses CustomerID bus house_numbers Städte") == [
        "order", "item", "2", "http", "server", "address", "customer", "id", "bus", "house", "number", "städte",
    ]  # fmt: skip


def test_the_query_for_a_statement_takes_any_name():
    assert statement_query("a'b") == "SELECT sql FROM sqlite_schema WHERE name = 'a''b'"
