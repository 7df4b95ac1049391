"""Stage review_templates: which proposed question types are accepted, with the values to ask them with."""

from pathlib import Path

from sqldojo.agent.episode import AgentParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, family_paths
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, replacing_folder, write_json, write_records
from sqldojo.params import load
from sqldojo.questions.bank_counts import pattern_rows, review_metrics, rule_rows
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.shop_types import SHOP_TYPES
from sqldojo.questions.verdicts import read_verdicts
from sqldojo.records import QuestionType
from sqldojo.stage import run_stage
from sqldojo.teacher import blind_solver, costs, provider, recording

PARAMS, PLOTS = Path("params.yaml"), Path("plots/bank")


def main() -> None:
    params, limits = load(PARAMS, "review", ReviewParams), load(PARAMS, "verifier", Limits)
    agent, providers = load(PARAMS, "agent", AgentParams), load(PARAMS, "providers", provider.ProviderParams)
    databases = {family: family_paths(Path("data/ordinary"), family, ORDINARY) for family in FAMILIES}
    proposals = [*SHOP_TYPES, *read_records(Path("data/proposals/types.jsonl"), QuestionType)]
    verdicts, ask = read_verdicts(Path("bank/verdicts.yaml")), recording.Replaying(Path("cassettes"), provider.REVIEW)
    solve = blind_solver.blind_solver(ask, params.solvers, databases, agent, limits, providers)
    found = review(proposals, databases, params, limits, verdicts=verdicts, solve=solve if params.solvers else None)
    with replacing_folder(Path("data/reviewed")) as folder:
        for name, records in vars(found).items():
            write_records(folder / f"{name}.jsonl", records)
    cost = costs.spending(ask.used.values(), dict.fromkeys(params.solvers[:1], len(found.types)))
    write_json(Path("metrics/review.json"), review_metrics(found, verdicts) | {"cost": cost})
    write_table(PLOTS / "patterns.csv", pattern_rows(found.types))
    write_table(PLOTS / "rules.csv", rule_rows(found.reviews))


if __name__ == "__main__":
    run_stage("review_templates", main)
