"""Stage make_questions: the questions of every split, from the hand-written types."""

from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.files import replacing_folder, write_records
from sqldojo.params import load
from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")
DATABASES = Path("data/databases")
QUESTIONS = Path("data/questions")


def main() -> None:
    """Write data/questions."""
    params = load(PARAMS, "questions", QuestionParams)
    limits = load(PARAMS, "verifier", Limits)
    questions = make_questions((*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES), DATABASES, params, limits)
    with replacing_folder(QUESTIONS) as folder:
        for split, records in questions.items():
            write_records(folder / f"{split}.jsonl", records)
            print(f"{split}: {len(records)} questions of {len({question.type for question in records})} types")


if __name__ == "__main__":
    run_stage("make_questions", main)
