"""GRPO learns a toy task, moves only where there is signal, stops when it should, and survives being killed."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from grpo_settings import GUARDS, SELECTION
from mlx.utils import tree_flatten
from tiny_policy import AGENT, SCHEMA, Killed, demonstration, with_adapter

from sqldojo.agent.episode import REWARDS
from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import PLAIN
from sqldojo.evaluation.grpo_results import run_metrics
from sqldojo.evaluation.statistics import luck_of_the_best
from sqldojo.records import CORRECT, TRAIN, WRONG_SQL, Episode, Message, Question
from sqldojo.training import grpo as module
from sqldojo.training.checkpoints import load_checkpoint
from sqldojo.training.distill import tokenise
from sqldojo.training.grpo import GrpoParams, GrpoRun, Task, train
from sqldojo.training.optimizer import apply_gradients, make_optimizer
from sqldojo.training.policy_model import PolicyModel, adapter_weights
from sqldojo.training.selection import Look
from sqldojo.training.shared_prefix import loss_and_gradients, make_tree
from sqldojo.training.solutions import distinct_solutions

ONE_TOKEN = replace(AGENT, turns=1, tokens_per_turn=1, tokens_per_episode=1)
QUESTIONS = [Question(f"toy-{n}", f"type-{n % 3}", TRAIN, "train", f"Question {n}?", "SELECT 1", {}) for n in range(6)]
PARAMS = GrpoParams(
    seed=5, steps=6, questions=2, attempts=6, informative_groups=2, most_questions=4, width=12, micro_batch_size=6,
    updates_per_rollout=1, replayed=0, learning_rate=0.02, final_share=1.0, warmup_steps=0, gradient_norm=1.0,
    checkpoint_every=1, hours=0.0, hosts=(), guards=GUARDS, selection=SELECTION,
)  # fmt: skip


class ToyAttempt:
    """An attempt of one token, right when `is_right` says so of its text and the question."""

    def __init__(self, question: Question, number: int, is_right: Callable[[str, Question], bool]) -> None:
        self.question, self.number, self.is_right = question, number, is_right
        self.messages = list(opening(question.text, SCHEMA, PLAIN))
        self.outcome: str | None = None
        self.id = f"{question.id}/{number}"

    def reply(self, text: str, *, cut_off: bool = False, target: bool = True) -> None:
        self.messages.append(Message("assistant", text))
        self.outcome = CORRECT if self.is_right(text, self.question) else WRONG_SQL

    def episode(self, **tokens: Any) -> Episode:
        return Episode(
            self.id, self.question.id, self.question.type, TRAIN, self.number, tuple(self.messages), self.outcome,
            REWARDS[self.outcome], "", **{name: tuple(values) for name, values in tokens.items()},
        )  # fmt: skip


def half(text: str, _: Question) -> bool:
    """Right for every second byte."""
    return sum(text.encode()) % 2 == 0


def task(is_right: Callable[[str, Question], bool] = half, demonstrations: Any = ()) -> Task:
    return Task(QUESTIONS, demonstrations, lambda question, number: ToyAttempt(question, number, is_right), ONE_TOKEN)


def look_at(*accuracies: float) -> Callable[[int], Look]:
    """Looks with these accuracies, the last one again and again."""
    left = list(accuracies)
    return lambda step: Look(step, left.pop(0) if len(left) > 1 else left[0], 0.0, 1.0, 4, 4)


def trained(
    folder: Path, scratch: Path, params: GrpoParams = PARAMS, toy: Task | None = None, look: Any = None
) -> tuple[PolicyModel, GrpoRun]:
    policy = with_adapter(folder)
    return policy, train(policy, toy or task(), params, look or look_at(0.5), scratch)


def distance(first: PolicyModel, second: PolicyModel) -> float:
    weights = adapter_weights(second.model)
    return max(mx.abs(tensor - weights[name]).max().item() for name, tensor in adapter_weights(first.model).items())


def torn(folder: Path) -> PolicyModel:
    """A policy that says A or B, each about half of the time."""
    policy = with_adapter(folder)
    policy.model.model.norm.weight *= 8  # the tiny model's own logits are too small for it ever to be sure
    prompts = [policy.dialogue.prompt(ToyAttempt(question, 0, half).messages) for question in QUESTIONS]
    learnt = [([*prompt, token], [0] * len(prompt) + [1]) for prompt in prompts
              for token in policy.dialogue.tokenizer.encode("AB")]  # fmt: skip
    tree, optimizer = make_tree([learnt], rows=len(learnt)), make_optimizer()
    for _ in range(30):
        _, gradients, _ = loss_and_gradients(policy, tree, lambda logprobs, batch: -(logprobs * batch.weights).mean())
        apply_gradients(policy.model, optimizer, gradients, learning_rate=0.02, gradient_norm=1.0)
    return policy


def test_it_learns_a_toy_task(tiny_folder: Path, tmp_path: Path) -> None:
    """From less than half to more than nine tenths in a few steps."""
    params = replace(PARAMS, steps=10, learning_rate=0.002, informative_groups=1, most_questions=3, questions=3)
    run = train(torn(tiny_folder), task(lambda text, _: text == "B"), params, look_at(0.5), tmp_path)
    accuracy = [row["accuracy"] for row in run.curve]
    assert 0.1 < sum(accuracy[:2]) / 2 < 0.7
    assert sum(accuracy[-3:]) / 3 > 0.9
    assert run.curve[0]["kl"] == pytest.approx(0.0, abs=1e-6)
    assert all(row["dlogp_max"] < 1e-4 for row in run.curve if row["dlogp_max"] is not None)
    assert all(row["update_norm"] > 0 for row in run.curve if row["informative"])


@pytest.mark.parametrize("right", [True, False])
def test_without_signal_nothing_moves(tiny_folder: Path, tmp_path: Path, right: bool) -> None:
    """All right or all wrong: the optimizer is not even called, so its moments stay what they were."""
    policy, run = trained(tiny_folder, tmp_path, toy=task(lambda *_: right))
    assert distance(policy, with_adapter(tiny_folder)) == 0
    assert [row["update_norm"] for row in run.curve] == [0.0] * PARAMS.steps
    assert [row["groups"] for row in run.curve] == [PARAMS.most_questions] * PARAMS.steps  # refilled to the budget
    optimizer = make_optimizer()
    load_checkpoint(tmp_path, policy.model, optimizer)
    assert optimizer.state["step"].item() == 0
    assert run_metrics(run)["steps_without_signal"] == PARAMS.steps


def test_without_the_guard_the_optimizer_goes_on_by_itself(tiny_folder: Path, tmp_path: Path) -> None:
    """Signal in the first step alone: Adam's moments still move the policy afterwards."""
    params = replace(PARAMS, guards=replace(GUARDS, optimizer_needs_signal=False, kl_weight=0.0))
    calls = iter(range(10**9))

    def at_first(text: str, question: Question) -> bool:
        return next(calls) < PARAMS.most_questions * PARAMS.attempts and half(text, question)

    _, run = trained(tiny_folder, tmp_path, params, task(at_first))
    moved = [row["update_norm"] for row in run.curve if row["informative"] == 0]
    assert len(moved) >= 2 and min(moved) > 0


def test_few_informative_groups_are_refilled_and_no_more(tiny_folder: Path, tmp_path: Path) -> None:
    _, run = trained(tiny_folder, tmp_path / "some")
    assert all(row["informative"] >= 2 for row in run.curve if row["groups"] == 2)
    assert {row["groups"] for row in run.curve} == {2, 4}
    calls = iter(range(10**9))
    mixed = task(lambda *_: next(calls) % 2 == 0)  # every group is
    _, run = trained(tiny_folder, tmp_path / "all", toy=mixed)
    assert [row["groups"] for row in run.curve] == [PARAMS.questions] * PARAMS.steps


def test_a_step_with_too_few_informative_groups_is_skipped(tiny_folder: Path, tmp_path: Path) -> None:
    """One of two that are wanted: the budget is spent, the optimizer is not called."""
    one = task(lambda text, question: question.id == "toy-0" and half(text, question))
    policy, run = trained(tiny_folder, tmp_path, replace(PARAMS, most_questions=6), one)
    assert {row["informative"] for row in run.curve} <= {0, 1} and any(row["informative"] for row in run.curve)
    assert run_metrics(run)["steps_without_signal"] == PARAMS.steps
    assert distance(policy, with_adapter(tiny_folder)) == 0


def test_what_was_seen_changes_what_is_drawn(tiny_folder: Path, tmp_path: Path) -> None:
    """Questions that are always right give way to the one that is not."""
    drawn: list[str] = []

    def is_right(text: str, question: Question) -> bool:
        drawn.append(question.id)
        return question.id != "toy-4" or half(text, question)

    params = replace(PARAMS, steps=30, questions=1, most_questions=1, guards=replace(GUARDS, mastered_floor=0.0))
    trained(tiny_folder, tmp_path, params, task(is_right))
    late = drawn[10 * PARAMS.attempts :]
    assert late.count("toy-4") > len(late) / 3, late.count("toy-4") / len(late)  # a sixth, were it not for the signal


def test_several_updates_on_the_same_rollouts(tiny_folder: Path, tmp_path: Path) -> None:
    """The second one sees a ratio to the sampler; both move, and the sampler is compared before the first."""
    once, run = trained(tiny_folder, tmp_path / "once", replace(PARAMS, steps=1))
    twice, again = trained(tiny_folder, tmp_path / "twice", replace(PARAMS, steps=1, updates_per_rollout=2))
    assert distance(once, twice) > 1e-3
    assert again.curve[0]["dlogp_mean"] == pytest.approx(run.curve[0]["dlogp_mean"], abs=1e-6)
    assert again.curve[0]["kl"] > 100 * max(run.curve[0]["kl"], 1e-9)
    assert again.curve[0]["loss_tokens"] == 2 * run.curve[0]["loss_tokens"]


def test_rate_and_norm_limit_and_bias_correction_reach_the_optimizer(tiny_folder: Path, tmp_path: Path) -> None:
    """Adam's first step is one rate long in every weight: 1 with bias correction, 0.1 / sqrt(0.001) without."""
    numbers = len(dict(tree_flatten(with_adapter(tiny_folder).model.trainable_parameters())))
    size = sum(tensor.size for tensor in adapter_weights(with_adapter(tiny_folder).model).values())
    lengths = {}
    for name, changes in (
        ("as set", {}),
        ("uncorrected", {"guards": replace(GUARDS, bias_correction=False)}),
        ("warming up", {"warmup_steps": 3}),
    ):
        _, run = trained(tiny_folder, tmp_path / name, replace(PARAMS, steps=1, **changes))
        lengths[name] = run.curve[0]["update_norm"]
    assert numbers and lengths["as set"] == pytest.approx(PARAMS.learning_rate * size**0.5, rel=0.1)
    assert lengths["uncorrected"] / lengths["as set"] == pytest.approx(0.1 / 0.001**0.5, rel=0.01)
    assert lengths["warming up"] / lengths["as set"] == pytest.approx(0.25, rel=0.01)
    _, run = trained(tiny_folder, tmp_path / "cut", replace(PARAMS, steps=1, gradient_norm=1e-9))
    assert run.curve[0]["update_norm"] < lengths["as set"] / 2  # beside Adam's epsilon, what is cut to 1e-9 is little


@pytest.mark.parametrize("killed_in", ["play", "look", "save"])
@pytest.mark.parametrize("when", [0, 2])
def test_a_killed_run_ends_as_the_uninterrupted_one(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_in: str, when: int
) -> None:
    params = replace(PARAMS, steps=4, replayed=1, checkpoint_every=2 if killed_in == "play" else 1,
                     selection=replace(SELECTION, keep="best"))  # fmt: skip
    demonstrations = tokenise(with_adapter(tiny_folder), [demonstration(n, f"SELECT {n}") for n in range(4)])
    toy = task(demonstrations=demonstrations)

    def look(step: int) -> Look:
        return Look(step, [0.2, 0.6, 0.4][step // 2], 0.0, 1.0, 4, 4)

    whole, expected = trained(tiny_folder, tmp_path / "whole", params, toy, look)
    calls = iter(range(10**9))

    def dies(function: Callable) -> Callable:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(calls) == when:
                raise Killed
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch, pytest.raises(Killed):
        if killed_in != "look":
            name = {"play": "play", "save": "save_checkpoint"}[killed_in]
            patch.setattr(module, name, dies(getattr(module, name)))
        trained(tiny_folder, tmp_path / "killed", params, toy, dies(look) if killed_in == "look" else look)
    again, run = trained(tiny_folder, tmp_path / "killed", params, toy, look)
    assert distance(again, whole) < 1e-6
    assert distinct_solutions(tmp_path / "killed") == distinct_solutions(tmp_path / "whole")
    assert run.selection.looks == expected.selection.looks and run.selection.kept.step == 2
    assert len(run.curve) == len(expected.curve) == params.steps
    for row, wanted in zip(run.curve, expected.curve, strict=True):
        assert row == pytest.approx(wanted, abs=1e-5)


def test_a_run_survives_kill_9(tiny_folder: Path, tmp_path: Path) -> None:
    """A process that dies in the middle of a look, with nothing said; another one goes on from its checkpoint."""
    snippet = f"""
import os, signal, sys
sys.path[:] = {sys.path!r}
from pathlib import Path
import cpu_first
from training.test_grpo import Look, trained
def look(step):
    if step == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return Look(step, 0.5, 0.0, 1.0, 4, 4)
trained(Path({str(tiny_folder)!r}), Path({str(tmp_path / "killed")!r}), look=look)
"""
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert load_checkpoint(tmp_path / "killed", with_adapter(tiny_folder).model, make_optimizer()).step == 3
    again, run = trained(tiny_folder, tmp_path / "killed")
    whole, expected = trained(tiny_folder, tmp_path / "whole")
    assert [look.step for look in run.selection.looks] == [0, 2, 4, 6]
    assert run.curve == [pytest.approx(row, abs=1e-5) for row in expected.curve]
    assert distance(again, whole) < 1e-6


def test_the_best_look_s_adapter_is_kept(tiny_folder: Path, tmp_path: Path) -> None:
    """The start takes part: a run that only did harm leaves the adapter that it began with."""
    best = replace(PARAMS, selection=replace(SELECTION, keep="best"))
    policy, run = trained(tiny_folder, tmp_path / "harm", best, look=look_at(0.5, 0.4, 0.3, 0.2))
    assert distance(policy, with_adapter(tiny_folder)) == 0
    assert run_metrics(run) == {
        "steps": 6, "steps_without_signal": 0, "stopped_early": False, "kept_step": 0, "looks": 4,
        "start_accuracy": 0.5, "kept_accuracy": 0.5, "kept_accuracy_low": 0.0, "kept_accuracy_high": 1.0,
        "luck": round(luck_of_the_best(0.5, 4, 4), 4),
    }  # fmt: skip
    short, _ = trained(tiny_folder, tmp_path / "short", replace(PARAMS, steps=2))
    policy, run = trained(tiny_folder, tmp_path / "best", best, look=look_at(0.5, 0.7, 0.6, 0.7))
    assert run.selection.kept.step == 2 and distance(policy, short) < 1e-6


def test_the_run_stops_when_its_indicators_say_so(tiny_folder: Path, tmp_path: Path) -> None:
    strict = replace(PARAMS, steps=1, guards=replace(GUARDS, dlogp_limit=1e-12))
    _, run = trained(tiny_folder, tmp_path / "last", strict)
    assert "dlogp" in run.stopped  # in the last step too
    for name, guards, steps, reason in (
        ("entropy", replace(GUARDS, entropy_floor=50.0), 1, "entropy"),
        ("kl", replace(GUARDS, kl_limit=1e-4), 2, "kl"),
        ("dlogp", replace(GUARDS, dlogp_limit=1e-12), 1, "dlogp"),
    ):
        _, run = trained(tiny_folder, tmp_path / name, replace(PARAMS, guards=guards))
        assert len(run.curve) == steps and reason in run.stopped and run_metrics(run)["stopped_early"]
        _, again = trained(tiny_folder, tmp_path / name, replace(PARAMS, guards=guards))
        assert len(again.curve) == steps  # a rerun does not go on where the run had stopped
    patient = replace(PARAMS, selection=replace(SELECTION, every=1, patience=2))
    _, run = trained(tiny_folder, tmp_path / "patience", patient, look=look_at(0.5, 0.6, 0.6, 0.6))
    assert len(run.curve) == 3 and "no better" in run.stopped


@pytest.mark.parametrize(("alarm", "steps"), [(0.5, 11), (0.7, 12), (100.0, 13)])
def test_a_run_whose_attempts_grow_into_gibberish_stops(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alarm: float, steps: int
) -> None:
    """From step 9 on twice as long and all wrong: 40 % longer in the mean of five steps at 10, 60 at 11, 80 at 12."""
    real, now = module.play, []

    def rambling(*arguments: Any, seed: str, **options: Any) -> Iterator[Episode]:
        now[:] = [int(seed.partition("/")[2])]
        for each in real(*arguments, seed=seed, **options):
            yield each if now[0] < 8 else replace(
                each, tokens=(*each.tokens, 65), action_mask=(*each.action_mask, 1), logprobs=(*each.logprobs, -1.0)
            )

    monkeypatch.setattr(module, "play", rambling)
    params = replace(PARAMS, steps=13, guards=replace(GUARDS, length_alarm=alarm),
                     selection=replace(SELECTION, every=4, keep="best"))  # fmt: skip
    policy, run = trained(tiny_folder, tmp_path, params, task(lambda *said: now[0] < 8 and half(*said)))
    assert [row["tokens"] for row in run.curve] == [1.0] * 8 + [2.0] * (steps - 8)
    assert bool(run.stopped) == (alarm < 1) and run.selection.kept.step == 0
    if run.stopped:
        assert run.stopped == (
            f"the reward fell while attempts got {60 if steps == 11 else 80} % longer, more than guards.length_alarm, "
            f"{alarm}, allows"
        )
        assert distance(policy, with_adapter(tiny_folder)) == 0  # that of the best look


def test_a_run_ends_when_its_hours_are_over(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes half an hour here; after the third one there is a last look, and a rerun knows what was spent."""
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    real = module.play

    def slow(*arguments: Any, **options: Any) -> Iterator[Episode]:
        now[0] += 1800
        return real(*arguments, **options)

    monkeypatch.setattr(module, "play", slow)
    params = replace(PARAMS, hours=1.5, most_questions=2, selection=replace(SELECTION, every=100))
    _, run = trained(tiny_folder, tmp_path / "whole", params)
    assert run.stopped == "grpo.hours, 1.5, have passed" and len(run.curve) == 3
    assert [look.step for look in run.selection.looks] == [0, 3]
    calls = iter(range(10**9))

    def dies(*arguments: Any, **options: Any) -> Iterator[Episode]:
        if next(calls) == 2:
            raise Killed
        return slow(*arguments, **options)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, "play", dies)
        trained(tiny_folder, tmp_path / "killed", params)
    now[0] += 24 * 3600  # a day later
    _, again = trained(tiny_folder, tmp_path / "killed", params)
    assert again.stopped == run.stopped and len(again.curve) == 3


def test_right_attempts_are_left_for_the_second_distillation(tiny_folder: Path, tmp_path: Path) -> None:
    _, run = trained(tiny_folder, tmp_path, replace(PARAMS, steps=3, checkpoint_every=5))
    found = distinct_solutions(tmp_path)
    attempts = sum(row["groups"] * row["accuracy"] * PARAMS.attempts for row in run.curve)
    texts = {(each.question, each.tokens) for each in found}
    assert 0 < len(found) == len(texts) <= round(attempts)
    assert all(half(each.messages[-1].content, QUESTIONS[0]) and each.outcome == CORRECT for each in found)
    assert {each.id.rpartition("/")[2] for each in found} <= {"step-1", "step-2", "step-3"}


def test_equal_attempts_are_noticed(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A random generator that stands still gives groups of one and the same attempt."""
    real = module.play

    def stands_still(policy: PolicyModel, attempts: Any, *arguments: Any, **options: Any) -> Iterator[Episode]:
        episodes = list(real(policy, attempts, *arguments, **options))
        first = {episode.question: episode for episode in sorted(episodes, key=lambda episode: episode.id)[::-1]}
        for episode in episodes:
            yield replace(first[episode.question], id=episode.id, attempt=episode.attempt)

    monkeypatch.setattr(module, "play", stands_still)
    with pytest.raises(RuntimeError, match="step 2: all attempts of a group are the same"):
        trained(tiny_folder, tmp_path)
    assert load_checkpoint(tmp_path, with_adapter(tiny_folder).model, make_optimizer()).more["stuck_steps"] == 1
    with pytest.raises(RuntimeError, match="step 2: "):  # a rerun has not forgotten the first one
        trained(tiny_folder, tmp_path)


def test_a_notable_difference_of_sampler_and_trainer_is_shown(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, notes = module.play, []

    def misjudging(*arguments: Any, **options: Any) -> Iterator[Episode]:
        for each in real(*arguments, **options):
            yield replace(each, logprobs=(*each.logprobs[:-1], each.logprobs[-1] + shift))

    monkeypatch.setattr(module, "play", misjudging)
    monkeypatch.setattr(module, "progress", lambda *_, **__: nullcontext(lambda _, note: notes.append(note)))
    for shift in (0.0, 0.03):
        trained(tiny_folder, tmp_path / str(shift), replace(PARAMS, steps=1))
    assert "differ" not in notes[0] and notes[1].endswith("; sampler and trainer differ by 0.030 a token")


def test_replay_alone_pulls_towards_the_demonstrations(tiny_folder: Path, tmp_path: Path) -> None:
    """With a vanishing policy loss what is left of an update is the demonstrations' gradient."""
    guards = replace(GUARDS, replay_weight=1.0, kl_weight=0.0)
    demonstrations = tokenise(with_adapter(tiny_folder), [demonstration(1, "SELECT 1")])
    far = replace(ONE_TOKEN, tokens_per_turn=10**9)  # in the constant denominator
    toy = Task(QUESTIONS, demonstrations, task().attempt, far)
    toy = replace(toy, agent=replace(far, tokens_per_episode=1))
    policy, _ = trained(tiny_folder, tmp_path, replace(PARAMS, guards=guards, replayed=1, steps=4), toy)

    def loss(of: PolicyModel) -> float:
        (demonstrated,) = demonstrations
        logits = of.model(mx.array([demonstrated.tokens[:-1]]))[0]
        logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
        chosen = mx.take_along_axis(logprobs, mx.array(demonstrated.tokens[1:])[:, None], axis=-1).squeeze(-1)
        return -(chosen * mx.array(demonstrated.action_mask[1:])).sum().item()

    assert loss(policy) < loss(with_adapter(tiny_folder)) - 1


def test_few_shapes_are_seen(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: set[tuple[int, ...]] = set()
    real = module.make_lesson

    def noting(*arguments: Any, **options: Any) -> Any:
        lesson = real(*arguments, **options)
        shapes.update(lesson.tree.shapes)
        return lesson

    monkeypatch.setattr(module, "make_lesson", noting)
    trained(tiny_folder, tmp_path, replace(PARAMS, micro_batch_size=1))
    assert shapes == {(1, 16), (16,)}


def test_no_replay_without_weight(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = module.make_lesson

    def noting(groups: Any, replayed: Any, *arguments: Any, **options: Any) -> Any:
        asked.append(len(replayed))
        return real(groups, replayed, *arguments, **options)

    monkeypatch.setattr(module, "make_lesson", noting)
    demonstrations = tokenise(with_adapter(tiny_folder), [demonstration(n, f"SELECT {n}") for n in range(4)])
    toy = task(demonstrations=demonstrations)
    trained(tiny_folder, tmp_path / "with", replace(PARAMS, steps=1, replayed=3), toy)
    off = replace(PARAMS, steps=1, replayed=3, guards=replace(GUARDS, replay_weight=0.0))
    trained(tiny_folder, tmp_path / "without", off, toy)
    assert asked == [3, 0]


def test_memory_does_not_grow_with_the_steps(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module.play
    held, cached = [], {}

    def noting(*arguments: Any, seed: str, **options: Any) -> Iterator[Episode]:
        cached.setdefault(seed, mx.get_cache_memory())  # as the step begins
        return real(*arguments, seed=seed, **options)

    def look(step: int) -> Look:
        gc.collect()
        held.append(mx.get_active_memory())
        return Look(step, 0.5, 0.0, 1.0, 4, 4)

    monkeypatch.setattr(module, "play", noting)
    trained(tiny_folder, tmp_path, replace(PARAMS, steps=10), look=look)
    assert len(cached) == 10 and not any(list(cached.values())[1:]), cached  # each step gives back what it freed
    assert max(held[3:]) < 1.05 * held[2], held  # the first looks are before the optimizer's moments and a kept adapter


def test_the_adapter_is_what_is_trained(tiny_folder: Path, tmp_path: Path) -> None:
    """Nothing of the base model, and every tensor of the adapter."""
    policy, _ = trained(tiny_folder, tmp_path)
    untouched = with_adapter(tiny_folder)
    new, old = (dict(tree_flatten(each.model.parameters())) for each in (policy, untouched))
    changed = {name for name, tensor in new.items() if not mx.array_equal(tensor, old[name])}
    assert changed == set(adapter_weights(policy.model))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attempts": 1}, "attempts: must be at least 2"),
        ({"most_questions": 1}, "most_questions: must be at least `questions`, 2; found 1"),
        ({"seed": -1}, "seed"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"steps": 0}, "steps"),
    ],
)
def test_parameters_out_of_range_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PARAMS, **changes)
