"""Stage fuse_adapter: the kept adapter in the base model's weights, as a folder that needs no adapter."""

from pathlib import Path

from sqldojo.chains import KEPT
from sqldojo.export.fuse import write_fused_folder
from sqldojo.export.settings import FUSED, ExportParams
from sqldojo.params import load
from sqldojo.stage import run_stage


def main() -> None:
    chain = load(Path("params.yaml"), "export", ExportParams).chain
    write_fused_folder(chain.base, chain.weights(KEPT), FUSED)


if __name__ == "__main__":
    run_stage("fuse_adapter", main)
