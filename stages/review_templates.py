"""Stage review_templates: which proposed question types are accepted, with the values to ask them with."""

from pathlib import Path

from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.evaluation.tables import write_table
from sqldojo.files import replacing_folder, write_json, write_records
from sqldojo.params import load
from sqldojo.questions import own_splits, to_review
from sqldojo.questions.bank_counts import pattern_rows, review_metrics, rule_rows
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.verdicts import read_verdicts
from sqldojo.stage import run_stage
from sqldojo.teacher import blind_solver, costs, provider, recording

PARAMS, PROPOSALS, PLOTS = Path("params.yaml"), Path("data/proposals/types.jsonl"), Path("plots/bank")


def main() -> None:
    agent, limits = load(PARAMS, "agent", AnswerParams), load(PARAMS, "verifier", Limits)
    databases = {family: family_paths(Path("data/ordinary"), family, ORDINARY) for family in FAMILIES}
    proposals, params = to_review.to_review(PROPOSALS, databases[TRAIN][0], load(PARAMS, "review", ReviewParams))
    verdicts, ask = read_verdicts(Path("bank/verdicts.yaml")), recording.Replaying(Path("cassettes"), provider.REVIEW)
    providers = load(PARAMS, "providers", provider.ProviderParams)
    solve = blind_solver.blind_solver(ask, params.solvers, databases, agent, limits, providers)
    found = review(proposals, databases, params, limits, verdicts=verdicts, solve=solve if params.solvers else None)
    with replacing_folder(Path("data/reviewed")) as folder:
        for name, records in vars(found).items():
            write_records(folder / f"{name}.jsonl", records)
    cost = costs.spending(ask.used.values(), dict.fromkeys(params.solvers[:1], len(found.types)))
    write_json(Path("metrics/review.json"), review_metrics(found, verdicts) | {"cost": cost})
    write_table(PLOTS / "patterns.csv", pattern_rows(found.types))
    write_table(PLOTS / "rules.csv", rule_rows(found.reviews))
    own_splits.check_splits({each.split for each in found.filled}, "data/reviewed")


if __name__ == "__main__":
    run_stage("review_templates", main)
