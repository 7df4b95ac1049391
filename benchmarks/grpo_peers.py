"""The other trainers' arms of the GRPO benchmark: their own functions, unmodified.

Switched off in all: filters of the sampler, a reference policy (KL), end tokens. Left on: whatever else they do by
default; what the advantages are multiplied or divided by costs no time.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from grpo_work import LEARNING_RATE, Measured, Work, load_for_peer, text_of

# isort: split
import mlx.optimizers as optim
from mlx_lm_lora.trainer import grpo_trainer
from mlxrl.algo import DrGRPOAlgorithm
from mlxrl.env import StepResult
from mlxrl.rollout import SamplingConfig, generate_agentic_trajectories, generate_prefix_cached_group_rollouts
from mlxrl.train import batch_from_rollouts, optimizer_step


class MlxLmLora:
    """mlx-lm-lora's `train_grpo`, a step a call.

    It decodes as many rows together as the step has prompts, so with one prompt a group goes row by row. `wide` gives
    its generator the width of the group: one argument of its source, changed from outside.
    """

    def __init__(self, folder: Path, *, wide: bool = False) -> None:
        self.model, self.tokenizer = load_for_peer(folder)
        self.wide = wide

    def __call__(self, work: Work, measured: Measured) -> None:
        generate, differentiate = grpo_trainer.generate_grpo, grpo_trainer._grpo_value_and_grad
        generator = grpo_trainer.BatchGenerator
        sampled = []

        def rollout(**arguments: Any) -> Any:
            with measured.phase("rollout"):
                made = generate(**arguments)
            sampled.extend(tokens.size for tokens in made[0])
            return made

        def gradients(*arguments: Any, **named: Any) -> Any:
            with measured.phase("loss"):
                return differentiate(*arguments, **named)

        def wide_generator(*arguments: Any, **named: Any) -> Any:
            width = {"completion_batch_size": work.attempts, "prefill_batch_size": work.attempts}
            return generator(*arguments, **(named | width))

        def every_other_right(prompts: Any, completions: list[str], *_: Any, **__: Any) -> list[float]:
            return [float(number % 2) for number in range(len(completions))]

        with contextlib.ExitStack() as stack:
            for name, replacement in (
                ("generate_grpo", rollout),
                ("_grpo_value_and_grad", gradients),
                ("BatchGenerator", wide_generator if self.wide else generator),
            ):
                stack.enter_context(mock.patch.object(grpo_trainer, name, replacement))
            for redirect in (contextlib.redirect_stdout, contextlib.redirect_stderr):
                stack.enter_context(redirect(io.StringIO()))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            arguments = grpo_trainer.GRPOTrainingArgs(
                batch_size=work.questions, group_size=work.attempts, max_completion_length=work.sampled_a_turn,
                iters=1, steps_per_report=1, steps_per_eval=10**9, steps_per_save=10**9, max_seq_length=4096,
                adapter_file=str(folder / "adapters.safetensors"), beta=0.0, epsilon=0.2, grpo_loss_type="dr_grpo",
                temperature=1.0, top_p=1.0, top_k=0,
            )  # fmt: skip
            prompts = [self.tokenizer.encode(text_of(number, work.prompt)) for number in range(work.questions)]
            with _whole(measured):
                grpo_trainer.train_grpo(
                    self.model, None, self.tokenizer, optim.Adam(learning_rate=LEARNING_RATE),
                    [(prompt, [1], "question", "answer", None) for prompt in prompts],
                    reward_funcs=[every_other_right], args=arguments, end_answer_token="",
                )  # fmt: skip
        measured.counts = {
            "episodes": len(sampled),
            "sampled": sum(sampled),
            "prefilled": work.questions * (work.prompt - 1 + work.attempts),
        }


class MlxrlStep:
    """inductive-mlxrl's step: its batched rollout behind a cached prompt, then its optimizer step.

    As by default, the old log-probabilities come from a forward pass of their own. The optimizer's update is in "loss".
    """

    def __init__(self, folder: Path) -> None:
        self.model, self.tokenizer = load_for_peer(folder)

    def __call__(self, work: Work, measured: Measured) -> None:
        optimizer, algorithm = optim.Adam(learning_rate=LEARNING_RATE), DrGRPOAlgorithm()
        texts = [text_of(number, work.prompt) for number in range(work.questions)]
        with _whole(measured):
            with measured.phase("rollout"):
                completions = generate_prefix_cached_group_rollouts(
                    self.model, self.tokenizer, texts, work.attempts, _sampling(work), seed=0,
                    use_chat_template=False, batch_groups=True,
                )  # fmt: skip
            with measured.phase("loss"):
                rewards = [float(number % 2) for number in range(len(completions))]
                batch = batch_from_rollouts(
                    self.model, completions, rewards, work.attempts, 0, algorithm, compute_reference=False
                )
                optimizer_step(self.model, optimizer, batch, 0.0, 0, algorithm)
        sampled = sum(len(each.completion_tokens) for each in completions)
        prefilled = work.questions * work.prompt
        measured.counts = {"episodes": len(completions), "sampled": sampled, "prefilled": prefilled}


class MlxrlDialogues:
    """inductive-mlxrl's only rollout of several turns, `generate_agentic_trajectories` in its default mode.

    It goes turn by turn, within a turn episode by episode, and reads prompts and results token by token.
    """

    def __init__(self, folder: Path) -> None:
        self.model, self.tokenizer = load_for_peer(folder)

    def __call__(self, work: Work, measured: Measured) -> None:
        tasks = [text_of(number, work.prompt) for number in range(work.questions)]
        with measured.phase("rollout"):
            trajectories = generate_agentic_trajectories(
                model=self.model, tokenizer=self.tokenizer, env_factory=lambda *_: _Scripted(work), tasks=tasks,
                group_size=work.attempts, sampling=_sampling(work), seed=0,
            )  # fmt: skip
        sampled = sum(span.end - span.start for each in trajectories for span in each.action_spans)
        prefilled = sum(len(each.full_token_ids) for each in trajectories) - sampled
        measured.counts = {"episodes": len(trajectories), "sampled": sampled, "prefilled": prefilled}


class _Scripted:
    """An environment whose results are those of the work, whatever the action says."""

    def __init__(self, work: Work) -> None:
        self.max_turns, self._results = work.turns, iter(work.results)

    def reset(self) -> str:
        return ""

    def step(self, action: str) -> StepResult:
        return StepResult(text_of(0, next(self._results, 1)), reward=0.0, done=False)

    def state_id(self, observation: str) -> str:
        return observation


def _sampling(work: Work) -> SamplingConfig:
    return SamplingConfig(max_tokens=work.sampled_a_turn, temperature=1.0, top_p=1.0)


@contextlib.contextmanager
def _whole(measured: Measured) -> Iterator[None]:
    """The seconds of a whole step; its phases take the memory."""
    step = Measured()
    with step.phase("step"):
        yield
    measured.seconds["step"] = step.seconds["step"]
