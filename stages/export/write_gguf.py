"""Stage write_gguf: the fused folder as GGUF files, one in BF16 and the others made of it by llama.cpp."""

from pathlib import Path

from sqldojo.export.exporting import write_files
from sqldojo.export.settings import FILES, FUSED, ExportParams
from sqldojo.files import replacing_folder
from sqldojo.params import load
from sqldojo.stage import run_stage


def main() -> None:
    settings = load(Path("params.yaml"), "export", ExportParams)
    with replacing_folder(FILES) as folder:
        write_files(FUSED, folder, settings.chain.name, settings.files, print)


if __name__ == "__main__":
    run_stage("write_gguf", main)
