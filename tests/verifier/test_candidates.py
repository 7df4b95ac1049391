from random import Random

import pytest
import sqlglot
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.verifier.candidates import messy_candidates, ordinary_candidates, seeded_domains
from sqldojo.verifier.hints import hints

SCRIPT = """
CREATE TABLE fee (id INTEGER PRIMARY KEY, amount INTEGER, price REAL, paid_on TEXT, payer TEXT);
"""
ROWS = """
INSERT INTO fee VALUES (1, 5, 2.5, '2021-03-01', 'Ann'), (2, 5, 4.0, '2021-04-01', 'Bo'), (3, 5, 9.5, NULL, 'Cy');
"""
QUERY = "SELECT payer FROM fee WHERE paid_on < '2021-04-01' AND price > 7"


def prepared(path, script):
    schema = read_schema(write_database(path / "fees.sqlite", script))
    rows = read_rows(path / "fees.sqlite", schema)
    found = hints([sqlglot.parse_one(QUERY, read="sqlite")], schema)
    return schema, rows, found, seeded_domains(schema, rows, found, Random(1))


def test_a_bare_schema_gets_values_of_its_types_and_those_beside_the_literals(tmp_path):
    _, _, _, domains = prepared(tmp_path, SCRIPT)
    assert all(isinstance(value, int) for value in domains["fee", "amount"])
    assert all(isinstance(value, float) for value in domains["fee", "price"])
    assert {6.99, 7.0, 7.01} <= set(domains["fee", "price"])
    assert {"2021-04-01", "2021-03-31 23:59:00"} <= set(domains["fee", "paid_on"])


def test_the_users_dates_stay_days_and_their_one_number_gets_company(tmp_path):
    _, _, _, domains = prepared(tmp_path, SCRIPT + ROWS)
    assert {"2021-03-01", "2021-04-01", "2021-03-31"} <= set(domains["fee", "paid_on"])
    assert not any(len(value) > 10 for value in domains["fee", "paid_on"])
    assert set(domains["fee", "amount"]) == {5, 6, 7}
    assert {"Ann", "ann", "ANN"} <= set(domains["fee", "payer"])


@pytest.mark.parametrize("part", [0, 1, 2])
def test_ordinary_candidates_hold_the_users_values_only(tmp_path, part):
    schema, rows, found, domains = prepared(tmp_path, SCRIPT + ROWS)
    for candidate in ordinary_candidates(schema, rows, found, domains, size=20, count=3, part=part, seed=1):
        assert {row[4] for row in candidate["fee"]} <= {"Ann", "Bo", "Cy"}


def test_messy_candidates_differ_in_size_and_are_the_same_for_the_same_seed(tmp_path):
    schema, _, found, domains = prepared(tmp_path, SCRIPT)
    candidates = [*messy_candidates(schema, found, domains, count=40, seed=3)]
    assert candidates == [*messy_candidates(schema, found, domains, count=40, seed=3)]
    sizes = [len(candidate["fee"]) for candidate in candidates]
    assert min(sizes) < 6 and max(sizes) > 15
    assert any(row[2] is None for candidate in candidates for row in candidate["fee"])
