"""Stage report@CHAIN: what a chain's checkpoints score and how they differ, as numbers, as a text and as a page."""

from pathlib import Path

from sqldojo.chain_stage import run_chain_stage
from sqldojo.chains import DISTILLED, KEPT, Chain
from sqldojo.evaluation.comparing import gains_and_losses, question_changes, type_changes
from sqldojo.evaluation.group_signal import signal_per_50_steps
from sqldojo.evaluation.page.page import build_page
from sqldojo.evaluation.page.run_files import read_run
from sqldojo.evaluation.paired import chain_changes
from sqldojo.evaluation.report import headline, markdown
from sqldojo.files import write_json, write_text


def main(chain: Chain) -> None:
    """The kept checkpoint is one of those that were played, so its scores and episodes are those of that one."""
    run = read_run(Path("."), chain)
    keep, scores, episodes = run.metrics["keep"], dict(run.scores), dict(run.episodes)
    scores[KEPT], episodes[KEPT] = scores[run.kept], episodes[run.kept]
    changed, sides = chain_changes(episodes), (episodes[DISTILLED], episodes[KEPT])
    text = markdown(
        scores, changed, keep=keep, types=type_changes(*sides), counts=gains_and_losses(question_changes(*sides)),
        signal=signal_per_50_steps(run.curves["grpo_steps"]), quantised=run.quantised,
    )  # fmt: skip
    write_json(chain.metrics("report"), headline(scores, changed, keep))
    write_text(chain.page.with_suffix(".md"), text)
    write_text(chain.page, build_page(run))


if __name__ == "__main__":
    run_chain_stage("report", main)
