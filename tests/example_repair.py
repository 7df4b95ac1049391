"""Results of repair that are made in a moment: a chain of five checkpoints, a reference model, one hostile episode."""

from __future__ import annotations

from random import Random

from example_chain import HOSTILE, losses

from sqldojo.evaluation.repair_results import RepairResults, RepairRun
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, WRONG_SQL, Episode, Message, ToolCall
from sqldojo.repair.task import EVALUATION, INFRASTRUCTURE, PARSE_FAILURE, TRAIN, TURN_LIMIT, VALIDATION, RepairTask
from sqldojo.repair.tools import INSPECT_SCHEMA

CHECKPOINTS = {"released": 0.0, "sft_a": 0.3, "sft_b": 0.35, "r1": 0.55, "r2": 0.6}
REFERENCE = "maker/large-model"
LIMITS = {"turns": 8, "tokens_per_turn": 256, "tokens_per_episode": 2048, "preview_rows": 5}
KINDS = ("wrong-alias", "join-fan-out", "null-comparison")


def task(
    name: str, *, type: str = "", split: str = EVALUATION, db: str = "bookshop", kind: str = KINDS[0]
) -> RepairTask:
    """A task that is a type of its own unless told otherwise."""
    issue = f"My query for {name} repeats some rows, and I want each of them once."
    return RepairTask(name, db, split, kind, type or name, "Query", issue, (f"SELECT * FROM book -- {name}",))


def attempt(asked: RepairTask, outcome: str, said: str = "I look first.") -> Episode:
    """One attempt at a task that ended so; the one that a provider failed on looked at the schema."""
    look = ToolCall(RUN_SQL, "SELECT title FROM book LIMIT 1")
    if outcome == INFRASTRUCTURE:
        look = ToolCall(INSPECT_SCHEMA, "")
    answer = ToolCall(SUBMIT_SQL, "SELECT title FROM book")
    messages = (
        Message("system", "You repair queries."), Message("user", f"{asked.issue}\n\n{asked.issue_sql[0]}"),
        Message("assistant", said, look), Message("tool", "title\nUlysses"), Message("assistant", "", answer),
    )  # fmt: skip
    reason = {CORRECT: "", WRONG_SQL: "test 1 of 2 fails"}.get(outcome, "the attempt ended early")
    return Episode(f"{asked.id}/0", asked.id, asked.kind, asked.split, 0, messages, outcome,
                   float(outcome == CORRECT), reason)  # fmt: skip


def tasks() -> list[RepairTask]:
    """Twelve evaluation tasks of six types in two databases, six validation tasks, and one for training."""
    found = [
        task(f"{db}-{number}", type=f"{db}-type-{number // 2}", db=db, kind=KINDS[number % 3])
        for db in ("bookshop", "streaming")
        for number in range(6)
    ]
    held = [task(f"held-{number}", split=VALIDATION, kind=KINDS[number % 3]) for number in range(6)]
    return [*found, *held, task("trained", split=TRAIN)]


def played(name: str, ability: float, split: str) -> list[Episode]:
    """What a run did at the tasks of a split; the same for the same arguments."""
    made = []
    for asked in tasks():
        if asked.split != split:
            continue
        luck = Random(f"{name}/{asked.id}").random()
        outcome = CORRECT if luck < ability else (WRONG_SQL, TURN_LIMIT, PARSE_FAILURE)[int(100 * luck) % 3]
        if name == REFERENCE and asked.id == "streaming-5":
            outcome = INFRASTRUCTURE
        made.append(attempt(asked, outcome, HOSTILE if name == "released" else "I look first."))
    return made


def results() -> RepairResults:
    """A whole chain, with its training, two correction rounds, and what they cost."""
    runs = [RepairRun(name, played(name, ability, EVALUATION), LIMITS, played(name, ability, VALIDATION))
            for name, ability in CHECKPOINTS.items()]  # fmt: skip
    reference = RepairRun(REFERENCE, played(REFERENCE, 0.7, EVALUATION), LIMITS | {"tokens_per_turn": 1024})
    looks = [{"step": step, "accuracy": step / 60, "low": 0.0, "high": 0.9, "questions": 6, "attempts": 6}
             for step in (10, 20)]  # fmt: skip
    row = {"calls": 40, "failures": {"timeout": 1}, "input_tokens": 5000, "output_tokens": 900, "usd": 0.25, "kept": 10,
           "usd_per_kept": 0.025}  # fmt: skip
    yields = {
        "r1": {"attempted": 300, "solved": 90, "failed": 210, "candidate_states": 410, "requested": 330,
               "skipped": {"first_verified": 80}, "rejected": {"wrong_sql": 159}, "infrastructure": 1, "verified": 170,
               "retained_own": 90, "retained_lost": 0},
        "r2": {"attempted": 300, "solved": 150, "failed": 150, "candidate_states": 280, "requested": 220,
               "skipped": {"first_verified": 60}, "rejected": {}, "infrastructure": 0, "verified": 220,
               "retained_own": 150, "retained_lost": 7},
    }  # fmt: skip
    return RepairResults(
        "tiny", 17, tasks(), runs, [reference], selected="r1",
        training={"sft_a": {"updates": 20, "rows": 800, "final_loss": 0.5}, "r1": {"updates": 10, "rows": 730}},
        curves={"sft_a": losses(20)}, looks={"sft_a": looks}, yields=yields,
        costs={"correct@r1": {"all": row, "models": {"maker/teacher": row}}},
        card={"source": "random:tiny"}, about={"r1": {"seed": 17}},
        params={"repair": {"source": "generated"}}, inputs={"data/repair/tasks.jsonl": "0" * 64},
    )  # fmt: skip
