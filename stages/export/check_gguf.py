"""Stage check_gguf: whether llama.cpp loads each file, and how far it writes what MLX writes after ten prompts."""

from pathlib import Path

from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.export.examples import chosen_examples, prompts_about
from sqldojo.export.exporting import check_files
from sqldojo.export.results import kind_of
from sqldojo.export.settings import CHECKS, FILES, FUSED, ExportParams, file_path
from sqldojo.files import read_records, write_json
from sqldojo.params import load
from sqldojo.records import RESERVED, SELECTION, Question
from sqldojo.stage import run_stage


def main() -> None:
    settings = load(Path("params.yaml"), "export", ExportParams)
    files = [Path(f"data/questions/{split}.jsonl") for split in (RESERVED, SELECTION)]
    asked = chosen_examples([each for file in files for each in read_records(file, Question)], settings.examples)
    database = family_paths(Path("data/databases"), EVALUATION)[0]
    paths = [file_path(FILES, settings.chain.name, kind) for kind in settings.files]
    found = check_files(FUSED, paths, lambda policy: prompts_about(asked, database, policy.dialogue.tool_format), print)
    write_json(CHECKS, {kind_of(path): agreement.as_json() for path, agreement in found.items()})


if __name__ == "__main__":
    run_stage("check_gguf", main)
