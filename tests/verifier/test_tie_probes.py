import pytest

from sqldojo.verifier.tie_probes import tie_probes


def _probes(sql, names=(), **options):
    return tie_probes(sql, lambda _: tuple(names), **options)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t ORDER BY a",
        "SELECT a FROM t WHERE b IN (SELECT c FROM u) AND EXISTS (SELECT * FROM v LIMIT 1)",
        "SELECT MAX(a) FROM t WHERE b > (SELECT AVG(b) FROM t)",
        "SELECT RANK() OVER (ORDER BY a), SUM(a) OVER (ORDER BY a) FROM t",
        "SELECT a FROM t UNION SELECT b FROM u",
        "SELECT FROM WHERE",
    ],
)
def test_there_is_nothing_to_settle(sql):
    assert _probes(sql, "abc") is None


def test_ties_are_settled_by_what_a_query_shows_both_ways():
    probes = _probes("SELECT a, b AS c FROM t ORDER BY d LIMIT 2")
    assert probes.control == "SELECT a, b AS c FROM t ORDER BY d LIMIT 2"
    up, down, across, askew = probes.together.variants
    assert up == "SELECT a, b AS c FROM t ORDER BY d, 1, 2 LIMIT 2"
    assert down == "SELECT a, b AS c FROM t ORDER BY d, 1 DESC, 2 DESC LIMIT 2"
    assert across.endswith("% 11, 1, 2 LIMIT 2") and askew.endswith("% 13, 1, 2 LIMIT 2") and "UNICODE(b)" in across


def test_every_place_has_a_probe_of_its_own():
    probes = _probes("SELECT a, (SELECT b FROM u) FROM (SELECT a FROM t) LIMIT 3")
    assert {probe.variants[0] for probe in probes.single} == {
        "SELECT a, (SELECT b FROM u) FROM (SELECT a FROM t) ORDER BY 1, 2 LIMIT 3",
        "SELECT a, (SELECT b FROM u) FROM (SELECT a FROM t ORDER BY 1 LIMIT -1) LIMIT 3",
        "SELECT a, (SELECT b FROM u ORDER BY 1 LIMIT -1) FROM (SELECT a FROM t) LIMIT 3",
    }
    assert len({probe.complaint for probe in probes.single}) == 3
    assert probes.together.variants[0] == (
        "SELECT a, (SELECT b FROM u ORDER BY 1 LIMIT -1) FROM (SELECT a FROM t ORDER BY 1 LIMIT -1) "
        "ORDER BY 1, 2 LIMIT 3"
    )


def test_a_star_is_as_wide_as_sqlite_says():
    assert _probes("SELECT * FROM t LIMIT 1", "xyz").together.variants == (
        "SELECT * FROM t ORDER BY 1, 2, 3 LIMIT 1",
        "SELECT * FROM t ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT 1",
    )
    assert _probes("SELECT * FROM t LIMIT 1", "") is None


def test_the_width_of_a_star_is_asked_with_the_ctes_in_sight():
    asked = []
    tie_probes(
        "WITH a AS (SELECT 1), b AS (SELECT * FROM a LIMIT 1) SELECT MAX(x) FROM b",
        lambda sql: asked.append(sql) or ("x",),
    )
    assert asked == ["WITH a AS (SELECT 1) SELECT * FROM (SELECT * FROM a LIMIT 1)"]


def test_the_recursion_itself_is_left_alone():
    probes = _probes("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i FROM n LIMIT 3")
    assert len(probes.single) == 1
    assert probes.single[0].variants[0].endswith("FROM n LIMIT 9) SELECT i FROM n ORDER BY 1 LIMIT 3")


def test_the_rows_that_an_offset_skips_are_asked_for_alone():
    (alone,) = _probes("WITH w AS (SELECT 1) SELECT a FROM t ORDER BY b LIMIT 1 OFFSET 2").alone
    assert alone.alone
    assert alone.variants == (
        "WITH w AS (SELECT 1) SELECT a FROM t ORDER BY b, 1 LIMIT 2",
        "WITH w AS (SELECT 1) SELECT a FROM t ORDER BY b, 1 DESC LIMIT 2",
    )


@pytest.mark.parametrize(
    ("sql", "up"),
    [
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t AS s", 'OVER (ORDER BY a, "s"."x", "s"."y")'),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM (SELECT 1, 2)", 'OVER (ORDER BY a, "x", "y")'),
        ("SELECT LEAD(a) OVER (PARTITION BY c) FROM t", 'OVER (PARTITION BY c ORDER BY "t"."x", "t"."y")'),
        ("SELECT ROW_NUMBER() OVER (ORDER BY COUNT(*)) FROM t GROUP BY b, c", "OVER (ORDER BY COUNT(*), b, c)"),
        ("SELECT b + 1, ROW_NUMBER() OVER (ORDER BY COUNT(*)) FROM t GROUP BY 1", "OVER (ORDER BY COUNT(*), b + 1)"),
        (
            "SELECT FIRST_VALUE(a) OVER w, RANK() OVER w FROM t WINDOW w AS (ORDER BY b)",
            'FIRST_VALUE(a) OVER (ORDER BY b, "t"."x", "t"."y"), RANK() OVER (ORDER BY b)',
        ),
        (
            "SELECT SUM(a) OVER (ORDER BY b ROWS 1 PRECEDING) FROM t",
            'ORDER BY b, "t"."x", "t"."y" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
        ),
    ],
)
def test_windows_are_settled_by_groups_or_else_by_all_columns(sql, up):
    assert up in _probes(sql, "xy").together.variants[0]


def test_order_that_counts_is_a_place_too():
    assert _probes("SELECT a FROM t ORDER BY b") is None
    probes = _probes("SELECT a FROM t ORDER BY b", ordered=True)
    assert probes.together.variants[:2] == (
        "SELECT a FROM t ORDER BY b, 1",
        "SELECT a FROM t ORDER BY b, 1 DESC",
    )
