"""What is left of a reference's bugs, and which of them a user would come with."""

import pytest
from bookstall import REFERENCES, build_bookstall

from sqldojo.databases.execution import Limits
from sqldojo.repair.bugs.edits import TextEdit, bug
from sqldojo.repair.differences import EMPTY, ERROR, ONE_VALUE
from sqldojo.repair.supply import Database, Supply


@pytest.fixture
def supply_of(tmp_path):
    database = Database(build_bookstall(tmp_path), Limits())

    def make(name):
        return Supply(next(each for each in REFERENCES if each.id == f"bookstall-{name}"), database, seed=1)

    return make


def changed(supply, old, new, kind="k"):
    place = supply.sql.index(old)
    return bug(kind, new, TextEdit(place, place + len(old), new))


def test_what_is_seen_of_a_bug(supply_of):
    supply = supply_of("copies-in-year")
    wrong = changed(supply, "SUM", "AVG")
    error = changed(supply, "FROM", "FORM")
    empty = changed(supply, "'2023'", "2023")
    assert supply.seen([wrong]).what == ONE_VALUE
    assert supply.seen([error]).message == 'near "sales": syntax error'
    assert supply.seen([empty]).got_value == "nothing"
    assert supply.seen([wrong, error]).what == ERROR
    assert supply.seen([changed(supply, "copies", "copies + 0")]) is None


def test_what_the_sandbox_refuses_is_no_users_bug(supply_of):
    supply = supply_of("in-town")
    assert supply.seen([changed(supply, "town = 'Graz'", "random() > 0")]) is None
    endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n) > 0"
    assert supply.seen([changed(supply, "town = 'Graz'", endless)]) is None


def test_two_bugs_count_when_each_is_seen_alone(supply_of):
    supply = supply_of("in-town")
    empty = changed(supply, "Graz", "graz")
    error = changed(supply, "FROM", "FORM")
    nothing = changed(supply, "name", "name || ''")
    assert supply.seen([empty]).what == EMPTY
    assert supply.both_count(empty, error)
    assert not supply.both_count(empty, nothing)


def test_a_bug_that_is_taken_is_gone(supply_of):
    supply = supply_of("in-town")
    before = sum(len(found) for names in supply.bugs.values() for found in names.values())
    taken = supply.take("syntax", "comma-before-from")
    assert supply.with_bugs([taken]) == "SELECT name, FROM readers WHERE town = 'Graz'"
    assert "comma-before-from" not in supply.bugs["syntax"]
    assert sum(len(found) for names in supply.bugs.values() for found in names.values()) == before - 1
