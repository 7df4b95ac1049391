"""The review, rule by rule: each proposal here breaks one rule, and the review names it and what shows it."""

from dataclasses import replace

import pytest
from village import AGE, IN_TOWN, build_village

from sqldojo.databases.execution import Limits
from sqldojo.databases.workers import Killed
from sqldojo.questions import review as reviewing
from sqldojo.questions.review import ReviewParams, hold_out_shapes, review
from sqldojo.questions.rules import RULES
from sqldojo.questions.verdicts import Verdict
from sqldojo.records import HAND_WRITTEN

PARAMS = ReviewParams(seed=5, trained_values=8, held_out_values=2, least_values=2, reserved_share=0.4,
                      held_out_shapes=0.0, tries=3)  # fmt: skip
COLUMNS = {"people": ("id", "name", "town", "age", "home_town"), "pets": ("id", "owner_id", "kind")}
OLDER = replace(
    IN_TOWN, id="older", sql="SELECT name FROM people WHERE age > :age", parameters=AGE,
    phrasings=("Who is older than {age}? Return only the names.",),
)  # fmt: skip


@pytest.fixture(scope="session")
def village(tmp_path_factory):
    return build_village(tmp_path_factory.mktemp("village"))


def judge(village, *proposals, params=PARAMS, limits=Limits(), **options):
    return review(proposals, village, params, limits, **options)


def changed(sql, **changes):
    return replace(IN_TOWN, sql=sql, **changes)


def test_sound_types_are_accepted_and_filled(village):
    found = judge(village, IN_TOWN, OLDER)
    assert found.types == [IN_TOWN, OLDER]
    assert [each.accepted for each in found.reviews] == [True, True]
    assert {each.evidence for each in found.reviews} == {
        "the rule blind-solver was skipped: no model was named for it"}  # fmt: skip
    asked = {(each.split, each.family, each.parameters["town"]) for each in found.filled if each.type == "in-town"}
    assert {town for split, family, town in asked if (split, family) == ("train", "train")} == {"Rome", "Pisa", "Turin"}
    assert len([1 for split, family, _ in asked if (split, family) == ("reserved", "evaluation")]) == 2
    ages = {each.parameters["age"]: each.split for each in found.filled if each.type == "older"}
    trained, reserved = ({age for age in ages if ages[age] == split} for split in ("train", "reserved"))
    assert trained and reserved and not trained & reserved
    assert 65 not in trained | reserved  # nobody is older than that
    assert found.filled[0].reference.startswith("SELECT name FROM people WHERE town = '")


@pytest.mark.parametrize(
    ("rule", "evidence", "proposal"),
    [
        ("broken-wording", "same one twice", replace(IN_TOWN, phrasings=("Who is in {town}?",) * 2)),
        ("broken-wording", "stray braces", replace(IN_TOWN, phrasings=("Who is in {town?",))),
        ("broken-wording", "{city}", replace(IN_TOWN, phrasings=("Who is in {town} or {city}?",))),
        ("omits-parameter", "{town} is not in: Who is there", replace(IN_TOWN, phrasings=("Who is there?",))),
        ("leaks-sql", "`SELECT` is in", replace(IN_TOWN, phrasings=("SELECT the names of {town}.",))),
        ("leaks-sql", "`people.town` is in", replace(IN_TOWN, phrasings=("Names with people.town {town}?",))),
        ("leaks-sql", "`home_town` is in", replace(IN_TOWN, phrasings=("Names, not home_town, in {town}?",))),
        ("leaks-sql", "`count(` is in", replace(IN_TOWN, phrasings=("No count(*) please: names in {town}?",))),
        ("leaks-sql", "the reference is in",
         replace(IN_TOWN, phrasings=("Run select name from people where town = town for {town}.",))),
        ("unreadable", "not one SELECT", changed("VALUES (:town)")),
        ("bad-pool", "no such column", replace(IN_TOWN, parameters={"town": "SELECT city FROM people"})),
        ("sql-fails", "no such column: surname", changed("SELECT surname FROM people WHERE town = :town")),
        ("sql-fails", "does not use :town", changed("SELECT name FROM people")),
        ("sql-fails", "null character", changed("SELECT name FROM people WHERE town = :town\0")),
        ("refused", "random()", changed("SELECT name FROM people WHERE town = :town AND random() > 0")),
        ("over-limit", "20 rows", changed("SELECT a.id FROM people AS a, people AS b WHERE a.town = :town")),
        ("empty-everywhere", "empty on every", changed("SELECT name FROM people WHERE town = :town || '?'")),
        ("same-answer", "the same on all 3", changed("SELECT DISTINCT town FROM people WHERE town = :town")),
        ("depends-on-ties", "LIMIT", changed("SELECT name FROM people WHERE town >= :town ORDER BY age LIMIT 1")),
        ("depends-on-ties", "group_concat",
         changed("SELECT group_concat(name) FROM people WHERE town = :town")),
        ("idle-part", "WHERE town = :town", changed("SELECT name FROM people WHERE town = :town AND age > 0")),
        ("idle-part", "SELECT id, name FROM",
         changed("SELECT DISTINCT id, name FROM people WHERE town = :town")),
        ("idle-part", "GROUP BY town", changed(
            "SELECT town, COUNT(*) FROM people WHERE town = :town GROUP BY town HAVING COUNT(*) > 0")),
        ("idle-part", "FROM pets", changed(
            "SELECT pets.kind, pets.id FROM pets JOIN people AS p ON p.id = pets.owner_id "
            "WHERE pets.kind <> :town", parameters={"town": "VALUES ('cat'), ('dog'), ('pig')"})),
        ("idle-part", "'town': ", changed("SELECT name FROM people WHERE town = :town OR age > 0")),
        ("small-pool", "no value of town is in every train database",
         replace(IN_TOWN, parameters={"town": "SELECT 'Rome' WHERE 0"})),
        ("small-pool", "no value of town is in every evaluation database",
         replace(IN_TOWN, parameters={"town": "VALUES ('Rome')"})),
        ("small-pool", "only 1 of its values can be trained: {'town': 'Rome'}",
         replace(IN_TOWN, parameters={"town": "SELECT town FROM people WHERE town NOT IN ('Pisa', 'Turin')"})),
    ],
)  # fmt: skip
def test_each_rule_rejects_what_breaks_it_and_shows_why(village, rule, evidence, proposal):
    found = judge(village, proposal, limits=Limits(rows=20))
    (review_of_it,) = found.reviews
    assert (review_of_it.rule, review_of_it.accepted, review_of_it.by) == (rule, False, "rules")
    assert evidence in review_of_it.evidence and rule in RULES
    assert found.types == found.filled == []


@pytest.mark.parametrize(
    ("rule", "evidence", "second"),
    [
        ("same-id", "in-town", replace(OLDER, id="in-town")),
        ("other-pool", "town is `VALUES ('Rome')`, but `SELECT DISTINCT town",
         replace(IN_TOWN, id="second", parameters={"town": "VALUES ('Rome')"})),
        ("near-duplicate", "in-town has the same query",
         changed("SELECT p.name AS who FROM people AS p WHERE :town = p.TOWN", id="second")),
        ("near-duplicate", "in-town has the same answers",
         changed("SELECT name FROM people WHERE town LIKE :town", id="second")),
        ("overlaps-held-out", "in-town has the same query", replace(IN_TOWN, id="second", split="check")),
        ("overlaps-held-out", "in-town has the same answers",
         changed("SELECT name FROM people WHERE town LIKE :town", id="second", split="selection",
                 phrasings=("Every person found at {town}?",))),
    ],
)  # fmt: skip
def test_a_type_is_compared_with_those_before_it(village, rule, evidence, second):
    found = judge(village, IN_TOWN, second)
    assert [each.rule for each in found.reviews] == ["", rule]
    assert evidence in found.reviews[1].evidence
    assert found.types == [IN_TOWN]


def test_the_same_answers_in_quite_other_words_are_another_type(village):
    second = changed("SELECT name FROM people WHERE town LIKE :town", id="second",
                     phrasings=("Every person found at {town}, please?",))  # fmt: skip
    assert judge(village, IN_TOWN, second).types == [IN_TOWN, second]


def test_no_held_out_question_has_the_answers_of_one_to_train_on(village):
    """Nobody's age lies between 12 and 18, so one threshold of them has the answers of the others."""
    close = {"age": "VALUES (12), (13), (14), (16), (17), (18), (25), (35), (45), (55)"}
    for seed in (2, 5, 6, 8):  # some of these ages are reserved, others are trained
        found = judge(village, replace(OLDER, parameters=close), params=replace(PARAMS, seed=seed))
        ages = {split: {each.parameters["age"] for each in found.filled if each.split == split}
                for split in ("train", "reserved")}  # fmt: skip
        assert ages["train"] and ages["reserved"]
        assert not (min(ages["train"]) < 20 and min(ages["reserved"]) < 20)


def test_no_question_to_train_on_has_the_answers_of_a_held_out_one(village):
    held_out = replace(OLDER, id="held-out", split="check", phrasings=("Names of those over {age}?",))
    shifted = replace(OLDER, sql="SELECT name FROM people WHERE age > :age - 10", phrasings=("Now and {age} less?",))
    (asked,) = ({each.parameters["age"] for each in judge(village, held_out).filled},)
    found = judge(village, held_out, shifted, params=replace(PARAMS, least_values=1))
    assert found.reviews[1].accepted
    trained = {each.parameters["age"] for each in found.filled if each.split == "train"}
    alone = {each.parameters["age"] for each in judge(village, shifted).filled if each.split == "train"}
    assert trained == {age for age in alone if age - 10 not in asked} < alone


def test_a_guard_against_missing_values_is_no_idle_part(village):
    guarded = changed("SELECT name FROM people WHERE town = :town AND name IS NOT NULL")
    assert judge(village, guarded).types == [guarded]


def test_a_type_without_parameters_is_asked_once_and_has_nothing_reserved(village):
    everybody = changed("SELECT name FROM people", parameters={}, phrasings=("Who is there? Names only.",))
    found = judge(village, everybody)
    assert [(each.split, each.family, each.parameters) for each in found.filled] == [("train", "train", {})]


def test_one_family_alone_reserves_nothing(village):
    found = judge({"train": village["train"]}, IN_TOWN, OLDER)
    assert {each.split for each in found.filled} == {"train"}
    assert {each.parameters["age"] for each in found.filled if each.type == "older"} == {15, 25, 35, 45, 55}


def test_a_person_overrules_matters_of_opinion_alone(village):
    idle = changed("SELECT name FROM people WHERE town = :town AND age > 0", id="idle")
    fails = changed("SELECT surname FROM people WHERE town = :town", id="fails")
    verdicts = {"idle": Verdict("accept", "a trap"), "fails": Verdict("accept", "please"),
                "older": Verdict("reject", "dull")}  # fmt: skip
    found = judge(village, idle, fails, OLDER, verdicts=verdicts)
    assert [(each.accepted, each.rule, each.by) for each in found.reviews] == [
        (True, "idle-part", "people"), (False, "sql-fails", "rules"), (False, "people", "people")]  # fmt: skip
    assert found.reviews[0].evidence.startswith("a trap (the rule: the answer is always the same as of:")
    assert found.reviews[2].evidence == "dull"
    assert {each.type for each in found.filled} == {"idle"}


def test_a_blind_solver_must_reach_the_answer_in_most_of_its_tries(village):
    def solve(tasks):
        assert all("SELECT" not in task.text for task in tasks)
        right = {"in-town": 2, "older": 1}
        return [task.filled.reference if task.number < right[task.type.id] else None for task in tasks]

    found = judge(village, IN_TOWN, OLDER, solve=solve)
    assert [(each.accepted, each.rule) for each in found.reviews] == [(True, ""), (False, "blind-solver")]
    assert found.reviews[1].evidence.startswith("1 of 3 tries; Who is older than ")
    assert {each.type for each in found.filled} == {"in-town"} and found.types == [IN_TOWN]


def test_neither_hand_written_types_nor_those_of_people_are_shown_to_the_solver(village):
    def solve(tasks):
        assert tasks == []
        return []

    written = replace(IN_TOWN, proposer=HAND_WRITTEN)
    assert len(judge(village, written, OLDER, solve=solve, verdicts={"older": Verdict("accept", "fine")}).types) == 2


def test_a_proposal_that_its_process_does_not_survive_is_over_the_limit(village, monkeypatch):
    class Ending:
        count = 1

        def map(self, _function, calls, *, seconds):
            return [Killed(0, seconds) for _ in calls]

    monkeypatch.setattr(reviewing, "shared_workers", Ending)
    (found,) = judge(village, IN_TOWN).reviews
    assert found.rule == "over-limit" and found.evidence.endswith(IN_TOWN.sql)


def test_the_review_depends_on_the_seed_alone_and_not_on_what_comes_later(village):
    found = judge(village, IN_TOWN, OLDER)
    assert found == judge(village, IN_TOWN, OLDER)
    alone = judge(village, OLDER)
    assert alone.filled == [each for each in found.filled if each.type == "older"]
    fewer = judge(village, OLDER, params=replace(PARAMS, trained_values=2))
    trained = [[each for each in one.filled if each.split == "train"] for one in (alone, fewer)]
    assert trained[1] == trained[0][:2]


def shapes():
    """Types of six shapes over pets, two of each."""
    return [
        changed(f"SELECT {', '.join(['id'] * number)} FROM {table} WHERE town = :town", id=f"{table}-{number}")
        for number in range(1, 7)
        for table in ("people", "pets")
    ]


def test_a_shape_is_held_out_with_all_its_types_whatever_else_is_proposed():
    params = replace(PARAMS, held_out_shapes=0.25, seed=1)
    placed = hold_out_shapes(shapes(), COLUMNS, params)
    splits = [each.split for each in placed]
    assert splits[::2] == splits[1::2] and set(splits) == {"train", "selection", "check"}
    assert hold_out_shapes(shapes()[::2], COLUMNS, params) == placed[::2]
    none = replace(params, held_out_shapes=0.0)
    assert {each.split for each in hold_out_shapes(shapes(), COLUMNS, none)} == {"train"}


def test_a_share_of_the_trained_types_is_asked_with_reserved_values_and_hand_written_ones_always_are(village):
    written = replace(OLDER, proposer=HAND_WRITTEN)
    proposed = replace(IN_TOWN, proposer="composed")
    for share, asked in ((0.0, {written.id}), (1.0, {written.id, proposed.id})):
        found = judge(village, written, proposed, params=replace(PARAMS, reserved_types=share))
        assert {each.type for each in found.filled if each.split == "reserved"} == asked
        assert {each.type for each in found.filled if each.split == "train"} == {written.id, proposed.id}


def test_hand_written_types_and_the_shapes_that_they_train_stay():
    params = replace(PARAMS, held_out_shapes=0.25, seed=1)
    written = [replace(each, proposer=HAND_WRITTEN) for each in shapes()[::2]]
    placed = hold_out_shapes([*written, *shapes()[1::2]], COLUMNS, params)
    assert {each.split for each in placed} == {"train"}
    held_out = [replace(each, split="check") for each in written]
    placed = hold_out_shapes([*held_out, *shapes()[1::2]], COLUMNS, params)
    assert "train" in {each.split for each in placed[6:]} and {each.split for each in placed[:6]} == {"check"}


@pytest.mark.parametrize(
    "change",
    [{"trained_values": 0}, {"held_out_values": 0}, {"least_values": 0}, {"tries": 0}, {"least_values": 9},
     {"reserved_types": 1.1}, {"reserved_share": 0.0},
     {"reserved_share": 1.0}, {"held_out_shapes": -0.1}, {"held_out_shapes": 0.5}],
)  # fmt: skip
def test_params_out_of_range_are_refused_by_name(change):
    with pytest.raises(ValueError, match=f"^{next(iter(change))}: "):
        replace(PARAMS, **change)
