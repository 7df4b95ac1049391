"""Stage grpo@CHAIN: train the distilled adapter further on its own attempts, and keep what the selection set chose."""

from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.chain_stage import run_chain_stage
from sqldojo.chains import DISTILLED, Chain
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.evaluation.grpo_results import watched, write_results
from sqldojo.evaluation.selection_look import make_look
from sqldojo.files import read_records
from sqldojo.records import Episode, Question
from sqldojo.stage import resumable_folder
from sqldojo.training import data_parallel, distill, grpo, launching, policy_model, provenance

PARAMS, NAMES = Path("params.yaml"), ("questions/train.jsonl", "questions/selection.jsonl", "demonstrations.jsonl")
FILES = ASKED, HELD, SHOWN, DATABASES = [Path("data") / name for name in (*NAMES, "databases")]


def main(chain: Chain) -> None:
    settings = params.load(PARAMS, "grpo", grpo.GrpoParams, seed=chain.seed)
    if launching.left_to_ranks(settings.hosts, Path.cwd()):
        return
    agent, limits = params.load(PARAMS, "agent", AnswerParams), params.load(PARAMS, "verifier", Limits)
    ranks, about, start = data_parallel.join_ranks(), provenance.provenance(settings.seed), chain.weights(DISTILLED)
    policy, shown = policy_model.load_policy_model(chain.base, start), read_records(SHOWN, Episode)
    families = [family_paths(DATABASES, family) for family in (TRAIN, EVALUATION)]
    make, held_out = (AttemptMaker(each, policy.dialogue.tool_format, agent, limits) for each in families)
    task = grpo.Task(read_records(ASKED, Question), distill.tokenise(policy, shown), make, make.params)
    look = make_look(policy, read_records(HELD, Question), held_out, held_out.params, settings, ranks)
    scratch = resumable_folder(f"grpo@{chain.name}", settings, agent, limits, about, chain.base_card, start, *FILES)
    with watched(chain) as observe:
        run = grpo.train(policy, task, settings, look, scratch, ranks, observe)
    write_results(chain, run, policy, policy_model.adapter_params(start), about, scratch, ranks)


if __name__ == "__main__":
    run_chain_stage("grpo", main)
