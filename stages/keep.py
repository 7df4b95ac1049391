"""Stage keep@CHAIN: the adapter after GRPO or that after the second distillation, whichever selection prefers."""

import json
import shutil

from sqldojo.chain_stage import run_chain_stage
from sqldojo.chains import GRPO, KEPT, REDISTILLED, Chain
from sqldojo.files import replacing_folder, write_json
from sqldojo.records import SELECTION


def main(chain: Chain) -> None:
    """Of equals the one after GRPO is kept: it has been trained less."""
    found = {name: json.loads(chain.scores(name).read_text(encoding="utf-8")) for name in (GRPO, REDISTILLED)}
    accuracy = {name: scores[SELECTION]["accuracy"] for name, scores in found.items()}
    better = max(accuracy, key=lambda name: accuracy[name])  # of equals the first
    with replacing_folder(chain.weights(KEPT)) as folder:
        shutil.copytree(chain.weights(better), folder, dirs_exist_ok=True)
    write_json(chain.metrics("keep"), {f"{KEPT}_{REDISTILLED}": int(better == REDISTILLED), **accuracy})


if __name__ == "__main__":
    run_chain_stage("keep", main)
