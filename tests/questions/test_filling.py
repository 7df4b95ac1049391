from dataclasses import replace

import pytest

from sqldojo.questions.filling import Group, divide, draws, groups_of
from sqldojo.records import QuestionType

IN_TOWN = QuestionType(id="in-town", split="train", phrasings=("{town}?",), sql="", parameters={"town": "", "age": ""})
POOLS = {"town": (["Rome"], ["Oslo"]), "age": ([1], [2]), "year": ([3], [4])}


def split_up(shared, **change):
    return divide(**{"train_pool": shared, "evaluation_pool": shared, "seed": 1, "reserved_share": 0.4}
                  | change)  # fmt: skip


def test_shared_values_are_divided_and_own_values_stay():
    trained, reserved = split_up(None, train_pool=["a", 1, 2, 3, 4, 5], evaluation_pool=[1, 2, 3, 4, 5, "b"])
    assert trained[0] == "a" and reserved[-1] == "b"
    assert sorted([*trained[1:], *reserved[:-1]]) == [1, 2, 3, 4, 5]
    assert len(trained) > 1 and len(reserved) > 1


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_two_shared_values_give_one_to_each_side(share):
    trained, reserved = split_up([1, 2], reserved_share=share)
    assert len(trained) == len(reserved) == 1
    assert {*trained, *reserved} == {1, 2}


def test_the_share_is_that_of_the_values_that_are_reserved():
    for share in (0.1, 0.4, 0.8):
        _, reserved = split_up(range(1000), reserved_share=share)
        assert len(reserved) == pytest.approx(1000 * share, abs=50)


def test_a_value_is_on_the_same_side_for_every_parameter():
    assert split_up(range(40)) == split_up(range(40))
    assert split_up(range(40)) != split_up(range(40), seed=2)
    trained, reserved = split_up(range(40))
    more_trained, more_reserved = split_up(range(20, 60))
    assert set(trained) & set(range(20, 60)) == set(more_trained) & set(range(40))
    assert set(reserved) & set(range(20, 60)) == set(more_reserved) & set(range(40))


def test_draws_are_different_combinations_of_which_the_first_are_those_of_other_types():
    pools = {"a": list(range(20)), "b": list(range(30))}
    drawn = list(draws(pools, 50, "1", "mine"))
    assert len({tuple(each.values()) for each in drawn}) == 50
    assert drawn == list(draws(dict(reversed(pools.items())), 50, "1", "mine"))
    assert drawn[:10] == list(draws(pools, 10, "1", "mine")) != list(draws(pools, 10, "2", "mine"))
    others = list(draws(pools, 50, "1", "another's"))
    assert others[:2] == drawn[:2]
    assert others[2:] != drawn[2:]
    assert len(list(draws(pools, 5000, "1", "mine"))) == 600
    assert list(draws({}, 10, "1", "mine")) == [{}]
    assert list(draws({"a": []}, 10, "1", "mine")) == []


def test_a_great_many_combinations_are_never_listed():
    pools = {name: range(10_000) for name in "abcdef"}
    assert len({tuple(each.values()) for each in draws(pools, 30, "1", "mine")}) == 30


def test_a_trained_type_is_asked_in_both_families_and_a_held_out_one_in_the_last():
    def groups(families, reserved=True, **change):
        return groups_of(replace(IN_TOWN, **change), POOLS, families, trained_values=5, held_out_values=2,
                         reserved=reserved)  # fmt: skip

    both = ["train", "evaluation"]
    assert groups(both) == [
        Group("train", "train", {"town": ["Rome"], "age": [1]}, 5),
        Group("reserved", "evaluation", {"town": ["Oslo"], "age": [2]}, 2),
    ]
    assert groups(both, split="check") == [Group("check", "evaluation", {"town": ["Oslo"], "age": [2]}, 2)]
    assert groups(both, parameters={}) == [Group("train", "train", {}, 5)]
    assert groups(["train"]) == groups(both, reserved=False) == groups(both)[:1]
