from collections import Counter
from random import Random

import pytest

from sqldojo.databases.drawing import day, favoured, people, sometimes


def test_a_day_lies_between_both_ends_and_can_be_either():
    rng = Random(1)
    assert {day(rng, "2024-02-28", "2024-03-01") for _ in range(50)} == {"2024-02-28", "2024-02-29", "2024-03-01"}
    with pytest.raises(ValueError):
        day(rng, "2024-03-02", "2024-03-01")


def test_a_value_is_missing_in_so_many_of_a_hundred_draws():
    rng = Random(1)
    assert [sometimes(rng, 0, "a") for _ in range(20)] == ["a"] * 20
    assert [sometimes(rng, 100, "a") for _ in range(20)] == [None] * 20
    assert 170 < [sometimes(rng, 20, "a") for _ in range(1000)].count(None) < 230


def test_the_first_items_are_drawn_more_often_than_the_last():
    drawn = Counter(favoured(Random(f"1/{number}"), "abc") for number in range(1500))
    assert drawn["a"] > drawn["b"] > drawn["c"] > 200


def test_people_have_so_many_namesakes():
    names = people(Random(1), ("Ada", "Bo", "Cy"), ("Ek", "Fry", "Gad"), 9, 2)
    assert (len(names), len(set(names))) == (9, 7)
    assert names == people(Random(1), ("Ada", "Bo", "Cy"), ("Ek", "Fry", "Gad"), 9, 2)
    with pytest.raises(ValueError):
        people(Random(1), ("Ada",), ("Ek",), 3, 1)
