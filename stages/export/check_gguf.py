"""Stage check_gguf: whether llama.cpp loads each file, and how far it writes what MLX writes after ten prompts."""

from pathlib import Path

from sqldojo.agent.episode import AnswerParams
from sqldojo.agent.family_schema import read_family_schema
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.export.examples import chosen_examples, prompts_about
from sqldojo.export.exporting import check_files
from sqldojo.export.results import kind_of
from sqldojo.export.settings import CHECKS, FILES, FUSED, ExportParams, file_path
from sqldojo.files import read_records, write_json
from sqldojo.params import load
from sqldojo.records import RESERVED, SELECTION, Question
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")


def main() -> None:
    settings, agent = load(PARAMS, "export", ExportParams), load(PARAMS, "agent", AnswerParams)
    files = [Path(f"data/questions/{split}.jsonl") for split in (RESERVED, SELECTION)]
    asked = chosen_examples([each for file in files for each in read_records(file, Question)], settings.examples)
    database = family_paths(Path("data/databases"), EVALUATION)[0]
    schema = read_family_schema(database, agent.schema_characters)
    paths = [file_path(FILES, settings.chain.name, kind) for kind in settings.files]
    found = check_files(FUSED, paths, lambda policy: prompts_about(asked, schema, policy.dialogue.tool_format), print)
    write_json(CHECKS, {kind_of(path): agreement.as_json() for path, agreement in found.items()})


if __name__ == "__main__":
    run_stage("check_gguf", main)
