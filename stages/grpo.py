"""Stage grpo: train the distilled adapter further on its own attempts, and keep what the selection set chose."""

from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AgentParams, attempt_maker
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.evaluation.grpo_results import write_results
from sqldojo.evaluation.selection_look import make_look
from sqldojo.files import read_records
from sqldojo.records import Episode, Question
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.training import data_parallel, distill, grpo, launching, policy_model, provenance

PARAMS, DATA, START = Path("params.yaml"), Path("data"), Path("data/adapters/distilled")
ASKED, HELD, SHOWN = (DATA / f"{name}.jsonl" for name in ("questions/train", "questions/selection", "demonstrations"))


def main() -> None:
    settings = params.load(PARAMS, "grpo", grpo.GrpoParams)
    if launching.left_to_ranks(settings.hosts, Path.cwd()):
        return
    agent, limits = params.load(PARAMS, "agent", AgentParams), params.load(PARAMS, "verifier", Limits)
    ranks, about = data_parallel.join_ranks(), provenance.provenance(settings.seed)
    policy = policy_model.load_policy_model(DATA / "model", START)
    families = [family_paths(DATA / "databases", family) for family in (TRAIN, EVALUATION)]
    make, held_out = (attempt_maker(each, policy.dialogue.tool_format, agent, limits) for each in families)
    task = grpo.Task(read_records(ASKED, Question), distill.tokenise(policy, read_records(SHOWN, Episode)), make, agent)
    look = make_look(policy, read_records(HELD, Question), held_out, agent, settings, ranks)
    files = (DATA / "model.json", START, ASKED, HELD, SHOWN, *families[0], *families[1])
    scratch = resumable_folder("grpo", settings, agent, limits, about, *files)
    run = grpo.train(policy, task, settings, look, scratch, ranks)
    if ranks.is_first:
        write_results(Path("."), run, policy, policy_model.adapter_params(START), about)
    ranks.barrier()


if __name__ == "__main__":
    run_stage("grpo", main)
