"""The question types of the test split: ten that can be asked, in words that say all, unlike trained ones."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sqldojo.databases.execution import Limits, run_query
from sqldojo.databases.families import EVALUATION, FAMILIES, ORDINARY, family_paths
from sqldojo.databases.schema_model import read_schema
from sqldojo.held_out.shop_test_types import TEST_TYPES
from sqldojo.params import load
from sqldojo.questions.normal_form import shape, type_form
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.shop_types import SHOP_TYPES
from sqldojo.questions.standing import standing
from sqldojo.questions.wording import normalise
from sqldojo.records import HAND_WRITTEN, TEST
from sqldojo.verifier.grading import grade

PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture(scope="module")
def reviewed(shop_databases):
    ordinary = {family: family_paths(shop_databases, family, ORDINARY) for family in FAMILIES}
    params = replace(load(PARAMS, "review", ReviewParams), held_out_values=2)
    return review(TEST_TYPES, ordinary, params, Limits())


@pytest.fixture(scope="module")
def rows(shop_databases):
    """The tables of the adversarial database, each a list of mappings."""
    with closing(sqlite3.connect(family_paths(shop_databases, EVALUATION)[-1])) as connection:
        connection.row_factory = sqlite3.Row
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in names}


def answer(shop_databases, name, **values):
    """What the reference of a type gives on the adversarial database."""
    (sql,) = [each.sql for each in TEST_TYPES if each.id == name]
    for key, value in values.items():
        sql = sql.replace(f":{key}", repr(value))
    result = run_query(family_paths(shop_databases, EVALUATION)[-1], sql, Limits())
    assert result.status == "ok", result.message
    return Counter(result.rows)


def test_there_are_ten_by_hand_all_of_the_test_split():
    assert len({each.id for each in TEST_TYPES}) == len(TEST_TYPES) == 10
    assert {(each.split, each.proposer) for each in TEST_TYPES} == {(TEST, HAND_WRITTEN)}
    assert not {each.id for each in TEST_TYPES} & {each.id for each in SHOP_TYPES}


@pytest.mark.parametrize("question_type", TEST_TYPES, ids=lambda each: each.id)
def test_a_type_has_a_parameter_and_four_phrasings_that_say_what_to_return(question_type):
    assert question_type.parameters and len(question_type.phrasings) == 4
    for phrasing in question_type.phrasings:
        assert any(word in phrasing for word in ("eturn ", "ive ")), phrasing
        for name in question_type.parameters:
            assert f"{{{name}}}" in phrasing
    for word in ("LIMIT", "'now'", "GROUP_CONCAT", "ROUND", "GROUP BY customers.name", "GROUP BY products.name"):
        assert word not in question_type.sql.upper()


def test_they_have_neither_the_query_nor_its_shape_nor_the_words_of_a_type_of_the_main_graph(shop_databases):
    schema = read_schema(family_paths(shop_databases, EVALUATION)[0])
    columns = {table.name: table.names for table in schema.tables}
    for identity in (
        lambda each: [type_form(each.sql, columns, each.parameters)],
        lambda each: [shape(each.sql, columns)],
        lambda each: [normalise(phrasing) for phrasing in each.phrasings],
    ):
        known = {found for each in SHOP_TYPES for found in identity(each)}
        own = [found for each in TEST_TYPES for found in identity(each)]
        assert len(set(own)) == len(own) and not known & set(own)


def test_the_review_accepts_them_with_values_that_training_never_asks_for(reviewed, shop_databases):
    assert [each for each in reviewed.reviews if not each.accepted] == []
    assert {each.family for each in reviewed.filled} == {EVALUATION}
    assert set(Counter(each.type for each in reviewed.filled).values()) == {2}


def test_they_stand_on_all_four_databases(reviewed, shop_databases):
    databases = {family: family_paths(shop_databases, family) for family in FAMILIES}
    types, filled, withdrawn = standing(reviewed.types, reviewed.filled, databases, Limits())
    assert withdrawn == [] and types == reviewed.types and filled == reviewed.filled
    for each in filled:
        assert grade(each.reference, each.reference, databases[EVALUATION]).verdict == "correct"


def test_orders_behind_the_leader_counted_by_hand(shop_databases, rows):
    homes = {each["id"]: each["city"] for each in rows["customers"] if each["country"] == "Kenya"}
    counts = Counter(homes[each["customer_id"]] for each in rows["orders"] if each["customer_id"] in homes)
    behind = Counter((city, max(counts.values()) - count) for city, count in counts.items())
    assert answer(shop_databases, "cities-behind-the-one-with-most-orders", country="Kenya") == behind
    assert len(behind) > 2 and None in counts


def test_the_average_order_counted_by_hand(shop_databases, rows):
    buyers = {each["id"] for each in rows["customers"] if each["country"] == "Japan"}
    orders = {each["id"] for each in rows["orders"]
              if each["customer_id"] in buyers and (each["order_date"] or "").startswith("2024")}  # fmt: skip
    totals = {}
    for item in rows["order_items"]:
        if item["order_id"] in orders and None not in (item["quantity"], item["unit_price"]):
            totals[item["order_id"]] = totals.get(item["order_id"], 0) + item["quantity"] * item["unit_price"]
    ((value,),) = answer(shop_databases, "average-order-value-in-country", country="Japan", year="2024")
    assert value == pytest.approx(sum(totals.values()) / len(totals)) and len(totals) > 1


def test_the_returned_share_counted_by_hand(shop_databases, rows):
    products = {each["id"] for each in rows["products"] if each["category"] == "Tea"}
    orders = {item["order_id"] for item in rows["order_items"] if item["product_id"] in products}
    returned = [each["status"] == "returned" for each in rows["orders"] if each["id"] in orders]
    ((value,),) = answer(shop_databases, "returned-share-of-category", category="Tea")
    assert value == pytest.approx(sum(returned) / len(returned)) and 0 < value < 1


def test_months_are_ranked_with_gaps_as_the_texts_say(shop_databases, rows):
    dates = [each["order_date"] for each in rows["orders"] if (each["order_date"] or "").startswith("2022")]
    counts = Counter(date[5:7] for date in dates)
    ranked = Counter(
        (month, count, 1 + sum(other > count for other in counts.values())) for month, count in counts.items()
    )
    assert answer(shop_databases, "months-of-year-ranked-by-orders", year="2022") == ranked
    assert len(set(counts.values())) < len(counts), "there must be ties to tell ranks with gaps from those without"


def test_buyers_without_a_shipped_order_counted_by_hand(shop_databases, rows):
    statuses = {}
    for order in rows["orders"]:
        statuses.setdefault(order["customer_id"], set()).add(order["status"])
    wanted = Counter((each["name"],) for each in rows["customers"]
                     if each["city"] == "Perth" and "shipped" not in statuses.get(each["id"], {"shipped"}))  # fmt: skip
    assert answer(shop_databases, "buyers-in-city-without-shipped-order", city="Perth") == wanted and wanted
