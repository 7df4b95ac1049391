"""Stage make_questions: the questions of every split, from the bank, and that none of the held-out ones is trained."""

from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.files import read_records, replacing_folder, write_records
from sqldojo.params import load
from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.questions.own_splits import without_clashes
from sqldojo.records import FilledType, QuestionType
from sqldojo.stage import run_stage

PARAMS, BANK = Path("params.yaml"), Path("data/audited")


def main() -> None:
    """Write data/questions."""
    params, limits = load(PARAMS, "questions", QuestionParams), load(PARAMS, "verifier", Limits)
    types = read_records(BANK / "types.jsonl", QuestionType)
    databases = {family: family_paths(Path("data/databases"), family) for family in FAMILIES}
    made = make_questions(types, read_records(BANK / "filled.jsonl", FilledType), params)
    questions, notes = without_clashes(made, databases, limits)
    with replacing_folder(Path("data/questions")) as folder:
        for split, records in questions.items():
            write_records(folder / f"{split}.jsonl", records)
            print(f"{split}: {len(records)} questions of {len({question.type for question in records})} types")
    print(*notes, sep="\n", end="\n" if notes else "")


if __name__ == "__main__":
    run_stage("make_questions", main)
