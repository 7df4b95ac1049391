from sqldojo.questions.withdrawing import MISJUDGED, withdraw
from sqldojo.records import RESERVED, TRAIN, FilledType, QuestionType

IN_TOWN = QuestionType("town", TRAIN, ("?",), "", pattern="filter", proposer="composed")
IN_LAND = QuestionType("land", TRAIN, ("?",), "", pattern="filter", proposer="composed")
FILLED = [
    FilledType(of, family, split, {"x": value}, f"SELECT '{of} {value}'")
    for of in ("town", "land")
    for family, split, value in (("train", TRAIN, "a"), ("train", TRAIN, "b"), ("evaluation", RESERVED, "c"))
]


def test_without_mutants_that_pass_all_is_kept():
    assert withdraw([IN_TOWN, IN_LAND], FILLED, {}) == ([IN_TOWN, IN_LAND], FILLED, [])


def test_a_value_goes_alone_while_its_split_has_others():
    types, filled, (review,) = withdraw([IN_TOWN, IN_LAND], FILLED, {("train", "SELECT 'town a'"): "SELECT 1 passes"})
    assert types == [IN_TOWN, IN_LAND] and filled == FILLED[1:]
    assert (review.type, review.accepted, review.rule) == ("town", True, MISJUDGED)
    assert review.evidence == "on train, for 1 of 3 references: SELECT 1 passes for SELECT 'town a'"


def test_a_type_goes_when_a_split_has_no_value_left():
    types, filled, (review,) = withdraw([IN_TOWN, IN_LAND], FILLED, {("evaluation", "SELECT 'land c'"): "SELECT 1"})
    assert types == [IN_TOWN] and filled == FILLED[:3]
    assert (review.type, review.proposer, review.pattern, review.accepted) == ("land", "composed", "filter", False)


def test_the_same_reference_on_another_family_is_another():
    assert withdraw([IN_TOWN], FILLED[:3], {("train", "SELECT 'town c'"): "SELECT 1"})[1] == FILLED[:3]
