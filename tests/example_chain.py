"""A chain whose files are written in a moment: every checkpoint played, every curve drawn, one episode hostile."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from sqldojo.agent.tool_format import render_plain
from sqldojo.chains import CHECKPOINTS, GRPO, KEPT, REDISTILLED, RELEASED, Chain
from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json, write_records, write_text
from sqldojo.records import (
    CORRECT,
    HELD_OUT_SPLITS,
    NEVER_SUBMITTED,
    OUT_OF_BUDGET,
    RUN_SQL,
    SUBMIT_SQL,
    WRONG_SQL,
    Episode,
    Message,
    Question,
    ToolCall,
)

CHAIN = Chain("tiny", 17)
HOSTILE = "</script><script>window.broken = true</script><!-- <img src=x onerror='window.broken = true'> \u2028 \"'&"
SYSTEM = "You answer questions about a SQLite database with SQL.\nCREATE TABLE products (name TEXT, price REAL);"
TYPES = {
    "reserved": ("cheap-products", "orders-by-city", "revenue-by-month"),
    "selection": ("best-customers", "never-ordered"),
    "check": ("average-basket", "second-most-expensive"),
}
_ABILITY = {"released": 0.0, "distilled": 0.45, "grpo": 0.6, "redistilled": 0.55}


def questions(per_type: int = 3) -> list[Question]:
    """Held-out questions of seven types in three splits."""
    return [
        Question(f"{name}-{number}", name, split, "evaluation", f"Which are the {number + 2} {name.replace('-', ' ')}?",
                 _reference(number), {})
        for split in HELD_OUT_SPLITS
        for name in TYPES[split]
        for number in range(per_type)
    ]  # fmt: skip


def _reference(number: int) -> str:
    return f"SELECT name, price FROM products WHERE price < {number + 5} AND name <> 'it''s' ORDER BY price LIMIT 2"


def episodes(checkpoint: str, per_type: int = 3, attempts: int = 1) -> list[Episode]:
    """What a checkpoint did at each question, sorted by id; the same for the same arguments."""
    made = [_episode(checkpoint, question, number) for question in questions(per_type) for number in range(attempts)]
    return sorted(made, key=lambda episode: episode.id)


def _episode(checkpoint: str, question: Question, attempt: int) -> Episode:
    luck = Random(f"{question.id}/{attempt}").random() - (0.2 if question.split == "reserved" else 0.0)
    opening = (Message("system", SYSTEM), Message("user", question.text))
    if checkpoint == RELEASED:
        outcome = OUT_OF_BUDGET if luck > 0.4 else NEVER_SUBMITTED
        said = (Message("assistant", HOSTILE if question.id.endswith("-0") else "Sure! Here is what I think."),)
        reason = "the token limit ended the reply" if outcome == OUT_OF_BUDGET else "the reply holds no call"
        return _finished(question, attempt, opening + said, outcome, reason)
    right = luck < _ABILITY[checkpoint]
    look = ToolCall(RUN_SQL, "SELECT name, price FROM products LIMIT 2 -- a look")
    result = "name | price\ntea | 3.5\nNULL | 12\n(first 2 rows, there are more)"
    answer = ToolCall(SUBMIT_SQL, question.reference if right else "SELECT name FROM products WHERE price > (SELECT 5)")
    written = f"I am sure.\n{render_plain(answer)}" if checkpoint == REDISTILLED else render_plain(answer)
    said = (Message("assistant", render_plain(look), look), Message("tool", result),
            Message("assistant", written, answer))  # fmt: skip
    reason = "" if right else "wrong on ordinary_1: the columns differ (2 wanted, 1 found)"
    return _finished(question, attempt, opening + said, CORRECT if right else WRONG_SQL, reason)


def _finished(question: Question, attempt: int, messages: tuple[Message, ...], outcome: str, reason: str) -> Episode:
    reward = {CORRECT: 1.0, OUT_OF_BUDGET: -0.2}.get(outcome, 0.0)
    return Episode(f"{question.id}/{attempt}", question.id, question.type, question.split, attempt, messages, outcome,
                   reward, reason, tokens=(1, 2, 3), action_mask=(0, 1, 1), logprobs=(0.0, -0.5, -0.1))  # fmt: skip


def losses(updates: int) -> list[dict[str, float]]:
    """Rows of distill.csv."""
    return [{"update": number, "loss": round(1 / number, 6), "learning_rate": 2e-3, "gradient_norm": 0.5,
             "action_tokens": 640} for number in range(1, updates + 1)]  # fmt: skip


def steps(count: int) -> list[dict[str, float | None]]:
    """Rows of grpo_steps.csv; the second step had no signal."""
    rows = []
    for number in range(1, count + 1):
        signal = number != 2
        rows.append({"step": number, "kl": 0.001 * number if signal else None, "groups": 6,
                     "informative": 3 + number % 3, "reward": 0.7 + 0.01 * number, "accuracy": 0.72 + 0.01 * number,
                     "entropy": 0.05 / number, "entropy_trained": 0.06 / number if signal else None, "tokens": 41.5,
                     "tokens_right": 36.0 + number, "tokens_wrong": 48.5 if signal else None})  # fmt: skip
    return rows


LOOKS = [
    {"step": 0, "accuracy": 0.25, "low": 0.1, "high": 0.45, "questions": 6, "attempts": 12},
    {"step": 4, "accuracy": 0.375, "low": 0.2, "high": 0.55, "questions": 6, "attempts": 12},
]
AUDIT = {
    "references": 4, "types": 2, "asked": {"types": 2, "filled": 4, "withdrawn": 0},
    "mutants": {"made": 100, "killed_one_ordinary": 45, "killed_three_ordinary": 63, "killed_all_four": 89,
                "presumed_equivalent": 10, "missed": 1},
    "by_operator": [{"operator": "bound-moved", "made": 100, "killed_one_ordinary": 45, "killed_three_ordinary": 63,
                     "killed_all_four": 89, "presumed_equivalent": 10, "missed": 1}],
    "rewrites": {"made": 30, "accepted": 30},
}  # fmt: skip
REVIEW = {
    "proposals": 5, "accepted": 4, "rejected": 1,
    "accepted_by": {"pattern": {"filter": 3, "top": 1}, "proposer": {"composed": 3, "hand-written": 1},
                    "split": {"train": 2, "selection": 1, "check": 1}},
    "rejected_by": {"rule": {"same-answer": 1}}, "cost": {"all": {"calls": 0, "usd": 0.0}, "models": {}},
}  # fmt: skip
PARAMS = """\
models: [tiny]
seeds: [17, 18]
sources: {tiny: "random:tiny"}
distill: {updates: 64, learning_rate: 2e-3}
grpo: {steps: 4, guards: {kl_weight: 0.02}}
"""


def write_chain(root: Path, chain: Chain = CHAIN, per_type: int = 3, attempts: int = 1) -> None:
    """Write everything that the stages of a whole chain leave for the page."""
    write_text(root / "params.yaml", PARAMS)
    write_json(root / chain.base_card, {"source": "random:tiny", "parameters": 1000, "config": {"hidden_size": 8}})
    for split in HELD_OUT_SPLITS:
        asked = [question for question in questions(per_type) if question.split == split]
        write_records(root / f"data/questions/{split}.jsonl", asked)
    for checkpoint in CHECKPOINTS:
        played = episodes(checkpoint, per_type, attempts)
        write_records(root / chain.episodes(checkpoint), played)
        write_json(root / chain.scores(checkpoint), summarise(played, 17))
        write_table(root / chain.type_scores(checkpoint), summarise_types(played, 17))
        if checkpoint != RELEASED:
            about = {"seed": chain.seed, "device": "cpu", "versions": {"mlx": "0.32.4", "mlx-lm": "0.32.2"}}
            write_json(root / chain.weights(checkpoint) / "about.json", about)
    write_table(root / chain.curve("distill"), losses(64))
    write_table(root / chain.curve("redistill"), losses(16))
    write_table(root / chain.curve("grpo_steps"), steps(4))
    write_table(root / chain.curve("grpo_looks"), LOOKS)
    accuracies = {name: json.loads((root / chain.scores(name)).read_text())["selection"]["accuracy"]
                  for name in (GRPO, REDISTILLED)}  # fmt: skip
    kept_redistilled = int(accuracies[REDISTILLED] > accuracies[GRPO])
    write_json(root / chain.metrics("keep"), {f"{KEPT}_{REDISTILLED}": kept_redistilled, **accuracies})
    write_json(root / chain.metrics("distill"), {"final_loss": 0.02, "updates": 64})
    write_json(root / chain.metrics("grpo"), {"kept_step": 4, "looks": 2, "steps": 4})
    write_json(root / "metrics/audit.json", AUDIT)
    write_json(root / "metrics/review.json", REVIEW)
    write_json(root / "metrics/bank.json", {"types": 3, "left_to_stronger_models": 1})
    write_json(root / "metrics/teach.json", {"kept": 12, "by_style": {"direct": 12}, "cost": REVIEW["cost"]})
