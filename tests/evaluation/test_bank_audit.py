import pytest
from sqlite_files import write_table

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.errors import UserError
from sqldojo.evaluation.bank_audit import audit_bank, proved, read_bank, some_of_each
from sqldojo.files import write_records
from sqldojo.records import COMPOSED, TRAIN, FilledType, QuestionType
from sqldojo.verifier.audit import JudgedMutant, JudgedRewrite, ReferenceAudit, Subject, summarise
from sqldojo.verifier.audit_running import AuditParams

PARAMS = AuditParams(seed=17, values_per_type=0, oracle_instances=10)
OLDER = QuestionType("older", TRAIN, ("?",), "", {"age": "VALUES (5), (6)"}, proposer=COMPOSED)
ALL = QuestionType("all", TRAIN, ("?",), "")
FILLED = [
    *(FilledType("older", family, TRAIN, {"age": age}, f"SELECT name FROM person WHERE age > {age}")
      for family in FAMILIES for age in (5, 6)),
    FilledType("all", "train", TRAIN, {}, "SELECT name FROM person"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("bank")
    for family in FAMILIES:
        for size, path in enumerate(family_paths(root, family), start=5):
            write_table(path, "CREATE TABLE person (name TEXT, age INTEGER)", [(f"P{n}", n) for n in range(size)])
    write_records(root / "types.jsonl", [OLDER, ALL])
    write_records(root / "filled.jsonl", FILLED)
    return root


def test_the_audit_is_of_exactly_what_may_be_asked(folders):
    found = audit_bank(*read_bank(folders), folders, PARAMS, Limits())
    subjects = [each.subject for each in found]
    assert [(each.family, each.reference) for each in subjects] == [(each.family, each.reference) for each in FILLED]
    assert [each.oracle is not None for each in found] == [False] * 4 + [True], "only hand-written ones ask all of it"
    assert [row["proposer"] for row in summarise(found)["by_proposer"]] == [COMPOSED, "hand-written"]


def test_at_most_so_many_of_a_type_and_family_are_drawn_by_seed():
    assert some_of_each(FILLED, 0, 1) == some_of_each(FILLED, 2, 1) == FILLED
    drawn = [some_of_each(FILLED, 1, seed) for seed in range(20)]
    assert {tuple((each.type, each.family) for each in few) for few in drawn} == {
        (("older", "train"), ("older", "evaluation"), ("all", "train"))
    }
    assert len({few[0].reference for few in drawn}) == 2


def test_only_what_was_audited_and_let_no_wrong_rewrite_pass_may_be_asked():
    def audited(filled, missed, refused=""):
        mutant = JudgedMutant("bound-moved", "SELECT 1", (False,) * 4, {}, missed=missed)
        rewrite = JudgedRewrite("white space", "SELECT  2", refused)
        return ReferenceAudit(Subject(filled.type, filled.family, filled.reference), (mutant,), (rewrite,))

    first, second, third, _, parameterless = FILLED
    refused = proved([ALL], [parameterless], [audited(parameterless, False, "too many steps")])
    assert refused[:2] == ([], []) and "SELECT  2 is refused" in refused[2][0].evidence
    types, filled, withdrawn = proved(
        [OLDER, ALL], FILLED, [audited(first, True), audited(second, False), audited(third, False),
                               audited(parameterless, True)]
    )  # fmt: skip
    assert (types, filled) == ([OLDER], [second, third])
    assert [(each.type, each.accepted, each.rule) for each in withdrawn] == [
        ("older", True, "misjudged-rewrite"), ("all", False, "misjudged-rewrite")
    ]  # fmt: skip


def test_a_missing_bank_names_the_file(tmp_path):
    with pytest.raises(UserError, match=r"types\.jsonl: no such file"):
        read_bank(tmp_path)
