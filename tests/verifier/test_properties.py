"""Properties of the grader that hold for any rows: row order, symmetry, tolerance, repeated runs and threads.

The known pairs are in test_comparison.py and the verdicts in test_own_cases.py; here hypothesis looks for a
counterexample. Examples are derived from the test's name, so a run finds the same ones everywhere.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.grading import CORRECT, ERROR, REJECTED, WRONG, grade

SCHEMA = """
CREATE TABLE herd(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, weight REAL, born TEXT, pen INTEGER, mark);
CREATE TABLE pen(number INTEGER, place TEXT, size NUMERIC);
CREATE TABLE milk(herd_id INTEGER, day TEXT, litres REAL);
"""
# None of them asks for an order or for one of several equals, so none may depend on how the rows lie in the file.
BATTERY = (
    "SELECT name, kind, weight, born, pen, mark FROM herd",
    "SELECT DISTINCT kind FROM herd",
    "SELECT COUNT(*), COUNT(name), COUNT(DISTINCT name), COUNT(DISTINCT mark) FROM herd",
    "SELECT kind, COUNT(*), MIN(weight), MAX(weight) FROM herd GROUP BY kind",
    "SELECT SUM(weight), AVG(weight), TOTAL(weight) FROM herd",
    "SELECT SUM(pen), AVG(pen) FROM herd",
    "SELECT name FROM herd WHERE weight = (SELECT MAX(weight) FROM herd)",
    "SELECT name FROM herd h WHERE weight = (SELECT MIN(weight) FROM herd x WHERE x.kind IS h.kind)",
    "SELECT name FROM herd WHERE weight > 1 OR kind LIKE 'a%' OR mark IS NULL",
    "SELECT h.name, p.place FROM herd h JOIN pen p ON p.number = h.pen",
    "SELECT h.name, p.place, p.size FROM herd h LEFT JOIN pen p ON p.number = h.pen",
    "SELECT h.name, p.place FROM herd h FULL JOIN pen p ON p.number = h.pen",
    "SELECT h.id, SUM(m.litres), COUNT(m.day) FROM herd h LEFT JOIN milk m ON m.herd_id = h.id GROUP BY h.id",
    "SELECT name FROM herd h WHERE NOT EXISTS (SELECT 1 FROM milk m WHERE m.herd_id = h.id)",
    "SELECT id FROM herd WHERE id NOT IN (SELECT herd_id FROM milk)",
    "SELECT id FROM herd WHERE id IN (SELECT herd_id FROM milk WHERE litres >= 0)",
    "SELECT name FROM herd UNION SELECT place FROM pen",
    "SELECT name FROM herd UNION ALL SELECT place FROM pen",
    "SELECT kind FROM herd INTERSECT SELECT place FROM pen",
    "SELECT kind FROM herd EXCEPT SELECT place FROM pen",
    "SELECT kind FROM herd GROUP BY kind HAVING COUNT(*) > 1",
    "SELECT id, RANK() OVER (ORDER BY weight), DENSE_RANK() OVER (PARTITION BY kind ORDER BY pen DESC) FROM herd",
    "SELECT id, SUM(pen) OVER (PARTITION BY kind ORDER BY weight) FROM herd",
    "SELECT id, CASE WHEN weight > 0 THEN 'up' WHEN weight < 0 THEN 'down' ELSE mark END FROM herd",
    "SELECT substr(born, 1, 4) AS y, COUNT(*) FILTER (WHERE kind = 'a') FROM herd GROUP BY y",
    "SELECT typeof(mark), mark, COUNT(*) FROM herd GROUP BY typeof(mark), mark",
    "WITH t AS (SELECT kind, SUM(pen) AS s FROM herd GROUP BY 1) SELECT kind FROM t WHERE s = (SELECT MAX(s) FROM t)",
    "SELECT a.id, b.id FROM herd a JOIN herd b ON a.weight = b.weight AND a.id < b.id",
    "SELECT weight FROM herd ORDER BY weight DESC LIMIT 2",
)
LIMITS = Limits(vm_steps=1_000_000)
fixed = settings(derandomize=True, database=None, deadline=None, max_examples=100)
few = settings(fixed, max_examples=40)

words = st.none() | st.sampled_from(["a", "A", "b", "", "a ", "\u00e9", "1", "NULL"])
days = st.none() | st.sampled_from(["2023-12-31", "2024-01-01", "2024-02-29", "2024-2-1"])
# Sums of these stay well away from the tolerance, and their order moves the last bits only.
weights = st.none() | st.sampled_from([0.1, 0.2, 0.3, -0.3, 0.0, -0.0, 1.0, 1e6, 2.5, 1 / 3])
small = st.none() | st.integers(-2, 3)
marks = st.none() | st.sampled_from([1, 1.0, "1", b"1", "", b"", 2**53 + 1, -(2**63), 2**63 - 1, 0.1 + 0.2])


@st.composite
def rows_of_all_tables(draw):
    herd = draw(st.lists(st.tuples(words, words, weights, days, small, marks), max_size=8))
    return {
        "herd": [(number, *row) for number, row in enumerate(herd, start=1)],
        "pen": draw(st.lists(st.tuples(small, words, weights), max_size=5)),
        "milk": draw(st.lists(st.tuples(st.none() | st.integers(0, 9), days, weights), max_size=6)),
    }


def build(path: Path, rows) -> Path:
    """The file `path` with these rows, put in as they come; herd's ids go with their rows."""
    path.unlink(missing_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN;" + SCHEMA).fetchall()
        for table, values in rows.items():
            if values:
                connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)
        connection.execute("COMMIT")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("properties")


@few
@given(rows=rows_of_all_tables(), generator=st.randoms(use_true_random=False))
def test_a_query_equals_itself_when_its_tables_are_shuffled(rows, generator, folder):
    shuffled = {table: generator.sample(values, len(values)) for table, values in rows.items()}
    # The ids go to other rows as well, so that not even the rowid keeps the old order.
    renamed = dict(zip(range(10), generator.sample(range(100), 10), strict=True))
    moved = {**shuffled, "herd": [(renamed[row[0]], *row[1:]) for row in shuffled["herd"]]}
    moved["milk"] = [(renamed.get(row[0]), *row[1:]) for row in shuffled["milk"]]
    one, other = build(folder / "one.sqlite", rows), build(folder / "other.sqlite", shuffled)
    third = build(folder / "third.sqlite", moved)
    for sql in BATTERY:
        results = [run_query(path, sql, LIMITS) for path in (one, other, third)]
        assert {result.status for result in results} == {OK}, (sql, results[0].message)
        wanted, found, elsewhere = [(result.columns, result.rows) for result in results]
        assert first_difference(wanted, found) is None, sql
        if "id" not in sql.split("FROM")[0]:
            assert first_difference(wanted, elsewhere) is None, sql


ints = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2) | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1])
reals = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0, 1 + 5e-10, 1 + 1e-9, 2.0**53, 1e-10])
texts = st.text(max_size=2) | st.sampled_from(["1", "1.0", "-0.0", "inf"])
cells = st.none() | ints | reals | texts | st.binary(max_size=2) | st.sampled_from([b"1", b""])
results = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=7))
columns_alike = st.integers(1, 3).flatmap(
    lambda width: st.tuples(*[st.lists(st.tuples(*[st.sampled_from([1, 1.0, 1 + 5e-10, 1 + 9e-10, "1", None])] * width),
                                       min_size=3, max_size=5)] * 2)
)  # fmt: skip


def difference(one, other):
    """first_difference of two lists of rows with any column names."""
    return first_difference((["a"] * len(one[0]), one), (["b"] * len(other[0]), other))


@fixed
@given(results)
def test_a_result_equals_itself(rows):
    assert difference(rows, rows) is None


@fixed
@given(results, results)
def test_the_comparison_is_symmetric(one, other):
    assert (difference(one, other) is None) == (difference(other, one) is None)


@fixed
@given(columns_alike)
def test_the_comparison_is_symmetric_where_rows_are_close(pair):
    one, other = pair
    assert (difference(one, other) is None) == (difference(other, one) is None)


@fixed
@given(columns_alike, st.randoms(use_true_random=False))
def test_neither_side_s_row_order_matters(pair, generator):
    one, other = pair
    verdict = difference(one, other) is None
    assert (difference(generator.sample(one, len(one)), other) is None) == verdict
    assert (difference(one, generator.sample(other, len(other))) is None) == verdict


@fixed
@given(results, st.data())
def test_a_row_more_or_less_or_doubled_in_place_of_another_is_seen(rows, data):
    extra = data.draw(st.sampled_from(rows))
    assert difference(rows, [*rows, extra]) is not None
    assert difference([*rows, extra], rows) is not None
    marked = [(*row, f"row {number}") for number, row in enumerate(rows)] + [(*rows[0], "last")]
    doubled = [*marked[:-1], data.draw(st.sampled_from(marked[:-1]))]
    assert difference(marked, doubled) is not None
    assert difference(doubled, marked) is not None


@fixed
@given(results, st.data())
def test_a_changed_cell_is_seen(rows, data):
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    for value in ("a text that is nowhere", b"bytes that are nowhere", 123456789123456789, 1.2345e77):
        changed = [list(values) for values in rows]
        changed[row][column] = value
        assert difference(rows, changed) is not None


@fixed
@given(st.lists(st.tuples(ints, st.text(min_size=1, max_size=3), st.binary(max_size=3)), min_size=1, max_size=6))
def test_no_permutation_of_columns_is_the_same_answer(rows):
    for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0)):
        assert difference(rows, [tuple(row[column] for column in order) for row in rows]) is not None


@fixed
@given(st.lists(st.tuples(ints, ints), min_size=2, max_size=6, unique=True), st.data())
def test_each_column_right_as_a_list_is_not_enough(rows, data):
    turned = [(one, other) for (one, _), (_, other) in zip(rows, [*rows[1:], rows[0]], strict=True)]
    same_pairs = sorted(rows) == sorted(turned)
    assert (difference(rows, turned) is None) == same_pairs


large = st.floats(-1e300, 1e300).filter(lambda value: abs(value) >= 1e-2)


@fixed
@given(st.lists(st.tuples(large, large), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_a_change_of_a_million_millionth_is_never_a_difference(rows, generator):
    noisy = [tuple(value * (1 + generator.choice([-1e-12, 0, 1e-12])) for value in row) for row in rows]
    assert difference(rows, generator.sample(noisy, len(noisy))) is None


@fixed
@given(st.lists(st.tuples(large, large), min_size=1, max_size=8, unique=True), st.data())
def test_a_change_of_a_millionth_is_always_a_difference(rows, data):
    """Of the extreme value of a column, so that no other row can stand in for it."""
    column = data.draw(st.integers(0, 1))
    row = max(rows, key=lambda values: values[column])
    grown = row[column] + abs(row[column]) * 1e-6
    changed = [list(values) for values in rows]
    changed[rows.index(row)][column] = grown
    assert difference(rows, changed) is not None
    assert difference(changed, rows) is not None


@fixed
@given(st.integers(2**62, 2**63 - 2), st.integers(1, 64), st.sampled_from([-1, 1]))
def test_integers_near_the_ends_are_exact(value, step, sign):
    neighbour = sign * min(value + step, 2**63 - 1)
    assert (difference([(sign * value,)], [(neighbour,)]) is None) == (sign * value == neighbour)
    assert (difference([(sign * value,)], [(float(sign * value),)]) is None) == (int(float(value)) == value)


@fixed
@given(ints | reals)
def test_no_number_is_a_text_and_no_text_a_blob(number):
    for text in (str(number), repr(number), f"{number:g}"):
        assert difference([(number,)], [(text,)]) is not None
        assert difference([(text,)], [(number,)]) is not None
        assert difference([(text,)], [(text.encode(),)]) is not None
        assert difference([(number,)], [(text.encode(),)]) is not None


PAIRS = (
    ("SELECT name FROM herd", "SELECT name FROM herd ORDER BY weight", CORRECT),
    ("SELECT name FROM herd", "SELECT DISTINCT name FROM herd", WRONG),
    ("SELECT SUM(weight) FROM herd", "SELECT SUM(weight) FROM (SELECT weight FROM herd ORDER BY weight DESC)", CORRECT),
    ("SELECT COUNT(*) FROM milk", "SELECT COUNT(day) FROM milk", WRONG),
    ("SELECT id FROM herd", "SELECT id FROM herd WHERE date('now') > ''", REJECTED),
    ("SELECT id FROM herd", "SELECT id FROM herd ORDER BY random()", REJECTED),
    ("SELECT id FROM herd", "DELETE FROM herd RETURNING id", REJECTED),
    ("SELECT id FROM herd", "PRAGMA case_sensitive_like = 1", REJECTED),
    ("SELECT 1", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", ERROR),
    ("SELECT id FROM herd", "SELECT nmae FROM herd", ERROR),
    ("SELECT id FROM herd WHERE name LIKE 'A'", "SELECT id FROM herd WHERE name IN ('a', 'A')", CORRECT),
)


@pytest.fixture(scope="module")
def two_herds(folder):
    """Rows in two orders, with ties, namesakes and NULL, so that each of PAIRS has a reason for its verdict."""
    rows = {
        "herd": [(number, name, "a", weight, "2024-01-01", 1, None)
                 for number, (name, weight) in enumerate([("a", 0.1), ("A", 0.2), ("a", 0.3), (None, 0.7)], start=1)],
        "pen": [(1, "a", 2)],
        "milk": [(1, "2024-01-01", 0.1), (2, None, None)],
    }  # fmt: skip
    backwards = {table: values[::-1] for table, values in rows.items()}
    return [build(folder / "forwards.sqlite", rows), build(folder / "backwards.sqlite", backwards)]


def test_verdicts_are_stable_over_repeated_runs(two_herds):
    limits = Limits(vm_steps=200_000)
    for reference, submission, expected in PAIRS:
        verdicts = [grade(reference, submission, two_herds, limits) for _ in range(5)]
        assert {verdict.verdict for verdict in verdicts} == {expected}, verdicts[0].reason
        assert len({(verdict.reason, verdict.database) for verdict in verdicts}) == 1


def test_verdicts_are_stable_over_eight_threads(two_herds):
    limits = Limits(vm_steps=200_000)
    jobs = [pair for pair in PAIRS for _ in range(8)]
    random.Random("threads").shuffle(jobs)
    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(lambda pair: grade(pair[0], pair[1], two_herds, limits), jobs))
    assert [verdict.verdict for verdict in verdicts] == [expected for _, _, expected in jobs]
    reasons = {(job, verdict.reason) for job, verdict in zip(jobs, verdicts, strict=True)}
    assert len(reasons) == len(PAIRS)
