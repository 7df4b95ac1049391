import pytest
import sqlglot
from sqlite_files import write_database

from sqldojo.databases.generating import ForeignLink
from sqldojo.databases.schema_model import read_schema
from sqldojo.verifier.columns import Columns
from sqldojo.verifier.hints import hints, shared_values

SCRIPT = """
CREATE TABLE item (
  id INTEGER PRIMARY KEY, label TEXT, kind TEXT, price REAL, stock INTEGER, sold_on TEXT, "order" TEXT
);
CREATE TABLE shop (code TEXT PRIMARY KEY, town TEXT, land TEXT);
CREATE TABLE sale (id INTEGER PRIMARY KEY, item INTEGER REFERENCES item(id), shop TEXT, pieces INTEGER);
"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return read_schema(write_database(tmp_path_factory.mktemp("hints") / "s.sqlite", SCRIPT))


def hinted(schema, sql):
    return hints([sqlglot.parse_one(sql, read="sqlite")], schema)


@pytest.mark.parametrize(
    ("condition", "column", "worth"),
    [
        ("price < 20", "price", {19.0, 19.99, 20.0, 20.01, 21.0, 10.0}),
        ("stock >= 5", "stock", {4, 5, 6}),
        ("stock > -3", "stock", {-4, -3, -2}),
        ("kind = 'toys'", "kind", {"toys", "Toys", "TOYS", "toy", "toysx"}),
        ("label LIKE '%oak%'", "label", {"oak", "oakx", "xoak", "xoakx", "OAK", "oa"}),
        ("kind IN ('a1', 'b2')", "kind", {"a1", "b2", "A1", "B2"}),
        ("price BETWEEN 3 AND 7", "price", {3.0, 7.0, 2.99, 7.01}),
        ("sold_on < '2023-02-01'", "sold_on", {"2023-01-31", "2023-02-01", "2022-02-01", "2023-01-31 23:59:00"}),
        ("strftime('%Y', sold_on) = '2023'", "sold_on", {"2022-12-31", "2023-01-01", "2023-12-31", "2024-01-01"}),
        ("strftime('%m', sold_on) = '05'", "sold_on", {"2022-05-01", "2023-05-31", "2023-06-05", "2023-04-30"}),
        ("sold_on LIKE '2023-03-%'", "sold_on", {"2023-03-01", "2023-03-31", "2023-04-01", "2022-03-17"}),
        ("\"order\" = 'x y'", "order", {"x y", "X Y"}),
    ],
)
def test_a_literal_brings_itself_and_its_neighbours_to_its_column(schema, condition, column, worth):
    found = hinted(schema, f"SELECT id FROM item WHERE {condition}").values
    assert list(found) == [("item", column)]
    assert worth <= set(found["item", column])


def test_what_is_no_cell_is_no_hint(schema):
    sql = "SELECT substr(label, 2, 3), 7 FROM item WHERE round(price, 2) > 5 ORDER BY 1 LIMIT 9"
    found = hinted(schema, sql)
    assert set(found.literals["item", "price"]) == {5.0}
    assert list(found.values) == [("item", "price")]


def test_a_value_has_the_storage_class_of_its_column(schema):
    sql = "SELECT 1 FROM item WHERE stock = '12' AND label = 12 AND price = 12 AND stock < 2.5"
    found = hinted(schema, sql).literals
    assert found == {("item", "stock"): {12}, ("item", "label"): {"12"}, ("item", "price"): {12.0}}
    assert [type(value) for value in found["item", "price"]] == [float]


def test_group_sizes_are_found_in_having_and_around_a_derived_table(schema):
    assert hinted(schema, "SELECT item FROM sale GROUP BY item HAVING COUNT(*) > 4").counts == (4,)
    derived = "SELECT i FROM (SELECT item i, COUNT(*) n FROM sale GROUP BY item) WHERE n >= 3"
    assert hinted(schema, derived).counts == (3,)


def test_a_literal_reaches_the_column_behind_an_alias_a_cte_and_a_subquery(schema):
    for sql in (
        "SELECT p FROM (SELECT price AS p FROM item) WHERE p > 40",
        "WITH t(p) AS (SELECT price FROM item) SELECT p FROM t WHERE p > 40",
        "SELECT shop FROM sale s JOIN item i ON i.id = s.item GROUP BY shop HAVING SUM(i.price) > 40",
        "SELECT 1 FROM sale WHERE (SELECT MAX(price) FROM item) > 40",
    ):
        assert 40.0 in hinted(schema, sql).values["item", "price"], sql


def test_compared_columns_share_their_values(schema):
    found = hinted(schema, "SELECT town FROM shop WHERE town = 'Bonn' UNION SELECT land FROM shop")
    assert found.alike == ((("shop", "land"), ("shop", "town")),)
    assert "Bonn" in shared_values(found)["shop", "land"]


def test_a_join_on_a_key_is_a_link_unless_it_is_declared(schema):
    sql = "SELECT 1 FROM sale JOIN shop ON shop.code = sale.shop JOIN item ON item.id = sale.item"
    assert hinted(schema, sql).links == (ForeignLink("sale", ("shop",), "shop", ("code",)),)
    inside = "SELECT 1 FROM shop WHERE code IN (SELECT shop FROM sale)"
    assert hinted(schema, inside).links == (ForeignLink("sale", ("shop",), "shop", ("code",)),)


def test_names_are_resolved_like_sqlite_does(schema):
    sql = "SELECT I.LABEL FROM item i WHERE EXISTS (SELECT 1 FROM sale WHERE item = i.id)"
    tree = sqlglot.parse_one(sql, read="sqlite")
    columns = Columns(tree, schema)
    assert columns.selected(tree) == [("item", "label")]
    inner = tree.find(sqlglot.exp.EQ)
    assert columns.within(inner) == (("sale", "item"), ("item", "id"))


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("sold_on < '9999-12-31'", "sold_on"),
        ("sold_on >= '0001-01-01'", "sold_on"),
        ("stock < 9223372036854775807", "stock"),
        ("stock > -99999999999999999999", "stock"),
        ("stock = 1e999 OR stock <> 'Infinity'", "stock"),
        ("price < 1e308 OR price = 'nan'", "price"),
    ],
)
def test_the_ends_of_the_calendar_and_of_the_numbers_give_only_what_sqlite_can_store(schema, condition, column):
    found = hinted(schema, f"SELECT 1 FROM item WHERE {condition}")
    values = found.values.get(("item", column), ())
    assert all(value == value and abs(value) < 1e309 for value in values if not isinstance(value, str))
    assert all(-(2**63) <= value < 2**63 for value in values if isinstance(value, int))
    if column == "sold_on":
        assert condition.split("'")[1] in values


def test_a_clock_reading_is_no_cell(schema):
    condition = "sold_on > date('now', '-30 days') AND kind = 'now'"
    found = hinted(schema, f"SELECT 1 FROM item WHERE {condition}")
    assert "now" not in found.values.get(("item", "sold_on"), ())
    assert "now" in found.values["item", "kind"]
