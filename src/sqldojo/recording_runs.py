"""What `sqldojo record` runs for each purpose: a stage's work, asked of the providers, without the stage's outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from sqldojo import proposing
from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.files import read_records
from sqldojo.params import load
from sqldojo.questions.review import ReviewParams
from sqldojo.questions.review import review as review_types
from sqldojo.questions.to_review import to_review
from sqldojo.questions.verdicts import read_verdicts
from sqldojo.records import Question
from sqldojo.teacher.api_teacher import api_solutions
from sqldojo.teacher.blind_solver import blind_solver
from sqldojo.teacher.provider import PROPOSE, REPAIR, REVIEW, TEACH, Ask, ProviderParams
from sqldojo.teacher.scripted import TeachParams


def propose(ask: Ask, params: Path, data: Path) -> None:
    """Ask every proposer in the params file for types."""
    settings = load(params, "propose", proposing.ProposeParams)
    _check_named(params, "propose.models", settings.models)
    databases = family_paths(data / "ordinary", TRAIN, ORDINARY)
    proposing.propose(databases, ask, settings, load(params, "providers", ProviderParams))


def review(ask: Ask, params: Path, data: Path) -> None:
    """Let the blind solvers try the proposals that no other rule rejects."""
    section = partial(load, params)
    settings, limits = section("review", ReviewParams), section("verifier", Limits)
    _check_named(params, "review.solvers", settings.solvers)
    databases = {family: family_paths(data / "ordinary", family, ORDINARY) for family in FAMILIES}
    solve = blind_solver(
        ask, settings.solvers, databases, section("agent", AnswerParams), limits, section("providers", ProviderParams)
    )
    proposals, settings = to_review(data / "proposals/types.jsonl", databases[TRAIN][0], settings)
    review_types(proposals, databases, settings, limits,
                 verdicts=read_verdicts(params.parent / "bank/verdicts.yaml"), solve=solve)  # fmt: skip


def teach(ask: Ask, params: Path, data: Path) -> None:
    """Let the API teachers play."""
    section = partial(load, params)
    settings, agent = section("teach", TeachParams), section("agent", AnswerParams)
    _check_named(params, "teach.models", settings.models)
    make = AttemptMaker(family_paths(data / "databases", TRAIN), PLAIN, agent, section("verifier", Limits))
    questions = read_records(data / "questions/train.jsonl", Question)
    api_solutions(questions, ask, make, settings, agent, section("providers", ProviderParams))


def repair(ask: Ask, params: Path, data: Path) -> None:
    """Let the models of the repair chain play: teachers, references, and correctors where a student has failed."""
    # Here and not above: they load mlx, for which no other command should wait.
    from sqldojo import repair_runs
    from sqldojo.repair_params import RepairParams

    settings = load(params, "repair", RepairParams)
    if not repair_runs.asks_models(settings):
        _check_named(params, "repair: teachers, references and correction.teacher", ())
    tasks = repair_runs.TaskSet.read(settings, load(params, "verifier", Limits), data.parent)
    repair_runs.record(tasks, ask, load(params, "providers", ProviderParams), data.parent)


def _check_named(params: Path, key: str, models: tuple[str, ...]) -> None:
    if not models:
        raise UserError(f"{params}: {key}: no model is named, so there is nothing to record; name one")


RUNS: Mapping[str, Callable[[Ask, Path, Path], None]] = {PROPOSE: propose, REVIEW: review, TEACH: teach, REPAIR: repair}
