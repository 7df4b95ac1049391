from dataclasses import replace

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.questions.instantiate import QuestionParams, divide, make_questions
from sqldojo.records import QuestionType
from sqldojo.verifier.grading import grade

PARAMS = QuestionParams(seed=1, train_per_type=10, held_out_per_type=3, reserved_share=0.4)
IN_TOWN = QuestionType(
    id="in-town",
    split="train",
    phrasings=("Who lives in {town}?", "List the people of {town}.", "Name everybody in {town}."),
    sql="SELECT name FROM people WHERE town = :town",
    parameters={"town": "SELECT DISTINCT town FROM people"},
)
OVER_AGE = QuestionType(
    id="over-age",
    split="check",
    phrasings=("Who is older than {age}?",),
    sql="SELECT name FROM people WHERE age > :age",
    parameters={"age": "VALUES (5), (15), (25), (35), (45)"},
)


def make(types, databases, params=PARAMS):
    return make_questions(types, databases, params, Limits())


def test_a_trained_type_is_asked_on_both_families(tiny_databases):
    questions = make([IN_TOWN], tiny_databases)
    train, reserved = questions["train"], questions["reserved"]
    # Two towns in three phrasings; the values of one family are never those of the other.
    assert len(train) == 6
    assert {q.parameters["town"] for q in train} == {"Rome", "Pisa"}
    assert {q.parameters["town"] for q in reserved} == {"Oslo", "Bergen"}
    assert [q.id for q in reserved] == [f"in-town-reserved-000{n}" for n in (1, 2, 3)]
    assert {q.family for q in train} == {TRAIN} and {q.family for q in reserved} == {EVALUATION}
    assert questions["selection"] == questions["check"] == []


def test_whether_order_counts_is_handed_on(tiny_databases):
    for ordered in (False, True):
        question_type = replace(IN_TOWN, sql=f"{IN_TOWN.sql} ORDER BY name", ordered=ordered)
        questions = make([question_type], tiny_databases)
        assert {q.ordered for split in questions.values() for q in split} == {ordered}


def test_texts_are_distinct_and_every_value_comes_before_any_repeats(tiny_databases):
    train = make([IN_TOWN], tiny_databases)["train"]
    assert len({q.text for q in train}) == len(train)
    assert all({a.parameters["town"], b.parameters["town"]} == {"Rome", "Pisa"}
               for a, b in zip(train[::2], train[1::2], strict=True))  # fmt: skip


def test_a_reference_is_complete_sql_with_the_answer(tiny_databases):
    question = next(q for q in make([IN_TOWN], tiny_databases)["train"] if q.parameters["town"] == "Rome")
    assert question.reference == "SELECT name FROM people WHERE town = 'Rome'"
    assert "Rome" in question.text
    databases = family_paths(tiny_databases, TRAIN)
    assert grade(question.reference, "SELECT name FROM people WHERE name LIKE 'Rome%'", databases).verdict == "correct"


def test_values_whose_answer_is_empty_are_passed_over(tiny_databases):
    # Nobody is over 45, so with enough questions asked that age still never occurs.
    asked = [q for seed in range(8)
             for q in make([replace(OVER_AGE, split="train"), IN_TOWN], tiny_databases,
                           replace(PARAMS, seed=seed))["train"]]  # fmt: skip
    ages = {q.parameters["age"] for q in asked if q.type == "over-age"}
    assert ages == {5, 15, 25, 35}


def test_held_out_types_only_use_reserved_values(tiny_databases):
    for seed in range(8):
        params = replace(PARAMS, seed=seed)
        questions = make([OVER_AGE, replace(OVER_AGE, id="trained", split="train", phrasings=("Ages over {age}?",),
                                            sql="SELECT age FROM people WHERE age > :age")],
                         tiny_databases, params)  # fmt: skip
        trained = {q.parameters["age"] for q in questions["train"]}
        held_out = {q.parameters["age"] for split in ("check", "reserved") for q in questions[split]}
        assert trained and held_out and not trained & held_out


def test_a_type_without_parameters_has_no_reserved_questions(tiny_databases):
    everybody = replace(IN_TOWN, phrasings=("Who is there?", "List everybody."), sql="SELECT name FROM people",
                        parameters={})  # fmt: skip
    questions = make([everybody], tiny_databases)
    assert len(questions["train"]) == 2
    assert questions["reserved"] == []


def test_questions_depend_on_the_seed_alone(tiny_databases):
    types = [IN_TOWN, OVER_AGE]
    assert make(types, tiny_databases) == make(types, tiny_databases)
    # Another type beside it changes no question of the first.
    assert make([IN_TOWN], tiny_databases)["train"] == make(types, tiny_databases)["train"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"sql": "SELECT surname FROM people WHERE town = :town"}, "no such column: surname"),
        ({"sql": "SELECT name FROM people"}, "does not use :town"),
        ({"sql": "SELECT name FROM people WHERE town = :city"}, "no value for the parameter :city"),
        ({"sql": "DELETE FROM people WHERE town = :town"}, "only reading"),
        ({"sql": "SELECT name FROM people WHERE town = :town || '?'"}, "no value .* can be asked .*empty"),
        ({"sql": "SELECT DISTINCT town FROM people WHERE town = :town"}, "no value .* can be asked .*same"),
        ({"parameters": {"town": "SELECT town FROM people WHERE 0"}}, "pool of its parameter town is empty"),
        ({"parameters": {"town": "SELECT city FROM people"}}, "its parameter town: the pool's query fails"),
        ({"parameters": {"town": "VALUES ('Rome')"}}, "too few values to train some and reserve others"),
        ({"phrasings": ("Who is there?",)}, r"omits \{town\}"),
    ],
)
def test_types_that_cannot_be_asked_are_refused_by_name(tiny_databases, change, complaint):
    with pytest.raises(UserError, match=f"question type in-town: .*{complaint}"):
        make([replace(IN_TOWN, **change)], tiny_databases)


def test_shared_values_are_divided_and_own_values_stay():
    trained, reserved = divide("n", ["a", 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, "b"], PARAMS)
    assert trained[0] == "a" and reserved[-1] == "b"
    assert sorted([*trained[1:], *reserved[:-1]]) == [1, 2, 3, 4, 5]
    assert len(reserved) == 1 + 2


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_two_shared_values_give_one_to_each_side(share):
    trained, reserved = divide("n", [1, 2], [1, 2], replace(PARAMS, reserved_share=share))
    assert len(trained) == len(reserved) == 1
    assert {*trained, *reserved} == {1, 2}


def test_the_division_depends_on_seed_and_name():
    def reserved(**change):
        return divide(change.pop("name", "n"), range(40), range(40), replace(PARAMS, **change))[1]

    assert reserved() == reserved()
    assert reserved() != reserved(seed=2)
    assert reserved() != reserved(name="m")


@pytest.mark.parametrize(
    "change", [{"train_per_type": 0}, {"held_out_per_type": -1}, {"reserved_share": 0.0}, {"reserved_share": 1.0}]
)
def test_params_out_of_range_are_refused_by_name(change):
    with pytest.raises(ValueError, match=f"^{next(iter(change))}: "):
        replace(PARAMS, **change)
