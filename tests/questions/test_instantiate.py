from collections import Counter
from dataclasses import replace

import pytest

from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.records import FilledType, QuestionType

PARAMS = QuestionParams(seed=1, train_per_type=10, held_out_per_type=3)
IN_TOWN = QuestionType(
    id="in-town",
    split="train",
    phrasings=("Who lives in {town}?", "List the people of {town}.", "Name everybody in {town}."),
    sql="SELECT name FROM people WHERE town = :town",
    parameters={"town": "SELECT DISTINCT town FROM people"},
    proposer="composed",
)


def fill(town, split="train", of="in-town"):
    reference = f"SELECT name FROM people WHERE town = '{town}'"
    return FilledType(of, "train" if split == "train" else "evaluation", split, {"town": town}, reference)


FILLED = [fill("Rome"), fill("Pisa"), fill("Oslo", "reserved"), fill("Bergen", "reserved")]


def test_every_filled_type_is_asked_in_every_phrasing():
    questions = make_questions([IN_TOWN], FILLED, PARAMS)
    train, reserved = questions["train"], questions["reserved"]
    assert len(train) == len({q.text for q in train}) == 6
    assert {q.family for q in train} == {"train"} and {q.family for q in reserved} == {"evaluation"}
    assert [q.id for q in reserved] == [f"in-town-reserved-000{n}" for n in (1, 2, 3)]
    assert {q.parameters["town"] for q in reserved} == {"Oslo", "Bergen"}
    assert questions["selection"] == questions["check"] == []
    for question in train:
        assert question.parameters["town"] in question.text and question.parameters["town"] in question.reference


def test_every_value_comes_before_any_repeats():
    train = make_questions([IN_TOWN], FILLED, PARAMS)["train"]
    assert all({a.parameters["town"], b.parameters["town"]} == {"Rome", "Pisa"}
               for a, b in zip(train[::2], train[1::2], strict=True))  # fmt: skip


def test_at_most_so_many_questions_a_type_are_asked():
    questions = make_questions([IN_TOWN], FILLED, replace(PARAMS, train_per_type=4, held_out_per_type=1))
    assert (len(questions["train"]), len(questions["reserved"])) == (4, 1)


def test_whether_order_counts_is_handed_on():
    for ordered in (False, True):
        questions = make_questions([replace(IN_TOWN, ordered=ordered)], FILLED, PARAMS)
        assert {q.ordered for split in questions.values() for q in split} == {ordered}


def test_only_named_proposers_are_trained_and_what_is_held_out_stays():
    held_out = replace(IN_TOWN, id="held-out", split="check", proposer="pairs")
    written = replace(IN_TOWN, id="written", proposer="hand-written")
    types = [IN_TOWN, written, held_out]
    filled = [*FILLED, fill("Rome", of="written"),
              fill("Oslo", "reserved", "written"), fill("Oslo", "check", "held-out")]
    everything = make_questions(types, filled, PARAMS)
    assert {q.type for q in everything["train"]} == {"in-town", "written"}
    some = make_questions(types, filled, replace(PARAMS, trained_proposers=("hand-written", "pairs")))
    assert {q.type for q in some["train"]} == {q.type for q in some["reserved"]} == {"written"}
    assert some["check"] == everything["check"] != []


def test_questions_depend_on_the_seed_and_their_type_alone():
    other = replace(IN_TOWN, id="other")
    questions = make_questions([IN_TOWN], FILLED, PARAMS)
    both = make_questions([other, IN_TOWN], [*FILLED, fill("Rome", of="other")], PARAMS)["train"]
    assert both[-6:] == questions["train"]
    assert make_questions([IN_TOWN], FILLED, replace(PARAMS, seed=3)) != questions


@pytest.mark.parametrize("change", [{"train_per_type": 0}, {"held_out_per_type": -1}])
def test_params_out_of_range_are_refused_by_name(change):
    with pytest.raises(ValueError, match=f"^{next(iter(change))}: "):
        replace(PARAMS, **change)


@pytest.mark.parametrize(("count", "of_types"), [(2, [1, 1]), (3, [1, 2]), (5, [2, 3]), (99, [3, 4])])
def test_so_many_held_out_questions_are_spread_over_the_types(count, of_types):
    types = [replace(IN_TOWN, id=name, split="check") for name in ("a", "b")]
    filled = [fill("Oslo", "check", "a"), fill("Oslo", "check", "b"), fill("Bergen", "check", "b")]
    params = replace(PARAMS, held_out_per_type=4, held_out_questions={"check": count})
    questions = make_questions(types, filled, params)["check"]
    assert sorted(Counter(question.type for question in questions).values()) == of_types
    assert questions == make_questions(types, filled, params)["check"]
    every = make_questions(types, filled, replace(params, held_out_questions={}))["check"]
    assert [each for each in every if each in questions] == questions


@pytest.mark.parametrize("counts", [{"train": 3}, {"test": 3}, {"check": 0}])
def test_numbers_of_other_splits_are_refused(counts):
    with pytest.raises(ValueError, match=r"^held_out_questions: "):
        replace(PARAMS, held_out_questions=counts)
