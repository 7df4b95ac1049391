"""What tests of playing and training share: the tiny model, two tiny databases, attempts and demonstrations."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
from mlx_lm import tokenizer_utils
from tokenizers import pre_tokenizers

from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.agent.prompt import opening
from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import PLAIN, ToolFormat
from sqldojo.databases.execution import Limits
from sqldojo.databases.schema import schema_text
from sqldojo.records import CORRECT, RUN_SQL, SELECTION, SUBMIT_SQL, Episode, Message, Question, ToolCall
from sqldojo.training import policy_model
from sqldojo.training.tiny_model import CHAT_TEMPLATE, CONTEXT, SPECIAL, random_weight, weight_shapes, write_tiny_model
from sqldojo.training.tokenizer_files import byte_level_tokenizer, save_tokenizer

QUESTION = Question("q-1", "count", SELECTION, "evaluation", "How many people?", "SELECT count(*) FROM people", {})
OTHER = Question("q-2", "oldest", SELECTION, "evaluation", "How old is the oldest?", "SELECT max(age) FROM people", {})
AGENT = AgentParams(turns=4, tokens_per_turn=60, tokens_per_episode=400, preview_rows=2)
SCHEMA = "CREATE TABLE people (name TEXT, age INTEGER)"


class Killed(Exception):
    """Raised by tests where a process would die."""


def write_databases(folder: Path) -> tuple[Path, ...]:
    """Two databases of people(name, age): three and two rows."""
    paths = (folder / "ordinary_1.sqlite", folder / "adversarial.sqlite")
    for path, people in zip(paths, ([("Zoë", 41), ("Max", 7), ("Ida", 7)], [("Ann", 7), ("Bob", 30)]), strict=True):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(SCHEMA)
            connection.executemany("INSERT INTO people VALUES (?, ?)", people)
            connection.commit()
    return paths


def attempt(
    databases: Sequence[Path],
    number: int,
    question: Question = QUESTION,
    *,
    agent: AgentParams = AGENT,
    tool_format: ToolFormat = PLAIN,
) -> Attempt:
    """A fresh attempt; attempts hold state, so each play needs its own."""
    return Attempt(
        question,
        number,
        databases=databases,
        schema=FittedSchema(schema_text(databases[0]), whole=True),
        tool_format=tool_format,
        params=agent,
        limits=Limits(),
    )


def write_model(
    folder: Path, *, pieces: Sequence[str] = (), template: str = CHAT_TEMPLATE, config: Mapping[str, Any] | None = None
) -> None:
    """The tiny model with longer tokens (`pieces`), another chat template, or other config values."""
    folder.mkdir(exist_ok=True)
    write_tiny_model(folder)
    vocabulary = byte_vocabulary(pieces)
    content = json.loads((folder / "config.json").read_text()) | {"vocab_size": len(vocabulary)} | dict(config or {})
    (folder / "config.json").write_text(json.dumps(content))
    weights = {name: random_weight(name, shape) for name, shape in weight_shapes(len(vocabulary)).items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    write_tokenizer(folder, template, vocabulary)


def byte_vocabulary(pieces: Sequence[str] = ()) -> dict[str, int]:
    """The ids of the tiny model's tokens, with those of `pieces` behind them."""
    byte_tokens = sorted(pre_tokenizers.ByteLevel.alphabet())
    longer = [piece.replace(" ", "\u0120").replace("\n", "\u010a") for piece in pieces]
    return {token: index for index, token in enumerate([*SPECIAL, *byte_tokens, *longer])}


def write_tokenizer(folder: Path, template: str, vocabulary: Mapping[str, int]) -> None:
    """The tiny model's tokenizer with this template and vocabulary."""
    names = {"bos_token": SPECIAL[1], "eos_token": SPECIAL[2], "pad_token": SPECIAL[2], "unk_token": SPECIAL[0]}
    tokenizer = byte_level_tokenizer(vocabulary, [], SPECIAL)
    save_tokenizer(folder, tokenizer, names=names, eos=[SPECIAL[2], SPECIAL[0]], template=template, length=CONTEXT)


def tokenizer_with(folder: Path, template: str, pieces: Sequence[str] = ()) -> tokenizer_utils.TokenizerWrapper:
    """mlx-lm's tokenizer for a chat template, as `mlx_lm.load` makes it."""
    write_tokenizer(folder, template, byte_vocabulary(pieces))
    return tokenizer_utils.load(folder)


def with_adapter(folder: Path, *, rank: int = 4, seed: int = 3) -> policy_model.PolicyModel:
    """The model with an adapter that changes its output: both factors are random."""
    policy = policy_model.load_policy_model(folder)
    policy_model.add_fresh_adapter(policy.model, policy_model.LoraParams(rank, 2.0), seed)
    weights = policy_model.adapter_weights(policy.model)
    keys = mx.random.split(mx.random.key(seed), len(weights))
    changed = [
        (name, 0.1 * mx.random.normal(weights[name].shape, key=key) if name.endswith("lora_b") else weights[name])
        for name, key in zip(sorted(weights), keys, strict=True)
    ]
    policy.model.load_weights(changed, strict=False)
    return policy


def demonstration(number: int, sql: str, *, look: str | None = None, mistake: str | None = None) -> Episode:
    """A demonstrated episode in the plain format: an optional mistake and an optional look, then the submission."""
    messages = list(opening(f"Question {number}?", SCHEMA, PLAIN))
    for query, target in ((mistake, False), (look, True)):
        if query is not None:
            call = ToolCall(RUN_SQL, query)
            messages += [Message("assistant", PLAIN.render(call), call, target), Message("tool", "age\n7")]
    call = ToolCall(SUBMIT_SQL, sql)
    messages.append(Message("assistant", PLAIN.render(call), call))
    return Episode(
        f"d-{number}/0", f"d-{number}", "count", "train", 0, tuple(messages), CORRECT, 1.0, "", submission=sql
    )
