"""GRPO: the policy plays groups of attempts at training questions and is moved towards what its better ones did.

Group Relative Policy Optimization (Z. Shao et al., DeepSeekMath, arXiv 2402.03300), multi-turn and with the guards of
`guards.py`. Each step draws questions, plays them until enough groups are mixed or the budget of rollouts is spent, and
updates the adapter once or more; every N steps the selection set is looked at. With several ranks every one plays and
learns its share, and all take the same decisions.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import monotonic
from typing import Any

import mlx.core as mx

from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.errors import UserError
from sqldojo.files import from_json
from sqldojo.progress import progress, unobserved
from sqldojo.records import CORRECT, Episode, Question
from sqldojo.training.advantages import is_informative, sampler_looks_stuck, summarise_rollouts
from sqldojo.training.checkpoints import TrainingState, load_checkpoint, save_checkpoint
from sqldojo.training.data_parallel import Ranks
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.guards import Guards, length_rise
from sqldojo.training.optimizer import OptimizerParams, apply_gradients, learning_rate_at, make_optimizer
from sqldojo.training.policy_gradient import TokenStatistics, token_statistics
from sqldojo.training.policy_model import PolicyModel, adapter_weights, load_adapter_weights
from sqldojo.training.policy_update import (
    Group,
    TrainedToken,
    lesson_gradients,
    make_lesson,
    reference_logprobs,
    zero_gradients,
)
from sqldojo.training.question_draw import QuestionPool
from sqldojo.training.rollouts import play
from sqldojo.training.selection import Look, Selection, SelectionParams
from sqldojo.training.solutions import drop_solutions_after, keep_solutions

ALONE = Ranks()
_NOTABLE_DIFFERENCE = 0.02  # of sampler and trainer, in nats: noise of half precision is below it
_TOKEN_STATISTICS = tuple(field.name for field in fields(TokenStatistics))


@dataclass(frozen=True)
class GrpoParams:
    """The section `grpo`.

    A step draws `questions` at a time and plays `attempts` at each, until `informative_groups` are mixed or
    `most_questions` are played; with fewer mixed ones by then, it learns nothing. `width` episodes are decoded and
    `micro_batch_size` learnt from together: both set memory and speed, not the result. Beside them `replayed`
    demonstrations are learnt again in every update, unless `guards.replay_weight` is 0.
    `hosts` names the machines to train on, one rank each; with fewer than two it is this process. The run ends early,
    after a step and a look, when it has taken `hours`, pauses not counted; 0 for no such limit.
    """

    seed: int
    steps: int
    questions: int
    attempts: int
    informative_groups: int
    most_questions: int
    width: int
    micro_batch_size: int
    updates_per_rollout: int
    replayed: int
    learning_rate: float
    final_share: float
    warmup_steps: int
    gradient_norm: float
    checkpoint_every: int
    hours: float
    hosts: tuple[str, ...]
    guards: Guards
    selection: SelectionParams

    def __post_init__(self) -> None:
        for name in ("steps", "questions", "informative_groups", "width", "micro_batch_size", "updates_per_rollout",
                     "checkpoint_every"):  # fmt: skip
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        for name in ("seed", "replayed", "hours"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: must not be negative, found {getattr(self, name)}")
        if self.attempts < 2:
            raise ValueError(f"attempts: must be at least 2, since attempts are compared; found {self.attempts}")
        if self.most_questions < self.questions:
            raise ValueError(f"most_questions: must be at least `questions`, {self.questions}; "
                             f"found {self.most_questions}")  # fmt: skip
        _ = self.optimizer  # checks its own values

    @property
    def optimizer(self) -> OptimizerParams:
        return OptimizerParams(self.learning_rate, self.final_share, self.warmup_steps, self.gradient_norm)


@dataclass(frozen=True)
class Task:
    """What is trained on: the questions, demonstrations to replay, and how an attempt at a question is made."""

    questions: Sequence[Question]
    demonstrations: Sequence[TokenSequence]
    attempt: Callable[[Question, int], Attempt]
    agent: AgentParams


@dataclass
class GrpoRun:
    """How a run went: a row a step for its curve, the looks at the selection set, and why it ended early, if it did."""

    curve: list[dict[str, Any]]
    selection: Selection
    stopped: str | None = None


def train(
    policy: PolicyModel,
    task: Task,
    params: GrpoParams,
    look: Callable[[int], Look],
    scratch: Path,
    ranks: Ranks = ALONE,
    observe: Callable[[GrpoRun], None] = unobserved,
) -> GrpoRun:
    """Train the adapter on `policy`, leave there the one that the selection set chose, and return how it went.

    `look(step)` plays the selection set with the policy as it then is. Checkpoints go to `scratch`; a rerun with the
    same inputs continues from the last one and ends the same, unless `hours` end it. All steps' right attempts are left
    there too, for `distinct_solutions`. The first rank shows `observe` the run so far before each step.
    """
    trainer = _Trainer(policy, task, params, look, scratch, ranks)
    trainer.restore()
    with progress("grpo", params.steps, done=trainer.step) if ranks.is_first else nullcontext(_silent) as report:
        if not trainer.run.selection.looks:
            trainer.take_look()
        while trainer.step < params.steps and trainer.run.stopped is None:
            if ranks.is_first:
                observe(trainer.run)
            report(trainer.step + 1, trainer.take_step())
    load_adapter_weights(policy.model, trainer.kept, scratch)
    return trainer.run


def _silent(_done: int, _note: str) -> None:
    """Progress of a rank that is not the first."""


class _Trainer:
    """A run in progress: all that a checkpoint holds, and how a step is taken."""

    def __init__(
        self,
        policy: PolicyModel,
        task: Task,
        params: GrpoParams,
        look: Callable[[int], Look],
        scratch: Path,
        ranks: Ranks,
    ) -> None:
        self.policy, self.task, self.params, self.look, self.scratch, self.ranks = (
            policy, task, params, look, scratch, ranks
        )  # fmt: skip
        self.start = self.kept = adapter_weights(policy.model)  # the reference policy, and the result so far
        self.optimizer = make_optimizer(bias_correction=params.guards.bias_correction)
        self.pool = QuestionPool(task.questions, params.guards, params.seed, attempts=params.attempts)
        self.run = GrpoRun([], Selection(params.selection))
        self.step = self.stuck_steps = 0
        self.seconds, self.resumed_at = 0.0, monotonic()  # taken before the last checkpoint, and when that was
        self.expected = 0.0  # the share of mixed groups that the first draw of the step was expected to give

    def restore(self) -> None:
        """Go on from the checkpoint in `scratch`, if there is one; every rank from the same."""
        state = load_checkpoint(self.scratch, self.policy.model, self.optimizer)
        if state is not None:
            self.step, self.run.curve, self.kept = state.step, state.curve, state.kept
            self.pool.restore(state.more["pool"])
            self.run.selection.restore(state.more["looks"])
            self.run.stopped, self.stuck_steps = state.more["stopped"], state.more["stuck_steps"]
            self.seconds = state.more["seconds"]
        if self.ranks.is_first:
            drop_solutions_after(self.scratch, self.step)
        steps = self.ranks.gather_objects(self.step)
        if len(set(steps)) > 1:
            raise UserError(
                f"params.yaml: grpo.hosts: the ranks' checkpoints are at steps {', '.join(map(str, steps))}; give them "
                "one folder to share, or copy this machine's .scratch/grpo@* to the others"
            )

    def save(self) -> None:
        """One rank writes for all, which hold the same."""
        if self.ranks.is_first:
            more = {"pool": self.pool.state(), "looks": self.run.selection.state(), "stopped": self.run.stopped,
                    "stuck_steps": self.stuck_steps, "seconds": self.taken()}  # fmt: skip
            state = TrainingState(self.step, self.run.curve, more, self.kept)
            save_checkpoint(self.scratch, self.policy.model, self.optimizer, state)
        self.ranks.barrier()

    def taken(self) -> float:
        """The seconds that the run has taken so far, without those between an interruption and its rerun."""
        return self.seconds + monotonic() - self.resumed_at

    def time_is_up(self) -> bool:
        """Whether `hours` have passed, by the first rank's clock."""
        up = 0 < 3600 * self.params.hours <= self.taken()
        return self.ranks.gather_objects(up)[0]

    def take_look(self) -> None:
        """Play the selection set; the adapter is kept when it is the best so far."""
        if self.run.selection.take(self.look(self.step)):
            self.kept = adapter_weights(self.policy.model)

    def take_step(self) -> str:
        """Play, learn, look and write a checkpoint; returns what to show of it."""
        started = monotonic()
        groups = self.play()
        note = f"{_sampled_tokens(groups) / (monotonic() - started):.0f} tokens/s"
        self.check_sampler(groups)
        if self.ranks.is_first:
            keep_solutions(self.scratch, self.step + 1, groups)
        row = self.learn(groups)
        self.run.curve.append(row)
        self.step += 1
        last = self.step == self.params.steps
        self.run.stopped = self.limit_passed(row)
        up = self.run.stopped is None and not last and self.time_is_up()
        if self.run.stopped is None and (up or self.run.selection.is_due(self.step, self.params.steps)):
            self.take_look()
            reason = f"grpo.hours, {self.params.hours:g}, have passed" if up else self.run.selection.stop_reason
            self.run.stopped = None if last else reason  # one that is over is not stopped
        if self.step % self.params.checkpoint_every == 0 or last or self.run.stopped:
            self.save()
        mx.clear_cache()  # freed buffers of shapes that may never come again
        note += f", {mx.get_peak_memory() / 1e9:.1f} GB at most"
        if (row["dlogp_mean"] or 0.0) > _NOTABLE_DIFFERENCE:
            note += f"; sampler and trainer differ by {row['dlogp_mean']:.3f} a token"
        return (f"reward {row['reward']:.2f}, {row['informative']} of {row['groups']} groups informative, {note}"
                + (f"; stopped: {self.run.stopped}" if self.run.stopped else ""))  # fmt: skip

    def play(self) -> list[Group]:
        """The groups of a step, all ranks': rounds of questions until enough are informative or the budget is spent."""
        groups: list[Group] = []
        for number in itertools.count():
            informative = sum(map(self.is_informative, groups))
            left = min(self.params.questions, self.params.most_questions - len(groups))
            if informative >= self.params.informative_groups or left <= 0:
                break
            drawn = self.pool.draw(left, step=self.step, round_number=number)
            if not drawn:
                break
            if number == 0:
                self.expected = self.pool.expected_mixed(drawn, self.step)
            self.ranks.agree("the questions drawn", [question.id for question in drawn])
            own = self.play_questions(self.ranks.share(drawn))
            by_question = {group[0].question: group for group in self.gather_groups(own)}
            for question in drawn:  # in this order on every rank
                group = by_question[question.id]
                groups.append(group)
                right = sum(episode.outcome == CORRECT for episode in group)
                self.pool.record(question.id, right, len(group), self.step)
        return groups

    def play_questions(self, questions: Sequence[Question]) -> list[Group]:
        attempts = [
            self.task.attempt(question, number) for question in questions for number in range(self.params.attempts)
        ]
        seed = f"{self.params.seed}/{self.step}"
        played = play(self.policy, attempts, self.task.agent, seed=seed, width=self.params.width)
        episodes = {episode.id: episode for episode in played}
        size = self.params.attempts
        in_order = [episodes[attempt.id] for attempt in attempts]
        return [in_order[first : first + size] for first in range(0, len(in_order), size)]

    def gather_groups(self, own: Sequence[Group]) -> list[Group]:
        """The groups of all ranks."""
        if self.ranks.size == 1:
            return list(own)
        gathered = self.ranks.gather_objects([[asdict(episode) for episode in group] for group in own])
        return [[from_json(Episode, episode) for episode in group] for part in gathered for group in part]

    def is_informative(self, group: Group) -> bool:
        return is_informative(group, self.params.guards.right_answer_needed)

    def check_sampler(self, groups: Sequence[Group]) -> None:
        """RuntimeError when attempts that chance should tell apart are equal two steps in a row."""
        self.stuck_steps = self.stuck_steps + 1 if any(map(sampler_looks_stuck, groups)) else 0
        if self.stuck_steps > 1:
            raise RuntimeError(f"step {self.step + 1}: all attempts of a group are the same, as if no chance were left")

    def learn(self, groups: Sequence[Group]) -> dict[str, Any]:
        """Update the adapter, where there is signal; the step's row of the curve."""
        params, guards = self.params, self.params.guards
        summary = summarise_rollouts(groups, guards)
        rate = learning_rate_at(self.step, params.steps, params.optimizer)
        row: dict[str, Any] = {
            "step": self.step + 1,
            "learning_rate": rate,
            **dict.fromkeys(_TOKEN_STATISTICS),
            **asdict(summary),
            "tokens": _sampled_tokens(groups) / sum(map(len, groups)),
            "expected_mixed": self.expected,
            "gradient_norm": 0.0,
            "update_norm": 0.0,
            "loss_tokens": 0,
        }
        if summary.informative < params.informative_groups and guards.optimizer_needs_signal:
            return _rounded(row)
        before = adapter_weights(self.policy.model)
        informative = self.ranks.share([group for group in groups if self.is_informative(group)], cost=_tokens)
        replayed = self.replayed()
        of_all = sum(sum(sequence.action_mask) for sequence in replayed)
        lesson = make_lesson(
            informative, self.ranks.share(replayed), guards, rows=params.micro_batch_size, replayed_tokens=of_all
        )
        reference = reference_logprobs(self.policy, self.start, lesson) if lesson else []
        loss_tokens = sum(self.ranks.gather_objects(lesson.tree.loss_tokens if lesson else 0))
        for update in range(params.updates_per_rollout):
            gradients, measured = zero_gradients(self.policy), []
            if lesson is not None:
                gradients, logprobs = lesson_gradients(self.policy, lesson, reference, self.denominator, guards)
                measured = lesson.trained_tokens(logprobs, reference)
            gradients = self.ranks.sum_gradients(gradients)
            statistics = _statistics(list(itertools.chain(*self.ranks.gather_objects(measured))), guards)
            # The sampler is compared with the trainer before anything moved; what an update did shows in the last one.
            row |= {name: value for name, value in statistics.items() if update == 0 or not name.startswith("dlogp")}
            row["loss_tokens"] += loss_tokens
            row["gradient_norm"] = self.apply(gradients, rate)
        row["update_norm"] = _distance(before, adapter_weights(self.policy.model))
        # Machines of different kinds round differently; so the adapter is that of the first, to the last bit.
        self.policy.model.update(self.ranks.of_first(self.policy.model.trainable_parameters()))
        return _rounded(row)

    @property
    def denominator(self) -> float:
        """The constant that the loss is divided by: one reply, as long as it may be, an attempt of the wanted groups.

        A step may well train more or fewer tokens; what counts is that their number does not change their weight.
        """
        return self.params.informative_groups * self.params.attempts * self.task.agent.tokens_per_turn

    def replayed(self) -> list[TokenSequence]:
        """The demonstrations that go with the step's updates."""
        generator = random.Random(f"{self.params.seed}/replay/{self.step}")
        count = min(self.params.replayed, len(self.task.demonstrations)) if self.params.guards.replay_weight else 0
        return generator.sample(self.task.demonstrations, count)

    def apply(self, gradients: Any, rate: float) -> float:
        """One update; the norm of the gradients before they are cut."""
        limit = self.params.gradient_norm
        try:
            return apply_gradients(
                self.policy.model, self.optimizer, gradients, learning_rate=rate, gradient_norm=limit
            )
        except ArithmeticError as error:
            raise UserError(f"params.yaml: grpo.learning_rate: step {self.step + 1} diverged: {error}") from error

    def limit_passed(self, row: dict[str, Any]) -> str | None:
        """Why the step's indicators end the run, for people."""
        guards = self.params.guards
        if row["entropy"] < guards.entropy_floor:
            return f"entropy {row['entropy']:.4f} is below guards.entropy_floor, {guards.entropy_floor:g}"
        for name, limit in (("kl", guards.kl_limit), ("dlogp_mean", guards.dlogp_limit)):
            if row[name] is not None and row[name] > limit:
                return f"{name} {row[name]:.4f} is above guards.{name.partition('_')[0]}_limit, {limit:g}"
        rise = length_rise(self.run.curve)
        if rise > guards.length_alarm:
            return (
                f"the reward fell while attempts got {100 * rise:.0f} % longer, more than guards.length_alarm, "
                f"{guards.length_alarm:g}, allows"
            )
        return None


def _statistics(measured: Sequence[TrainedToken], guards: Guards) -> dict[str, Any]:
    """What to log of the trained tokens; nothing without any."""
    if not measured:
        return {}
    logprobs, sampled, reference, advantages, right = zip(*measured, strict=True)
    weights = [1.0] * len(measured)
    return asdict(token_statistics(logprobs, sampled, reference, advantages, weights, right, guards))


def _sampled_tokens(groups: Sequence[Group]) -> int:
    return sum(sum(episode.action_mask) for group in groups for episode in group)


def _tokens(group: Group) -> float:
    """How many tokens a group's loss runs over, its question left out."""
    return sum(len(each.tokens) - each.action_mask.index(1) for each in group if any(each.action_mask))


def _distance(before: dict[str, mx.array], after: dict[str, mx.array]) -> float:
    """The Euclidean length of the difference of two adapters."""
    return math.sqrt(sum(mx.square(after[name] - before[name]).sum().item() for name in before))


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Six significant digits: what lies beyond differs from machine to machine."""
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in row.items()}
