import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.questions.lifting import lift, single_quote
from sqldojo.verifier.mutation.sqlite_text import read, write

SCRIPT = """
CREATE TABLE harbour (id INTEGER PRIMARY KEY, town TEXT, depth REAL);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, harbour INTEGER REFERENCES harbour(id), built TEXT,
                   "my price" INTEGER);
"""
TOWN = 'SELECT DISTINCT "town" FROM "harbour" WHERE "town" IS NOT NULL ORDER BY "town"'
PRICE = 'SELECT DISTINCT "my price" FROM "boat" WHERE "my price" IS NOT NULL ORDER BY "my price"'
NAME = 'SELECT DISTINCT "name" FROM "boat" WHERE "name" IS NOT NULL ORDER BY "name"'
DEPTH = (
    'SELECT DISTINCT iif(CAST("depth" AS INTEGER) = "depth", CAST("depth" AS INTEGER), "depth") FROM "harbour" '
    'WHERE "depth" IS NOT NULL ORDER BY 1'
)
COUNT = "VALUES (2), (3), (4), (5)"


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return read_schema(write_database(tmp_path_factory.mktemp("lifting") / "boats.sqlite", SCRIPT))


def lifted(question, sql, schema):
    tree = read(sql)
    single_quote(tree, schema)
    before = write(tree)
    found = lift(question, tree, schema)
    assert write(tree) == before
    return found.text, write(found.tree), dict(found.parameters)


@pytest.mark.parametrize(
    ("question", "sql", "text", "query", "parameters"),
    [
        ("Depth of bergen?", "SELECT depth FROM harbour WHERE town = 'Bergen'",
         "Depth of {harbour_town}?", "SELECT depth FROM harbour WHERE town = :harbour_town", {"harbour_town": TOWN}),
        ("Boats over 1,000 in Oslo", 'SELECT b.name FROM boat b JOIN harbour h ON b.harbour = h.id '
         'WHERE 1000 < b."my price" AND h.town = "Oslo"', "Boats over {boat_my_price} in {harbour_town}",
         'SELECT b.name FROM boat AS b JOIN harbour AS h ON b.harbour = h.id WHERE :boat_my_price < b."my price" '
         "AND h.town = :harbour_town", {"boat_my_price": PRICE, "harbour_town": TOWN}),
        ("Which harbours have at least three boats?", "SELECT harbour FROM boat GROUP BY harbour HAVING COUNT(*) >= 3",
         "Which harbours have at least {count} boats?",
         "SELECT harbour FROM boat GROUP BY harbour HAVING COUNT(*) >= :count", {"count": COUNT}),
        ("Where is the average above 70?", "SELECT harbour FROM boat GROUP BY harbour HAVING AVG(\"my price\") > 70",
         "Where is the average above {boat_my_price}?",
         'SELECT harbour FROM boat GROUP BY harbour HAVING AVG("my price") > :boat_my_price', {"boat_my_price": PRICE}),
        ("Names with the word Star", "SELECT id FROM boat WHERE name LIKE '%star%'",
         "Names with the word {boat_name_word}", "SELECT id FROM boat WHERE name LIKE '%' || :boat_name_word || '%'",
         {"boat_name_word": "SELECT DISTINCT substr(\"name\", 1, instr(\"name\", ' ') - 1) FROM \"boat\" "
          "WHERE \"name\" GLOB '[A-Za-z]* *' ORDER BY 1"}),
        ("Names that start with 'S'", "SELECT id FROM boat WHERE name LIKE 'S%'",
         "Names that start with '{boat_name_initial}'", "SELECT id FROM boat WHERE name LIKE :boat_name_initial || '%'",
         {"boat_name_initial": "SELECT DISTINCT upper(substr(\"name\", 1, 1)) FROM \"boat\" "
          "WHERE \"name\" GLOB '[A-Za-z]*' ORDER BY 1"}),
        ("Deeper than 9.5 {metres}", "SELECT town FROM harbour WHERE depth > 9.5",
         "Deeper than {harbour_depth} {{metres}}", "SELECT town FROM harbour WHERE depth > :harbour_depth",
         {"harbour_depth": DEPTH}),
        ("York in New York", "SELECT b.id FROM boat b, harbour h WHERE b.name = 'York' AND h.town = 'New York'",
         "{boat_name} in {harbour_town}", "SELECT b.id FROM boat AS b, harbour AS h "
         "WHERE b.name = :boat_name AND h.town = :harbour_town", {"boat_name": NAME, "harbour_town": TOWN}),
    ],
)  # fmt: skip
def test_what_the_question_says_becomes_a_parameter(schema, question, sql, text, query, parameters):
    assert lifted(question, sql, schema) == (text, query, parameters)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Harbours with more than one boat", "SELECT harbour FROM boat GROUP BY harbour HAVING COUNT(*) >= 2"),
        ("Harbours with one boat", "SELECT harbour FROM boat GROUP BY harbour HAVING COUNT(*) = 1"),
        ("Depths in Oslo and Moss", "SELECT depth FROM harbour WHERE town IN ('Moss', 'Oslo')"),
        ("Depth of Oslo, not another Oslo", "SELECT depth FROM harbour WHERE town = 'Oslo'"),
        ("Boats named Oslo in Oslo's harbour",
         "SELECT b.id FROM boat b, harbour h WHERE b.name = 'Oslo' AND h.town = 'Oslo'"),
        ("The 3 boats over 3", 'SELECT name FROM boat WHERE "my price" > 3 ORDER BY "my price" LIMIT 3'),
        ("Boats of 1999", "SELECT name FROM boat WHERE substr(built, 1, 4) = '1999'"),
        ("Names with a 7", "SELECT id FROM boat WHERE name LIKE '%7%'"),
        ("Boats of price 8", 'SELECT name FROM boat WHERE "my price" + 1 = 8'),
    ],
)  # fmt: skip
def test_what_could_mean_something_else_stays(schema, question, sql):
    assert lifted(question, sql, schema) == (question, write(read(sql)), {})


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ('SELECT name FROM boat WHERE name = "it\'s"', "SELECT name FROM boat WHERE name = 'it''s'"),
        ('SELECT "name" FROM boat WHERE "my price" > 1', 'SELECT "name" FROM boat WHERE "my price" > 1'),
        ('SELECT COUNT(*) AS "n" FROM boat GROUP BY harbour ORDER BY "n"',
         'SELECT COUNT(*) AS "n" FROM boat GROUP BY harbour ORDER BY "n"'),
        ('SELECT id FROM boat WHERE name IN ("town", "depth")', "SELECT id FROM boat WHERE name IN ('town', 'depth')"),
        ('SELECT town FROM harbour WHERE id IN (SELECT "harbour" FROM boat WHERE name = "town")',
         'SELECT town FROM harbour WHERE id IN (SELECT "harbour" FROM boat WHERE name = "town")'),  # the outer column
    ],
)  # fmt: skip
def test_double_quotes_around_what_is_no_column_in_scope_become_single(schema, sql, query):
    tree = read(sql)
    single_quote(tree, schema)
    assert write(tree) == query


def test_columns_whose_names_read_alike_have_parameters_of_their_own(tmp_path):
    script = 'CREATE TABLE t ("a b" TEXT, a_b TEXT); CREATE TABLE "1" (x TEXT);'
    schema = read_schema(write_database(tmp_path / "alike.sqlite", script))
    _, query, _ = lifted("A pea or a bean", "SELECT 1 FROM t WHERE \"a b\" = 'pea' AND a_b = 'bean'", schema)
    assert query == 'SELECT 1 FROM t WHERE "a b" = :t_a_b AND a_b = :t_a_b__2'
    _, query, _ = lifted("A pea", "SELECT x FROM \"1\" WHERE x = 'pea'", schema)
    assert query == 'SELECT x FROM "1" WHERE x = :value_1_x'
