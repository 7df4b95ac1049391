"""Our arms of the GRPO benchmark run on the tiny model, do the work that they are compared by, and count it right."""

from pathlib import Path

import cpu_first  # noqa: F401
import pytest

# isort: split
import mlx.core as mx

from sqldojo.training.policy_model import adapter_weights
from sqldojo.training.tiny_model import HEAD_SIZE, HEADS, HIDDEN, INTERMEDIATE, KV_HEADS, LAYERS, write_tiny_model

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    write_tiny_model(tmp_path)
    return tmp_path


def test_a_step_samples_and_learns_all_of_its_tokens(model):
    from grpo_ours import Ours
    from grpo_work import Measured, Work

    arm, measured = Ours(model, rows=2), Measured()
    before = adapter_weights(arm.policy.model)
    arm(Work(prompt=20, questions=1, attempts=3, sampled_a_turn=5), measured)
    assert measured.counts == {"episodes": 3, "sampled": 15, "prefilled": 20}
    assert measured.seconds.keys() == {"rollout", "loss", "step"} and measured.memory.keys() == {"rollout", "loss"}
    after = adapter_weights(arm.policy.model)
    assert not any(mx.array_equal(before[name], after[name]).item() for name in before)


def test_dialogues_have_the_lengths_of_the_work_and_share_their_prompts(model):
    from grpo_ours import Ours
    from grpo_work import FixedTokenizer, Measured, Work, text_of

    arm, measured = Ours(model, rollout_only=True), Measured()
    arm(Work(prompt=40, questions=2, attempts=2, sampled_a_turn=4, results=(6, 9)), measured)
    fixed = FixedTokenizer(arm.policy.dialogue.tokenizer)
    first, second = (fixed.encode(text_of(number, 40)) for number in range(2))
    shared = next(place for place in range(40) if first[place] != second[place])
    assert measured.counts == {"episodes": 4, "sampled": 4 * 3 * 4, "prefilled": shared + 2 * (40 - shared) + 4 * 15}
    assert 0 < shared < 40


def test_the_operations_of_a_step_are_those_of_its_passes(model):
    from grpo_parts import parts
    from grpo_work import Work

    prompt, attempts, sampled = 20, 3, 16
    found = parts(model, Work(prompt, 1, attempts, sampled), rows=2)
    operations = {name: part["operations"] for name, part in found["parts"].items()}
    weights = LAYERS * HIDDEN * (2 * HEADS * HEAD_SIZE + 2 * KV_HEADS * HEAD_SIZE + 3 * INTERMEDIATE)
    learnt = prompt + 4 * sampled  # two micro-batches of two rows, one of them padding
    passed = (prompt + attempts * (sampled - 1)) + prompt + 2 * learnt  # rollout, prompt without graph, with
    assert operations["matrix products of the layers"] == 2 * weights * passed
    assert sum(operations.values()) - found["needed"] > 2 * weights * prompt  # its LoRA and its attention besides
    only_rollout, only_loss = ({name for name, part in found["parts"].items() if part[phase] == 0}
                               for phase in ("loss", "rollout"))  # fmt: skip
    assert (only_rollout, only_loss) == ({"sampling"}, {"log-probabilities"})
