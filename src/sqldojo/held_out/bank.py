"""The bank of question types of the test split: reviewed, hardened and audited as all others are, on rows of its own.

The fourth database of the main graph was grown against other references. So that a wrong answer to a test question is
told from a right one as surely as anywhere else, the test has its own, grown against its own mutants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqldojo.databases.building import hand_made_rows
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.databases.shop_schema import is_shop
from sqldojo.errors import UserError
from sqldojo.evaluation.bank_audit import proved, some_of_each
from sqldojo.files import file_sha256, write_records
from sqldojo.held_out.excluding import OVERLAPS, Exclusion, exclusions
from sqldojo.held_out.ledger import Exclusions
from sqldojo.held_out.split import SplitParams, split_digest
from sqldojo.questions.contamination import check_contamination
from sqldojo.questions.hardening import HardeningParams, harden
from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.subjects import subjects_of
from sqldojo.records import CHECK, HAND_WRITTEN, TEST, FilledType, Question, QuestionType, Review
from sqldojo.verifier.audit import ReferenceAudit, count_mutants
from sqldojo.verifier.audit_running import AuditParams, audit

_SPARE_VALUES = 4  # audited beyond those that are asked, since some do not stand


@dataclass(frozen=True)
class BankSettings:
    """How the graph's own bank is reviewed, hardened and audited; the test's is not treated more kindly."""

    review: ReviewParams
    adversarial: HardeningParams
    audit: AuditParams


@dataclass(frozen=True)
class HeldOutBank:
    """What may be asked, why the rest may not, and the audit of every reference that was audited."""

    types: list[QuestionType]
    filled: list[FilledType]
    withdrawn: list[Review]
    audits: list[ReferenceAudit]


def build_bank(
    types: Sequence[QuestionType],
    ordinary: Mapping[str, Sequence[Path]],
    root: Path,
    split: SplitParams,
    settings: BankSettings,
    limits: Limits,
) -> HeldOutBank:
    """The types that stand, with audited values; replaces the folder `root` by the databases to ask them on.

    `ordinary` has the ordinary databases of both families, since values that training may ask for are not asked here;
    `root` gets those of the evaluation family alone. UserError where they are not the shop's.
    """
    if not is_shop(ordinary[EVALUATION][0]):
        raise UserError(
            "params.yaml: databases.source: the test split is written for the shop, and this is another database; the "
            "splits `reserved` and `check` score a model on it, or set databases.source back"
        )
    values = replace(settings.review, held_out_values=split.questions_per_type + _SPARE_VALUES)
    reviewed = review(types, ordinary, values, limits)
    start = {EVALUATION: hand_made_rows(EVALUATION, settings.adversarial.seed).tables}
    own = {EVALUATION: ordinary[EVALUATION]}
    hardened = harden(reviewed.types, reviewed.filled, own, start, root, settings.adversarial, limits)
    chosen = some_of_each(hardened.filled, settings.audit.values_per_type, settings.audit.seed)
    databases = {EVALUATION: family_paths(root, EVALUATION)}
    audits = audit(subjects_of(hardened.types, chosen), databases, settings.audit, limits)
    left, filled, misjudged = proved(hardened.types, hardened.filled, audits)
    rejected = [each for each in reviewed.reviews if not each.accepted]
    return HeldOutBank(left, filled, [*rejected, *hardened.withdrawn, *misjudged], audits)


def ask(bank: HeldOutBank, split: SplitParams) -> list[Question]:
    """The test questions of all types, type by type."""
    # `make_questions` knows the splits of the main graph, of which one without trained types stands in for this one.
    params = QuestionParams(split.seed, 1, split.questions_per_type)
    types = [replace(each, split=CHECK) for each in bank.types]
    asked = make_questions(types, [replace(each, split=CHECK) for each in bank.filled], params)[CHECK]
    return [
        replace(each, split=TEST, id=f"{each.type}-{TEST}-{each.id.rpartition('-')[2]}") for each in asked
    ]


def without_overlaps(
    bank: HeldOutBank,
    questions: Sequence[Question],
    training_types: Sequence[QuestionType],
    training: Sequence[Question],
    databases: Mapping[str, Sequence[Path]],
    limits: Limits,
) -> tuple[list[Question], list[Exclusion]]:
    """The questions of the types that no generated training type overlaps, and the types that are left out for it.

    `databases` are those that training and test questions are asked on, by family. UserError when a question that is
    left has the text, the query or the answers of a hand-written training question, or when none is left.
    """
    excluded = exclusions(bank.types, questions, training_types, training, databases, limits)
    out = {each.type for each in excluded}
    left = [question for question in questions if question.type not in out]
    if not left:
        raise UserError("no test question is left, since training overlaps all of their types; write others in "
                        "src/sqldojo/held_out/shop_test_types.py")  # fmt: skip
    by_hand = {each.id for each in training_types if each.proposer == HAND_WRITTEN}
    check_contamination([question for question in training if question.type in by_hand], left, databases, limits)
    return left, excluded


def decision(
    written: Sequence[QuestionType], excluded: Sequence[Exclusion], questions: Path, databases: Sequence[Path],
    training: Path,
) -> Exclusions:
    """What the ledger records of the types that are left out, given the files of what is left and of the training
    questions."""
    rows = tuple(map(vars, excluded))
    names = tuple(each.id for each in written)
    return Exclusions(split_digest(questions, databases), file_sha256(training), names, rows, OVERLAPS)


def write_bank(folder: Path, bank: HeldOutBank, questions: Sequence[Question]) -> None:
    """Write the questions that are asked, and for people why the rest is not."""
    write_records(folder / "questions.jsonl", questions)
    write_records(folder / "withdrawn.jsonl", bank.withdrawn)


def bank_metrics(
    written: Sequence[QuestionType], bank: HeldOutBank, excluded: Sequence[Exclusion], questions: Sequence[Question]
) -> dict[str, Any]:
    """How much was written, is asked and is not, and how many mutants the databases kill.

    Mutants are those of the references that are asked; `killable` are all that are not presumed equivalent.
    """
    asked = {question.reference for question in questions}
    mutants = count_mutants(each for one in bank.audits if one.subject.reference in asked for each in one.mutants)
    return {
        "types": {
            "written": len(written),
            "withdrawn": len({each.type for each in bank.withdrawn if not each.accepted}),
            "excluded": len(excluded),
            "asked": len({question.type for question in questions}),
        },
        "questions": len(questions),
        "references": len(asked),
        "mutants": {
            "made": mutants["made"],
            "killable": mutants["made"] - mutants["presumed_equivalent"],
            "killed": mutants["killed_all_four"],
        },
    }
