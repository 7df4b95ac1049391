"""Questions played through llama.cpp with an exported file, by the rules and random numbers of the stage evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
from mlx_lm.utils import load_config, load_tokenizer

from sqldojo.agent.episode import AnswerParams, Attempt, AttemptMaker
from sqldojo.agent.tool_format import ANSWER_TOOLS
from sqldojo.databases.execution import Limits
from sqldojo.export.llama_model import LlamaModel
from sqldojo.export.llama_playing import LlamaPolicy, play
from sqldojo.progress import progress
from sqldojo.records import CORRECT, Episode, Question
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.native_format import tool_format_of


def fused_dialogue(fused: Path) -> tuple[Dialogue, frozenset[int]]:
    """The dialogue of a fused folder and the ids that end a turn, without its weights."""
    tokenizer = load_tokenizer(fused, eos_token_ids=load_config(fused).get("eos_token_id"))
    dialogue = Dialogue(tokenizer, tool_format_of(tokenizer, ANSWER_TOOLS))
    return dialogue, frozenset(tokenizer.eos_token_ids) | dialogue.turn_end


def score_file(
    path: Path, fused: Path, questions: Sequence[Question], databases: Sequence[Path], attempts: int,
    agent: AnswerParams, limits: Limits, seed: int,
) -> list[Episode]:  # fmt: skip
    """So many attempts at each question with the file, sorted by id; tokens are drawn at temperature 1."""
    numbered = [(question, number) for question in questions for number in range(attempts)]
    found = _play(path, fused, numbered, databases, agent, limits, seed)
    return sorted(found, key=lambda episode: episode.id)


def play_examples(
    path: Path, fused: Path, questions: Sequence[Question], databases: Sequence[Path], attempts: int,
    agent: AnswerParams, limits: Limits, seed: int,
) -> tuple[list[Episode], list[Episode], int]:  # fmt: skip
    """A greedy attempt at each question, so many drawn ones, and how many of the greedy submissions end by themselves.

    A chat program does not know the end of a call, so what the model does behind one matters there: a reply ends by
    itself where the likeliest token after the call ends the turn.
    """
    firsts = [(question, 0) for question in questions]
    others = [(question, number) for question in questions for number in range(1, attempts + 1)]
    greedy = _play(path, fused, firsts, databases, agent, limits, seed, greedy=True)
    drawn = _play(path, fused, others, databases, agent, limits, seed)
    submitted = [episode for episode in greedy if episode.submission is not None]
    with LlamaModel(path, max((len(each.tokens) for each in submitted), default=0) + 1) as model:
        ending = sum(model.ends(int(numpy.argmax(model.logits(each.tokens)))) for each in submitted)
    return greedy, drawn, ending


def _play(
    path: Path, fused: Path, numbered: Sequence[tuple[Question, int]], databases: Sequence[Path],
    agent: AnswerParams, limits: Limits, seed: int, *, greedy: bool = False,
) -> list[Episode]:  # fmt: skip
    dialogue, ends = fused_dialogue(fused)
    make = AttemptMaker(databases, dialogue.tool_format, agent, limits)
    attempts: list[Attempt] = [make(question, number) for question, number in numbered]
    longest = max(len(dialogue.prompt(attempt.messages)) for attempt in attempts)
    found: list[Episode] = []
    with (
        LlamaModel(path, longest + make.params.tokens_per_episode + 1) as model,
        progress(path.name, len(attempts)) as report,
    ):
        for episode in play(LlamaPolicy(model, dialogue, ends), attempts, make.params, seed=seed, greedy=greedy):
            found.append(episode)
            right = sum(each.outcome == CORRECT for each in found)
            report(len(found), f"{right / len(found):.0%} correct")
    return found
