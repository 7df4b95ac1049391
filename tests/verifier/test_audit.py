import pytest

from sqldojo.verifier.audit import (
    BIRD,
    FOUR,
    ONE,
    TEST_SUITE,
    THREE,
    JudgedMutant,
    JudgedRewrite,
    OracleScore,
    ReferenceAudit,
    Subject,
    most_telling,
    score,
    summarise,
    survivors,
)
from sqldojo.verifier.public_rules import DUPLICATES, TOLERANCE

NONE, LAST, THIRD, ALL = (False,) * 4, (False, False, False, True), (False, False, True, True), (True,) * 4


def mutant(operator, killed, sql="SELECT 2", missed=None, bird=None, disagreements=()):
    accepted = tuple(not each for each in killed)
    public = {BIRD: accepted if bird is None else bird, TEST_SUITE: accepted}
    return JudgedMutant(operator, sql, killed, public, disagreements, missed)


AUDITS = [
    ReferenceAudit(
        Subject("a", "train", "SELECT 1"),
        (
            mutant("boundary", ALL),
            mutant("boundary", LAST, "SELECT 1 WHERE 1 > 1"),
            mutant("distinct", NONE, missed=False),
            mutant("distinct", THIRD, bird=(True,) * 4, disagreements=((BIRD, FOUR, DUPLICATES),)),
        ),
        (
            JudgedRewrite("CTE", "WITH x AS (SELECT 1) SELECT * FROM x"),
            JudgedRewrite("IN as EXISTS", "SELECT 1.0", "adversarial: 3 rows where 2 are expected"),
        ),
        OracleScore(mutants=4, pool=3, best_four=2, shop_four=3),
    ),
    ReferenceAudit(
        Subject("b", "evaluation", "SELECT 5"),
        (mutant("boundary", NONE, "SELECT 6", missed=True),),
        (JudgedRewrite("CTE", "SELECT 5;", "", ((TEST_SUITE, ONE, TOLERANCE),)),),
    ),
]


def test_counts_in_all_and_by_operator_and_type():
    found = summarise(AUDITS)
    assert (found["references"], found["types"]) == (2, 2)
    assert found["mutants"] == {
        "made": 5, "killed_one_ordinary": 1, "killed_three_ordinary": 2, "killed_all_four": 3,
        "presumed_equivalent": 1, "missed": 1,
    }  # fmt: skip
    assert found["score"] == {ONE: 0.25, THREE: 0.5, FOUR: 0.75}
    boundary, distinct = found["by_operator"]
    assert (boundary["operator"], boundary["made"]) == ("boundary", 3)
    assert (distinct["operator"], distinct["presumed_equivalent"]) == ("distinct", 1)
    assert {row["type"]: row["missed"] for row in found["by_type"]} == {"a": 0, "b": 1}


def test_groups_add_up_to_the_whole():
    found = summarise(AUDITS)
    for groups in ("by_operator", "by_type"):
        for key, value in found["mutants"].items():
            assert sum(row[key] for row in found[groups]) == value


def test_rewrites_are_counted_by_kind():
    found = summarise(AUDITS)["rewrites"]
    assert (found["made"], found["accepted"]) == (3, 2)
    assert found["by_kind"] == [
        {"kind": "CTE", "made": 2, "accepted": 2}, {"kind": "IN as EXISTS", "made": 1, "accepted": 0}
    ]  # fmt: skip


def test_public_rules_are_counted_by_scope_and_cause():
    found = summarise(AUDITS)["public_rules"]
    # The first database alone lets two of the three wrong mutants pass, whatever the rule.
    assert found[BIRD][ONE]["accepted_wrong"] == found[TEST_SUITE][ONE]["accepted_wrong"] == 2
    assert (found[BIRD][FOUR]["accepted_wrong"], found[TEST_SUITE][FOUR]["accepted_wrong"]) == (1, 0)
    assert found[BIRD][FOUR]["disagreements"][DUPLICATES] == 1
    assert found[TEST_SUITE][ONE]["disagreements"] == {
        "duplicates": 0, "column order": 0, "row order": 0, "tolerance of reals": 1,
        "columns of an empty result": 0, "unexplained": 0,
    }  # fmt: skip


def test_oracle_is_summed_over_the_references_that_were_shown_whole():
    expected = {"references": 1, "mutants": 4, "pool": 3, "best_four": 2, "shop_four": 3}
    assert summarise(AUDITS)["oracle"] == expected


def test_a_type_without_wrong_mutants_scores_full():
    counts = {"made": 2, "presumed_equivalent": 2, "killed_all_four": 0}
    assert score(counts, FOUR) == 1.0


@pytest.mark.parametrize(
    ("mutants", "expected"),
    [
        ([("a", ALL), ("a", THIRD), ("a", LAST)], 2),  # what three accept says more than what one accepts
        ([("a", ALL), ("a", THIRD)], 1),
        ([("a", ALL), ("a", NONE)], None),  # accepted by all four: not known to be wrong
        ([("a", LAST), ("a", ALL), ("b", LAST)], 2),  # ordinary databases catch half of a, none of b
        ([("a", LAST), ("b", LAST)], 0),
    ],
)
def test_most_telling_mutant(mutants, expected):
    judged = tuple(mutant(operator, killed, f"SELECT {n}") for n, (operator, killed) in enumerate(mutants))
    found = most_telling([ReferenceAudit(Subject("a", "train", "SELECT 9"), judged, ())])
    assert found == (None if expected is None else judged[expected])


def test_survivors_are_grouped_with_an_example():
    assert survivors(AUDITS, missed=False) == [("a", "distinct", 1, "SELECT 1", "SELECT 2")]
    assert survivors(AUDITS, missed=True) == [("b", "boundary", 1, "SELECT 5", "SELECT 6")]
