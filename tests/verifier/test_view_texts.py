import pytest
import sqlglot

from sqldojo.verifier.view_texts import with_views

VIEWS = (
    "CREATE VIEW kinds (k, n) AS SELECT kind, COUNT(*) FROM p GROUP BY kind",
    'CREATE VIEW "Most" AS SELECT MAX(n) AS n FROM kinds',
    "CREATE VIEW unread AS SELECT FROM WHERE",
)


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("SELECT a FROM p", "SELECT a FROM p"),
        ("SELECT a FROM unread", "SELECT a FROM unread"),
        (
            "SELECT k FROM KINDS AS x",
            'WITH kinds("k", "n") AS (SELECT kind, COUNT(*) FROM p GROUP BY kind) SELECT k FROM KINDS AS x',
        ),
        (
            "WITH RECURSIVE t AS (SELECT 1) SELECT n FROM t JOIN most ON n > 1",
            'WITH RECURSIVE kinds("k", "n") AS (SELECT kind, COUNT(*) FROM p GROUP BY kind), '
            '"Most" AS (SELECT MAX(n) AS n FROM kinds), t AS (SELECT 1) SELECT n FROM t JOIN most ON n > 1',
        ),
        ("WITH kinds AS (SELECT 1) SELECT * FROM kinds", "WITH kinds AS (SELECT 1) SELECT * FROM kinds"),
        (
            "SELECT 1 WHERE EXISTS (SELECT k FROM kinds) UNION SELECT n FROM kinds",
            'WITH kinds("k", "n") AS (SELECT kind, COUNT(*) FROM p GROUP BY kind) '
            "SELECT 1 WHERE EXISTS(SELECT k FROM kinds) UNION SELECT n FROM kinds",
        ),
    ],
)
def test_the_views_that_a_query_reads_are_written_into_it(sql, written):
    query = with_views(sqlglot.parse_one(sql, read="sqlite"), VIEWS)
    assert query.sql(dialect="sqlite") == written
