"""Stage build_test: the test questions, on databases of their own, without types that training overlaps."""

from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.files import read_records, write_json
from sqldojo.held_out.bank import BankSettings, ask, bank_metrics, build_bank, decision, without_overlaps, write_bank
from sqldojo.held_out.ledger import LEDGER, PARAMS, record_exclusions, refuse_in_experiment
from sqldojo.held_out.shop_test_types import TEST_TYPES
from sqldojo.held_out.split import SplitParams
from sqldojo.questions.hardening import HardeningParams
from sqldojo.questions.review import ReviewParams
from sqldojo.records import Question, QuestionType
from sqldojo.stage import run_stage
from sqldojo.verifier.audit_running import AuditParams

load, load_own = partial(params.load, Path("params.yaml")), partial(params.load, PARAMS)
QUESTIONS, TRAINING = Path("data/held_out/questions.jsonl"), Path("data/questions/train.jsonl")


def main() -> None:
    refuse_in_experiment()
    split, limits, auditing = load_own("test", SplitParams), load("verifier", Limits), load("audit", AuditParams)
    settings = BankSettings(load("review", ReviewParams), load("adversarial", HardeningParams), auditing)
    root = Path("data/held_out/databases")
    ordinary = {family: family_paths(Path("data/ordinary"), family, ORDINARY) for family in FAMILIES}
    bank = build_bank(TEST_TYPES, ordinary, root, split, settings, limits)
    databases = {TRAIN: family_paths(Path("data/databases"), TRAIN), EVALUATION: family_paths(root, EVALUATION)}
    types, training = read_records(Path("data/audited/types.jsonl"), QuestionType), read_records(TRAINING, Question)
    questions, excluded = without_overlaps(bank, ask(bank, split), types, training, databases, limits)
    write_bank(QUESTIONS.parent, bank, questions)
    write_json(Path("metrics/test_bank.json"), bank_metrics(TEST_TYPES, bank, excluded, questions))
    record_exclusions(LEDGER, decision(TEST_TYPES, excluded, QUESTIONS, databases[EVALUATION], TRAINING))


if __name__ == "__main__":
    run_stage("build_test", main)
