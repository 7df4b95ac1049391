from itertools import islice
from random import Random

import pytest
from sqlite_files import write_database

from sqldojo.databases.adapting import adaptations, within
from sqldojo.databases.schema_model import read_schema

SCRIPT = "CREATE TABLE sale (id INTEGER PRIMARY KEY, kind TEXT, day TEXT, price REAL);"
PRESENT = {"sale": [(1, "Kite", "2024-02-01", 3.0), (2, "Ball", "2024-03-01", 9.0)]}
FEW = {"sale": [(7, "Top", "2020-01-05", 1.0), (8, "top", "2020-01-07", 2.0)]}
NAMED = {("sale", "kind"): ["Top"], ("sale", "day"): [], ("sale", "price"): []}


@pytest.fixture
def found(tmp_path):
    """All adaptations, each as its rows' kinds, days and prices."""
    schema = read_schema(write_database(tmp_path / "s.sqlite", SCRIPT))

    def adapt(rows, named, wanted=()):
        made = adaptations(schema, rows, PRESENT, named, Random(1), wanted=wanted)
        return [tuple(zip(*each["sale"], strict=True)) for each in made]

    return adapt


def test_the_rows_themselves_come_first(found):
    assert found(FEW, NAMED)[0] == ((7, 8), ("Top", "top"), ("2020-01-05", "2020-01-07"), (1.0, 2.0))


def test_all_numbers_and_dates_move_beyond_what_is_there(found):
    made = found(FEW, NAMED)
    assert ("2024-03-02", "2024-03-04") in [days for _, _, days, _ in made]
    assert ("2024-01-29", "2024-01-31") in [days for _, _, days, _ in made]
    assert (10.0, 11.0) in [prices for *_, prices in made]
    assert all(min(prices) > 0 for *_, prices in made), "amounts stay above 0"


def test_single_values_move_onto_the_ends_beyond_them_and_onto_what_is_wanted(found):
    prices = [prices for *_, prices in found(FEW, NAMED)]
    assert {(1.0, 9.0), (3.0, 2.0), (1.0, 10.0)} <= {*prices}
    assert (1.0, 5.0) not in prices
    days = [days for _, _, days, _ in found(FEW, NAMED, wanted=["2024-02-01"])]
    assert ("2020-01-05", "2024-02-01") in days


def test_a_text_that_a_query_names_stays_in_any_case_and_another_becomes_new(found):
    assert {kinds for _, kinds, _, _ in found(FEW, NAMED)} == {("Top", "top")}
    other = {"sale": [(7, "Kite", None, None), (8, None, None, None)]}
    kinds = [kinds for _, kinds, _, _ in islice(found(other, {("sale", "kind"): []}), 3)]
    assert kinds == [("Kite", None), ("Kite2", None), ("Kite2", "Ball2")]


def test_numbers_of_which_some_must_stay_are_not_moved(found):
    prices = [prices for *_, prices in found(FEW, {("sale", "price"): [1.0]})]
    assert {first for first, _ in prices} == {1.0}
    assert {second for _, second in prices} == {2.0, 3.0, 9.0}


def test_no_text_but_a_date_goes_above_those_that_are_there(tmp_path):
    schema = read_schema(write_database(tmp_path / "s.sqlite", SCRIPT))
    rows = {"sale": [(7, "Top", "2030-01-05", 1.0), (8, None, None, 99.0), (9, "Apple", "x", 1.0)]}
    wanted = [(7, "Kite", "2030-01-05", 1.0), (8, None, None, 99.0), (9, "Apple", "x", 1.0)]
    assert within(schema, rows, PRESENT, kept=()) == {"sale": wanted}
    assert within(schema, rows, PRESENT, kept=[("sale", "kind")]) == rows
