import json
import re
from itertools import product
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.execution import Limits, run_query
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.databases.parameters import expand, pool
from sqldojo.databases.twins import twins_of
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.verifier import soundness
from sqldojo.verifier.soundness import unsound_because
from sqldojo.verifier.tie_probes import Probe, TieProbes

SHARED = Path(__file__).parents[2].parent / "shared" / "cases"
SCHEMA = """
    CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price REAL);
    CREATE TABLE loose (a TEXT, b INTEGER);
    CREATE VIEW kinds (k, n) AS SELECT kind, COUNT(*) FROM p GROUP BY kind;
    CREATE VIEW dear AS SELECT id FROM p ORDER BY price DESC LIMIT 1;
    CREATE VIEW dearest AS SELECT * FROM dear;
    """
# Three dearest products, three kinds of two products each: a middle row that both ends agree on is there too.
ROWS = """
    INSERT INTO p VALUES (1, 'alder', 'x', 5), (2, 'birch', 'y', 5), (3, 'cedar', 'x', 1), (4, 'denim', 'z', 5),
                         (5, 'elder', 'y', 3), (6, 'furze', 'z', 2);
    INSERT INTO loose VALUES ('u', 1), ('v', 2), ('w', 2);
    """


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Whether a reference is unsound on one database, whose twins are built once."""
    path = write_database(tmp_path_factory.mktemp("sound") / "one.sqlite", SCHEMA + ROWS)
    with twins_of([path]) as twins:
        yield lambda sql, **options: unsound_because(sql, [path], Limits(), twins=twins, **options)


def _databases(tmp_path, *scripts):
    return [write_database(tmp_path / f"{n}.sqlite", SCHEMA + script) for n, script in enumerate(scripts, start=1)]


# The seven probes of a determinism check, each with the words that tell by which means it was caught.
@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("SELECT name FROM p LIMIT 3", "LIMIT .* takes any rows"),
        ("SELECT group_concat(name) FROM p", r"physical order .* group_concat\(x, ',' ORDER BY x\)"),
        ("SELECT name FROM p ORDER BY price DESC LIMIT 1", "LIMIT .* cuts through rows that are equal"),
        ("SELECT kind, name FROM p GROUP BY kind", "physical order .* neither grouped nor aggregated"),
        ("SELECT name, MAX(price) FROM p", "physical order .* beside a MAX or MIN that several rows share"),
        ("SELECT name, ROW_NUMBER() OVER (ORDER BY price) FROM p", "equal in its ORDER BY: .* use RANK"),
        ("SELECT kind FROM p GROUP BY kind ORDER BY COUNT(*) LIMIT 1", "LIMIT .* cuts through rows that are equal"),
    ],
)
def test_the_seven_probes(checked, reference, why):
    assert re.search(why, checked(reference))


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("SELECT name FROM p ORDER BY price DESC LIMIT 1 OFFSET 1", "OFFSET .* cuts"),  # the middle of three
        ("SELECT name FROM p WHERE price > 1 ORDER BY price DESC LIMIT 2, 1", "LIMIT .* cuts"),
        ("SELECT DISTINCT kind FROM p ORDER BY price DESC LIMIT 2", "LIMIT .* cuts"),
        ("SELECT DISTINCT * FROM p ORDER BY price DESC LIMIT 2", "LIMIT .* cuts"),
        ("SELECT name FROM p UNION SELECT a FROM loose LIMIT 4", "LIMIT .* takes any rows"),
        ("SELECT kind, 1 FROM p UNION ALL SELECT a, b FROM loose ORDER BY 2 LIMIT 2", "LIMIT .* cuts"),
        ("SELECT name FROM (SELECT * FROM p ORDER BY name) LIMIT 2", "LIMIT .* takes any rows"),
        ("SELECT price FROM p WHERE id = (SELECT id FROM p ORDER BY kind LIMIT 1)", "LIMIT .* cuts"),
        ("SELECT name FROM p WHERE id = (SELECT id FROM p ORDER BY price DESC LIMIT 1 OFFSET 1)", "`SELECT id .* cuts"),
        ("SELECT AVG(price) FROM p WHERE id IN (SELECT id FROM p LIMIT 2)", "`SELECT id .* takes any rows"),
        (
            "SELECT a, (SELECT name FROM p WHERE p.price > loose.b ORDER BY price DESC LIMIT 1 OFFSET 1) FROM loose",
            "LIMIT of `SELECT name .* cuts",
        ),
        ("WITH few AS (SELECT * FROM p ORDER BY kind LIMIT 3) SELECT SUM(price) FROM few", r"`SELECT \* .* cuts"),
        ("SELECT name FROM p WHERE price = (SELECT price FROM p)", "several rows where one value is needed"),
        ("SELECT a, (SELECT name FROM p WHERE price > b) FROM loose", "several rows where one value is needed"),
        ("SELECT kind, MAX(n) FROM (SELECT kind, COUNT(*) AS n FROM p GROUP BY kind)", "hands on its rows"),
        (
            "WITH t AS (SELECT kind, COUNT(*) AS n FROM p GROUP BY kind) SELECT group_concat(kind) FROM t",
            "hands on its rows",
        ),
        ("SELECT name, LAG(name) OVER (ORDER BY price) FROM p", "equal in its ORDER BY"),
        ("SELECT name, NTILE(2) OVER w FROM p WINDOW w AS (ORDER BY kind)", "equal in its ORDER BY"),
        ("SELECT SUM(price) OVER (ORDER BY kind ROWS UNBOUNDED PRECEDING) FROM p", "equal in its ORDER BY"),
        # Groups come out sorted, whatever lies below: only a probe inside the query sees these, also the middle one.
        (
            "SELECT kind FROM (SELECT kind, ROW_NUMBER() OVER (ORDER BY SUM(1)) AS r FROM p GROUP BY kind) WHERE r = 1",
            "equal in its ORDER BY",
        ),
        (
            "SELECT kind FROM (SELECT kind, ROW_NUMBER() OVER (ORDER BY COUNT(*)) AS r FROM p GROUP BY 1) WHERE r = 2",
            "equal in its ORDER BY",
        ),
        (
            "SELECT k FROM (SELECT upper(kind) AS k, ROW_NUMBER() OVER (ORDER BY COUNT(*)) AS r FROM p GROUP BY k) "
            "WHERE r = 1",
            "equal in its ORDER BY",
        ),
        (
            "SELECT *, ROW_NUMBER() OVER (ORDER BY n) FROM (SELECT kind, COUNT(*) AS n FROM p GROUP BY kind)",
            "equal in its ORDER BY",
        ),
        ("SELECT * FROM p ORDER BY price DESC LIMIT 1 OFFSET 1", "OFFSET .* cuts"),  # a star, and the middle again
        ("SELECT k, MAX(n) FROM kinds", "hands on its rows"),
        ("SELECT id FROM dearest", "`SELECT id FROM p ORDER BY price DESC LIMIT 1` cuts"),
        ("WITH t AS (SELECT 1) SELECT COUNT(*), id FROM dearest AS d", "`SELECT id .* cuts"),
        ("SELECT rowid, a FROM loose", "rowid says where a row lies"),
        ("SELECT loose.oid, a FROM p JOIN loose ON loose.b = p.price", "rowid says where a row lies"),
        ("SELECT json_group_array(a) FROM loose", "a list of values in one text"),
        ("SELECT MIN(b), a FROM loose WHERE b = 2", "neither grouped nor aggregated"),
        ("SELECT a FROM loose GROUP BY b HAVING COUNT(*) > 1", "neither grouped nor aggregated"),
    ],
)
def test_what_rests_on_ties_or_order_is_refused(checked, reference, why):
    assert re.search(why, checked(reference))


@pytest.mark.parametrize(
    "reference",
    [
        "SELECT name FROM p",
        "SELECT name FROM p LIMIT 6",  # cuts nothing
        "SELECT name FROM p ORDER BY price LIMIT 2",  # the tie is further down
        "SELECT price FROM p ORDER BY price DESC LIMIT 2",  # tied rows that look the same
        "SELECT name FROM p ORDER BY price DESC, id LIMIT 2 OFFSET 1",
        "SELECT name FROM p WHERE EXISTS (SELECT * FROM loose WHERE b < p.price LIMIT 1)",
        "SELECT name FROM p WHERE price = (SELECT price FROM p ORDER BY price DESC LIMIT 1)",
        "SELECT name FROM p WHERE price = (SELECT DISTINCT price FROM p ORDER BY price DESC LIMIT 1 OFFSET 1)",
        "SELECT name FROM p WHERE price = (SELECT price FROM p WHERE kind = 'x' AND id > 1)",
        "SELECT kind, MAX(price) FROM p GROUP BY kind",
        "SELECT name, kind FROM p GROUP BY id",
        "SELECT name, MIN(price) FROM p",  # one row has the minimum
        "SELECT kind, COUNT(*) FROM p GROUP BY kind ORDER BY COUNT(*)",
        "SELECT kind, group_concat(name, ',' ORDER BY name) FROM p GROUP BY kind",
        "SELECT group_concat(name) FROM (SELECT name FROM p ORDER BY name)",
        "SELECT name, RANK() OVER (ORDER BY price), SUM(price) OVER (ORDER BY price) FROM p",
        "SELECT name, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY price) FROM p WHERE kind <> 'w'",
        "SELECT name, LAG(id) OVER w, RANK() OVER w FROM p WINDOW w AS (ORDER BY id)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT name FROM n JOIN p ON id = i",
        "SELECT rowid, name FROM p WHERE p._rowid_ > 2",  # the column id by another name
        "SELECT k, n FROM kinds",
        "SELECT COUNT(*) FROM dearest",
        "WITH dearest AS (SELECT name FROM p WHERE id = 1) SELECT * FROM dearest",  # hides the view
        "SELECT COUNT(rowid), MAX(a) FROM loose",
        "SELECT x.a FROM loose AS x JOIN loose AS y ON x.rowid <> y.rowid AND x.b = y.b",
        "SELECT SUM(price) / 3, AVG(price * 0.1) FROM p",
        "VALUES (1), (2)",
        "SELECT name FROM p WHERE id IN (VALUES (1), (2));  -- a comment",
    ],
)
def test_what_rests_on_neither_is_let_through(checked, reference):
    assert checked(reference) is None


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("SELECT name FROM p", "`SELECT name FROM p` leaves it open: end"),
        ("SELECT name FROM p ORDER BY price", "open between rows that are equal in its ORDER BY"),
        # Groups come out sorted by kind; only the probe shows that nothing says so.
        ("SELECT kind, COUNT(*) FROM p GROUP BY kind ORDER BY COUNT(*)", "open between rows that are equal"),
        ("SELECT * FROM p ORDER BY kind", "open between rows that are equal"),
        ("SELECT kind FROM p UNION SELECT a FROM loose", "leaves it open: end"),
    ],
)
def test_where_order_counts_it_must_be_fixed(checked, reference, why):
    assert checked(reference) is None
    assert re.search(why, checked(reference, ordered=True))


@pytest.mark.parametrize(
    "reference",
    ["SELECT name FROM p ORDER BY name", "SELECT price FROM p ORDER BY price", "SELECT MAX(price) FROM p"],
)
def test_a_fixed_order_is_let_through(checked, reference):
    assert checked(reference, ordered=True) is None


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("SELECT nme FROM p", "no answer on 1: no such column: nme"),
        ("DELETE FROM p", "may not be asked on 1: only reading is allowed"),
        ("SELECT name, date('now') FROM p", "may not be asked on 1: .*clock"),
        ("SELECT name FROM p WHERE random() > 0", "may not be asked on 1: .*random"),
        ("SELECT name FROM p WHERE name = 'gorse'", "empty on every database"),
        ("SELECT COUNT(*) FROM p WHERE name = 'gorse'", "the same on all 2 databases"),
        ("SELECT kind FROM p WHERE name LIKE 'birch%' AND price IS NULL", None),
    ],
)
def test_what_says_nothing_is_refused(tmp_path, reference, why):
    databases = _databases(tmp_path, ROWS, ROWS + "INSERT INTO p VALUES (7, 'birch', 'w', NULL)")
    found = unsound_because(reference, databases, Limits())
    assert found is None if why is None else re.search(why, found)


def test_a_failure_on_any_database_is_told_with_its_name(tmp_path):
    databases = _databases(tmp_path, "INSERT INTO p VALUES (1, '{}', 'x', 1)", "INSERT INTO p VALUES (1, '{', 'x', 1)")
    assert "no answer on 2: malformed JSON" in unsound_because("SELECT json(name) FROM p", databases, Limits())


def test_a_result_over_the_cap_is_no_answer(tmp_path):
    databases = _databases(tmp_path, ROWS)
    assert "more than 5 rows" in unsound_because("SELECT name FROM p", databases, Limits(rows=5))


def test_one_database_alone_may_give_any_answer(tmp_path):
    assert unsound_because("SELECT COUNT(*) FROM p", _databases(tmp_path, ROWS), Limits()) is None


def test_a_tie_is_found_on_whichever_database_has_it(tmp_path):
    databases = _databases(
        tmp_path,
        "INSERT INTO p VALUES (1, 'alder', 'x', 5), (2, 'birch', 'y', 4)",
        "INSERT INTO p VALUES (1, 'cedar', 'x', 5), (2, 'denim', 'y', 5)",
    )
    found = unsound_because("SELECT name FROM p ORDER BY price DESC LIMIT 1", databases, Limits())
    assert found.endswith("(seen on 2)")


def test_reversed_scans_tell_without_any_twin(tmp_path):
    databases = _databases(tmp_path, ROWS)
    found = unsound_because(
        "SELECT group_concat(name) FROM p", databases, Limits(), twins={databases[0]: (databases[0],)}
    )
    assert "physical order" in found


def test_only_shuffled_rows_move_the_middle_of_three(tmp_path):
    """A list of values read from its middle: reversed, it has the same one there."""
    databases = _databases(tmp_path, "INSERT INTO loose (a) VALUES ('u'), ('v'), ('w'), ('x'), ('y')")
    reference = "SELECT substr(group_concat(a, ''), 3, 1) FROM loose"
    with twins_of(databases) as twins:
        backwards, shuffled = (run_query(twin, reference).rows for twin in twins[databases[0]])
        assert backwards == run_query(databases[0], reference, reversed_scans=True).rows == (("w",),)
        assert shuffled != backwards
        assert "physical order" in unsound_because(reference, databases, Limits(), twins=twins)


def test_a_query_that_needs_its_index_is_checked_on_the_twin_that_has_it(tmp_path):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1500) "
    databases = _databases(tmp_path, f"INSERT INTO p (id, price) {numbers} SELECT i, i FROM n")
    limits = Limits(vm_steps=100_000)
    reference = "SELECT id, (SELECT q.price FROM p AS q WHERE q.id = p.id) FROM p WHERE price > 5"
    with twins_of(databases) as twins:
        assert "was stopped" in run_query(twins[databases[0]][0], reference, limits).message
        assert unsound_because(reference, databases, limits, twins=twins) is None


def test_a_check_may_take_more_steps_than_the_query(tmp_path):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150) "
    index = "CREATE INDEX prices ON p (price) WHERE price IS NOT NULL;"  # no twin has it, since it is partial
    databases = _databases(tmp_path, f"{index} INSERT INTO p (id, price) {numbers} SELECT i, i FROM n")
    reference = "SELECT id, (SELECT q.id FROM p AS q WHERE q.price = p.price) FROM p"
    assert unsound_because(reference, databases, Limits(vm_steps=50_000)) is None
    assert "was stopped after" in unsound_because(reference, databases, Limits(vm_steps=10_000))


def test_what_cannot_be_checked_is_not_let_through(tmp_path):
    databases = _databases(tmp_path, ROWS + "CREATE INDEX prices ON p (price)")
    found = unsound_because("SELECT name FROM p INDEXED BY prices WHERE price > 4", databases, Limits())
    assert re.search("cannot be seen on 1, .*no such index: prices.*write it without INDEXED BY", found)


def test_a_query_that_sqlglot_cannot_read_is_still_run_on_twins(tmp_path):
    databases = _databases(tmp_path, ROWS)
    unread = "SELECT name, CAST(price AS a very odd type (1, 2)) FROM p {} /* not closed"
    assert run_query(databases[0], unread.format("")).status == "ok"
    assert unsound_because(unread.format(""), databases, Limits()) is None
    assert "physical order" in unsound_because(unread.format("LIMIT 2"), databases, Limits())


def test_no_shop_type_is_refused(tmp_path):
    build_families(tmp_path / "shop", DatabaseParams(seed=17, customers=60, products=60, orders=250))
    databases = family_paths(tmp_path / "shop", TRAIN)
    types = (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES)
    assert len(types) == 25
    with twins_of(databases) as twins:
        for question_type in types:
            pools = [pool(databases[0], sql) for sql in question_type.parameters.values()]
            for values in list(product(*pools))[::5]:
                sql = expand(databases[0], question_type.sql, dict(zip(question_type.parameters, values, strict=True)))
                assert unsound_because(sql, databases, Limits(), twins=twins) is None, sql


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside this repository")
def test_no_shared_reference_or_equivalent_rewrite_is_refused(tmp_path):
    schema = (SHARED / "rewrites_schema.sql").read_text(encoding="utf-8")
    rows = """
        INSERT INTO customers VALUES (1, 'Ana', 'a@x', 'Nice', 'FR', '2023-01-31'),
            (2, 'Ana', '', 'Nice', 'FR', '2022-05-05'), (3, 'Bo', NULL, NULL, 'DE', '2023-12-31'),
            (4, 'Cy', 'c@x', 'Bonn', 'DE', '2024-01-01'), (5, 'Di', 'd', 'FR', NULL, NULL);
        INSERT INTO products VALUES (1, 'Kite', 'toys', 35), (2, 'Atlas', 'books', 10), (3, 'Kite', 'toys', 35),
            (4, 'Yo-yo', 'Toys', 19.99), (5, 'Rake', NULL, 100), (6, 'Hoe', NULL, 100.5), (7, 'Saw', 'tools', 20);
        INSERT INTO orders VALUES (1, 1, '2023-03-01', 'paid'), (2, 1, '2023-03-31', 'shipped'),
            (3, 2, '2023-05-05', 'delivered'), (4, 2, '2023-05-05', 'cancelled'), (5, 3, '2022-12-31', 'delivered'),
            (6, NULL, '2023-04-01', 'paid');
        INSERT INTO order_items VALUES (1, 1, 1, 2, 35), (2, 1, 2, 3, 10), (3, 2, 3, 4, 31), (4, 3, 2, 1, 10),
            (5, 3, 1, 2, 30), (6, 5, 7, 5, 1001), (7, 5, 4, 2, 19.99), (8, 3, 1, 1, 0.1);
        """
    path = write_database(tmp_path / "shared.sqlite", schema + rows)
    pairs = json.loads((SHARED / "rewrites.json").read_text(encoding="utf-8"))
    refused = {}
    with twins_of([path]) as twins:
        for pair in pairs:
            for sql in (pair["reference"], *([pair["rewrite"]] if pair["kind"] == "equivalent" else [])):
                why = unsound_because(sql, [path], Limits(), twins=twins)
                if why is not None:
                    refused[sql] = why
    assert refused == {}


BROKEN = "SELECT nothing_like_it FROM p"


@pytest.mark.parametrize(
    ("single", "says"),
    [
        ((BROKEN,), "whether its answer depends on ties cannot be seen, .*no such column"),
        (("SELECT name FROM p ORDER BY price DESC, id DESC LIMIT 1",), "the one at fault"),
    ],
)
def test_probes_that_do_not_run_all_at_once_are_asked_one_by_one_and_never_passed_over(
    tmp_path, monkeypatch, single, says
):
    reference = "SELECT name FROM p ORDER BY price DESC LIMIT 1"
    script = "INSERT INTO p (id, name, price) VALUES (1, 'a', 9), (2, 'b', 9), (3, 'c', 1)"
    probes = TieProbes(reference, Probe("all at once", (BROKEN,)), (Probe("the one at fault", single),), ())
    monkeypatch.setattr(soundness, "tie_probes", lambda *_, **__: probes)
    assert re.search(says, unsound_because(reference, _databases(tmp_path, script), Limits()))


def test_probes_that_agree_one_by_one_are_enough(tmp_path, monkeypatch):
    reference = "SELECT name FROM p ORDER BY price DESC LIMIT 1"
    script = "INSERT INTO p (id, name, price) VALUES (1, 'a', 9), (2, 'b', 8)"
    probes = TieProbes(reference, Probe("all at once", (BROKEN,)), (Probe("one", (reference,)),), ())
    monkeypatch.setattr(soundness, "tie_probes", lambda *_, **__: probes)
    assert unsound_because(reference, _databases(tmp_path, script), Limits()) is None
