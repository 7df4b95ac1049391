"""Our arms of the GRPO benchmark: the product's own functions in the order of a training step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grpo_work import LEARNING_RATE, RANK, SCALE, FixedTokenizer, Measured, Work, move_adapter, text_of

# isort: split
import mlx.core as mx

from sqldojo import params
from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.records import CORRECT, WRONG_SQL, Message, Question
from sqldojo.training.decoding import RolloutCounts
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.grpo import GrpoParams
from sqldojo.training.optimizer import apply_gradients, make_optimizer
from sqldojo.training.policy_model import LoraParams, PolicyModel, add_fresh_adapter, load_policy_model
from sqldojo.training.policy_update import lesson_gradients, make_lesson
from sqldojo.training.rollouts import play

PARAMS = params.load(Path(__file__).resolve().parents[1] / "params.yaml", "grpo", GrpoParams, seed=17)
# As in the peers: all tokens of all groups count, wrong attempts fully; no reference policy, no demonstrations.
GUARDS = replace(PARAMS.guards, negative_weight=1.0, kl_weight=0.0, replay_weight=0.0)


class Ours:
    """A step of one question's group, or a rollout of dialogues alone."""

    def __init__(self, folder: Path, rows: int | None = None, *, rollout_only: bool = False) -> None:
        self.policy, self.rollout_only = fixed_policy(folder), rollout_only
        self.rows = rows or PARAMS.micro_batch_size

    def __call__(self, work: Work, measured: Measured) -> None:
        limits = AgentParams(work.turns, work.sampled_a_turn, work.turns * work.sampled_a_turn + sum(work.results), 1)
        attempts = [_Scripted(work, question, number, limits)
                    for question in range(work.questions) for number in range(work.attempts)]  # fmt: skip
        counts = RolloutCounts()
        started = time.perf_counter()
        with measured.phase("rollout"):
            episodes = list(play(self.policy, attempts, limits, seed=0, width=len(attempts), counts=counts))
        prefilled = counts.prefix_tokens + counts.question_tokens + counts.tool_tokens
        sampled = sum(sum(episode.action_mask) for episode in episodes)
        measured.counts = {"episodes": len(episodes), "sampled": sampled, "prefilled": prefilled}
        if self.rollout_only:
            return
        with measured.phase("loss"):
            groups = [[episode for episode in episodes if episode.question == str(question)]
                      for question in range(work.questions)]  # fmt: skip
            lesson = make_lesson(groups, [], GUARDS, rows=self.rows, replayed_tokens=1)
            # The reference has no weight here, so its values are not computed.
            gradients, _ = lesson_gradients(self.policy, lesson, lesson.sampled, float(sampled), GUARDS)
            mx.eval(gradients)
        apply_gradients(
            self.policy.model, make_optimizer(), gradients, learning_rate=LEARNING_RATE, gradient_norm=1.0
        )
        measured.seconds["step"] = time.perf_counter() - started


def fixed_policy(folder: Path) -> PolicyModel:
    """The model with the benchmark's adapter, in a dialogue of fixed lengths that no token ends."""
    policy = load_policy_model(folder)
    add_fresh_adapter(policy.model, LoraParams(RANK, SCALE), seed=0)
    move_adapter(policy.model)
    return replace(policy, dialogue=_FixedDialogue(policy.dialogue.tokenizer), end_tokens=frozenset())


class _FixedDialogue(Dialogue):
    """Looks for the end of a call after every token, as it does in training, but does not find it."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(tokenizer, PLAIN)
        self.tool_format = replace(PLAIN, call_ends=("</no such call>",))
        self.fixed = FixedTokenizer(tokenizer)

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        return self.fixed.encode(messages[-1].content)

    def bridge(self, result: str) -> list[int]:
        return self.fixed.encode(result)


class _Scripted(Attempt):
    """Answers every reply with the next result of the work; every other attempt is right in the end."""

    def __init__(self, work: Work, question: int, number: int, limits: AgentParams) -> None:
        asked = Question(str(question), "", "train", "train", "", "", {})
        nothing = FittedSchema("", whole=True)
        super().__init__(
            asked, number, databases=(), schema=nothing, tool_format=PLAIN, params=limits, limits=Limits()
        )
        self.messages = [Message("user", text_of(question, work.prompt))]
        self.results = iter(work.results)

    def reply(self, text: str, *, cut_off: bool = False, target: bool = True) -> str | None:
        length = next(self.results, None)
        if length is None:
            self._end(CORRECT if self.number % 2 else WRONG_SQL, "")
            return None
        return text_of(0, length)
